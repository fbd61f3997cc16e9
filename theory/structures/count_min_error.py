"""The mean error of the count-min sketch over random cells, given the counts.

The sketch has d rows of w cells.  In each row, every other item j is in the cell of item i with
probability s = 1/w, independently.  The error A_i of item i in a row is the sum of the counts c_j
of the other items in the cell of i, so it has the probability generating function

    E z^{A_i} = Π_{j≠i} (1 − s + s·z^{c_j}),

which is the product over all items divided by one factor.  The error of the sketch is the minimum
of the errors in d rows, which are independent and distributed as A_i, so

    E min = Σ_{t≥0} P(A_i > t)^d.

For d = 1 this mean is s·Σ_{j≠i} c_j; its mean over streams is given in `sketches.py`.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import scipy  # its filters are loaded when they are used

from theory import machine
from theory.kinds import Integers, Reals, Within, checked
from theory.structures.points import Size


@checked
def count_min_error(
    counts: Annotated[Any, Integers("V", Within(least=0))],
    weights: Annotated[Any, Reals("V", Within(least=0))],
    n_rows: Size,
    n_cells: Annotated[Size, Within(least=2)],
) -> float:
    """The mean error of the count-min sketch over random cells, for given counts.

    The sketch has `n_rows` rows of `n_cells` ≥ 2 cells, and each item has one cell in each row.
    The cell of each item in each row is uniform and independent.  A cell contains the sum of the
    counts of its items, and the estimate for an item is the minimum of its cells over the rows.
    The error for an item is its estimate minus its count, and the mean is also over the queried
    item.  Of the V items, item i has the count `counts[i]` and is queried with probability
    `weights[i]`; both arrays have shape (V,).  Raises ValueError for sums of counts that do not fit
    in memory.
    """
    c, p, rows = counts, weights, n_rows
    items = c.sum(dtype=np.float64)
    machine.fits_in_memory(f"{items:.3g} counted items", 64 * int(items), "give smaller counts")
    s = 1 / n_cells
    probabilities = np.zeros(c.sum() + 1)
    probabilities[0] = 1.0
    for each in c[c > 0]:
        shifted = np.append(np.zeros(each), probabilities[:-each])
        probabilities = (1 - s) * probabilities + s * shifted
    total = 0.0
    for each in np.unique(c):
        others = _without(probabilities, int(each), s)
        more = np.clip(1 - others.cumsum(), 0, 1)
        total += p[c == each].sum() * (more**rows).sum()
    return float(total)


def _without(probabilities: np.ndarray, count: int, s: float) -> np.ndarray:
    """The distribution (N,) of a sum without a term, which is `count` with probability s, else 0.

    The power series with the coefficients `probabilities` (N,) is divided by 1 − s + s·z^count.
    """
    if count == 0:
        return probabilities
    rows = np.pad(probabilities, (0, -len(probabilities) % count)).reshape(-1, count)
    divided = scipy.signal.lfilter([1.0], [1 - s, s], rows, axis=0)
    return np.asarray(divided.ravel()[: len(probabilities)])
