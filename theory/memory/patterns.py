"""Patterns of ±1: random ones, with bits flipped, mixed, and compared.

Shape glossary: `…` leading dimensions, `N` patterns, `d` bits (neurons).
"""

import numpy as np
from numpy.typing import ArrayLike

from theory import checks, machine
from theory.checks import InputError


def random_patterns(count: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """`count` ≥ 1 patterns (count, d) of independent fair signs ±1, int64.

    Raises `ValueError` for a count or a d below 1, and for more patterns than there is memory.
    """
    count, d = checks.dimension("count", count), checks.dimension("d", d)
    machine.fits_in_memory(f"{count} patterns of {d} bits", 9 * count * d, "take fewer of them")
    octets = rng.integers(0, 256, (count, (d + 7) // 8), dtype=np.uint8)
    bits = np.unpackbits(octets, axis=1, count=d)
    return 2 * bits.astype(np.int64) - 1


def flipped(patterns: ArrayLike, count: int, rng: np.random.Generator) -> np.ndarray:
    """The patterns (…, d) with exactly `count` distinct bits of every row flipped, at random.

    For a fraction ρ of the bits give `round(rho * d)`.

    Raises `ValueError` for entries other than ±1 and for a count that is not from 0 to d.
    """
    patterns, count = checks.signs("patterns", patterns), checks.step_count("count", count)
    d = patterns.shape[-1]
    if count > d:
        raise InputError(f"count is {count} but a pattern has {d} bits: flip at most {d}")
    if 0 < count < d:
        chosen = rng.random(patterns.shape).argpartition(count - 1, axis=-1)[..., :count]
        values = -np.take_along_axis(patterns, chosen, axis=-1)
        np.put_along_axis(patterns, chosen, values, axis=-1)
        return patterns
    return -patterns if count else patterns


def overlap(s: ArrayLike, patterns: ArrayLike) -> np.ndarray:
    """m = ⟨s, ξ^μ⟩/d with every pattern: s (…, d), patterns (N, d) → (…, N), from −1 to 1.

    Raises `ValueError` for entries other than ±1 and for shapes that do not match.
    """
    xi = pattern_rows(patterns)
    s = states("s", s, xi.shape[1])
    return inner_products(s, xi) / xi.shape[1]


def mixture(patterns: ArrayLike) -> np.ndarray:
    """sgn(ξ¹ + … + ξ^N) (d,) of an odd number of patterns (N, d): bit by bit their majority.

    For three of them it is the best known spurious state of a Hopfield network.

    Raises `ValueError` for entries other than ±1 and for an even number, whose sums can be 0.
    """
    xi = pattern_rows(patterns)
    if len(xi) % 2 == 0:
        raise InputError(f"patterns has {len(xi)} rows, whose sum can be 0: give an odd number")
    return np.sign(xi.sum(axis=0))


def pattern_rows(value: ArrayLike) -> np.ndarray:
    """`value` as patterns (N, d), N ≥ 1, of ±1, int64; else `ValueError`."""
    xi = checks.signs("patterns", value)
    if xi.ndim != 2 or len(xi) < 1:
        raise InputError(f"patterns has shape {xi.shape}: give patterns (N, d), at least one")
    return xi


def states(name: str, value: ArrayLike, d: int) -> np.ndarray:
    """`value` as states (…, d) of ±1, int64, d being that of the network; else `ValueError`."""
    s = checks.signs(name, value)
    checks.vector_shape(name, s.shape, d)
    return s


def inner_products(s: np.ndarray, xi: np.ndarray) -> np.ndarray:
    """⟨s, ξ^μ⟩ (…, N) of signs s (…, d) and xi (N, d), int64."""
    kind = exact_format(xi.shape[1])
    return (s.astype(kind) @ xi.T.astype(kind)).astype(np.int64)


def exact_format(largest: float) -> type[np.float32] | type[np.float64] | type[np.int64]:
    """The fastest format in which sums of whole numbers are exact, whatever their order.

    `largest` bounds the sum of the absolute values, hence every partial sum. numpy multiplies
    floats by BLAS and integers by a plain loop; floats hold whole numbers up to 2²⁴ or 2⁵³ exactly.
    """
    return np.float32 if largest <= 2**24 else np.float64 if largest <= 2**53 else np.int64
