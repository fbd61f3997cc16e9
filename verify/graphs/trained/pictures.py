"""Pictures of models trained on graphs: accuracies of every seed, and learned free weights."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from theory.graphs import kronecker, two_channels
from verify.graphs.trained.trial import Seeds, grids_of

TRIED = {"within": "within 3", "beyond": "beyond 3", "two_chain": "2Chain", "two_clique": "2Clique"}
COLOURS = {"within": "tab:blue", "all": "tab:orange", "beyond": "tab:red"}


def draw(channels: Seeds, free: Seeds) -> Figure:
    """Draws the accuracies of every seed by training graphs, and learned free weights W.

    W is shown next to its projection A ⊗ I + B ⊗ J, where J is the all-ones matrix.
    """
    figure = Figure(figsize=(15, 8.4))
    panels = figure.subplots(2, 3)
    _accuracies(panels[0, 0], channels, "two channels, one layer")
    _accuracies(panels[1, 0], free, "free weights, one layer")
    for row, graphs in zip(panels[:, 1:], free, strict=True):
        model = free[graphs][0].model
        n, W = model.interface.n_nodes, grids_of(model)[0]
        largest, middles = float(np.abs(W).max()), [n / 2 - 0.5, 3 * n / 2 - 0.5]
        both = (W, "learned W"), (kronecker(two_channels(W, n), n), "its two channels")
        for panel, (matrix, what) in zip(row, both, strict=True):
            panel.imshow(matrix, cmap="RdBu", vmin=-largest, vmax=largest)
            panel.set_title(f"free weights, graphs: {graphs}; {what}")
            panel.axhline(n - 0.5, color="black", lw=0.5)
            panel.axvline(n - 0.5, color="black", lw=0.5)
            panel.set_xticks(middles, ["I", "A"])
            panel.set_yticks(middles, ["I", "A"])
    return figure


def draw_by_depth(one: Seeds, two: Seeds) -> Figure:
    """Draws the accuracies of every seed, for models of one layer and of two layers."""
    figure = Figure(figsize=(11, 4.4))
    for panel, by, depth in zip(figure.subplots(1, 2), (one, two), ("one", "two"), strict=True):
        _accuracies(panel, by, f"softmax, {depth} layer{'s' * (depth == 'two')}")
    return figure


def _accuracies(panel: Axes, by: Seeds, title: str) -> None:
    """A dot for every seed, one column for each set of test graphs, coloured by training graphs."""
    for i, (graphs, seeds) in enumerate(by.items()):
        shift = 0.22 * (i - (len(by) - 1) / 2)
        for j, each in enumerate(seeds):
            places = np.arange(len(TRIED)) + shift + 0.05 * (j - (len(seeds) - 1) / 2)
            found = [getattr(each.right, name) for name in TRIED]
            label = None if j else f"trained on graphs: {graphs}"
            panel.plot(places, found, "o", ms=5, alpha=0.8, color=COLOURS[graphs], label=label)
    panel.set_xticks(range(len(TRIED)), [*TRIED.values()], fontsize=9)
    panel.set(ylim=(-0.05, 1.05), ylabel="fraction of graphs with all pairs right")
    panel.set_title(title)
    panel.legend(loc="center")
    panel.grid(axis="y")
