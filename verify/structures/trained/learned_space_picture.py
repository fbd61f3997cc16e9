"""The picture of `learned-space`: contents of extra cells, and cells of first lookups."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from verify.structures.trained.lookups import Measured

SHOWN, N_QUERIES = 24, 400  # sets whose cells are shown, and first lookups


def draw(
    found: Mapping[str, Measured],
    stored: Mapping[str, np.ndarray],
    points: np.ndarray,
    queries: np.ndarray,
) -> Figure:
    """Draw, for each network, the contents of extra cells and the cells of first lookups.

    `stored` (sets, T) contains the contents of the T extra cells for each set, and is coloured by
    the mean point of the set.  The cell of the first lookup is drawn as a function of the query,
    and extra cells are above the line.
    """
    N = points.shape[1]
    figure = Figure(figsize=(2.8 * len(found), 6))
    panels = figure.subplots(2, len(found), squeeze=False)
    for (upper, lower), (name, each) in zip(panels.T, found.items(), strict=True):
        cells = stored[name][:SHOWN]
        colour = np.repeat(points[:SHOWN].mean(1), cells.shape[1])
        at = np.tile(np.arange(cells.shape[1]), len(cells))
        upper.scatter(at, cells.ravel(), c=colour, cmap="viridis", s=6)
        upper.set(xlabel="extra cell", ylim=(-1.05, 1.05))
        upper.set_title(name, fontsize=9)
        first = each.shown[:N_QUERIES, 0]
        place = np.take_along_axis(each.place[:N_QUERIES], np.minimum(first, N - 1)[:, None], 1)[
            :, 0
        ]
        lower.plot(queries[:N_QUERIES], np.where(first < N, place, first), ".", ms=3)
        lower.axhline(N - 0.5, color="grey", lw=0.8)
        lower.set(xlabel="query", ylim=(-1, N + cells.shape[1]))
    panels[0, 0].set_ylabel("content")
    panels[1, 0].set_ylabel("cell of the first lookup")
    return figure
