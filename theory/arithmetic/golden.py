"""Exact numbers a + b√5 with rational a and b, and the cosines of multiples of 36°.

The sign of a + b√5 is the common sign of a and b if they agree; otherwise it is the sign of a if
a² > 5b², and the sign of b if a² < 5b².  As √5 is irrational, a² = 5b² only for a = b = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, total_ordering
from math import isqrt, lcm
from numbers import Rational
from typing import Annotated, TypeAlias

from theory.kinds import Integer, RationalNumber, checked
from theory.kinds.errors import represented

Part: TypeAlias = Annotated[Fraction, RationalNumber()]
"""A rational number."""


@checked
@total_ordering
@dataclass(frozen=True)
class Golden:
    """The exact number a + b√5, for rational numbers a and b."""

    a: Part
    b: Part = Fraction(0)

    def __add__(self, other: Golden) -> Golden:
        if not isinstance(other, Golden):
            return NotImplemented
        return Golden(self.a + other.a, self.b + other.b)

    def __neg__(self) -> Golden:
        return Golden(-self.a, -self.b)

    def __sub__(self, other: Golden) -> Golden:
        if not isinstance(other, Golden):
            return NotImplemented
        return self + (-other)

    def __mul__(self, other: Golden) -> Golden:
        if not isinstance(other, Golden):
            return NotImplemented
        a = self.a * other.a + 5 * self.b * other.b
        return Golden(a, self.a * other.b + self.b * other.a)

    def __rmul__(self, factor: int | Fraction) -> Golden:
        if not isinstance(factor, Rational):
            return NotImplemented
        return Golden(factor * self.a, factor * self.b)

    @property
    def conjugate(self) -> Golden:
        """The conjugate a − b√5 of the number a + b√5."""
        return Golden(self.a, -self.b)

    @property
    def sign(self) -> int:
        """The sign of the number: −1, 0 or 1."""
        of_a, of_b = (_sign(part) for part in (self.a, self.b))
        if of_a * of_b >= 0:
            return of_a or of_b
        return of_a if self.a**2 > 5 * self.b**2 else of_b

    def __lt__(self, other: Golden) -> bool:
        if not isinstance(other, Golden):
            return NotImplemented
        return (self - other).sign < 0

    def __float__(self) -> float:
        # With a = A/n and b = B/n, |A + B√5| ≥ 1/(|A| + |B|√5), as |A² − 5B²| ≥ 1.  The root is
        # rounded by less than 2^−k, so the relative error is at most 2^−64.
        n = lcm(self.a.denominator, self.b.denominator)
        A, B = int(self.a * n), int(self.b * n)
        k = 64 + (abs(A) + 3 * abs(B)).bit_length()
        root = isqrt(5 * B**2 << 2 * k)
        return float(Fraction((A << k) + (root if B > 0 else -root), n << k))

    def __repr__(self) -> str:
        return f"Golden(a={represented(self.a)}, b={represented(self.b)})"

    def __str__(self) -> str:
        a, size = (represented(part, str) for part in (self.a, abs(self.b)))
        times = "" if abs(self.b) == 1 else f"{size}·"
        root = f"{'−' if self.b < 0 else ''}{times}√5"
        if not self.b or not self.a:
            return (root if self.b else a).replace("-", "−")
        text = f"{a} {'−' if self.b < 0 else '+'} {root.removeprefix('−')}"
        return text.replace("-", "−")


def _sign(value: Fraction) -> int:
    return (value > 0) - (value < 0)


@checked
def cosine(k: Integer) -> Golden:
    """The exact cosine of 36°·k, a number of the field Q(√5).

    The cosines c_k are computed by c_{k+1} = 2 c₁ c_k − c_{k−1} from c₀ = 1 and c₁ = (1 + √5)/4.
    """
    return _cosine(min(k % 10, -k % 10))


@cache
def _cosine(k: int) -> Golden:
    if k < 2:
        return Golden(Fraction(1)) if k == 0 else Golden(Fraction(1, 4), Fraction(1, 4))
    return 2 * _cosine(1) * _cosine(k - 1) - _cosine(k - 2)
