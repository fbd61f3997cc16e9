"""The normalised margin of quadratic neurons in Arb balls, by definition (see `modular_margin.py`).

Balls have the precision of `flint.ctx`.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb, arb_mat, fmpq

Rows = list[list[arb]]


def normalised_margin(u: Rows, v: Rows, w: Rows) -> arb:
    """The normalised margin min (f_{a+b} − f_c)/Σ‖θ_i‖³ of neurons u, v, w (neurons, p)."""
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
    """The square root as a ball, for example γ* from γ*²."""
    return arb(fmpq(value.numerator, value.denominator)).sqrt()


def _cube(entries: list[arb]) -> arb:
    square = sum((x * x for x in entries), arb(0))
    return square * square.sqrt()
