"""The span of I and J, block by block: the projection, the split, and rejected arguments."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from theory.graphs import (
    Channels,
    kronecker,
    orthogonal_split,
    two_channels,
    two_channels_by_definition,
)
from verify.claim import Run
from verify.finding import Verdict
from verify.graphs.two_channels import random_weights, split

claim = sys.modules["verify.graphs.two_channels"]  # the package's claim has the same name
ONE = np.ones((1, 1), dtype=int)
CASES = st.tuples(st.integers(2, 4), st.integers(1, 3), st.integers(1, 3), st.integers(0, 999))


def drawn(n, rows, columns, seed):
    return np.random.default_rng(seed).integers(-5, 6, (rows * n, columns * n))


@settings(max_examples=30)
@given(CASES)
def test_the_projection_is_the_average_over_relabellings(case):
    n, W = case[0], drawn(*case)
    average = two_channels_by_definition(W, n)
    assert (kronecker(two_channels(W, n), n) == average).all()
    assert (two_channels_by_definition(average, n) == average).all()
    split = orthogonal_split(W, n)
    assert split.total == (W * W).sum()
    assert orthogonal_split(average, n) == (split.diagonal, split.off_diagonal, 0)


@settings(max_examples=30)
@given(CASES)
def test_matrices_in_the_span_are_unchanged(case):
    n, rows, columns, seed = case
    rng = np.random.default_rng(seed)
    given = Channels(*rng.integers(-5, 6, (2, rows, columns)))
    found = two_channels(kronecker(given, n), n)
    assert (found.I == given.I).all()
    assert (found.J == given.J).all()
    assert orthogonal_split(kronecker(given, n), n).rest == 0


def test_i_and_j_by_hand():
    eye, ones = np.eye(3, dtype=int), np.ones((3, 3), dtype=int)
    assert two_channels(eye, 3) == (1, 0)
    assert two_channels(ones, 3) == (0, 1)
    assert orthogonal_split(ones, 3) == (3, 6, 0)  # and not 9 for J alone, beside 0 for I
    assert orthogonal_split(np.diag([1.0, 0.0, 0.0]), 3) == pytest.approx((1 / 3, 0, 2 / 3))
    assert two_channels([[Fraction(1, 3), 0], [0, 1]], 2).I[0, 0] == Fraction(2, 3)


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: two_channels(np.ones((3, 4)), 2), "W"),
        (lambda: orthogonal_split(np.ones((4, 3)), 2), "W"),
        (lambda: two_channels([[Fraction(1), "a"], [1, 1]], 2), "W"),
        (lambda: kronecker(Channels(ONE, np.ones((1, 2))), 2), "A B"),
        (lambda: kronecker(Channels(ONE[0], ONE[0]), 2), "A B"),
        (lambda: kronecker(Channels(ONE * np.nan, ONE), 2), "A"),
        (lambda: kronecker(Channels(ONE, [["a"]]), 2), "B"),
        (lambda: kronecker(Channels([[2**62]], [[2**62]]), 2), "A B"),
    ],
)
def test_rejected_matrices(call, names):
    with rejects(*names.split()):
        call()


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (0, 2, 1)])
def test_parts_in_another_order_fail(order, monkeypatch):
    """They have the same sum."""
    right, n = claim.orthogonal_split, 3
    weights = {(1, 2): random_weights(Run(), n, 1, 2)}
    monkeypatch.setattr(
        claim, "orthogonal_split", lambda *given: tuple(right(*given)[k] for k in order)
    )
    found = split(weights, n)
    assert found.verdict is (Verdict.HOLDS if order == (0, 1, 2) else Verdict.FAILS)


def test_sums_of_integers_below_the_end_of_int64():
    """Below 2^63 as integers, and of any size as floats."""
    half, less = np.array([[2**62]]), np.array([[2**62 - 1024]])
    assert kronecker(Channels(half, less), 1).tolist() == [[2**63 - 1024]]
    with rejects("A", "B"):
        kronecker(Channels(half, half), 1)
    for A, B in ((half.astype(float), half), (half, half.astype(float))):
        assert kronecker(Channels(A, B), 1).tolist() == [[2.0**63]]
