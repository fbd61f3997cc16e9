"""One cell of unlimited precision holds everything, so extra space has to be counted in bits.

N integers x_a from 0 to B − 1 are the digits of one number,

    c = Σ_a x_a·B^a,      x_a = ⌊c/B^a⌋ mod B,

below B^N: ⌈N·log₂B⌉ bits.  So with one extra cell a strategy knows all points and their order after
one lookup, and finds every nearest neighbour in its second; and a sketch of one cell, to which
each item adds a power of its own, (n + 1)^item, counts n items without an error.  A real cell does
the same in the digits of c/B^N.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import Count, CountFrom2, InputError, Integers, Steps, Within, checked

MOST_BITS = 10**6  # of a cell that is computed with


Base: TypeAlias = CountFrom2
"""An integer ≥ 2: a digit has to distinguish numbers."""


@checked
def packed(
    numbers: Annotated[Any, Integers("N", Within(least=0, below="base"))], base: Base
) -> int:
    """Σ_a x_a·B^a for numbers (N,) and B = `base`, exactly."""
    return sum(int(x) * base**a for a, x in enumerate(numbers))


@checked
def unpacked(cell: Steps, N: Count, base: Annotated[Base, Within(most=2**63)]) -> np.ndarray:
    """The N digits of a cell, (N,).

    Raises ValueError for cells of more than 10^6 bits, and a cell that is not below B^N.
    """
    _held(N, base)
    if cell >= base**N:
        raise InputError(f"cell has more than {N} digits of base {base}: give a larger N")
    return np.array([cell // base**a % base for a in range(N)], dtype=np.int64)


@checked
def cell_bits(N: Count, base: Base) -> int:
    """⌈log₂B^N⌉, the bits that a cell of N digits needs.

    Raises ValueError for more than 10^6 bits.
    """
    _held(N, base)
    return (base**N - 1).bit_length()


def _held(N: int, B: int) -> None:
    if N * B.bit_length() > MOST_BITS:
        raise InputError(f"N is {N} and base is {B}: give digits of at most {MOST_BITS:.0e} bits")
