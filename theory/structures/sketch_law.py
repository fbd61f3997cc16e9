"""The mean error of count-min over random cells, given what was counted.

Another item j has the cell of item i with probability s = 1/w in each row, independently: so the
error in a row, A_i = Σ of the counts c_j of those that do, has the probability generating function

    E z^{A_i} = Π_{j≠i} (1 − s + s·z^{c_j}),

the product over all items divided by one factor; and the error of count-min of d rows is the
smallest of d independent ones,

    E min = Σ_{t≥0} P(A_i > t)^d.

For d = 1 it is s·Σ_{j≠i} c_j, which `sketches.py` has on average over streams too.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from scipy.signal import lfilter

from theory import machine
from theory.kinds import Integers, Reals, Within, checked
from theory.structures.points import Size


@checked
def count_min_error(
    counts: Annotated[Any, Integers("V", Within(least=0))],
    weights: Annotated[Any, Reals("V", Within(least=0))],
    d: Size,
    w: Annotated[Size, Within(least=2)],
) -> float:
    """Σ_i p_i·E min for counts c (V,) of items that are queried with weights p (V,), d rows of
    w ≥ 2 random cells: in one cell all items are added.

    Raises ValueError for counts whose sums no memory holds.
    """
    c, p, rows = counts, weights, d
    items = c.sum(dtype=np.float64)
    machine.fits_in_memory(f"{items:.3g} counted items", 64 * int(items), "give smaller counts")
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
