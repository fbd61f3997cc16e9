"""Residues cannot be added by separable logits z_c(a, b) = u_c(a) + v_c(b), nor by one such layer.

**Theorem.**  Let m ≥ 2.  No functions u_c, v_c on Z/m, c = 0, …, m − 1, are such that for all a and
b the largest of the numbers z_c(a, b) = u_c(a) + v_c(b) is that of c = a + b mod m; equal numbers
may be ordered by any fixed order of the c.

*Proof.*  Let 0 < r < m and D(a, b) = z_0(a, b) − z_r(a, b) = f(a) + g(b), f = u_0 − u_r, g = v_0 −
v_r.  Among the m pairs with a + b ≡ 0 every a occurs once and every b occurs once, so D has the sum
Σ_a f(a) + Σ_b g(b) over them, and it is nowhere negative.  Among the m pairs with a + b ≡ r every a
and every b occurs once as well, so the sum is the same number; D is nowhere positive there.  In one
of the two cases ties are decided against the right answer, so D is not 0 there and the sum is not
0: a contradiction.  ∎

**Corollary: one layer of attention.**  A prompt contains the tokens a and b at two fixed positions,
and all its other tokens are fixed.  One layer of attention without an MLP and without layer norms
is followed by an affine unembedding, z = W_Uᵀ(x_t + Σ_h o_h) + b_U at position t, where x_s is the
embedding at position s, with its position.  The logits are separable, so not those of a + b mod m:

- *linear heads*, o_h = Σ_s ⟨W_Q x_t, W_K x_s⟩ W_O W_V x_s over the positions s that t attends to,
  if the token at t is neither a nor b: then x_t and its queries are constant, and each term depends
  on x_s alone, that is on a, on b, or on neither;
- *uniform attention*, o_h = Σ_s w_ts W_O W_V x_s with weights w_ts that depend on positions alone,
  at every t.

Sums of such terms are a function of a plus one of b.  Equivalently, all second differences
z(a, b) − z(a', b) − z(a, b') + z(a', b') are 0.

The hypotheses are needed.  At the position of b a linear head has products ⟨q(b), k(a)⟩v(a): those
add (`constructions/arithmetic/adder.py`).  Over the integers 0 ≤ c ≤ 2L, without a modulus, the
separable logits 2c(a + b) − c² add (`constructions/arithmetic/linear_adder.py`).
"""

from __future__ import annotations

import numpy as np

from theory import machine
from theory.kinds import CountFrom2, InputError, Steps, checked


@checked
def demands(m: CountFrom2, r: Steps) -> np.ndarray:
    """The inequalities z_0 > z_r at pairs of sum 0 and z_r > z_0 at pairs of sum r, as the rows of
    a matrix (2m, 2m) of −1, 0, 1 that maps the unknowns f(0), …, f(m − 1), g(0), …, g(m − 1) to
    numbers that must be positive.

    The rows sum to 0, so no f and g satisfy all inequalities.  Raises `ValueError` for r ≡ 0 mod m
    and for a matrix larger than the memory.
    """
    if r % m == 0:
        raise InputError(f"r is {r}: give a residue that is not 0 mod m = {m}")
    machine.fits_in_memory(f"the inequalities mod {m}", 32 * m * m, "take a smaller m")
    a = np.arange(m)
    rows = np.zeros((2, m, 2 * m), dtype=np.int64)
    for sign, (of_sum, total) in zip((1, -1), enumerate((0, r % m)), strict=True):
        rows[of_sum, a, a] = sign
        rows[of_sum, a, m + (total - a) % m] = sign
    return rows.reshape(2 * m, 2 * m)


def second_differences(z: np.ndarray) -> np.ndarray:
    """z(a, b) − z(a + 1, b) − z(a, b + 1) + z(a + 1, b + 1) of logits z (m, m, …), numbers or exact
    objects: all 0 iff z(a, b) is a function of a plus a function of b."""
    return np.asarray(z[:-1, :-1] - z[1:, :-1] - z[:-1, 1:] + z[1:, 1:])
