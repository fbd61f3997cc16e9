"""The picture of `learned-layout`: the plane coloured by cells, and accuracies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from verify.structures.trained.lookups import Measured, Proportion
from verify.structures.trained.lookups_picture import by_lookup

SETS = 60  # number of sets of points shown


def draw(
    found: Mapping[str, Measured],
    fixed: Measured,
    rows: Sequence[Proportion],
    points: np.ndarray,
) -> Figure:
    """Draw accuracies after each lookup, and points coloured by their cells for every seed.

    Points have shape (sets, N, 2).  A line connects the mean points of the cells.  The kd-tree and
    rows are shown, too.
    """
    planes = {**found, "kd-tree": fixed}
    figure = Figure(figsize=(4.4 + 3 * len(planes), 3.8))
    panel, *others = figure.subplots(1, 1 + len(planes), width_ratios=[1.3] + [1] * len(planes))
    by_lookup(
        panel, {**{name: each.by_lookup for name, each in planes.items()}, "rows, at once": rows}
    )
    for place, (name, each) in zip(others, planes.items(), strict=True):
        x, y = points[:SETS].reshape(-1, 2).T
        dots = place.scatter(x, y, c=each.place[:SETS].ravel(), cmap="viridis", s=5)
        laid = np.take_along_axis(points, each.place.argsort(1)[..., None], 1)
        place.plot(*laid.mean(0).T, "-", color="black", lw=0.8)
        place.set_title(name, fontsize=9)
        place.set(aspect="equal", xticks=[], yticks=[])
    figure.colorbar(dots, ax=others, label="cell", shrink=0.7)
    return figure
