"""Hashes, and what is found in buckets, beside definitions."""

from itertools import product

import numpy as np
import pytest

from theory.structures import (
    found_in_buckets,
    in_equal_buckets,
    k_means,
    nearest_in_cloud,
    normal_directions,
    one_bit,
    orthogonal_directions,
    simhash,
    sphere_cloud,
)

RNG = np.random.default_rng(0)


def test_signs_are_bits():
    w = normal_directions(3, 4, np.random.default_rng(1))
    for z in np.random.default_rng(2).normal(size=(20, 4)):
        assert simhash(w)(z) == sum(2**i for i in range(3) if np.dot(w[i], z) > 0)
    assert simhash([[1.0, 0.0]])([[2, 1], [0, 1], [-1, 0]]).tolist() == [1, 0, 0]


def test_directions_are_orthogonal():
    w = orthogonal_directions(4, 9, np.random.default_rng(3))
    assert np.allclose(w @ w.T, np.eye(4))


@pytest.mark.parametrize(("b", "d"), [(1, 1), (2, 3), (3, 3)])
def test_directions_have_no_preferred_sign(b, d):
    """Uniform ones are as likely as their opposites, and as their mirror images."""
    w = np.array([orthogonal_directions(b, d, np.random.default_rng(s)) for s in range(400)])
    signs = np.sign(w).reshape(400, -1)
    if b == d:
        signs = np.c_[signs, np.sign(np.linalg.det(w))]
    assert abs(signs.mean(axis=0)).max() < 4 / np.sqrt(400)  # four standard deviations


def test_centres():
    """Three heaps far apart: each has a bucket of its own."""
    rng = np.random.default_rng(4)
    heaps = np.repeat(100.0 * np.eye(3), 30, axis=0) + rng.normal(size=(90, 3))
    bucket = k_means(heaps, 3, rng)(heaps).reshape(3, 30)
    assert (bucket == bucket[:, :1]).all()
    assert len(set(bucket[:, 0])) == 3


def test_centres_are_nearest_whatever_their_length():
    """Heaps on one ray: what is nearest has not the largest inner product."""
    rng = np.random.default_rng(8)
    heaps = np.array([[10.0, 0], [100, 0], [1000, 0]]).repeat(20, 0) + rng.normal(size=(60, 2))
    bucket = k_means(heaps, 3, rng)(heaps).reshape(3, 20)
    assert (bucket == bucket[:, :1]).all()
    assert len(set(bucket[:, 0])) == 3


def test_centres_are_means_of_their_buckets():
    """Where Lloyd's iteration has ended every point is nearest to the mean of its own bucket."""
    x = np.random.default_rng(9).uniform(size=(60, 2))
    for seed in range(5):
        bucket = k_means(x, 4, np.random.default_rng(seed))(x)
        means = np.stack([x[bucket == b].mean(0) for b in range(4)])
        assert (nearest_in_cloud(means, x) == bucket).all()


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-600, 2.0**600, 2.0**1000])
def test_buckets_of_k_means_are_the_same_at_any_scale(scale):
    points = np.random.default_rng(0).normal(size=(40, 2))
    bucket = k_means(points, 8, 1)(points)
    assert (k_means(scale * points, 8, 1)(scale * points) == bucket).all()


def test_k_means_of_nearly_equal_points_has_empty_buckets_without_a_warning():
    points = np.array([[0.0], [1e-200], [1.0]])
    first, second, other = k_means(points, 3, 0)(points)
    assert first == second != other


def test_bits_by_angle():
    assert np.allclose(one_bit([0, np.pi / 3, np.pi / 2, np.pi]), [1, 2 / 3, 1 / 2, 0])


def test_equal_buckets_by_all_buckets_of_three_points():
    """Three points in two buckets, one of them the target: its place in its own."""
    places = [
        sum(bucket[a] == bucket[target] for a in range(target))
        for bucket in product(range(2), repeat=3)
        for target in range(3)
    ]
    shares = [np.mean(np.array(places) < i) for i in (1, 2, 3)]
    assert np.allclose(in_equal_buckets(3, 2, 3), shares, rtol=1e-14)


def test_found_in_buckets_by_a_loop():
    x, q = sphere_cloud(4, 12, 3, 5, np.random.default_rng(5))
    hashed = simhash(normal_directions(2, 3, np.random.default_rng(6)))
    right = found_in_buckets(hashed, x, q, 3)
    for s, i in np.ndindex(4, 5):
        own = [a for a in range(12) if hashed(x[s, a]) == hashed(q[s, i])]
        target = nearest_in_cloud(x[s], q[s, i : i + 1])[0]
        assert right[s, i].tolist() == [target in own[:k] for k in (1, 2, 3)]


def test_with_one_bucket_the_first_points_are_looked_at():
    x, q = sphere_cloud(1, 6, 3, 50, np.random.default_rng(7))
    right = found_in_buckets(lambda z: np.zeros(z.shape[:-1], int), x, q, 4)
    assert (right[0].sum(-1) == np.maximum(4 - nearest_in_cloud(x, q)[0], 0)).all()
