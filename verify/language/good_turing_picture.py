"""The picture of `good-turing`: a histogram of MF − M over random corpora, and two bounds."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from theory.language import deviation_bound, most_mean_square


def draw(drawn: np.ndarray, documents: int) -> Figure:
    """The histogram of MF − M, the bound on its root mean square, and the 95 % bound."""
    figure = Figure(figsize=(7, 3.6))
    panel = figure.subplots()
    panel.hist(drawn, bins=25, color="0.75")
    for sign in (-1, 1):
        label = "bound on the root mean square" if sign > 0 else None
        panel.axvline(sign * float(most_mean_square(documents)) ** 0.5, color="C0", label=label)
        label = "bound with probability 95 % [KNVZ2025]" if sign > 0 else None
        panel.axvline(sign * deviation_bound(documents, 0.05), color="C3", ls="--", label=label)
    panel.set(xlabel="MF − M", ylabel="corpora")
    panel.set_title(f"{len(drawn)} corpora of {documents} documents")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
