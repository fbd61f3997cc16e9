"""Balls of square roots of fractions, at a precision beyond that of float64."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq

from theory.arithmetic import largest_margin_squared
from theory.arithmetic.modular_margin_balls import normalised_margin, square_root

PRIMES = [3, 5, 7, 113, 10**9 + 7]


def exact(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


@pytest.mark.parametrize(
    "value", [Fraction(1, 3), Fraction(2**60 + 1, 7), *map(largest_margin_squared, PRIMES)]
)
def test_a_ball_of_200_bits_contains_the_root(value):
    with ctx.workprec(200):
        root = square_root(value)
        middle, radius = root.mid(), root.rad()
        assert radius < middle / 2**190
    with ctx.workprec(1000):
        assert (middle - radius) ** 2 < exact(value) < (middle + radius) ** 2


def test_the_margin_at_200_bits_is_the_exact_number():
    """p = 3 and one neuron u = v = w = (1, 0, 0): the margin is −1, divided by 3^{3/2}."""
    with ctx.workprec(200):
        rows = [[arb(1), arb(0), arb(0)]]
        found = normalised_margin(rows, rows, rows)
        assert found.rad() < arb(2) ** -190
    with ctx.workprec(1000):
        assert found.contains(-1 / arb(27).sqrt())
