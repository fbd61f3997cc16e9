"""The normalised margin of quadratic neurons in Arb balls, by definition (see `modular_margin.py`).

Balls have the precision of `flint.ctx`.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb, arb_mat, fmpq

Rows = list[list[arb]]


def normalised_margin(u: Rows, v: Rows, w: Rows) -> arb:
    """The normalised margin of a quadratic network for addition mod p, as a ball.

    The logit of c is f(a, b)_c = Σ_i (u_i(a) + v_i(b))²·w_i(c) with the sum over the neurons i, and
    the margin is the minimum of f(a, b)_{a+b} − f(a, b)_c over all a, b and c ≠ a + b mod p. The
    normalised margin is the margin divided by Σ‖θ_i‖³, where θ_i = (u_i, v_i, w_i) are the weights
    of neuron i. The arrays u, v and w have shape (neurons, p).
    """
    p = len(u[0])
    lengths = sum((_cube(u[i] + v[i] + w[i]) for i in range(len(u))), arb(0))
    W, least = arb_mat(w), arb("inf")
    for a in range(p):
        squares = arb_mat([[(u[i][a] + v[i][b]) ** 2 for i in range(len(u))] for b in range(p)])
        for b, row in enumerate((squares * W).tolist()):
            right = row[(a + b) % p]
            for c, value in enumerate(row):
                if c != (a + b) % p:
                    least = least.min(right - value)
    margin: arb = least / lengths
    return margin


def square_root(value: Fraction) -> arb:
    """The square root of a rational number as a ball."""
    return arb(fmpq(value.numerator, value.denominator)).sqrt()


def _cube(entries: list[arb]) -> arb:
    square = sum((x * x for x in entries), arb(0))
    return square * square.sqrt()
