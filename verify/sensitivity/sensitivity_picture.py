"""The picture of `sensitivity`: Fourier weight by degree, and influence by bit."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from theory.sensitivity import fourier_weights, influences, mean_influence


def draw(functions: Mapping[str, np.ndarray]) -> Figure:
    """A column for each function, by name and values (2^d,): weights above, influences below."""
    figure = Figure(figsize=(max(4.5, 2.1 * len(functions)), 4.6))
    panels = figure.subplots(2, len(functions), sharey="row", squeeze=False)
    for (above, below), (name, values) in zip(panels.T, functions.items(), strict=True):
        weights, each = ([float(x) for x in f(values)] for f in (fourier_weights, influences))
        above.bar(range(len(weights)), weights, color="C0")
        above.set_title(f"{name}\nSens = {mean_influence(values)}", fontsize=9)
        above.set_xlabel("degree |S|", fontsize=8)
        below.bar(range(1, len(each) + 1), each, color="C1")
        below.set_xlabel("letter i", fontsize=8)
        for panel in (above, below):
            panel.set_ylim(0, 1.03)
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
            panel.tick_params(labelsize=7)
    panels[0, 0].set_ylabel(r"Fourier weight $\sum \hat f(S)^2$", fontsize=8)
    panels[1, 0].set_ylabel("influence", fontsize=8)
    return figure
