"""The picture of `good-turing`: a histogram of Good–Turing errors, and two bounds."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from theory.language import deviation_bound, most_mean_square


def draw(drawn: np.ndarray, documents: int) -> Figure:
    """The histogram of the Good–Turing errors `drawn`, with bounds.

    The bounds are the bound on the root mean square of the errors, and the bound that holds with
    probability 95 %.
    """
    figure = Figure(figsize=(7, 3.6))
    panel = figure.subplots()
    panel.hist(drawn, bins=25, color="0.75")
    for sign in (-1, 1):
        label = "bound on the root mean square" if sign > 0 else None
        panel.axvline(sign * float(most_mean_square(documents)) ** 0.5, color="C0", label=label)
        label = "bound with probability 95 % [KNVZ2025]" if sign > 0 else None
        panel.axvline(sign * deviation_bound(documents, 0.05), color="C3", ls="--", label=label)
    panel.set(xlabel="error MF − M of the Good–Turing estimate", ylabel="number of corpora")
    panel.set_title(f"{len(drawn)} corpora of {documents} documents")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
