"""Tables of extra cells, their law, and cells that hold everything."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.structures import (
    bucket_of,
    cell_bits,
    nearest,
    packed,
    same_neighbour_probability,
    table_accuracy,
    table_lookup,
    table_of,
    uniform_points,
    unpacked,
)

POINTS = st.lists(st.integers(0, 40), min_size=1, max_size=6, unique=True).map(sorted)


@given(points=POINTS, T=st.integers(1, 5))
def test_tables_by_fractions(points, T):
    """Exactly: the first of those nearest to the middle, and the bucket of every query."""
    named = []
    for t in range(T):
        middle = Fraction(40 * (2 * t + 1), 2 * T)
        away = [abs(x - middle) for x in points]
        named.append(away.index(min(away)))
    assert table_of(points, T, 0, 40).tolist() == named
    buckets = [min(q * T // 40, T - 1) for q in range(41)]
    assert bucket_of(range(41), T, 0, 40).tolist() == buckets
    assert table_lookup(points, range(41), T, 0, 40).tolist() == [named[b] for b in buckets]


def test_one_neighbour_of_two_places():
    u = np.linspace(0, 1, 5)
    assert np.allclose(same_neighbour_probability(1, u, u), 1)
    assert np.allclose(same_neighbour_probability(7, u, u), 1)
    # Two points: the ends have one neighbour iff nobody is nearer to one of them than the other is.
    # With x the neighbour of both, the other point would have to be further from 0 and from 1.
    assert np.isclose(same_neighbour_probability(2, np.array(0.0), np.array(1.0)), 0)
    # Inside, without the ends: (1 − 2δ)^N + N·δ(1 − 2δ)^{N−1}, up to what ends cut off.
    N, delta = 60, 0.01
    inside = (1 - 2 * delta) ** N + N * delta * (1 - 2 * delta) ** (N - 1)
    assert np.isclose(same_neighbour_probability(N, np.array(0.5), np.array(0.5 + delta)), inside)


@pytest.mark.parametrize(("u", "v"), [(0.1, 0.25), (0.0, 0.4), (0.45, 0.6)])
def test_the_law_is_that_of_drawn_points(u, v):
    x, _ = uniform_points(20_000, 5, 1, np.random.default_rng(0), low=0.0, high=1.0)
    near = nearest(x, np.tile([u, v], (len(x), 1)))
    drawn = (near[:, 0] == near[:, 1]).mean()
    assert (
        abs(drawn - same_neighbour_probability(5, np.array(u), np.array(v))) < 4 * 0.5 / 20_000**0.5
    )


def test_shares_of_tables():
    assert np.isclose(table_accuracy(1, 3), 1)
    by_size = [table_accuracy(8, T) for T in (1, 2, 4, 8, 16, 256)]
    assert by_size == sorted(by_size)
    assert by_size[-1] > 0.98


@given(numbers=st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_one_cell_holds_all(numbers):
    cell = packed(numbers, 10)
    assert str(cell) == str(int("".join(map(str, numbers[::-1]))))
    assert unpacked(cell, len(numbers), 10).tolist() == numbers
    assert cell < 2 ** cell_bits(len(numbers), 10)


def test_bits_are_as_many_as_needed():
    assert cell_bits(16, 2**20) == 320
    assert [cell_bits(1, b) for b in (2, 3, 4, 5)] == [1, 2, 2, 3]


@given(
    st.lists(st.floats(0, 1) | st.integers(0, 99).map(lambda each: each / 100), max_size=5),
    st.integers(1, 10**9),
)
def test_buckets_of_floats_are_exact(queries, T):
    exact = [min(math.floor(T * Fraction(q)), T - 1) for q in queries]
    assert bucket_of(queries, T, 0.0, 1.0).tolist() == exact


def test_a_product_that_rounds_to_an_integer_is_below_it():
    assert bucket_of([0.7], 100, 0.0, 1.0).tolist() == [69]


def test_buckets_of_ranges_and_integers_that_overflow_in_float64_or_int64():
    assert bucket_of([0.5], 3, -1e308, 1e308).tolist() == [1]
    assert bucket_of([10**15 - 1], 10**9, 0, 10**15).tolist() == [10**9 - 1]
    points = [0, 2**61, 2**62]
    assert table_of(points, 4, 0, 2**62).tolist() == [0, 1, 1, 2]
    assert table_lookup(points, [2**60 - 1, 2**60, 2**62], 4, 0, 2**62).tolist() == [0, 1, 2]
