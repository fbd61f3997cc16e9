"""The picture of the claim `connectivity-layers`: layers against the diameter, by construction."""

from __future__ import annotations

from collections.abc import Mapping
from math import log

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from theory.graphs import Pointers

MARKS = {
    "tripling": ("o", "#1f5fa8", "tripling, ⌈log₃D⌉"),
    "squaring": ("s", "#2e8b57", "squaring, ⌈log₂D⌉"),
    "pointers": ("^", "#b5651d", "pointer doubling, 1 + ⌈log₂h⌉"),
    "machine": ("D", "#7a4fa3", "PRAM program, ≤ 2(n − 1)"),
}


def draw(graphs: Mapping[str, Pointers], found: Mapping[str, Mapping[str, int]]) -> Figure:
    """Draws a figure with the single panel of `against_diameter`."""
    figure = Figure(figsize=(6.4, 4.2))
    against_diameter(figure.subplots(), graphs, found)
    return figure


def against_diameter(
    panel: Axes, graphs: Mapping[str, Pointers], found: Mapping[str, Mapping[str, int]]
) -> None:
    """Draws the smallest number of layers with which each construction is right, against diameter.

    There is a mark for each graph, and lines for log₃D and log₂D as functions of the diameter D.
    """
    D = np.array([graph.diameter for graph in graphs.values()])
    shift = np.linspace(-0.04, 0.04, len(MARKS))
    for (name, (marker, colour, label)), off in zip(MARKS.items(), shift, strict=True):
        layers = [found[graph][name] for graph in graphs]
        panel.plot(D * 2**off, layers, marker, color=colour, label=label, ms=5, alpha=0.8)
    line = np.geomspace(1, max(D.max(), 2), 50)
    for base, name in ((3, "tripling"), (2, "squaring")):
        label = f"log{'₂' if base == 2 else '₃'}D"
        panel.plot(line, np.log(line) / log(base), ":", color=MARKS[name][1], lw=1, label=label)
    panel.set_xscale("log", base=2)
    ticks = [2**k for k in range(int(np.log2(line[-1])) + 1)]
    panel.set_xticks(ticks, [str(tick) for tick in ticks])
    panel.set_xlabel("diameter D")
    panel.set_ylabel("layers")
    panel.set_title("smallest number of layers that output all connected pairs", fontsize=9)
    panel.set_ylim(-0.3, 1.45 * panel.get_ylim()[1])  # the legend has six lines
    panel.legend(loc="upper left", fontsize=8)
