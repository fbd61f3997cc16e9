"""The mean error of count-min over random cells, given what was counted.

Another item j has the cell of item i with probability s = 1/w in each row, on its own: so what it
is off by in a row, A_i, has the generating function

    E z^{A_i} = Π_{j≠i} (1 − s + s·z^{c_j}),

the product over all items divided by one factor; and count-min of d rows is off by the least of d
independent ones,

    E min = Σ_{t≥0} P(A_i > t)^d.

For d = 1 it is s·Σ_{j≠i} c_j, which `sketches.py` has on average over streams too.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.signal import lfilter

from theory import checks
from theory.checks import InputError


def count_min_error(counts: ArrayLike, weights: ArrayLike, d: int, w: int) -> float:
    """Σ_i p_i·E min for counts c (V,) of items that are asked for with weights p (V,), d rows of w
    random cells.

    Raises ValueError for counts that are not whole and at least 0, weights below 0, shapes that
    differ, d < 1 and w < 2.
    """
    c, p = checks.step_counts("counts", counts), checks.nonnegative("weights", weights)
    if c.ndim != 1 or c.shape != p.shape:
        raise InputError(f"counts have shape {c.shape} and weights {p.shape}: give (V,) of both")
    rows = checks.dimension("d", d)
    if checks.dimension("w", w) < 2:
        raise InputError("w is 1: give at least 2 cells, as in one all items are added")
    s = 1 / w
    chances = np.zeros(c.sum() + 1)
    chances[0] = 1.0
    for each in c[c > 0]:
        shifted = np.append(np.zeros(each), chances[:-each])
        chances = (1 - s) * chances + s * shifted
    total = 0.0
    for each in np.unique(c):
        factor = np.zeros(each + 1)
        factor[0] += 1 - s
        factor[-1] += s
        others = lfilter([1.0], factor, chances)
        more = np.clip(1 - others.cumsum(), 0, 1)
        total += p[c == each].sum() * (more**rows).sum()
    return float(total)
