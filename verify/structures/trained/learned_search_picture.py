"""The picture of `learned-search`: accuracies, first lookups, and the order of the points."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from theory.structures import binary_accuracy
from verify.structures.trained.lookups import Measured
from verify.structures.trained.lookups_picture import by_lookup

SHOWN, SETS = 1500, 40  # numbers of first lookups and of sets of points shown
ENDS = (-1, -0.5, 0, 0.5, 1)


def draw(
    found: Mapping[str, Measured],
    interpolation: Measured,
    points: np.ndarray,
    queries: np.ndarray,
) -> Figure:
    """Draw accuracies after each lookup, for every seed, interpolation search and binary search.

    Each seed has two panels.  The upper panel shows the rank of the point that is looked up first,
    as a function of the query.  The lower panel shows points, coloured by the cells that contain
    them.  The measurements are on ascending `points` (sets, N) and `queries` (sets,).
    """
    count = len(found)
    figure = Figure(figsize=(5 + 3.4 * count, 6.6))
    grid = figure.add_gridspec(2, 1 + count, width_ratios=[1.4, *[1.0] * count])
    N, M = points.shape[1], interpolation.shown.shape[1]
    by_lookup(
        figure.add_subplot(grid[:, 0]),
        {name: each.by_lookup for name, each in found.items()},
        {
            "interpolation search": [proportion.value for proportion in interpolation.by_lookup],
            "binary search, exact": [float(proportion) for proportion in binary_accuracy(N, M)],
        },
    )
    few = slice(SHOWN)
    for i, (name, each) in enumerate(found.items(), start=1):
        first, cells = (figure.add_subplot(grid[row, i]) for row in range(2))
        first.plot(queries[few], interpolation.shown[few, 0] + 1, ".", color="grey", ms=3)
        first.plot(queries[few], each.shown[few, 0] + 1.25, ".", color="tab:blue", ms=3)
        first.set(xlabel="query", xticks=ENDS)
        first.set_title(name, fontsize=9)
        dots = _layout(cells, each, points)
        if i == 1:
            first.set_ylabel("rank of the first point\n(grey: interpolation)")
            cells.set_ylabel("set of points")
        if i == count:
            figure.colorbar(dots, ax=cells, label="cell")
    return figure


def _layout(panel: Axes, found: Measured, points: np.ndarray) -> PathCollection:
    sets = np.repeat(np.arange(SETS), points.shape[1])
    x, cell = points[:SETS].ravel(), found.place[:SETS].ravel()
    panel.set(xlabel="point", xticks=ENDS)
    return panel.scatter(x, sets, c=cell, cmap="viridis", s=8)
