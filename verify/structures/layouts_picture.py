"""The picture of layouts: points coloured by their place in the order, and accuracy by lookup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from theory.structures import kd_order, row_order
from verify.evidence.statistics import Mean
from verify.structures.accuracies import ERRORS

POINTS, ROWS = 127, 8
COLOURS = {"kd-tree": "#1f5fa8", "bands": "#b5651d", "rows": "#2e8b57"}
LABELS = {
    "kd-tree": "kd-tree",
    "bands": "4 bands, chosen at once",
    "rows": "4 rows of 8 points, chosen at once",
}


def draw(found: Mapping[str, Sequence[Mean]], rng: np.random.Generator) -> Figure:
    """A line, the plane by kd-tree and by rows, and accuracies by lookup."""
    figure = Figure(figsize=(10.5, 6.6))
    panels = figure.subplots(2, 2, height_ratios=[1.6, 1])
    plane = rng.uniform(size=(POINTS, 2))
    orders = {
        "kd-tree: place in the order": kd_order(plane),
        f"{ROWS} rows back and forth": row_order(plane, ROWS),
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
    by_lookup(panels[1, 1], found)
    return figure


def on_a_line(panel: Axes, points: np.ndarray) -> None:
    """Points of a line against their cell: a kd-tree in one dimension sorts."""
    order = kd_order(points[:, None])
    cells = np.arange(len(points))
    panel.scatter(points[order], cells, c=cells, cmap="viridis", s=22)
    panel.set_xlabel("point")
    panel.set_ylabel("cell")
    panel.set_title("kd-tree in one dimension: sorted", fontsize=9)


def by_lookup(panel: Axes, found: Mapping[str, Sequence[Mean]]) -> None:
    """Accuracy by lookup, with the errors by which it is compared."""
    for name, means in found.items():
        lookups = range(1, len(means) + 1)
        panel.errorbar(
            lookups,
            [m.mean for m in means],
            [ERRORS * m.error for m in means],
            marker="o",
            ms=4,
            capsize=2,
            color=COLOURS[name],
            label=LABELS[name],
        )
    panel.set_xticks(list(lookups))
    panel.set_xlabel("lookup")
    panel.set_ylabel("nearest neighbour found, %")
    panel.set_title("32 uniform points of the plane", fontsize=9)
    panel.set_ylim(0, 130)
    panel.set_yticks(range(0, 101, 20))
    panel.legend(loc="upper left")
