"""Moments of the spectrum of S = XᵀX, X Gaussian: the real Wishart distribution.

For X of n ≥ d standard normal rows the eigenvalues of S are 2x_i with the joint density

    ∏_i w(x_i) · ∏_{i<j} |x_i − x_j|      up to a constant,      w(x) = x^{(n−d−1)/2} e^{−x}

[Muirhead1982].  By de Bruijn's formula [deBruijn1955], for every f,

    E ∏_i (1 + ε f(x_i)) = Pf A(ε) / Pf A(0),
    A_ij(ε) = ∫∫ sgn(y − x) x^i y^j (1 + ε f(x)) (1 + ε f(y)) w(x) w(y) dx dy,     0 ≤ i, j < d,

with one more row and column, ±∫ x^i (1 + ε f(x)) w(x) dx, if d is odd.  The derivative at ε = 0 is

    E Σ_i f(x_i) = tr(A⁻¹ A')/2,

and for f(x) = (2x)^k this is E tr S^k.  Over 0 < x, y < c instead of all x, y > 0 it is the mean
over the S without eigenvalues above 2c.  For a whole (n − d − 1)/2 the integrals are finite sums.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import factorial
from typing import TYPE_CHECKING, Annotated, TypeAlias

from theory.kinds import Count, InputError, Positive, Within, checked

if TYPE_CHECKING:
    from flint import arb

BITS = 4096  # of precision; moments and what is made of them are enclosed in balls

Size: TypeAlias = Annotated[Count, Within(most=10**4)]
"""An integer from 1 to 10⁴: beyond, the integrals take too long."""


@checked
def wishart_moments(n: Size, d: Size, count: Size, largest: Positive | None = None) -> list[arb]:
    """E tr S^k for k = 0, …, count − 1 and S = XᵀX, X (n, d) standard normal, n > d, in balls.

    With `largest`, the mean over the S whose eigenvalues are all at most that.

    Raises `ValueError` for a `largest` so small that the precision does not serve, for n < d, and
    for n − d even, where the integrals are no finite sums.
    """
    if n < d or (n - d) % 2 == 0:
        raise InputError(f"n is {n} and d is {d}: give an n that is larger by an odd number")
    from flint import arb, arb_mat, ctx  # 70 ms

    size, powers = d + d % 2, range((n - d - 1) // 2, (n + d - 1) // 2)
    with ctx.workprec(BITS):
        over = _Integrals(None if largest is None else arb(largest) / 2)

        def bordered(inside: Callable[[int, int], arb], border: Callable[[int], arb]) -> arb_mat:
            made = arb_mat(size, size)
            for row, i in enumerate(powers):
                for column, j in enumerate(powers):
                    made[row, column] = inside(i, j)
                if d % 2:
                    made[row, d], made[d, row] = border(i), -border(i)
            return made

        def derivative(k: int) -> arb_mat:
            """A' for f(x) = x^k."""
            return bordered(
                lambda i, j: over.signed(i + k, j) + over.signed(i, j + k),
                lambda i: over.single(i + k),
            )

        try:
            inverse = bordered(over.signed, over.single).inv()
        except ZeroDivisionError:
            raise InputError(
                f"largest is {largest}: {BITS} bits are not enough for it; give a larger number"
            ) from None
        found = []
        for k in range(count):
            product = inverse * derivative(k)
            found.append(sum((product[i, i] for i in range(size)), arb(0)) * 2**k / 2)
    return found


class _Integrals:
    """Over 0 < x < c, and over 0 < x, y < c; c None is infinity."""

    def __init__(self, c: arb | None) -> None:
        self.c = c
        self.single, self.signed = cache(self._single), cache(self._signed)
        self.above, self.squared = cache(self._above), cache(self._squared)

    def _single(self, i: int) -> arb:
        """∫ x^i e^{−x} dx."""
        return factorial(i) - self.above(i)

    def _signed(self, i: int, j: int) -> arb:
        """∫∫ sgn(y − x) x^i y^j e^{−x−y} dx dy: twice the part y > x, less all of it.

        There ∫_x^c y^j e^{−y} dy = Σ_{m ≤ j} (j!/m!) x^m e^{−x} − the part above c.
        """
        part = sum(factorial(j) // factorial(m) * self.squared(i + m) for m in range(j + 1))
        return 2 * part - self.single(i) * (self.single(j) + 2 * self.above(j))

    def _above(self, i: int) -> arb:
        """∫_c^∞ x^i e^{−x} dx."""
        return _tail(i, self.c)

    def _squared(self, i: int) -> arb:
        """∫ x^i e^{−2x} dx, by x for 2x."""
        doubled = None if self.c is None else 2 * self.c
        return (factorial(i) - _tail(i, doubled)) / 2 ** (i + 1)


def _tail(i: int, c: arb | None) -> arb:
    """∫_c^∞ x^i e^{−x} dx = e^{−c} Σ_{m ≤ i} (i!/m!) c^m."""
    from flint import arb

    if c is None:
        return arb(0)
    return (-c).exp() * sum(factorial(i) // factorial(m) * c**m for m in range(i + 1))
