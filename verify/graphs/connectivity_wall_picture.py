"""The picture of the wall: outputs of one model on a path, on two cliques, and between cycles."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from constructions.transformer import Transformer
from theory.graphs import connected, cycles, distances, two_clique
from theory.graphs import path as path_graph


def draw(counts: Transformer, signed: Transformer) -> Figure:
    """A point for each pair of nodes of four graphs, by its distance and its output, of one-layer
    models for graphs of as many nodes, whose weights are not negative, and signed."""
    N = signed.interface.n_nodes
    graphs = {
        "path": path_graph(N),
        "2Clique": two_clique(N),
        "cycle C₈": cycles(N),
        "two C₄": cycles(N // 2, N // 2),
    }
    figure = Figure(figsize=(11.0, 4.6))
    for panel, model, title in zip(
        figure.subplots(1, 2),
        (counts, signed),
        ("weights ≥ 0, channels I and J", "signed weights: two_cycles(1)"),
        strict=True,
    ):
        shown = dict(list(graphs.items())[0 if model is counts else 2 :])
        for k, (name, A) in enumerate(shown.items()):
            apart, said = distances(A), model.logits(A).numpy()
            at = np.where(connected(A) == 1, apart, N)
            panel.scatter(at + 0.12 * k - 0.18, said, s=16, alpha=0.6, label=name)
        panel.axvline(3.5, color="black", linestyle=":", linewidth=1)
        panel.set_xticks(range(N + 1), [*map(str, range(N)), "not\nconnected"])
        panel.set_xlim(-0.6, N + 0.9)
        panel.set_xlabel("distance of the pair, graphs side by side (dotted: 3^L, of L = 1 layer)")
        panel.set_title(title)
        panel.legend(loc="upper right", ncols=2, framealpha=1.0)
    first, second = figure.axes
    across = counts.logits(two_clique(N)).numpy()[connected(two_clique(N)) == 0].min()
    first.axhline(across, color="tab:orange", linewidth=1)
    first.set_yscale("log", base=2)
    first.set_ylabel("output (line: the least between two cliques)")
    first.set_ylim(top=8 * first.get_ylim()[1])
    second.set_ylim(top=1.35 * second.get_ylim()[1])
    second.axhline(0, color="black", linewidth=1)
    second.set_ylabel("output")
    return figure
