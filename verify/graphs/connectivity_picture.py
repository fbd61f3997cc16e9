"""The picture of the claim `connectivity`: the support of H, layer by layer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

from constructions.transformer import Transformer
from theory.graphs import distances, from_edges

ARM, LAYERS = 10, 3


def draw(build: Callable[[int, int], Transformer]) -> Figure:
    """Draws where the stream H (n, n) of tripling is positive after each layer, for one graph.

    The graph is a caterpillar and a separate path. The upper panels mark the nodes j with H_ij > 0
    for one node i. The lower panels show the matrix H > 0, with nodes ordered by their distance
    from node i.
    """
    A = caterpillar()
    apart = distances(A)
    order = np.lexsort((np.arange(len(A)), np.where(apart[0] < 0, len(A), apart[0])))
    A = A[np.ix_(order, order)]
    x, y = places(A)
    streams = list(build(len(A), LAYERS).streams(A))
    figure = Figure(figsize=(13.0, 5.2))
    panels = figure.subplots(2, len(streams), height_ratios=[1, 2])
    edges = np.argwhere(np.triu(A, 1))
    for after, H in enumerate(streams):
        seen, (above, below) = H.numpy() > 0, panels[:, after]
        for u, v in edges:
            above.plot(x[[u, v]], y[[u, v]], color="0.6", linewidth=0.8, zorder=1)
        colours = np.where(seen[0], "tab:orange", "white")
        colours[0] = "black"
        above.scatter(x, y, c=colours, s=26, edgecolors="black", linewidths=0.6, zorder=2)
        title = "H = A" if after == 0 else f"after layer {after}"
        above.set_title(f"{title}: distance ≤ {3**after}", fontsize=10)
        above.set_ylim(y.min() - 0.8, y.max() + 0.5)
        above.axis("off")
        below.imshow(seen, cmap="Greys", vmin=0, vmax=1.3)
        below.set_xticks([])
        below.set_yticks([])
    panels[1, 0].set_ylabel("nodes, by distance\nfrom the black node", fontsize=9)
    figure.suptitle("orange: nodes j with H_ij > 0 for the black node i; below: the matrix H > 0")
    return figure


def caterpillar() -> np.ndarray:
    """The adjacency matrix of a path with leaves and a separate shorter path."""
    spine = [(i, i + 1) for i in range(2 * ARM)]
    leaves = [(i, 2 * ARM + 1 + k) for k, i in enumerate(range(2, 2 * ARM, 3))]
    n = 2 * ARM + 1 + len(leaves)
    other = [(n + i, n + i + 1) for i in range(ARM)]
    return from_edges(spine + leaves + other, n + ARM + 1)


def places(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The coordinates of the nodes of a graph A for a picture.

    x is the distance from the first node of the component.  Nodes at the same distance are drawn
    below each other, and components are drawn below each other.
    """
    apart, x, y = distances(A), np.zeros(len(A)), np.zeros(len(A))
    first = (apart >= 0).argmax(1)
    taken: dict[tuple[int, int], int] = {}
    for node, root in enumerate(first.tolist()):
        x[node] = apart[root, node]
        key = root, int(x[node])
        y[node] = -taken.get(key, 0) - 2.0 * (root > 0)
        taken[key] = taken.get(key, 0) + 1
    return x, y
