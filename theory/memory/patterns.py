"""Patterns of ±1: random patterns, flipped bits, mixtures and overlaps.

Shape glossary: `…` leading dimensions, `N` patterns (`n_patterns`), `d` bits (neurons).
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from theory import machine
from theory.kinds import Count, InputError, Seed, Steps, Within, checked
from theory.memory.kinds import Patterns, States


@checked
def random_patterns(n_patterns: Count, d: Count, seed: Seed) -> np.ndarray:
    """Random patterns (n_patterns, d) of independent uniform signs ±1, int64.

    Raises `ValueError` if the patterns do not fit in memory.
    """
    machine.fits_in_memory(
        f"{n_patterns} patterns of {d} bits", 9 * n_patterns * d, "take fewer patterns"
    )
    octets = np.random.default_rng(seed).integers(
        0, 256, (n_patterns, (d + 7) // 8), dtype=np.uint8
    )
    bits = np.unpackbits(octets, axis=1, count=d)
    return 2 * bits.astype(np.int64) - 1


@checked
def flipped(patterns: States, flips: Annotated[Steps, Within(most="d")], seed: Seed) -> np.ndarray:
    """The patterns (…, d) with exactly `flips` random bits flipped in each pattern.

    The entries of the patterns are ±1, and a flip changes the sign of an entry. For a fraction rho
    of the bits, pass `flips=round(rho * d)`.
    """
    d = patterns.shape[-1]
    if 0 < flips < d:
        rng = np.random.default_rng(seed)
        chosen = rng.random(patterns.shape).argpartition(flips - 1, axis=-1)[..., :flips]
        values = -np.take_along_axis(patterns, chosen, axis=-1)
        np.put_along_axis(patterns, chosen, values, axis=-1)
        return patterns
    return -patterns if flips else patterns


@checked
def overlap(s: States, patterns: Patterns) -> np.ndarray:
    """The overlaps ⟨s, ξ⟩/d (…, N), from −1 to 1, of states s (…, d) with each of N patterns ξ.

    States and patterns have entries ±1. The patterns are the rows of `patterns` (N, d).
    """
    return inner_products(s, patterns) / patterns.shape[1]


@checked
def mixture(patterns: Patterns) -> np.ndarray:
    """The bitwise majority (d,) of an odd number N of patterns (N, d) with entries ±1.

    A mixture of three patterns is the best known spurious state of a Hopfield network, that is, a
    stable state that is not a stored pattern.

    Raises `ValueError` for an even number of patterns, for which a sum of bits can be 0.
    """
    N = len(patterns)
    if N % 2 == 0:
        raise InputError(
            f"patterns have {N} rows, so a sum of bits can be 0: give an odd number of patterns"
        )
    return np.sign(patterns.sum(axis=0))


def with_overlaps(signs: list[tuple[int, int]], d: int, rng: np.random.Generator) -> np.ndarray:
    """Random patterns of d bits ±1, each with a given first bit and a given sum of the other bits.

    `signs` contains a pair (first bit, sum of the other bits) for each pattern.
    """
    rows = []
    for bit, total in signs:
        rest = np.where(np.arange(d - 1) < (d - 1 + total) // 2, 1, -1)
        rows.append([bit, *rng.permutation(rest)])
    return np.array(rows)


def inner_products(s: np.ndarray, xi: np.ndarray) -> np.ndarray:
    """The inner products ⟨s, ξ^μ⟩ (…, N) of states s (…, d) and patterns `xi` (N, d), int64.

    The entries of the states and of the patterns ξ^μ are ±1.
    """
    dtype = exact_dtype(xi.shape[1])
    return (s.astype(dtype) @ xi.T.astype(dtype)).astype(np.int64)


def exact_dtype(largest: float) -> type[np.float32] | type[np.float64] | type[np.int64]:
    """The fastest dtype in which a sum of integers is exact for any order of the summands.

    `largest` bounds the sum of the absolute values of the integers, and so every partial sum.
    numpy multiplies floats with BLAS and integers with a plain loop. float32 represents integers
    up to 2²⁴ exactly, and float64 up to 2⁵³.
    """
    return np.float32 if largest <= 2**24 else np.float64 if largest <= 2**53 else np.int64
