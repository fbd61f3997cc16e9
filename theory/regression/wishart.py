"""Moments of the spectrum of S = XᵀX for Gaussian X: the real Wishart distribution.

For X of n ≥ d standard normal rows the eigenvalues of S are 2x_i with the joint density

    ∏_i w(x_i) · ∏_{i<j} |x_i − x_j|      up to a constant,      w(x) = x^{(n−d−1)/2} e^{−x}

[Muirhead1982].  By de Bruijn's formula [deBruijn1955], for every f,

    E ∏_i (1 + ε f(x_i)) = Pf A(ε) / Pf A(0),
    A_ij(ε) = ∫∫ sgn(y − x) x^i y^j (1 + ε f(x)) (1 + ε f(y)) w(x) w(y) dx dy,     0 ≤ i, j < d,

If d is odd, A has one more row and column with entries ±∫ x^i (1 + ε f(x)) w(x) dx. The derivative
at ε = 0 is

    E Σ_i f(x_i) = tr(A⁻¹ A')/2,

and for f(x) = (2x)^k this is E tr S^k.  With integrals over 0 < x, y < c instead of all x, y > 0,
the formula gives the mean over the S whose eigenvalues are at most 2c.  If (n − d − 1)/2 is an
integer, the integrals are finite sums.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cache
from math import factorial
from typing import TYPE_CHECKING, Annotated, TypeAlias

from theory.kinds import Count, InputError, Positive, Within, checked

if TYPE_CHECKING:
    from flint import arb

BITS = 4096  # the precision of the balls that enclose moments and functions of them

Size: TypeAlias = Annotated[Count, Within(most=10**4)]
"""An integer from 1 to 10⁴; larger ones would take too long."""


def too_small(largest: float | None) -> InputError:
    """The error for a limit for which the precision does not suffice."""
    return InputError(
        f"largest is {largest:g}, which is too small for {BITS} bits of precision: "
        "give a larger number"
    )


@checked
def wishart_moments(
    n: Size, d: Size, n_moments: Size, largest: Positive | None = None
) -> list[arb]:
    """The moments E tr S^k for k = 0, …, n_moments − 1, where S = XᵀX is a Wishart matrix.

    The entries of X (n, d) are independent standard normal. The moments are returned as Arb balls,
    intervals that contain the exact values. If `largest` is given, the mean is over the matrices S
    whose eigenvalues are all at most `largest`.

    Raises `ValueError` if n < d, if n − d is even (the integrals in the moments are then not finite
    sums), or if `largest` is too small for the precision.
    """
    if n < d or (n - d) % 2 == 0:
        raise InputError(f"n is {n} and d is {d}: give n and d such that n − d is odd and positive")
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
            raise too_small(largest) from None
        found = []
        for k in range(n_moments):
            product = inverse * derivative(k)
            found.append(sum((product[i, i] for i in range(size)), arb(0)) * 2**k / 2)
    return found


class _Integrals:
    """Integrals over 0 < x < c, and over 0 < x, y < c; c = None is infinity."""

    def __init__(self, c: arb | None) -> None:
        self.c = c
        self.single, self.signed = cache(self._single), cache(self._signed)
        self.squared = cache(self._squared)
        self.above, self.above_twice = _Tails(c), _Tails(None if c is None else 2 * c)
        self.parts: defaultdict[int, list[arb]] = defaultdict(list)

    def _single(self, i: int) -> arb:
        """∫ x^i e^{−x} dx."""
        return factorial(i) - self.above[i]

    def _signed(self, i: int, j: int) -> arb:
        """∫∫ sgn(y − x) x^i y^j e^{−x−y} dx dy: twice the part y > x, minus the whole.

        The inner integral is ∫_x^c y^j e^{−y} dy = Σ_{m ≤ j} (j!/m!) x^m e^{−x} − ∫_c^∞ y^j e^{−y}
        dy.
        """
        parts = self.parts[i]  # by j, where Σ of j is j·(Σ of j − 1) + ∫ x^{i+j} e^{−2x} dx
        while len(parts) <= j:
            k = len(parts)
            parts.append((k * parts[-1] if k else 0) + self.squared(i + k))
        return 2 * parts[j] - self.single(i) * (self.single(j) + 2 * self.above[j])

    def _squared(self, i: int) -> arb:
        """The integral ∫ x^i e^{−2x} dx, by the substitution 2x → x."""
        return (factorial(i) - self.above_twice[i]) / 2 ** (i + 1)


class _Tails:
    """The integrals ∫_c^∞ x^i e^{−x} dx by i: i times that of i − 1, plus c^i e^{−c}.

    c = None is infinity, where they are 0.
    """

    def __init__(self, c: arb | None) -> None:
        self.c = c
        self.found: list[arb] = []

    def __getitem__(self, i: int) -> arb:
        from flint import arb

        if self.c is None:
            return arb(0)
        end = (-self.c).exp()
        while len(self.found) <= i:
            k = len(self.found)
            self.found.append(k * self.found[-1] + self.c**k * end if k else end)
        return self.found[i]
