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

import numpy as np
from flint import arb, arb_mat, fmpq

from verify.domains.base import Domain, Entry, cached_weights
from verify.domains.modular import BITS

ZERO = -(2**62)  # the (max, +) zero: the degree of the zero polynomial
LARGEST = 2**61  # larger sizes are replaced by this size, for which `error_probability` exceeds 1


SMALL = 2**15  # products of entries, below which equal rows are not looked for


class TropicalMatrix:
    """A matrix over (max, +), in int64."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def nrows(self) -> int:
        return self.array.shape[0]

    def ncols(self) -> int:
        return self.array.shape[1]

    def tolist(self) -> list[list[int]]:
        return self.array.tolist()

    def transpose(self) -> TropicalMatrix:
        return TropicalMatrix(self.array.T)

    def __add__(self, other: TropicalMatrix) -> TropicalMatrix:
        return TropicalMatrix(np.maximum(self.array, other.array))

    __sub__ = __add__

    def __mul__(self, other: TropicalMatrix) -> TropicalMatrix:
        """The product; equal rows, and equal columns, are computed once."""
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
        return TropicalMatrix(np.clip(self.array + factor, ZERO, LARGEST))


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

    def number(self, numerator: int, denominator: int = 1) -> int:
        return 0 if numerator else ZERO

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

    def number(self, numerator: int, denominator: int = 1) -> int:
        if not numerator:
            return ZERO
        twos = (denominator & -denominator).bit_length() - 1
        odd = denominator >> twos
        self.base = 2 * math.lcm(self.base // 2, odd)
        return max(twos, int(odd > 1))

    def bits(self, exponent: int) -> float:
        """The base-2 logarithm of the common denominator base^exponent."""
        return min(exponent, LARGEST) * math.log2(self.base)

    def weights(self, array: np.ndarray) -> TropicalMatrix:
        return cached_weights(self, array, self.name)


class AbsoluteMatrix:
    """A matrix of upper bounds on absolute values; the bound of a difference is the sum."""

    def __init__(self, bounds: arb_mat) -> None:
        self.bounds = bounds

    def nrows(self) -> int:
        return self.bounds.nrows()

    def ncols(self) -> int:
        return self.bounds.ncols()

    def tolist(self) -> list[list[arb]]:
        return self.bounds.tolist()

    def transpose(self) -> AbsoluteMatrix:
        return AbsoluteMatrix(self.bounds.transpose())

    def __add__(self, other: AbsoluteMatrix) -> AbsoluteMatrix:
        return AbsoluteMatrix(self.bounds + other.bounds)

    __sub__ = __add__

    def __mul__(self, other: AbsoluteMatrix) -> AbsoluteMatrix:
        return AbsoluteMatrix(self.bounds * other.bounds)

    def __rmul__(self, factor: arb) -> AbsoluteMatrix:
        return AbsoluteMatrix(factor * self.bounds)


class Heights:
    """The domain of upper bounds on the sum of a polynomial's absolute coefficients.

    Inputs have the bound 1.
    """

    name = "heights"
    ordered = False

    def number(self, numerator: int, denominator: int = 1) -> arb:
        return arb(fmpq(abs(numerator), denominator))

    def matrix(self, rows: Sequence[Sequence[arb]]) -> AbsoluteMatrix:
        return AbsoluteMatrix(arb_mat([list(row) for row in rows]))

    def weights(self, array: np.ndarray) -> AbsoluteMatrix:
        return cached_weights(self, array, self.name)


def bits(height: arb) -> float:
    """The base-2 logarithm of a height, slightly rounded up."""
    mantissa, exponent = height.upper().man_exp()
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
    degree = max(0, *values(Degrees(), 1))  # the degree of the zero polynomial is below all others
    exponent = max(values(denominators, 0))
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
