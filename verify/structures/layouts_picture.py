"""The picture of layouts: points coloured by their place in the order, and accuracies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from theory.structures import kd_order, row_order
from verify.evidence.statistics import Mean
from verify.structures.accuracies_picture import by_lookup

POINTS, ROWS = 127, 8
STYLE = {
    "kd-tree": ("#1f5fa8", "kd-tree"),
    "bands": ("#b5651d", "4 bands, chosen at once"),
    "rows": ("#2e8b57", "4 rows of 8 points, chosen at once"),
}


def draw(found: Mapping[str, Sequence[Mean]], rng: np.random.Generator) -> Figure:
    """Draw points of the plane in the order of a kd-tree and of rows, and accuracies.

    One panel shows points of a line in the order of a kd-tree.
    """
    figure = Figure(figsize=(10.5, 6.6))
    panels = figure.subplots(2, 2, height_ratios=[1.6, 1])
    plane = rng.uniform(size=(POINTS, 2))
    orders = {
        "kd-tree: place in the order": kd_order(plane),
        f"{ROWS} rows in alternating directions": row_order(plane, ROWS),
    }
    for panel, (title, order) in zip(panels[0], orders.items(), strict=True):
        x, y = plane[order].T
        dots = panel.scatter(x, y, c=np.arange(POINTS), cmap="viridis", s=26, zorder=2)
        panel.plot(x, y, color="0.8", lw=0.6, zorder=1)
        panel.set_title(title, fontsize=9)
        panel.set_aspect("equal")
        panel.set_xticks([])
        panel.set_yticks([])
    figure.colorbar(dots, ax=panels[0], label="cell", shrink=0.8)
    on_a_line(panels[1, 0], rng.uniform(size=31))
    beside = panels[1, 1]
    by_lookup(beside, found, STYLE)
    beside.set(ylabel="nearest neighbour found, %", ylim=(0, 130), yticks=range(0, 101, 20))
    beside.set_title("32 uniform points of the plane", fontsize=9)
    beside.legend(loc="upper left")
    return figure


def on_a_line(panel: Axes, points: np.ndarray) -> None:
    """Draw points of a line at the height of their cells.

    In one dimension a kd-tree sorts the points.
    """
    order = kd_order(points[:, None])
    cells = np.arange(len(points))
    panel.scatter(points[order], cells, c=cells, cmap="viridis", s=22)
    panel.set_xlabel("point")
    panel.set_ylabel("cell")
    panel.set_title("kd-tree in one dimension: sorted", fontsize=9)
