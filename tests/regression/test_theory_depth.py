"""Layers taken and needed, against the reference table and a brute-force logarithm."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_layers import TABLE

from theory.regression import newton_degree, newton_lower_bound
from theory.regression.depth import ceil_log3
from verify.ledger.theorems import theorem


@pytest.mark.parametrize(("k", "row"), TABLE.items())
def test_the_table(k, row):
    def layers(name):
        return theorem(name).sizes["layers"](k=k)

    paper, direct, bound, bound_identity = row
    assert (layers("newton"), layers("newton-direct")) == (paper, direct)
    assert layers("newton-ladder") == newton_lower_bound(k) == bound
    assert layers("newton-ladder-identity") == newton_lower_bound(k, "identity") == bound_identity
    assert layers("newton-direct-identity") == row[1] - 1


@given(st.integers(1, 10**60))
def test_the_logarithm_is_the_least_exponent(value):
    layers = ceil_log3(value)
    assert 3**layers >= value
    assert Fraction(3) ** (layers - 1) < value


@pytest.mark.parametrize("start", ["gram", "identity"])
@pytest.mark.parametrize("k", range(6))
def test_the_degree_is_that_of_the_recursion(k, start):
    """The largest power of s in M_k, by multiplying out 2M − sM² with coefficient lists."""
    M = [0, 1] if start == "gram" else [1]
    for _ in range(k):
        square = [
            sum(M[i] * M[m - i] for i in range(m + 1) if i < len(M) and m - i < len(M))
            for m in range(2 * len(M) - 1)
        ]
        M = [2 * (M[m] if m < len(M) else 0) - ([0, *square][m]) for m in range(len(square) + 1)]
    assert newton_degree(k, start) == 2 * (len(M) - 1) + 3


@pytest.mark.parametrize("start", ["gram", "identity"])
@pytest.mark.parametrize("k", range(200))
def test_the_ladder_meets_the_bound(k, start):
    ladder = theorem("newton-ladder" + "-identity" * (start == "identity"))
    assert ladder.sizes["layers"](k=k) == newton_lower_bound(k, start)
