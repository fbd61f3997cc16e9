"""Patterns of ±1: random ones, with bits flipped, mixed, and compared.

Shape glossary: `…` leading dimensions, `N` patterns, `d` bits (neurons).
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from theory import machine
from theory.kinds import Count, InputError, Seed, Steps, Within, checked
from theory.memory.kinds import Patterns, States


@checked
def random_patterns(count: Count, d: Count, rng: Seed) -> np.ndarray:
    """`count` ≥ 1 patterns (count, d) of independent uniform signs ±1, int64.

    Raises `ValueError` for more patterns than there is memory.
    """
    machine.fits_in_memory(f"{count} patterns of {d} bits", 9 * count * d, "take fewer of them")
    octets = rng.integers(0, 256, (count, (d + 7) // 8), dtype=np.uint8)
    bits = np.unpackbits(octets, axis=1, count=d)
    return 2 * bits.astype(np.int64) - 1


@checked
def flipped(patterns: States, count: Annotated[Steps, Within(most="d")], rng: Seed) -> np.ndarray:
    """The patterns (…, d) with exactly `count` distinct bits of every row flipped, at random.

    For a fraction ρ of the bits give `round(rho * d)`.
    """
    d = patterns.shape[-1]
    if 0 < count < d:
        chosen = rng.random(patterns.shape).argpartition(count - 1, axis=-1)[..., :count]
        values = -np.take_along_axis(patterns, chosen, axis=-1)
        np.put_along_axis(patterns, chosen, values, axis=-1)
        return patterns
    return -patterns if count else patterns


@checked
def overlap(s: States, patterns: Patterns) -> np.ndarray:
    """m = ⟨s, ξ^μ⟩/d with every pattern: s (…, d), patterns (N, d) → (…, N), from −1 to 1."""
    return inner_products(s, patterns) / patterns.shape[1]


@checked
def mixture(patterns: Patterns) -> np.ndarray:
    """sgn(ξ¹ + … + ξ^N) (d,) of an odd number of patterns (N, d): bit by bit their majority.

    For three of them it is the best known spurious state of a Hopfield network.

    Raises `ValueError` for an even number of patterns, whose sums can be 0.
    """
    N = len(patterns)
    if N % 2 == 0:
        raise InputError(f"patterns has {N} rows, whose sum can be 0: give an odd number")
    return np.sign(patterns.sum(axis=0))


def with_overlaps(signs: list[tuple[int, int]], d: int, rng: np.random.Generator) -> np.ndarray:
    """A pattern for each (bit, total): its first bit, and what its other d − 1 add up to."""
    rows = []
    for bit, total in signs:
        rest = np.where(np.arange(d - 1) < (d - 1 + total) // 2, 1, -1)
        rows.append([bit, *rng.permutation(rest)])
    return np.array(rows)


def inner_products(s: np.ndarray, xi: np.ndarray) -> np.ndarray:
    """⟨s, ξ^μ⟩ (…, N) of signs s (…, d) and xi (N, d), int64."""
    kind = exact_format(xi.shape[1])
    return (s.astype(kind) @ xi.T.astype(kind)).astype(np.int64)


def exact_format(largest: float) -> type[np.float32] | type[np.float64] | type[np.int64]:
    """The fastest format in which sums of integers are exact, whatever their order.

    `largest` bounds the sum of the absolute values, hence every partial sum. numpy multiplies
    floats by BLAS and integers by a plain loop; floats hold integers up to 2²⁴ or 2⁵³ exactly.
    """
    return np.float32 if largest <= 2**24 else np.float64 if largest <= 2**53 else np.int64
