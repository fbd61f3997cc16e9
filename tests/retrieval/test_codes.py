"""Codes of tokens and lattice points of positions: the gaps that every proof here rests on."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.assembly import block
from constructions.stream import Stream
from constructions.tokens import binary_codes, lattice, look_up, positions


@pytest.mark.parametrize("count", [*range(1, 18), 31, 32, 33, 64, 100])
def test_codes_are_signs_whose_inner_products_differ_by_two_or_more(count):
    codes = binary_codes(count)
    r = next(r for r in itertools.count(1) if 2**r >= count)
    assert codes.shape == (count, r)
    assert set(np.unique(codes)) <= {-1.0, 1.0}
    inner = codes @ codes.T
    different = ~np.eye(count, dtype=bool)
    assert (inner.diagonal() == r).all()
    assert (inner[different] <= r - 2).all()
    # The gap is attained as soon as there are two tokens.
    assert count == 1 or inner[different].max() == r - 2
    assert (inner % 2 == r % 2).all()


@given(st.integers(1, 600))
def test_the_lattice_has_the_nearest_points_and_the_origin_first(count):
    points = lattice(count)
    assert points.shape == (count, 2)
    assert points.dtype == np.float64
    assert (points == np.rint(points)).all()
    assert (points[0] == 0).all()
    assert len(np.unique(points, axis=0)) == count
    norms = (points**2).sum(1)
    assert (np.diff(norms) >= 0).all()
    # Every point left out is at least as far away as the last one taken.
    side = np.arange(-math.isqrt(count) - 1, math.isqrt(count) + 2)
    everywhere = (side[:, None] ** 2 + side**2).ravel()
    assert norms.tolist() == np.sort(everywhere)[:count].tolist()


@given(st.integers(2, 150))
def test_scores_are_largest_at_their_point_and_graded(count):
    points = lattice(count)
    norms = (points**2).sum(1)
    below = norms[:, None] - (2 * points @ points.T - norms)
    distance = ((points[:, None] - points) ** 2).sum(-1)
    assert (below == distance).all()
    assert below[~np.eye(count, dtype=bool)].min() == 1
    for m in range(1, int(below.max()) + 1):
        assert ((below == m).sum(1) <= 4 * m).all()


@pytest.mark.parametrize("count", [1, 2, 5, 10, 100, 1025, 8193, 100_000])
def test_numbers_in_a_score_grow_like_the_count(count):
    """|P|² ≤ count/π + O(√count): discs of radius R hold at least π(R − √½)² points."""
    points = lattice(count)
    largest = (points**2).sum(1).max()
    radius = math.sqrt(count / math.pi) + math.sqrt(0.5)
    assert largest <= radius**2
    partial = 2 * abs(points[:, None, :] * points[[0, -1]]).sum(-1) + largest
    assert partial.max() <= 3 * radius**2


def test_every_point_of_the_plane_is_used_once():
    assert {tuple(p) for p in lattice(13)} == {
        p for p in itertools.product(range(-2, 3), repeat=2) if p[0] ** 2 + p[1] ** 2 <= 4
    }


@pytest.mark.parametrize("count", [1, 2, 30])
def test_a_position_is_looked_up_by_its_point_alone(count):
    """The head outputs the value at the position of its query, with the declared gap."""
    rng = np.random.default_rng(count)
    stream = Stream(place=2, norm=1, wanted=2, values=1, found=1)
    points, chosen = lattice(count), rng.integers(count, size=count)
    values = rng.integers(-9, 10, count)
    W_pos = positions(stream, points, wanted=points[chosen], values=values).W_pos
    head = look_up(stream, stream.read("wanted"), stream.read("values"), "found", 4.0)
    layer = block(stream, [head], normalise="hardmax", mask="full")
    assert np.array_equal(layer(W_pos, 0)[:, stream["found"]][:, 0], values[chosen])
    Q, K = layer.attn.parts()[0].queries_keys(W_pos, 0)
    best, *others = (Q @ K.transpose(-1, -2))[0].sort(-1, descending=True).values.T
    assert layer.margins[0].gap == 4
    assert not others or (best - others[0]).min() == 4
