"""Bounds on degrees, denominators and coefficients of polynomials, without computing them.

A size bounds the degree, the denominators and the coefficients of a polynomial over Q in one
variable.  Sizes form a commutative semiring: an algorithm that is written for a ring can be run on
sizes first, to learn whether its polynomials can be computed, or how long a prime must be.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm


@dataclass(frozen=True)
class Size:
    """Bounds for a polynomial f: f has degree ≤ `degree`, base^power·f has integer coefficients,
    and the sum of the absolute coefficients of f is at most 2^bits.

    The base is that of `Sizes`. The zero polynomial has the same bounds as the constant 1.
    """

    degree: int
    power: int
    bits: int

    def __add__(self, other: Size) -> Size:
        bits = max(self.bits, other.bits) + 1
        return Size(max(self.degree, other.degree), max(self.power, other.power), bits)

    __sub__ = __add__

    def __neg__(self) -> Size:
        return self

    def __mul__(self, other: Size) -> Size:
        return Size(self.degree + other.degree, self.power + other.power, self.bits + other.bits)


VARIABLE = Size(1, 0, 0)


class Sizes:
    """The semiring of sizes; by default, t is the size of the variable.

    The base of denominators is 2 as long as all numbers are multiples of powers of two. An odd
    factor m of a denominator multiplies the base by m, so the base may grow during a computation:
    call `coefficient_bits` after the computation, on the same object.
    """

    def __init__(self, t: Size = VARIABLE) -> None:
        self.t, self.base = t, 2

    def number(self, numerator: int, denominator: int = 1) -> Size:
        """The size of the constant numerator/denominator."""
        twos = (denominator & -denominator).bit_length() - 1
        odd = denominator >> twos
        self.base = 2 * lcm(self.base // 2, odd)
        bits = max(abs(numerator), 1).bit_length() - denominator.bit_length() + 1
        return Size(0, max(twos, int(odd > 1)), bits)

    def all_bits(self, size: Size) -> int:
        """A bound on the bits of all coefficients of base^power·f together, for a polynomial f."""
        return (size.degree + 1) * self.coefficient_bits(size)

    def coefficient_bits(self, size: Size) -> int:
        """A bound on the bits of the coefficients of base^power·f, for a polynomial f."""
        return max(1, size.bits + size.power * (self.base - 1).bit_length())
