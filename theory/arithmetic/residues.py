"""Separable logits z_c(a, b) = u_c(a) + v_c(b) cannot add residues; nor can some single layers.

**Theorem.**  Let m ≥ 2.  There are no functions u_c, v_c on Z/m, c = 0, …, m − 1, such that for all
a and b the maximum of z_c(a, b) = u_c(a) + v_c(b) over c is attained at c = a + b mod m, where ties
are broken by a fixed order of the c.

*Proof.*  Let 0 < r < m and D(a, b) = z_0(a, b) − z_r(a, b) = f(a) + g(b), f = u_0 − u_r,
g = v_0 − v_r.  Assume the claim is false.  In the m pairs with a + b ≡ 0 every a and every b occurs
once, so the sum of D over them is Σ_a f(a) + Σ_b g(b); each D(a, b) there is ≥ 0.  In the m pairs
with a + b ≡ r every a and every b occurs once too, so the sum of D is the same number; each D(a, b)
there is ≤ 0.  In one of the two cases ties are broken against the right class, so D ≠ 0 there and
the sum is not 0: a contradiction.  ∎

**Corollary: one layer of attention.**  Let a prompt contain the tokens a and b at two fixed
positions, and let all its other tokens be fixed.  Let one layer of attention without MLP and
without layer norm be followed by an affine unembedding, z = W_Uᵀ(x_t + Σ_h o_h) + b_U at position
t, where x_s is the sum of the token and position embeddings at position s, and o_h the output of
head h.  In two cases the logits are separable, and so cannot compute a + b mod m:

- *linear heads*, o_h = Σ_s ⟨W_Q x_t, W_K x_s⟩ W_O W_V x_s over the positions s that t attends to,
  if the token at t is neither a nor b.  Then x_t and its queries are constant, and each term
  depends only on x_s, that is on a, on b, or on neither;
- *uniform attention*, o_h = Σ_s w_ts W_O W_V x_s with weights w_ts that depend only on positions,
  for any t.

Sums of such terms are a function of a plus a function of b.  Equivalently, all second differences
z(a, b) − z(a', b) − z(a, b') + z(a', b') are 0.

The hypotheses are necessary.  At the position of b a linear head has products ⟨q(b), k(a)⟩v(a),
which suffice (`constructions/arithmetic/adder.py`).  Over the integers 0 ≤ c ≤ 2L, without a
modulus, the separable logits 2c(a + b) − c² suffice (`constructions/arithmetic/linear_adder.py`).
"""

from __future__ import annotations

import numpy as np

from theory import machine
from theory.kinds import CountFrom2, InputError, Steps, checked


@checked
def separability_inequalities(m: CountFrom2, r: Steps) -> np.ndarray:
    """A matrix M (2m, 2m) of inequalities that show that separable logits cannot add mod m.

    The logits z_c(a, b) of the residues c mod m are separable if z_c(a, b) = u_c(a) + v_c(b) for
    functions u_c and v_c.  Then z_0 − z_r is f(a) + g(b) with f = u_0 − u_r and g = v_0 − v_r.  The
    unknowns are f(0), …, f(m − 1), g(0), …, g(m − 1), and the inequalities are M (f, g) > 0.
    Correct logits must satisfy z_0 > z_r at the pairs with a + b ≡ 0, and z_r > z_0 at the pairs
    with a + b ≡ r mod m.  Each row of M is one of these 2m inequalities, with entries −1, 0 and 1.
    The sum of the rows is 0, so no f and g satisfy all inequalities.

    Raises `ValueError` for r ≡ 0 mod m, or if the matrix does not fit in memory.
    """
    if r % m == 0:
        raise InputError(f"r is {r}: give an r that is not 0 mod m = {m}")
    machine.fits_in_memory(f"the inequalities mod {m}", 32 * m * m, "give a smaller m")
    a = np.arange(m)
    rows = np.zeros((2, m, 2 * m), dtype=np.int64)
    for sign, (of_sum, total) in zip((1, -1), enumerate((0, r % m)), strict=True):
        rows[of_sum, a, a] = sign
        rows[of_sum, a, m + (total - a) % m] = sign
    return rows.reshape(2 * m, 2 * m)


def second_differences(z: np.ndarray) -> np.ndarray:
    """The second differences z(a, b) − z(a + 1, b) − z(a, b + 1) + z(a + 1, b + 1) of logits z.

    z has shape (m, m, …) and contains numbers or exact objects; the indices a and b are
    residues mod m.  All second differences are 0 iff z has the form u(a) + v(b) for functions u and
    v.
    """
    return np.asarray(z[:-1, :-1] - z[1:, :-1] - z[:-1, 1:] + z[1:, 1:])
