"""Layers and sizes: tables by hand, brute-force logarithms, bad input."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory import retrieval as r


@pytest.mark.parametrize(
    ("k", "hops", "doublings"),
    [(1, 2, 2), (2, 3, 3), (3, 3, 4), (4, 4, 4), (5, 4, 5), (8, 5, 5), (9, 5, 6), (16, 6, 6)],
)
def test_the_table(k, hops, doublings):
    assert (r.hop_layers(k), r.doubling_layers(k)) == (hops, doublings)


@given(st.integers(1, 10**60))
def test_the_logarithms(k):
    floor, ceiling = r.hop_layers(k) - 2, r.doubling_layers(k) - 2
    assert 2**floor <= k < 2 ** (floor + 1)
    assert Fraction(2) ** (ceiling - 1) < k <= 2**ceiling


@pytest.mark.parametrize("k", range(1, 65))
def test_the_printed_step_of_theorem_4_2_takes_too_few_hops(k):
    """Hops of the two pointers of [Sanford2024, Appendix D.1], as `constructions/retrieval/hop.py`
    quotes it: the first doubles, the second is right for k = 1 only."""
    first, second = 1, k % 2  # after layer 2
    for layer in range(2, r.hop_layers(k)):
        first, second = 2 * first, second + first * (k >> (layer - 1) & 1)
    assert first == 2 ** (r.hop_layers(k) - 2) <= k
    assert (second == k) == (k == 1)
    assert (first == k) == (r.hop_layers(k) == r.doubling_layers(k))


def test_one_layer_bound():
    assert [r.one_layer_bound(n) for n in (1, 2, 3, 1025)] == [0, 0.5, 1, 512]


def test_composition_bound():
    """n = 8: 24 bits are needed; two heads of dimension 2 carry 2·3·2 = 12 in 2 bits."""
    bound = r.composition_bound(8, 2, 2, 2)
    assert bound == (12, 12 / 72)
    assert (bound.R, bound.error) == (12, 1 / 6)
    assert r.composition_bound(8, 2, 3, 3) == (0, 0)
    assert r.composition_bound(8, 4, 3, 3) == (-24, 0)
    large = r.composition_bound(2**40, 1, 1, 1)
    assert large.R == 40 * 2**40 - 2
    assert math.isclose(large.error, 1 / 3, rel_tol=1e-12)
    assert large.error <= 1 / 3
