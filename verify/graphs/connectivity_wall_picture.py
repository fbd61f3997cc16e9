"""The picture of the claim `connectivity-wall`: outputs against distance, on four graphs."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from constructions.transformer import Transformer
from theory.graphs import connected, cycles, distances, two_clique
from theory.graphs import path as path_graph

COLOURS = {
    "path": "tab:blue",
    "2Clique": "tab:orange",
    "cycle C₈": "tab:green",
    "two C₄": "tab:red",
}


def draw(counts: Transformer, signed: Transformer) -> Figure:
    """Draws the output of each pair of nodes against their distance, on four graphs.

    The one-layer models are `counts`, with weights ≥ 0, and `signed`, with signed weights.
    """
    N = signed.interface.n_nodes
    graphs = {
        "path": path_graph(N),
        "2Clique": two_clique(N),
        "cycle C₈": cycles(N),
        "two C₄": cycles(N // 2, N // 2),
    }
    figure = Figure(figsize=(11.0, 4.6))
    first, second = figure.subplots(1, 2)
    across = counts.logits(two_clique(N)).numpy()[connected(two_clique(N)) == 0].min()
    first.axhline(across, color=COLOURS["2Clique"], linewidth=1, label="minimum between cliques")
    second.axhline(0, color="black", linewidth=1, label="threshold 0")
    for panel, model, title in (
        (first, counts, "weights ≥ 0, channels I and J, one layer"),
        (second, signed, "signed weights, two_cycles(1)"),
    ):
        shown = list(graphs.items())[0 if model is counts else 2 :]
        for k, (name, A) in enumerate(shown):
            at = np.where(connected(A) == 1, distances(A), N) + 0.12 * k - 0.18
            outputs = model.logits(A).numpy()
            panel.scatter(at, outputs, s=16, alpha=0.6, label=name, color=COLOURS[name])
        panel.axvline(3.5, color="black", linestyle=":", linewidth=1, label="distance 3 = 3^L")
        panel.set_xticks(range(N + 1), [*map(str, range(N)), "none"])
        panel.set_xlim(-0.6, N + 0.6)
        panel.set_xlabel("distance of the pair (none: not connected)")
        panel.set_ylabel("output")
        panel.set_title(title)
    first.set_yscale("log", base=2)
    first.set_ylim(top=8 * first.get_ylim()[1])
    second.set_ylim(top=1.4 * second.get_ylim()[1])
    for panel in (first, second):
        panel.legend(loc="upper right", ncols=2, framealpha=1.0)
    return figure
