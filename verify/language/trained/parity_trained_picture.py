"""The picture of `parity-trained`: which steps each seed has learned."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure


def draw(nodes: Mapping[str, np.ndarray], parities: Mapping[str, float]) -> Figure:
    """By seed, the share of each step's values that are right after the true ones, (steps,), and of
    words about whose parity the seed is right, going on from its own steps."""
    shares = np.array(list(nodes.values()))
    figure = Figure(figsize=(7.0, 3.4))
    panel = figure.subplots()
    image = panel.imshow(shares, vmin=0.5, vmax=1, aspect="auto")
    for row, column in np.ndindex(*shares.shape):
        share = shares[row, column]
        colour = "white" if share < 0.75 else "black"
        panel.text(column, row, f"{share:.2f}", color=colour, ha="center", va="center", fontsize=8)
    panel.set_xticks(range(shares.shape[1]), list(map(str, range(1, shares.shape[1] + 1))))
    names = [f"{name}: {parities[name]:.1%}" for name in nodes]
    panel.set_yticks(range(len(names)), names)
    panel.set(xlabel="step of the tree, the parity last", ylabel="seed: words right by own steps")
    figure.colorbar(image, ax=panel, label="share right, after true steps")
    return figure
