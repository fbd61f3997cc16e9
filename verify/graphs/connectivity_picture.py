"""The picture of connectivity: whom one node sees on a graph, and all pairs, layer by layer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

from constructions.transformer import Transformer
from theory.graphs import distances, from_edges

ARM, LAYERS = 10, 3


def draw(build: Callable[[int, int], Transformer]) -> Figure:
    """A ladder-like tree and a component beside it; after each layer, the nodes that
    the leftmost one sees, and the matrix H > 0, whose rows are all nodes by their distance."""
    A = caterpillar()
    apart = distances(A)
    order = np.lexsort((np.arange(len(A)), np.where(apart[0] < 0, len(A), apart[0])))
    A = A[np.ix_(order, order)]
    x, y = places(A)
    streams = list(build(len(A), LAYERS).streams(A))
    figure = Figure(figsize=(13.0, 4.6))
    panels = figure.subplots(2, len(streams), height_ratios=[1, 2.2])
    edges = np.argwhere(np.triu(A, 1))
    for after, H in enumerate(streams):
        seen, (above, below) = H.numpy() > 0, panels[:, after]
        for u, v in edges:
            above.plot(x[[u, v]], y[[u, v]], color="0.6", linewidth=0.8, zorder=1)
        colours = np.where(seen[0], "tab:orange", "white")
        colours[0] = "black"
        above.scatter(x, y, c=colours, s=26, edgecolors="black", linewidths=0.6, zorder=2)
        reached = f"distance ≤ {3**after}"
        title = "A itself; black: the source" if after == 0 else f"after layer {after}"
        above.set_title(f"{title}: {reached}", fontsize=9)
        above.axis("off")
        below.imshow(seen, cmap="Greys", vmin=0, vmax=1.3)
        below.set_xticks([])
        below.set_yticks([])
        below.set_xlabel("pairs of nodes with H > 0", fontsize=8)
        below.set_ylabel("by distance from the source", fontsize=8)
    return figure


def caterpillar() -> np.ndarray:
    """A path with leaves, and a shorter one beside it."""
    spine = [(i, i + 1) for i in range(2 * ARM)]
    leaves = [(i, 2 * ARM + 1 + k) for k, i in enumerate(range(2, 2 * ARM, 3))]
    n = 2 * ARM + 1 + len(leaves)
    other = [(n + i, n + i + 1) for i in range(ARM)]
    return from_edges(spine + leaves + other, n + ARM + 1)


def places(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where nodes are drawn: across by distance from the first of their component, those of one
    distance below each other, and components below each other."""
    apart, x, y = distances(A), np.zeros(len(A)), np.zeros(len(A))
    first = (apart >= 0).argmax(1)
    taken: dict[tuple[int, int], int] = {}
    for node, root in enumerate(first.tolist()):
        x[node] = apart[root, node]
        key = root, int(x[node])
        y[node] = -taken.get(key, 0) - 2.0 * (root > 0)
        taken[key] = taken.get(key, 0) + 1
    return x, y
