"""The claim `hashing`: accuracy of hash functions after each lookup, for points on a sphere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from theory.structures import (
    found_in_buckets,
    in_equal_buckets,
    k_means,
    normal_directions,
    one_bit,
    orthogonal_directions,
    simhash,
    sphere_cloud,
)
from verify.claim import Run, claim, option
from verify.evidence.statistics import Mean
from verify.finding import Finding, labelled, same
from verify.structures.accuracies import accuracies, ahead, beside

N, D, RHO, BITS, M = 100, 30, 0.8, 4, 6
N_QUERIES = 20  # queries per set of points
LEARNT = 20_000  # number of points for k-means
# Figures after 6 lookups, rounded to a tenth; two standard errors are 1.4 points.
TABLE = {"SimHash": 31.0, "orthogonal": 32.4, "k-means": 39.1}
DRAWN = 0.7
STEPS = 12  # number of directions in half a turn


@claim(
    picture="verify.structures.hashing_picture:draw",
    faults_seen=[{"samples": 1000}],
)
def hashing(
    run: Run,
    *,
    samples: Annotated[int, option("number of sets of points", min=100, max=10**5)] = 1000,
) -> Iterator[Finding]:
    """Among 100 points of a sphere in 30 dimensions, six lookups in 16 buckets find 31 % of nearest
    neighbours by SimHash, 32 % by orthogonal directions and 38 % by k-means.

    Each query has inner product 0.8 with one of the points.  The points are sorted into cells by
    bucket, and the first cell of each bucket is known.  Lookup i is at the i-th cell of the query's
    bucket.

    A bucket of SimHash is given by the signs of the inner products with four random vectors.  For
    two vectors at an angle θ, one of these four bits is equal with probability 1 − θ/π, and all
    four bits are equal with probability (1 − θ/π)^4.  The second method uses orthogonal vectors
    instead, and its buckets are equally likely.  Therefore, if the query is in the bucket of its
    nearest neighbour, the probability that i lookups find the nearest neighbour is a sum of
    binomial probabilities.  The buckets of SimHash are not equally likely, and SimHash finds fewer
    nearest neighbours.  In the third method, a bucket is the set of vectors nearest to one of 16
    centres, which are computed by k-means.
    """
    found = {name: np.zeros((samples, N)) for name in TABLE}
    centres = k_means(sphere_cloud(1, LEARNT, D, 1, run.rng)[0][0], 2**BITS, run.rng)
    for i in run.progress(range(samples), "sets"):
        x, q = sphere_cloud(1, N, D, N_QUERIES, run.rng, RHO)
        # Each set has a new hash function, except for k-means, whose centres are computed once.
        hashes = {
            "SimHash": simhash(normal_directions(BITS, D, run.rng)),
            "orthogonal": simhash(orthogonal_directions(BITS, D, run.rng)),
            "k-means": centres,
        }
        for name, hash_function in hashes.items():
            found[name][i] = found_in_buckets(hash_function, x, q, N)[0].mean(axis=0)
    means = {name: accuracies(right[:, :M]) for name, right in found.items()}
    for name, each in means.items():
        point = f"accuracy after {M} lookups, {N} points"
        yield from labelled(name, [beside("last", point, each[-1:], [TABLE[name]], DRAWN)])
    yield from _probabilities(found)
    last = means["k-means"][-1:], means["SimHash"][-1:]
    yield ahead(
        "k-means-ahead", f"(accuracy of k-means) − (accuracy of SimHash) after {M} lookups", *last
    )
    yield _angles()
    run.draw(means)


def _probabilities(found: dict[str, np.ndarray]) -> Iterator[Finding]:
    """Fractions found by lookup (sets, N) agree with the stated probabilities.

    The last fraction is the fraction of queries in the right bucket.  With probability below 10⁻⁵,
    another point is nearer to a query than the point from which it is constructed.
    """
    probability = float(one_bit(np.arccos(RHO))) ** BITS
    both = accuracies(found["SimHash"][:, -1:])
    yield beside(
        "SimHash/bucket",
        "fraction of queries that are in the same bucket of SimHash as their nearest neighbour",
        both,
        [100 * probability],
    )
    reached = in_equal_buckets(N, 2**BITS, M)
    # By lookup, the fraction found minus its expectation given the right bucket has mean 0.
    excess = {name: right[:, :M] - reached * right[:, -1:] for name, right in found.items()}
    name = (
        "orthogonal directions: (accuracy after each lookup) − (accuracy in equally likely "
        "buckets)·(fraction of queries in the bucket of their nearest neighbour)"
    )
    yield beside("orthogonal/law", name, accuracies(excess["orthogonal"]), [0.0] * M)
    more = accuracies((excess["orthogonal"] - excess["SimHash"])[:, -1:])
    name = (
        f"(accuracy) − (accuracy in equally likely buckets) after {M} lookups, difference between "
        "orthogonal directions and SimHash"
    )
    yield ahead("orthogonal-ahead", name, more, [Mean(0.0, 0.0)])


def _angles() -> Finding:
    """The number of equal SimHash bits of two vectors agrees with 1 − θ/π.

    The directions are evenly spaced over half a turn, and no direction is orthogonal to a vector.
    """
    turns = np.pi * np.arange(2 * STEPS) / STEPS
    vectors, normals = (
        np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        for angle in (turns, turns[:STEPS] + np.pi / (2 * STEPS))
    )
    bits = simhash(normals)(vectors)[:, None] >> np.arange(STEPS) & 1
    counted = (bits[:, None] == bits).sum(-1)
    between = np.arccos(np.clip(vectors @ vectors.T, -1, 1))
    return same(
        "angle",
        "number of equal SimHash bits of two vectors at an angle θ in the plane, "
        f"{STEPS} equally spaced normals",
        counted.tolist(),
        np.round(STEPS * one_bit(between), 6).tolist(),
        words=f"equal to the formula for all {counted.size} pairs of {2 * STEPS} vectors",
        wanted=f"{STEPS}(1 − θ/π)",
    )
