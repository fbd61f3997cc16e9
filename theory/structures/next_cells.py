"""Where binary and interpolation search would look next, given what another search has seen.

So an unknown strategy, for example a trained network, is compared with them lookup by lookup, also
where its earlier lookups differ from theirs.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import Integers, Numbers, Within, checked
from theory.structures.interpolation_search import interpolated
from theory.structures.points import Ascending, End

Seen: TypeAlias = Annotated[Any, Integers("sets M", Within(least=0, below="N"))]
"""The cells that M lookups have seen, shape (sets, M)."""
PointSets: TypeAlias = Annotated[Any, Ascending("sets N")]
"""Sets of points in ascending order, none twice, shape (sets, N)."""


@checked
def next_cells(
    seen: Seen, points: PointSets, queries: Annotated[Any, Numbers("sets")], low: End, high: End
) -> dict[str, np.ndarray]:
    """The cells (sets, M) at which each lookup would be, given those before it: "binary", the
    middle of the bracket, and "interpolation" between points from low to high.

    Raises ValueError for points that are not between low and high.
    """
    rows, N = points.shape
    lo, hi = np.full(rows, -1), np.full(rows, N)
    middles, places = [], []
    padded = np.hstack([np.full((rows, 1), low), points, np.full((rows, 1), high)])
    for at in seen.T:
        v_lo, v_hi = (np.take_along_axis(padded, end[:, None] + 1, 1)[:, 0] for end in (lo, hi))
        middles.append(np.maximum((lo + hi) // 2, 0))
        place = interpolated(queries, lo + 1, hi + 1, v_lo, v_hi) - 1
        places.append(np.clip(place, 0, N - 1))
        right = np.take_along_axis(points, at[:, None], 1)[:, 0] <= queries
        lo, hi = np.where(right, np.maximum(lo, at), lo), np.where(right, hi, np.minimum(hi, at))
    return {"binary": np.stack(middles, 1), "interpolation": np.stack(places, 1)}
