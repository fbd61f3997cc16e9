"""The picture of connected components: the label of every node of a path, layer by layer."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from constructions.transformer import Transformer
from theory.kinds import InputError

MOST = 200  # nodes that can be distinguished
WRITTEN = 40  # nodes up to which labels are also written as numbers


def draw(model: Transformer, edges: np.ndarray) -> Figure:
    """The figure of the labels of the nodes of a shuffled path after each layer.

    `edges` is an array (n − 1, 2): the edges of a path of n nodes.  The figure has a row for each
    layer and a column for each node along the path, and labels are colours.  On short paths labels
    are also written as numbers.

    Raises ValueError for more than 200 nodes.
    """
    order = np.append(edges[:, 0], edges[-1:, 1])
    if len(order) > MOST:
        raise InputError(
            f"the path has {len(order)} nodes: give a path of at most {MOST} nodes to draw"
        )
    register = model.stream["p"]
    labels = np.array([H[order, register][:, 0].numpy() for H in model.streams(edges)])
    layers, n = labels.shape
    figure = Figure(figsize=(max(5.0, 0.24 * n + 1.6), 0.3 * layers + 1.6))
    panel = figure.subplots()
    shown = panel.imshow(labels, cmap="viridis", vmin=1, vmax=n, aspect="auto")
    if n <= WRITTEN:
        for layer, row in enumerate(labels):
            for column, label in enumerate(row):
                colour = "black" if label > 0.6 * n else "white"
                panel.text(
                    column, layer, f"{label:g}", color=colour, fontsize=6, ha="center", va="center"
                )
    panel.set_yticks(range(layers), ["embedding", *map(str, range(1, layers))], fontsize=7)
    panel.set_xticks([])
    panel.set_ylabel("after layer")
    panel.set_xlabel(f"the {n} nodes along a path in shuffled order")
    panel.set_title(f"{model.name}: labels", fontsize=9)
    figure.colorbar(shown, label="label")
    return figure
