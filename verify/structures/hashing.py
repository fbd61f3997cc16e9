"""The claim `hashing`: buckets on a sphere, by lookup."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from theory.structures import (
    found_in_buckets,
    k_means,
    normal_directions,
    orthogonal_directions,
    simhash,
    sphere_cloud,
)
from verify.claim import Run, claim, option
from verify.evidence.statistics import Mean, estimated
from verify.finding import Finding, labelled, within
from verify.structures.by_lookup import ERRORS, accuracies, ahead, beside

N, D, RHO, BITS, M = 100, 30, 0.8, 4, 6
QUERIES = 20  # to a set of points
LEARNT = 20_000  # points from which centres are found
# After 6 lookups, drawn to ±1.4 points by two standard errors, and printed to a tenth.
TABLE = {"SimHash": 31.0, "orthogonal": 32.4, "k-means": 39.1}
SLACK = 1.5 * 1.4 + 0.05


@claim(
    source="hashes of [Charikar2002], [Gong2013]; setting of [Salemohamed2025]",
    draws=True,
    faults_seen=[{"samples": 200}],
)
def hashing(
    run: Run,
    *,
    samples: Annotated[int, option("sets of points", min=100, max=10**5)] = 1000,
) -> Iterator[Finding]:
    """On a sphere in 30 dimensions six lookups in 16 buckets find 31 % of nearest neighbours by
    SimHash, 32 by orthogonal directions and 38 by k-means.

    100 points, queries whose inner product with one of them is 0.8; where each bucket begins is
    known.  Two vectors at an angle θ have one SimHash bit with probability 1 − θ/π.
    """
    sets = min(samples, 200) if run.quick else samples
    found = {name: np.zeros((sets, M)) for name in TABLE}
    centres = k_means(sphere_cloud(1, LEARNT, D, 1, run.rng)[0][0], 2**BITS, run.rng)
    for i in run.progress(range(sets), "sets"):
        x, q = sphere_cloud(1, N, D, QUERIES, run.rng, RHO)
        # A hash of its own for each set, but for the centres, which were learnt once.
        hashes = {
            "SimHash": simhash(normal_directions(BITS, D, run.rng)),
            "orthogonal": simhash(orthogonal_directions(BITS, D, run.rng)),
            "k-means": centres,
        }
        for name, hashed in hashes.items():
            found[name][i] = found_in_buckets(hashed, x, q, M)[0].mean(axis=0)
    means = {name: accuracies(right) for name, right in found.items()}
    for name, each in means.items():
        yield from labelled(name, [_beside(name, each)])
    last = means["k-means"][-1:], means["SimHash"][-1:]
    yield ahead("k-means-ahead", f"k-means is ahead of SimHash at lookup {M}", *last)
    yield _angles(run)
    if run.plot:
        from verify.structures.hashing_picture import draw

        draw(run.plot, means)


def _beside(name: str, measured: list[Mean]) -> Finding:
    source = f"drawn to ±1.4, within {SLACK:g} points"
    return beside("last", f"{N} points, lookup {M}", measured[-1:], [TABLE[name]], SLACK, source)


def _angles(run: Run) -> Finding:
    """The law of one bit, at angles of 30°, 60°, …, 150°."""
    angles = np.pi * np.arange(1, 6) / 6
    pairs = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    w = run.rng.normal(size=(4000, 2))
    same = (w @ pairs.T > 0) == (w[:, :1] > 0)
    law = bit_law(angles)
    off = [
        abs(each.mean - wanted) / each.error
        for each, wanted in zip(map(estimated, same.T.astype(float)), law, strict=True)
    ]
    return within(
        "angle",
        "how often two vectors have one SimHash bit beside 1 − θ/π, in standard errors",
        "statistical",
        off,
        (0.0, ERRORS),
        words=", ".join(f"{mean:.3f}" for mean in same.mean(axis=0)),
        wanted=f"{', '.join(f'{wanted:.3f}' for wanted in law)}, by {ERRORS:g} standard errors",
    )


def bit_law(angles: np.ndarray) -> np.ndarray:
    """1 − θ/π: the share of planes through 0 that do not part two vectors at the angle θ."""
    return 1 - angles / np.pi
