"""Hashing: points in the order of their buckets, and lookups in the bucket of the query.

A hash gives each vector a bucket, without looking at the points that are stored:

    SimHash            the signs of inner products with b normal vectors: 2^b buckets [Charikar2002]
    orthogonal SimHash the same with b orthogonal directions.  On isotropic data all rotations are
                       alike to iterative quantisation [Gong2013], which looks for the best
    k-means            the nearest of 2^b centres, of Lloyd's iteration on other points of the same
                       law

Cells hold the points by bucket, and in a bucket as they were given.  Where each bucket begins is
known, a number for each; the i-th lookup is at the i-th cell of the bucket of the query, and when
that ends, nowhere.

A plane through 0 with a uniform direction parts two vectors at an angle θ with probability θ/π: so
much of all directions lies between their planes.  So SimHash gives both one bucket with probability
(1 − θ/π)^b.  Orthogonal buckets are equally likely for a uniform vector, as signs of coordinates
may be changed: if the bucket is the right one, each other of N independent points is in it with
probability 2^−b, and lookup i gets to a neighbour that is as likely to be given in any place with

    (1/N) Σ_{a < N} P(of a points fewer than i are in a bucket of share 2^−b).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.cluster.vq import kmeans2
from scipy.stats import binom

from theory import checks, machine
from theory.checks import InputError
from theory.structures.clouds import as_cloud, beside_cloud, nearest_in_cloud
from theory.structures.lookup import MOST_LOOKUPS

MOST_BITS = 20
Hash = Callable[[np.ndarray], np.ndarray]


def simhash(normals: ArrayLike) -> Hash:
    """z (…, d) → Σ_i 2^i·[⟨z, w_i⟩ > 0] for normals w (b, d), (…,).

    Raises ValueError for what are no finite vectors, and more than 20 of them.
    """
    w = checks.vectors("normals", normals)
    if w.ndim != 2 or not 1 <= len(w) <= MOST_BITS:
        raise InputError(f"normals have shape {w.shape}: give (b, d), 1 ≤ b ≤ {MOST_BITS}")
    powers = 2 ** np.arange(len(w))
    return lambda z: (checks.vectors("vectors", z, w.shape[1]) @ w.T > 0) @ powers


def normal_directions(b: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """b independent normal vectors (b, d).  Raises ValueError for counts below 1, and for what no
    memory holds."""
    size = checks.dimension("b", b), checks.dimension("d", d)
    machine.fits_in_memory(f"{b:.3g} vectors of dimension {d:.3g}", 16 * b * d, "take fewer")
    return checks.generator("rng", rng).normal(size=size)


def orthogonal_directions(b: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """b orthogonal directions (b, d), uniform.  Raises ValueError for b > d, and as
    `normal_directions`."""
    if checks.dimension("b", b) > checks.dimension("d", d):
        raise InputError(f"b is {b} and d is {d}: at most d directions are orthogonal")
    q, r = np.linalg.qr(normal_directions(d, b, rng))
    return np.asarray((q * np.sign(np.diagonal(r))).T)


def one_bit(angles: ArrayLike) -> np.ndarray:
    """1 − θ/π, the chance of one SimHash bit at angles θ (…,).

    Raises ValueError for angles that are not from 0 to π.
    """
    theta = checks.real("angles", angles)
    if not ((theta >= 0) & (theta <= np.pi)).all():
        raise InputError("angles are not all from 0 to π: give angles between vectors")
    return np.asarray(1 - theta / np.pi)


def in_equal_buckets(N: int, buckets: int, lookups: int) -> np.ndarray:
    """(1/N) Σ_{a<N} P(Bin(a, 1/B) < i), i = 1 … M, for N points and B = `buckets`, (M,).

    Raises ValueError for counts below 1.
    """
    share, i = 1 / checks.dimension("buckets", buckets), checks.dimension("lookups", lookups)
    earlier = np.arange(checks.dimension("N", N))[:, None]
    return np.asarray(binom.cdf(np.arange(i), earlier, share).mean(axis=0))


def k_means(points: ArrayLike, buckets: int, rng: np.random.Generator) -> Hash:
    """z (…, d) → the nearest of the centres of so many buckets among points (n, d), (…,).

    Raises ValueError for fewer points than buckets, and what are no finite vectors.
    """
    x = checks.vectors("points", points)
    if x.ndim != 2 or len(x) < checks.dimension("buckets", buckets):
        raise InputError(f"points have shape {x.shape}: give (n, d), n ≥ {buckets} buckets")
    rng = checks.generator("rng", rng)
    centres, _ = kmeans2(x, buckets, minit="++", iter=20, rng=rng)
    half = (centres**2).sum(-1) / 2
    return lambda z: (checks.vectors("vectors", z, x.shape[1]) @ centres.T - half).argmax(-1)


def found_in_buckets(
    hashed: Hash, points: ArrayLike, queries: ArrayLike, lookups: int
) -> np.ndarray:
    """Whether the nearest neighbour is among the first i cells of the query's bucket, i = 1 … M,
    for points (…, N, d) and queries (…, m, d), (…, m, M).

    Raises ValueError for lookups < 1 or above 10^5, for a hash that gives no buckets, and as
    `as_cloud` and `beside_cloud`.
    """
    x = as_cloud(points)
    q, M = beside_cloud(queries, x), checks.dimension("lookups", lookups, MOST_LOOKUPS)
    bucket, asked = _buckets(hashed, x), _buckets(hashed, q)
    wanted = nearest_in_cloud(x, q)
    own = np.take_along_axis(bucket, wanted, axis=-1)
    # Those in front of it are the earlier points of its bucket.
    earlier = (bucket[..., None, :] == own[..., None]) & (
        np.arange(x.shape[-2]) < wanted[..., None]
    )
    at = np.where(asked == own, 1 + earlier.sum(-1), M + 1)
    return at[..., None] <= np.arange(1, M + 1)


def _buckets(hashed: Hash, vectors: np.ndarray) -> np.ndarray:
    if not callable(hashed):
        raise InputError(f"hashed is {hashed!r}: give a hash, such as simhash makes")
    found = checks.step_counts("buckets", hashed(vectors))
    if found.shape != vectors.shape[:-1]:
        raise InputError(f"buckets have shape {found.shape}: give {vectors.shape[:-1]}")
    return found
