"""The picture of `one-gradient-step`: the scores of the construction and of a gradient step."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from theory.language import ParityTree


def draw(tree: ParityTree, W: np.ndarray, n: int) -> Figure:
    """The picture of two sets of scores: by the construction and after a gradient step.

    The rows of `W` (k − 1, d + k − 2) are the scores of the k − 1 nodes of the tree after one
    gradient step on n samples, for all tokens but the last.
    """
    figure = Figure(figsize=(9.0, 4.2))
    for panel, shown, title in zip(
        figure.subplots(1, 2, sharey=True),
        (tree.scores, W),
        ("construction", f"one gradient step on {n} samples"),
        strict=True,
    ):
        image = panel.imshow(shown, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
        panel.axvline(tree.d - 0.5, color="black", linewidth=0.6)
        panel.set_title(title)
        panel.set_xlabel(f"token j: {tree.d} bits, then nodes", fontsize=9)
        panel.tick_params(labelsize=8)
    figure.axes[0].set_ylabel("node", fontsize=9)
    figure.colorbar(image, ax=figure.axes, label="score")
    return figure
