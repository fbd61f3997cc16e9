"""Bounds on the degree, denominators and coefficients of the polynomials that a network computes.

Each bound is the result of the same forward pass in a number system of sizes.

Degrees and denominators form the semiring (max, +): the degree of a sum is at most the larger
degree, and the degree of a product is the sum of the degrees.  The same holds for the exponent e
for which base^e times the polynomial has integer coefficients.  The height is the sum of the
absolute values of the coefficients, which is submultiplicative, so it is bounded by running the
network with |weights| on all-ones inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq

from verify.domains.base import Domain, Entry, cached_weights
from verify.domains.modular import BITS

ZERO = -(2**62)  # the (max, +) zero: the degree of the zero polynomial
LARGEST = 2**61  # larger sizes are replaced by this size, for which `error_probability` exceeds 1


SMALL = 2**15  # products of entries, below which equal rows are not looked for


class Size(int):
    """An element of the semiring (max, +): the size of a number or of a polynomial.

    A plain integer c counts as a number of size |c|, which is no smaller than the size of c, and
    the product with 0 has the size of a constant.
    """

    def __add__(self, other: int) -> Size:
        return Size(max(int(self), _size(other)))

    __radd__ = __sub__ = __rsub__ = __add__

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        if not (isinstance(other, Size) or other):
            return Size(0)
        return Size(min(max(int(self) + _size(other), ZERO), LARGEST))

    __rmul__ = __mul__

    def __neg__(self) -> Size:
        return self


def _size(of: int) -> int:
    return int(of) if isinstance(of, Size) else abs(of)


class TropicalMatrix:
    """A matrix over (max, +), in int64; its entries are read as `Size`."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def nrows(self) -> int:
        return self.array.shape[0]

    def ncols(self) -> int:
        return self.array.shape[1]

    def tolist(self) -> list[list[Size]]:
        return [[*map(Size, row)] for row in self.array.tolist()]

    def transpose(self) -> TropicalMatrix:
        return TropicalMatrix(self.array.T)

    def __neg__(self) -> TropicalMatrix:
        return self

    def __add__(self, other: TropicalMatrix) -> TropicalMatrix:
        return TropicalMatrix(np.maximum(self.array, other.array))

    __sub__ = __add__

    def __mul__(self, other: TropicalMatrix | int) -> TropicalMatrix:
        """The product; equal rows, and equal columns, are computed once."""
        if isinstance(other, int):
            return other * self
        if self.array.size * other.ncols() <= SMALL:
            sums = self.array[:, :, None] + other.array[None, :, :]
            return TropicalMatrix(np.clip(sums.max(axis=1), ZERO, LARGEST))
        rows, row_of = _distinct(self.array)
        columns, column_of = _distinct(other.array.T)
        product = np.empty((len(rows), len(columns)), dtype=np.int64)
        for i, row in enumerate(rows):
            product[i] = (row + columns).max(axis=1)
        return TropicalMatrix(np.clip(product, ZERO, LARGEST)[np.ix_(row_of, column_of)])

    def __rmul__(self, factor: int) -> TropicalMatrix:
        return TropicalMatrix(np.clip(self.array + _size(factor), ZERO, LARGEST))


def _distinct(array: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The different rows of a matrix, and for each of its rows the index of the equal one."""
    size, content = array.itemsize * array.shape[1], np.ascontiguousarray(array).tobytes()
    known: dict[bytes, int] = {}
    where = [
        known.setdefault(content[i : i + size], len(known)) for i in range(0, len(content), size)
    ]
    first = np.empty(len(known), dtype=np.intp)
    first[where[::-1]] = np.arange(len(where))[::-1]
    return array[first], where


class Degrees:
    """The domain of upper bounds on degrees; inputs have degree 1, and numbers have degree 0."""

    name = "degrees"
    ordered = False

    def number(self, numerator: int, denominator: int = 1) -> Size:
        return Size(0 if numerator else ZERO)

    def matrix(self, rows: Sequence[Sequence[int]]) -> TropicalMatrix:
        return TropicalMatrix(np.array(rows, dtype=np.int64))

    def weights(self, array: np.ndarray) -> TropicalMatrix:
        return TropicalMatrix(np.where(np.asarray(array) != 0, 0, ZERO).astype(np.int64))


class Denominators(Degrees):
    """The domain of exponents e for which base^e clears all denominators of a polynomial.

    Inputs have e = 0. The base is 2 as long as all numbers are multiples of powers of two, as
    float64 weights are. An odd factor m in a denominator (such as the number of tokens by which
    attention divides) multiplies the base by m, since 2^a·m^b divides (2m)^max(a, b). The base may
    therefore grow during a run: call `bits` after the run, on the same object.
    """

    name = "denominators"

    def __init__(self) -> None:
        self.base = 2

    def number(self, numerator: int, denominator: int = 1) -> Size:
        if not numerator:
            return Size(ZERO)
        twos = (denominator & -denominator).bit_length() - 1
        odd = denominator >> twos
        self.base = 2 * math.lcm(self.base // 2, odd)
        return Size(max(twos, int(odd > 1)))

    def bits(self, exponent: int) -> float:
        """The base-2 logarithm of the common denominator base^exponent."""
        return min(exponent, LARGEST) * math.log2(self.base)

    def weights(self, array: np.ndarray) -> TropicalMatrix:
        return cached_weights(self, array, self.name)


@dataclass(frozen=True)
class Height:
    """An upper bound on absolute values; the bound of a difference is the sum."""

    bound: arb

    def __add__(self, other: Any) -> Height:
        return Height(self.bound + _bound(other))

    __radd__ = __sub__ = __rsub__ = __add__

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, AbsoluteMatrix):
            return NotImplemented
        return Height(self.bound * _bound(other))

    __rmul__ = __mul__

    def __neg__(self) -> Height:
        return self

    def __float__(self) -> float:
        return float(self.bound)


def _bound(of: Any) -> arb:
    return of.bound if isinstance(of, Height) else abs(arb(of))


class AbsoluteMatrix:
    """A matrix of upper bounds on absolute values; its entries are read as `Height`."""

    def __init__(self, bounds: arb_mat) -> None:
        self.bounds = bounds

    def nrows(self) -> int:
        return self.bounds.nrows()

    def ncols(self) -> int:
        return self.bounds.ncols()

    def tolist(self) -> list[list[Height]]:
        return [[*map(Height, row)] for row in self.bounds.tolist()]

    def transpose(self) -> AbsoluteMatrix:
        return AbsoluteMatrix(self.bounds.transpose())

    def __neg__(self) -> AbsoluteMatrix:
        return self

    def __add__(self, other: AbsoluteMatrix) -> AbsoluteMatrix:
        return AbsoluteMatrix(self.bounds + other.bounds)

    __sub__ = __add__

    def __mul__(self, other: AbsoluteMatrix | Height) -> AbsoluteMatrix:
        factor = other.bounds if isinstance(other, AbsoluteMatrix) else _bound(other)
        return AbsoluteMatrix(self.bounds * factor)

    def __rmul__(self, factor: Height) -> AbsoluteMatrix:
        return self * factor


class Heights:
    """The domain of upper bounds on the sum of a polynomial's absolute coefficients.

    Inputs have the bound 1.
    """

    name = "heights"
    ordered = False

    def number(self, numerator: int, denominator: int = 1) -> Height:
        return Height(arb(fmpq(abs(numerator), denominator)))

    def matrix(self, rows: Sequence[Sequence[Height | arb]]) -> AbsoluteMatrix:
        return AbsoluteMatrix(arb_mat([[_bound(each) for each in row] for row in rows]))

    def weights(self, array: np.ndarray) -> AbsoluteMatrix:
        return cached_weights(self, array, self.name)


def bits(height: Height | arb) -> float:
    """The base-2 logarithm of a height, slightly rounded up."""
    mantissa, exponent = _bound(height).upper().man_exp()
    return float(min(int(exponent), LARGEST)) + int(mantissa).bit_length() if mantissa else 0.0


def miss_probability(values: Callable[[Domain, Entry], Iterable[Entry]]) -> float:
    """A bound on the probability that a random point modulo a random prime misses a difference.

    The difference is f − g, where the polynomials f and g are the outputs of the transformer and of
    the algorithm. `values(domain, entry)` runs both computations with `entry` for all inputs, and
    returns the results for f and g (or for several pairs). In the domains `Degrees`, `Denominators`
    and `Heights`, each result is a bound on the degree, on the exponent of the common denominator,
    or on the sum of the absolute coefficients. The bound for f − g is the larger of the bounds for
    f and g or, for the sum of coefficients, twice the larger.
    """
    denominators = Denominators()
    degree = int(max(0, *values(Degrees(), 1)))  # that of the zero polynomial is below all others
    exponent = int(max(values(denominators, 0)))
    height = max(map(bits, values(Heights(), Heights().number(1))))
    return error_probability(degree, denominators.bits(exponent) + height + 1)


def error_probability(degree: int, coefficient_bits: float) -> float:
    """A bound on the probability that one random prime and point miss a nonzero difference.

    The difference is a polynomial, and the prime p has 61 bits. The bound is degree/2^60, for the
    case that the point is a root modulo p (Schwartz–Zippel), plus a bound on the probability that p
    divides every coefficient of the difference after denominators are cleared. An integer below 2^B
    has at most B/60 prime factors above 2^60, where B is `coefficient_bits`. There are more than
    2^54 primes of 61 bits, since x/(ln x − 1) < π(x) < x/(ln x − 1.1) for x ≥ 60184 [Dusart1999].
    """
    factors = math.ceil(coefficient_bits / (BITS - 1))
    return min(degree, LARGEST) / 2.0 ** (BITS - 1) + factors / 2.0**54
