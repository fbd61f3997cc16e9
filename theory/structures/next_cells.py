"""The next cells of binary and interpolation search, after the lookups of another strategy.

With these cells an unknown strategy, for example a trained network, can be compared with the two
algorithms at each lookup, even if its earlier lookups differ from those of the algorithms.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import InputError, Integers, Numbers, Within, checked
from theory.structures.interpolation_search import next_interpolated
from theory.structures.points import Ascending, End

Seen: TypeAlias = Annotated[Any, Integers("sets M", Within(least=0, below="N"))]
"""The cells of M lookups, shape (sets, M)."""
PointSets: TypeAlias = Annotated[Any, Ascending("sets N")]
"""Sets of distinct points in ascending order, shape (sets, N)."""


@checked
def next_cells(
    seen: Seen, points: PointSets, queries: Annotated[Any, Numbers("sets")], low: End, high: End
) -> dict[str, np.ndarray]:
    """The cells that binary and interpolation search would look up after given earlier lookups.

    `points` (sets, N) contains ascending points in cells 0 … N − 1, and each set has one query.
    `seen` (sets, M) contains the cells that another strategy looked up in M lookups.  For each
    lookup in `seen`, the result contains the cells that the two algorithms would look up instead,
    given the earlier lookups in `seen`.  The two ends are the nearest of these earlier lookups
    below and above the query.  If there is none below, the end is low, before cell 0; if there is
    none above, it is high, after cell N − 1.  The value of the key "binary" (sets, M) is the middle
    between the two ends.  The value of the key "interpolation" (sets, M) is the cell at the place
    that the query would have if the points between the two ends were evenly spaced.  Raises
    ValueError for points that are not between low and high.
    """
    if (points[:, 0] < low).any() or (points[:, -1] > high).any():
        raise InputError(
            f"points are from {points.min():g} to {points.max():g}, but low is {low:g} and high is "
            f"{high:g}: give bounds low and high that enclose all points"
        )
    rows, N = points.shape
    lo, hi = np.full(rows, -1), np.full(rows, N)
    middles, places = [], []
    padded = np.hstack([np.full((rows, 1), low), points, np.full((rows, 1), high)])
    for at in seen.T:
        v_lo, v_hi = (np.take_along_axis(padded, end[:, None] + 1, 1)[:, 0] for end in (lo, hi))
        middles.append(np.maximum((lo + hi) // 2, 0))
        place = next_interpolated(queries, lo + 1, hi + 1, v_lo, v_hi) - 1
        places.append(np.clip(place, 0, N - 1))
        right = np.take_along_axis(points, at[:, None], 1)[:, 0] <= queries
        lo, hi = np.where(right, np.maximum(lo, at), lo), np.where(right, hi, np.minimum(hi, at))
    return {"binary": np.stack(middles, 1), "interpolation": np.stack(places, 1)}
