"""The picture of `parity-trained`: the accuracy of each node by seed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure


def draw(nodes: Mapping[str, np.ndarray], parities: Mapping[str, float]) -> Figure:
    """The picture of the accuracy of each node and of the parity, by seed.

    `nodes` are the accuracies of the nodes given the true earlier nodes.  `parities` are the
    accuracies of the parity by autoregressive decoding, shown after the names of the seeds.
    """
    accuracies = np.array(list(nodes.values()))
    figure = Figure(figsize=(7.0, 3.4))
    panel = figure.subplots()
    image = panel.imshow(accuracies, vmin=0.5, vmax=1, aspect="auto")
    for row, column in np.ndindex(*accuracies.shape):
        value = accuracies[row, column]
        colour = "white" if value < 0.75 else "black"
        panel.text(column, row, f"{value:.2f}", color=colour, ha="center", va="center", fontsize=8)
    panel.set_xticks(range(accuracies.shape[1]), list(map(str, range(1, accuracies.shape[1] + 1))))
    names = [f"{name}: {parities[name]:.1%}" for name in nodes]
    panel.set_yticks(range(len(names)), names)
    panel.set(xlabel="node of the tree, the parity last", ylabel="seed: accuracy of the parity")
    figure.colorbar(image, ax=panel, label="accuracy after true nodes")
    return figure
