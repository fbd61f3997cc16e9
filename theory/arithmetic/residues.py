"""Why residues need products: no sums of a part of a and a part of b add modulo m.

A token that asks the same whatever a and b are finds, by one layer of linear or uniform attention
without an MLP, logits

    z_c(a, b) = u_c(a) + v_c(b),     c = 0, …, m − 1.

**No such logits are largest at c = a + b mod m for all pairs, m ≥ 2.**  Let r ≠ 0.  Of the pairs of
sum 0 each a, and each b, is in one; so is it of the pairs of sum r.  Summed over either, z_0 − z_r
is the same number Σ_a (u_0 − u_r)(a) + Σ_b (v_0 − v_r)(b): above 0 over the first, below 0 over the
second.  Over whole numbers, where sums do not turn round, such logits do add: 2c(a + b) − c².

A linear head whose token asks by b has products of a and b, and an MLP has others; neither is
meant.
"""

from __future__ import annotations

import numpy as np

from theory import machine
from theory.kinds import CountFrom2, InputError, Steps, checked


@checked
def demands(m: CountFrom2, r: Steps) -> np.ndarray:
    """The demands z_0 > z_r at pairs of sum 0 and z_r > z_0 at pairs of sum r, a row for each, by
    the unknowns (u_0 − u_r)(0 … m − 1), (v_0 − v_r)(0 … m − 1): (2m, 2m) of −1, 0, 1.

    Rows that add up to 0 cannot all be above 0.  Raises `ValueError` for r ≡ 0 mod m, and for more
    than the memory holds.
    """
    if r % m == 0:
        raise InputError(f"r is {r}: give a residue that is not 0 mod m = {m}")
    machine.fits_in_memory(f"the demands mod {m}", 32 * m * m, "take a smaller m")
    a = np.arange(m)
    rows = np.zeros((2, m, 2 * m), dtype=np.int64)
    for sign, (of_sum, total) in zip((1, -1), enumerate((0, r % m)), strict=True):
        rows[of_sum, a, a] = sign
        rows[of_sum, a, m + (total - a) % m] = sign
    return rows.reshape(2 * m, 2 * m)
