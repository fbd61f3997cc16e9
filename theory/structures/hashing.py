"""Hashing: points in the order of their buckets, and lookups in the bucket of the query.

A hash function maps each vector to a bucket, independently of the points that are stored:

    SimHash            the signs of inner products with b normal vectors: 2^b buckets [Charikar2002]
    orthogonal SimHash the same with b orthogonal directions.  Iterative quantisation [Gong2013]
                       optimises a rotation of the directions; on isotropic data all rotations are
                       equivalent
    k-means            the nearest of 2^b centres, which Lloyd's iteration computes from other
                       points of the same distribution

Points are sorted into cells by bucket, and within a bucket they are in the given order.  The first
cell of each bucket is known.  Lookup i is at the i-th cell of the query's bucket, if this cell
exists.

A plane through 0 with a uniform normal separates two vectors at an angle θ with probability θ/π,
because the projection of the normal to the plane of the two vectors has a uniform direction, and a
fraction θ/π of the directions separates the vectors.  So SimHash maps both vectors to the same
bucket with probability (1 − θ/π)^b.  With orthogonal directions all buckets are equally likely for
a uniform vector, as the uniform distribution is invariant under changes of signs of coordinates.

Let N independent points be uniform, and let a query be in the same bucket as the point from which
it is constructed.  Each of the other N − 1 points is in this bucket with probability 2^−b, and the
point's place in the given order is uniform.  So the first i lookups reach the point with
probability

    (1/N) Σ_{a < N} P(fewer than i of a points are in a bucket of probability 2^−b).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import scipy  # its statistics are loaded when they are used

from theory import machine
from theory.kinds import InputError, Reals, Seed, StepsArray, Within, checked, read
from theory.scaling import near_one
from theory.structures.clouds import Cloud, CloudQueries, nearest_in_cloud
from theory.structures.lookup import LookupCount
from theory.structures.points import Size

MOST_BITS = 20
Hash = Callable[[np.ndarray], np.ndarray]


@checked
def simhash(normals: Annotated[Any, Reals("b d")]) -> Hash:
    """The SimHash function, which maps a vector z to the bucket Σ_i 2^i·[⟨z, w_i⟩ > 0].

    Here [·] is 1 if the condition holds, and 0 otherwise.  The vectors w_i are the b rows of
    `normals` (b, d).  The function maps vectors (…, d) to buckets (…,), which are integers from 0
    to 2^b − 1.  Raises ValueError for more than 20 normals.
    """
    b, d = normals.shape
    if b > MOST_BITS:
        raise InputError(f"there are {b} normals: give at most {MOST_BITS} rows of normals")
    powers = 2 ** np.arange(b)
    return lambda z: (Reals(f"... {d}").read("vectors", z) @ normals.T > 0) @ powers


@checked
def normal_directions(n_bits: Size, d: Size, seed: Seed) -> np.ndarray:
    """Independent standard normal vectors (n_bits, d), which can be given to `simhash` as normals.

    Raises ValueError for arrays that do not fit in memory.
    """
    machine.fits_in_memory(
        f"{n_bits:.3g} vectors of dimension {d:.3g}", 16 * n_bits * d, "give fewer vectors"
    )
    return np.random.default_rng(seed).normal(size=(n_bits, d))


@checked
def orthogonal_directions(
    n_bits: Annotated[Size, Within(most="d")], d: Size, seed: Seed
) -> np.ndarray:
    """Random orthonormal vectors (n_bits, d), which can be given to `simhash` as normals.

    They are uniformly distributed, and n_bits is at most d.  Raises ValueError for arrays that do
    not fit in memory.
    """
    q, r = np.linalg.qr(normal_directions(d, n_bits, seed))
    return np.asarray((q * np.sign(np.diagonal(r))).T)


@checked
def one_bit(angles: Annotated[Any, Reals("...", Within(least=0, most=np.pi))]) -> np.ndarray:
    """The probability 1 − θ/π that a bit of SimHash is equal for two vectors at an angle θ.

    A bit of SimHash is 1 if the vector is on a given side of a random plane through 0, and 0
    otherwise.  The angles θ are given in radians, as an array (…,), and the result has the same
    shape.
    """
    return np.asarray(1 - angles / np.pi)


@checked
def in_equal_buckets(n_points: Size, n_buckets: Size, lookups: LookupCount) -> np.ndarray:
    """The probability of finding the nearest neighbour in its bucket within i lookups, (M,).

    Entry i − 1 is the probability for i = 1 … M = `lookups`.  Each of N = `n_points` points is in
    one of `n_buckets` buckets, which is uniformly random, and the query is in the bucket of its
    nearest neighbour.  The points of this bucket are looked up in a given order of all points, in
    which each place of the nearest neighbour is equally likely.  If j points are before the nearest
    neighbour, then X_j of them are in the same bucket, where X_j is binomial with j trials of
    probability 1/n_buckets.  The nearest neighbour is found within i lookups iff X_j < i.  So the
    probability is (1/N) Σ_{j<N} P(X_j < i).  Raises ValueError for arrays that do not fit in
    memory.
    """
    machine.fits_in_memory(
        f"{lookups} lookups of {n_points:.3g} points",
        56 * n_points * lookups,
        "give fewer lookups or points",
    )
    earlier = np.arange(n_points)[:, None]
    return np.asarray(
        scipy.stats.binom.cdf(np.arange(lookups), earlier, 1 / n_buckets).mean(axis=0)
    )


@checked
def k_means(
    points: Annotated[Any, Reals("n d")], n_buckets: Annotated[Size, Within(most="n")], seed: Seed
) -> Hash:
    """The hash function that maps a vector to the index of the nearest of `n_buckets` centres.

    The centres are computed by k-means from `points` (n, d).  The function maps vectors (…, d) to
    buckets (…,), which are integers from 0 to n_buckets − 1.  A bucket may be empty.  Raises
    ValueError if fewer than `n_buckets` points are different.
    """
    d = points.shape[1]
    if (different := len(np.unique(points, axis=0))) < n_buckets:
        raise InputError(
            f"n_buckets is {n_buckets}, but only {different} points are different: give a smaller "
            "n_buckets, or other points"
        )
    scaled, power = near_one(points, (0, 1))
    # scipy warns of equal centres (squared differences that underflow), and of empty buckets.
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        centres, _ = scipy.cluster.vq.kmeans2(scaled, n_buckets, minit="++", iter=20, rng=seed)
    half = np.ldexp((centres**2).sum(-1) / 2, power[0])
    return lambda z: (Reals(f"... {d}").read("vectors", z) @ centres.T - half).argmax(-1)


@checked
def found_in_buckets(
    hash_function: Hash, points: Cloud, queries: CloudQueries, lookups: LookupCount
) -> np.ndarray:
    """Whether the nearest neighbour is among the first i points of the query's bucket, (…, m, M).

    The last axis is i = 1 … M = `lookups`.  The function `hash_function` maps vectors (…, d) to
    buckets, which are integers (…,).  The points of a bucket are in the given order.  Points have
    shape (…, N, d), and the m queries have shape (…, m, d).  Raises ValueError for a hash function
    that does not return one bucket for each vector, or for arrays that do not fit in memory.
    """
    x, q, M = points, queries, lookups
    machine.fits_in_memory(
        f"{M} lookups of {q.shape} queries", 2 * M * q.size, "give fewer queries"
    )
    bucket, of_query = _buckets(hash_function, x), _buckets(hash_function, q)
    wanted = nearest_in_cloud(x, q)
    theirs = np.take_along_axis(bucket, wanted, axis=-1)
    # The cells before the nearest neighbour contain the earlier points of its bucket.
    earlier = (bucket[..., None, :] == theirs[..., None]) & (
        np.arange(x.shape[-2]) < wanted[..., None]
    )
    at = np.where(of_query == theirs, 1 + earlier.sum(-1), M + 1)
    return at[..., None] <= np.arange(1, M + 1)


def _buckets(hashed: Hash, vectors: np.ndarray) -> np.ndarray:
    found = read(StepsArray, "buckets", hashed(vectors))
    if found.shape != vectors.shape[:-1]:
        raise InputError(
            f"buckets have shape {found.shape}: give a hash function that returns a bucket for "
            f"each vector, an array of shape {vectors.shape[:-1]}"
        )
    return found
