"""One cell of unlimited precision holds everything, so extra space has to be counted in bits.

N whole numbers x_a from 0 to B − 1 are the digits of one number,

    c = Σ_a x_a·B^a,      x_a = ⌊c/B^a⌋ mod B,

below B^N: N·log₂B bits.  So with one extra cell a strategy knows all points and their order after
one lookup, and finds every nearest neighbour in its second; and a sketch of one cell, to which
each item adds a power of its own, (n + 1)^item, counts n items without an error.  A real cell does
the same in the digits of c/B^N.
"""

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError

MOST_BITS = 10**6  # of a cell that is computed with


def packed(numbers: ArrayLike, base: int) -> int:
    """Σ_a x_a·B^a for numbers (N,) and B = `base`, exactly.

    Raises ValueError for B < 2, and numbers that are not whole and from 0 to B − 1.
    """
    digits, B = checks.step_counts("numbers", numbers), _base(base)
    if digits.ndim != 1 or digits.max() >= B:
        raise InputError(
            f"numbers have shape {digits.shape} and end at {digits.max()}: give a row (N,) of "
            f"numbers from 0 to {B - 1}"
        )
    return sum(int(x) * B**a for a, x in enumerate(digits))


def unpacked(cell: int, N: int, base: int) -> np.ndarray:
    """The N digits of a cell, (N,).

    Raises ValueError for counts below 1, B < 2 or above 2^63, cells of more than 10^6 bits, and a
    cell that is not from 0 to B^N − 1.
    """
    c, count, B = checks.step_count("cell", cell), checks.dimension("N", N), _base(base)
    checks.dimension("base", B, 2**63)
    _held(count, B)
    if c >= B**count:
        raise InputError(f"the cell has more than {count} digits of base {B}: give a larger N")
    return np.array([c // B**a % B for a in range(count)], dtype=np.int64)


def cell_bits(N: int, base: int) -> int:
    """⌈log₂B^N⌉, the bits that a cell of N digits needs.

    Raises ValueError for N < 1, B < 2, and more than 10^6 bits.
    """
    B, count = _base(base), checks.dimension("N", N)
    _held(count, B)
    return (B**count - 1).bit_length()


def _held(N: int, B: int) -> None:
    if N * B.bit_length() > MOST_BITS:
        raise InputError(f"{N} digits of base {B} are more than {MOST_BITS:.0e} bits: give fewer")


def _base(base: int) -> int:
    if checks.dimension("base", base) < 2:
        raise InputError("base is 1: give at least 2, as a digit has to tell numbers apart")
    return base
