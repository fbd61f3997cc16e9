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

A plane through 0 whose normal is uniform separates two vectors at an angle θ with probability θ/π:
in the plane of the two the normal's projection is uniform, and of its directions the fraction
θ/π lies between their normals.  So SimHash gives both the same bucket with probability
(1 − θ/π)^b.  Orthogonal buckets are equally likely for a uniform vector, as the distribution is
invariant under changes of signs of coordinates: if the query's bucket is that of the point it was
made of, each other of N independent points is in it with probability 2^−b, and lookup i reaches
this point, which is equally likely to be given in any place, with probability

    (1/N) Σ_{a < N} P(of a points fewer than i are in a bucket of probability 2^−b).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from scipy.cluster.vq import kmeans2
from scipy.stats import binom

from theory import machine
from theory.kinds import InputError, Reals, Seed, StepsArray, Within, checked, read
from theory.structures.clouds import Cloud, CloudQueries, nearest_in_cloud
from theory.structures.lookup import LookupCount
from theory.structures.points import Size

MOST_BITS = 20
Hash = Callable[[np.ndarray], np.ndarray]


@checked
def simhash(normals: Annotated[Any, Reals("b d")]) -> Hash:
    """z (…, d) → Σ_i 2^i·[⟨z, w_i⟩ > 0] for normals w (b, d), (…,).

    Raises ValueError for more than 20 normals.
    """
    b, d = normals.shape
    if b > MOST_BITS:
        raise InputError(f"normals has shape {(b, d)}: give (b, d), b ≤ {MOST_BITS}")
    powers = 2 ** np.arange(b)
    return lambda z: (Reals(f"... {d}").read("vectors", z) @ normals.T > 0) @ powers


@checked
def normal_directions(b: Size, d: Size, rng: Seed) -> np.ndarray:
    """b independent normal vectors (b, d).  Raises ValueError for what no memory holds."""
    machine.fits_in_memory(f"{b:.3g} vectors of dimension {d:.3g}", 16 * b * d, "take fewer")
    return rng.normal(size=(b, d))


@checked
def orthogonal_directions(b: Annotated[Size, Within(most="d")], d: Size, rng: Seed) -> np.ndarray:
    """b ≤ d orthogonal directions (b, d), uniform.  Raises ValueError for what no memory holds."""
    q, r = np.linalg.qr(normal_directions(d, b, rng))
    return np.asarray((q * np.sign(np.diagonal(r))).T)


@checked
def one_bit(angles: Annotated[Any, Reals("...", Within(least=0, most=np.pi))]) -> np.ndarray:
    """1 − θ/π, the probability that one bit of SimHash is the same at angles θ (…,) from 0 to π."""
    return np.asarray(1 - angles / np.pi)


@checked
def in_equal_buckets(N: Size, buckets: Size, lookups: LookupCount) -> np.ndarray:
    """(1/N) Σ_{a<N} P(Bin(a, 1/B) < i), i = 1 … M, for N points and B = `buckets`, (M,).

    Raises ValueError for what no memory holds.
    """
    machine.fits_in_memory(f"{lookups} lookups of {N:.3g} points", 32 * N * lookups, "take fewer")
    earlier = np.arange(N)[:, None]
    return np.asarray(binom.cdf(np.arange(lookups), earlier, 1 / buckets).mean(axis=0))


@checked
def k_means(
    points: Annotated[Any, Reals("n d")], buckets: Annotated[Size, Within(most="n")], rng: Seed
) -> Hash:
    """z (…, d) → the nearest of the centres of so many buckets among points (n, d), (…,)."""
    d = points.shape[1]
    centres, _ = kmeans2(points, buckets, minit="++", iter=20, rng=rng)
    half = (centres**2).sum(-1) / 2
    return lambda z: (Reals(f"... {d}").read("vectors", z) @ centres.T - half).argmax(-1)


@checked
def found_in_buckets(
    hashed: Hash, points: Cloud, queries: CloudQueries, lookups: LookupCount
) -> np.ndarray:
    """Whether the nearest neighbour is among the first i cells of the query's bucket, i = 1 … M,
    for points (…, N, d) and queries (…, m, d), (…, m, M).

    Raises ValueError for a hash that gives no buckets, and for what no memory holds.
    """
    x, q, M = points, queries, lookups
    machine.fits_in_memory(f"{M} lookups of {q.shape} queries", 2 * M * q.size, "take fewer")
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
    found = read(StepsArray, "buckets", hashed(vectors))
    if found.shape != vectors.shape[:-1]:
        raise InputError(f"buckets have shape {found.shape}: give {vectors.shape[:-1]}")
    return found
