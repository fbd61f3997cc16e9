"""The picture of `sensitivity`: Fourier weights by degree, and influences by bit."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from theory.sensitivity import fourier_weights, influences, mean_influence

COLUMNS = 4


def draw(functions: Mapping[str, np.ndarray]) -> Figure:
    """The figure of Fourier weights (above) and influences (below), four functions in a row.

    `functions` maps the name of each function of d bits to its table (2^d,).
    """
    columns = min(COLUMNS, len(functions))
    lines = -(-len(functions) // columns)
    figure = Figure(figsize=(max(4.5, 3.2 * columns), 5.0 * lines))
    panels = figure.subplots(2 * lines, columns, squeeze=False)
    rest = iter(functions.items())
    for above, below in zip(panels[::2], panels[1::2], strict=True):
        shown = list(islice(rest, columns))
        for place, (name, values) in enumerate(shown):
            weights = [float(each) for each in fourier_weights(values)]
            above[place].set_title(f"{name}, Sens = {mean_influence(values)}")
            bars(above[place], range(len(weights)), weights, "C0", "degree |S|")
            heights = [float(each) for each in influences(values)]
            bars(below[place], range(1, len(heights) + 1), heights, "C1", "bit i")
        for panel in (*above[len(shown) :], *below[len(shown) :]):
            panel.set_axis_off()
        above[0].set_ylabel("Fourier weight")
        below[0].set_ylabel("influence")
    return figure


def bars(panel: Axes, places: range, heights: list[float], colour: str, label: str) -> None:
    """Draws bars of numbers from 0 to 1."""
    panel.bar(places, heights, color=colour)
    panel.set(ylim=(0, 1.05), xlabel=label)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
