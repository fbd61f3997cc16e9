"""The picture of the claim `number-embeddings`: the spectrum of the numbers' rows."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from matplotlib.figure import Figure

from theory.arithmetic.fourier import bin_of

BLUE, BROWN = "#1f5fa8", "#b5651d"


def draw(
    ratios: np.ndarray, bound: float, first: int, marked: Mapping[str, Fraction], of: str
) -> Figure:
    """Draw the size of every bin divided by the median size, with marked periods.

    The bound of random orders is drawn as a band, and `of` names the rows in the title.
    """
    p = 2 * (len(ratios) - 1)
    figure = Figure(figsize=(10, 4.2))
    panel = figure.subplots()
    bins = np.arange(1, len(ratios))
    panel.axhspan(0, bound, color=BROWN, alpha=0.15, label="99 % of random orders, all bins below")
    panel.plot(bins, ratios[1:], "-", lw=0.8, color=BLUE)
    panel.plot(bins, ratios[1:], "o", ms=2.5, color=BLUE)
    panel.axvline(first - 0.5, color="0.5", lw=0.8, ls=":")
    panel.text(first + 1, 0.15, "median and bound from here on", fontsize=8, color="0.35")
    for name, T in marked.items():
        k = bin_of(T, p)
        panel.annotate(
            f"period {name}",
            (k, ratios[k]),
            xytext=(-4 if k > p // 2 - 8 else 0, 7),
            textcoords="offset points",
            ha="right" if k > p // 2 - 8 else "center",
            fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8},
        )
    top = 1.25 * max(ratios[first:].max(), bound)
    panel.set(xlim=(0, p // 2 + 1), ylim=(0, top), xlabel=f"bin k, period {p}/k")
    panel.set_ylabel("size / median")
    panel.legend(loc="upper left", bbox_to_anchor=(0.2, 1.0))
    panel.set_title(f"{of} of the numbers 0 … {p - 1}: spectrum over their order")
    return figure
