"""Limits of parameters of arithmetic: the last value is accepted, and the next one is refused."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from arithmetic_by_definition import (
    SETS,
)
from refusals import rejects

from theory import arithmetic as A
from theory.arithmetic.congruence import odd_modulus


@pytest.mark.parametrize("p", [20, 30, 80, 90, 100, 530, 2510, 10**5, 10**9])
def test_limits_of_alpha(p):
    """The gain of s + d at the error 5 is cos(2π(d − 5)/p) − cos(2π·5/p)."""
    with mpmath.workprec(300):
        turn = 2 * mpmath.pi / p
        gains = [mpmath.cos((d - 5) * turn) - mpmath.cos(5 * turn) for d in range(1, 10)]
        for F in SETS:
            above = [float(A.comb(F, 0) - A.comb(F, d)) for d in range(1, 10)]
            limits = [float(a / gain) for a, gain in zip(above, gains, strict=True)]
            alpha, d = A.largest_alpha(p, F)
            assert alpha == pytest.approx(min(limits), rel=1e-9, abs=1e-9)
            assert limits[d - 1] == pytest.approx(min(limits), rel=1e-9, abs=1e-9)
    default, (limit, _) = A.default_alpha(p), A.largest_alpha(p)
    assert default == max(a for a in 2.0 ** np.arange(-3, 7) if a <= limit)


@pytest.mark.parametrize("p", [5, 6])
def test_equal_rows_have_no_spectrum(p):
    assert A.peak_ratios(np.eye(p)[:, :1], 1).max() == pytest.approx(1)
    with rejects("E"):
        A.peak_ratios(np.ones((p, 2)), 1)


@pytest.mark.parametrize("confound", [1.0, [1.0, 2.0], [[1.0]], np.ones(4)])
def test_confounds_have_the_rows_of_the_embedding(confound):
    assert A.without_confounds(np.eye(3), [1.0, 2.0, 4.0]).shape == (3, 3)
    with rejects("confound"):
        A.without_confounds(np.eye(3), confound)


def test_kinds_at_their_limits():
    last = 2**53 - 2**53 % 10
    assert A.default_alpha(20) > 0
    assert odd_modulus(3) == 3
    assert A.default_alpha(last) == 64
    assert A.bin_of(2, 4) == 2
    for call in (
        lambda: A.bin_of(Fraction(199, 100), 398),
        lambda: A.bin_of(1.75, 7),
    ):
        with rejects("period"):
            call()
    for p in (10, 15, 25, last + 10):
        with rejects("p"):
            A.default_alpha(p)
    for p in (1, 4):
        with rejects("p"):
            odd_modulus(p)
    with rejects("f"):
        A.period(0)
    with rejects("K"):
        A.few_frequencies_margin(401, [0])
