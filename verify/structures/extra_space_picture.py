"""The picture of a table: the points in its extra cells, and its accuracy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from theory.structures import table_accuracy, table_of

N, T = 16, 32
SIZES = [2**k for k in range(1, 8)]


def draw(figures: Mapping[int, Mapping[int, float]], rng: np.random.Generator) -> Figure:
    """Draw the points in the extra cells (left), and accuracy by number of extra cells (right)."""
    figure = Figure(figsize=(9.6, 4))
    left, right = figure.subplots(1, 2)
    points = np.sort(rng.uniform(size=N))
    middles = (np.arange(T) + 0.5) / T
    contents = points[table_of(points, T, 0.0, 1.0)]
    left.plot([middles, contents], [np.ones(T), np.zeros(T)], color="0.7", lw=0.8, zorder=1)
    left.scatter(middles, np.ones(T), c=contents, cmap="viridis", s=22, marker="s")
    left.scatter(points, np.zeros(N), c=points, cmap="viridis", s=30)
    left.set_yticks([0, 1], ["points", "extra cells"])
    left.set_xlabel("middle of the bucket, and its point")
    left.set_title(f"contents of {T} extra cells, {N} points", fontsize=9)
    for (points_of, published), colour in zip(figures.items(), ("#1f5fa8", "#b5651d"), strict=True):
        integral = [100 * table_accuracy(points_of, size) for size in SIZES]
        right.plot(SIZES, integral, color=colour, lw=1, label=f"{points_of} points, the integral")
        drawn = list(published), list(published.values())
        right.plot(*drawn, "o", color=colour, ms=4, label="sampled")
    right.set_xscale("log", base=2)
    right.set_xticks(SIZES, list(map(str, SIZES)))
    right.set_xlabel("extra cells T")
    right.set_ylabel("second lookup correct, %")
    right.set_title("two lookups", fontsize=9)
    right.legend()
    return figure
