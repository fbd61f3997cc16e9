"""The picture of models trained on graphs: what each is right about, and what free weights become."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from theory.graphs import kronecker, two_channels
from verify.graphs.connectivity_trained import Seeds, grids_of

TITLES = {
    ("channels", 1): "two channels, one layer",
    ("dense", 1): "free weights, one layer",
    ("small", 1): "standard, one layer",
    ("small", 2): "standard, two layers",
}
TRIED = {"within": "within 3", "beyond": "beyond 3", "two_chain": "2Chain", "two_clique": "2Clique"}
COLOURS = {"within": "tab:blue", "all": "tab:orange", "beyond": "tab:red"}


def draw(path: Path, seen: Mapping[tuple[str, int], Seeds]) -> None:
    """Saved to path: above, every seed's share of right graphs by data; below, W of free weights
    beside its projection onto two channels."""
    figure = Figure(figsize=(15, 7.6), layout="constrained")
    panels = figure.subplots(2, 4)
    for panel, (which, title) in zip(panels[0], TITLES.items(), strict=True):
        _shares(panel, seen[which], title)
    panels[0, 0].set_ylabel("share of graphs that are right")
    free = seen["dense", 1]
    for pair, graphs in zip((panels[1, :2], panels[1, 2:]), ("within", "all"), strict=True):
        model = free[graphs][0].model
        n, W = model.interface.n, grids_of(model)[0]
        largest = float(np.abs(W).max())
        for panel, matrix, what in zip(
            pair,
            (W, kronecker(two_channels(W, n), n)),
            ("learned W", "its two channels"),
            strict=True,
        ):
            panel.imshow(matrix, cmap="RdBu", vmin=-largest, vmax=largest)
            panel.set_title(f"free weights, graphs {graphs}: {what}", fontsize=10)
            for at in range(n, len(W), n):
                panel.axhline(at - 0.5, color="black", lw=0.5)
                panel.axvline(at - 0.5, color="black", lw=0.5)
            panel.set_xticks([n / 2 - 0.5, 3 * n / 2 - 0.5], ["I", "A"])
            panel.set_yticks([n / 2 - 0.5, 3 * n / 2 - 0.5], ["I", "A"])
    figure.savefig(path, dpi=150)


def _shares(panel: Axes, by: Seeds, title: str) -> None:
    """A dot for every seed, in a column for what it is tried on, by the graphs of its training."""
    for i, (graphs, seeds) in enumerate(by.items()):
        shift = 0.22 * (i - (len(by) - 1) / 2)
        for j, each in enumerate(seeds):
            places = np.arange(len(TRIED)) + shift + 0.05 * (j - (len(seeds) - 1) / 2)
            shares = [getattr(each.right, name) for name in TRIED]
            label = f"trained on graphs {graphs}" if not j else None
            panel.plot(places, shares, "o", ms=5, alpha=0.8, color=COLOURS[graphs], label=label)
    panel.set_xticks(range(len(TRIED)), [*TRIED.values()], fontsize=8)
    panel.set(ylim=(-0.05, 1.05))
    panel.set_title(title, fontsize=10)
    panel.legend(frameon=False, fontsize=8, loc="center left")
    panel.grid(alpha=0.3, axis="y")
