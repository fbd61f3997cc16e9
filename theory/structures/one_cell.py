"""One cell of unlimited precision can contain all points, so extra space is counted in bits.

N integers x_a from 0 to B − 1 are the digits of one number c in base B,

    c = Σ_a x_a·B^a,      x_a = ⌊c/B^a⌋ mod B,

which is below B^N and has ⌈N·log₂B⌉ bits.  So with one extra cell the first lookup reveals all
points and their order, and the second lookup finds every nearest neighbour.  Similarly, a sketch of
one cell counts n items without error if each item adds (n + 1)^item to the cell.  A real-valued
cell can contain the digits of c/B^N.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import Count, CountFrom2, InputError, Integers, Steps, Within, checked, shown

MOST_BITS = 10**6  # largest number of bits of a cell


Base: TypeAlias = CountFrom2
"""An integer ≥ 2."""


@checked
def packed(
    numbers: Annotated[Any, Integers("N", Within(least=0, below="base"))], base: Base
) -> int:
    """The integer Σ_a x_a·B^a, whose digits in base B are the numbers x_0, …, x_{N−1}.

    The array `numbers` (N,) contains x_0, …, x_{N−1}, and B is `base`.  So one memory cell of
    unlimited precision can contain all N numbers.
    """
    return _packed(numbers.tolist(), base)


def _packed(digits: list[int], base: int) -> int:
    half = len(digits) // 2  # products of numbers of equal lengths, instead of many long powers
    if not half:
        return digits[0]
    return _packed(digits[:half], base) + base**half * _packed(digits[half:], base)


@checked
def unpacked(cell: Steps, n_digits: Count, base: Annotated[Base, Within(most=2**63)]) -> np.ndarray:
    """The `n_digits` lowest digits of the integer `cell` in base B = `base`, (n_digits,).

    The first entry is the lowest digit.  Raises ValueError if `n_digits` digits need more than 10^6
    bits, or if the integer is at least B^n_digits.
    """
    _check_bits(n_digits, base)
    if cell >= base**n_digits:
        raise InputError(
            f"the number `cell` has more than {n_digits} digits of base {base}: give a larger "
            "n_digits"
        )
    return np.array(_digits(cell, n_digits, base), dtype=np.int64)


def _digits(cell: int, count: int, base: int) -> list[int]:
    half = count // 2
    if not half:
        return [cell]
    high, low = divmod(cell, base**half)
    return _digits(low, half, base) + _digits(high, count - half, base)


@checked
def cell_bits(n_digits: Count, base: Base) -> int:
    """The number of bits ⌈n_digits·log₂ base⌉ of a memory cell that contains `n_digits` digits.

    The digits are in base `base`, and together are one integer in the cell.  Raises ValueError for
    cells of more than 10^6 bits.
    """
    _check_bits(n_digits, base)
    return (base**n_digits - 1).bit_length()


def _check_bits(N: int, B: int) -> None:
    # the first condition, which is cheap, implies the second
    if N * (B.bit_length() - 1) > MOST_BITS or (B**N - 1).bit_length() > MOST_BITS:
        raise InputError(
            f"n_digits is {shown(N)} and base is {shown(B)}, which need more than {MOST_BITS:.0e} "
            "bits: give a smaller n_digits or base"
        )
