"""Entropies as exact numbers: rational combinations of logarithms of primes.

    Σ_p c_p ln p,   p prime, c_p rational

Logarithms of different primes are linearly independent over Q, by unique factorisation: two such
numbers are equal iff their coefficients are, and a number with a nonzero coefficient is not 0.  The
sign is found by enclosing balls of increasing precision, until a ball does not contain 0.  Every
entropy and divergence of rational probabilities is such a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache, total_ordering
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, TypeAlias

from theory.kinds import (
    Count,
    Exact,
    ExactProbability,
    InputError,
    Instance,
    Within,
    checked,
    shown,
)
from theory.language.distributions import Distribution, PositiveExact, check_alike, fractions

if TYPE_CHECKING:
    from flint import arb

LARGEST = 2**64  # factoring larger integers may take long
BITS, FLOAT = 64, 53  # the first precision, and that of a float
Precision: TypeAlias = Annotated[Count, Within(least=2, most=10**7)]
"""A number of bits of precision."""


@total_ordering
class Log:
    """An exact number Σ_p c_p ln p, with rational coefficients c_p of the logarithms of primes p.

    `coefficients` is {p: c_p}.  A `Log` is immutable, and any two can be compared.  Two `Log` can
    be added and subtracted, and a `Log` can be multiplied by a rational.  `float` rounds the value
    of a `Log`, with a relative error of at most 2^−51, or to ±∞, 0 or a subnormal number if the
    value is outside the range of normal float64.  `ball` encloses the value.  Raises `ValueError`
    unless the keys are primes of at most 64 bits and the coefficients are exact.
    """

    def __init__(self, coefficients: Mapping[int, Exact] | None = None) -> None:
        found = {} if coefficients is None else coefficients
        given = Instance(dict, "{prime: coefficient}").read("coefficients", found)
        for prime in given:
            if type(prime) is not int or not _is_prime(prime):
                raise InputError(
                    f"the key {prime!r} of `coefficients` is not a prime: "
                    "give primes as keys, or use `log`"
                )
        values = fractions("coefficients", given.values())
        pairs = sorted(zip(given, values, strict=True))
        self._coefficients = {prime: c for prime, c in pairs if c}

    @property
    def coefficients(self) -> Mapping[int, Fraction]:
        """The coefficients {p: c_p} that are not 0, in the order of the primes p."""
        return MappingProxyType(self._coefficients)

    def __add__(self, other: object) -> Log:
        if isinstance(other, int) and other == 0:  # `sum` starts from 0
            return self
        if not isinstance(other, Log):
            return NotImplemented
        primes = self.coefficients.keys() | other.coefficients.keys()
        mine, others = self.coefficients.get, other.coefficients.get
        return Log({p: mine(p, Fraction(0)) + others(p, Fraction(0)) for p in primes})

    __radd__ = __add__

    @checked
    def __mul__(self, factor: Exact) -> Log:
        return Log({prime: factor * c for prime, c in self.coefficients.items()})

    __rmul__ = __mul__

    def __neg__(self) -> Log:
        return -1 * self

    def __sub__(self, other: object) -> Log:
        if isinstance(other, Log):
            return self + -other
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int) and other == 0:
            return not self.coefficients
        return isinstance(other, Log) and self.coefficients == other.coefficients

    def __bool__(self) -> bool:
        return bool(self.coefficients)

    def __hash__(self) -> int:
        return hash(tuple(self.coefficients.items()))

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Log) and other != 0:
            return NotImplemented
        return (self - other).sign < 0

    @property
    def sign(self) -> int:
        """The sign of the value of the `Log`: −1, 0 or 1."""
        if not self.coefficients:
            return 0
        bits = BITS
        while (found := self.ball(bits)).contains(0):
            bits *= 2
        return 1 if found > 0 else -1

    @checked
    def ball(self, bits: Precision = BITS) -> arb:
        """An interval, a ball of Arb, around the value, computed with `bits` bits of precision."""
        from flint import arb, ctx, fmpq

        with ctx.workprec(bits):
            terms = (
                arb(fmpq(c.numerator, c.denominator)) * arb(prime).log()
                for prime, c in self.coefficients.items()
            )
            return sum(terms, start=arb(0))

    def __float__(self) -> float:
        bits = BITS
        while self.coefficients and self.ball(bits).rel_accuracy_bits() < FLOAT:
            bits *= 2
        return float(self.ball(bits).mid())

    def __repr__(self) -> str:
        text = ""
        for prime, c in self.coefficients.items():
            sign = (" − " if c < 0 else " + ") if text else "−" * (c < 0)
            text += f"{sign}{'' if abs(c) == 1 else f'{abs(c)}·'}ln {prime}"
        return text or "0"


@checked
def at_most_rational(value: Log, bound: Exact) -> bool:
    """Whether value ≤ bound, decided by ever narrower intervals that contain the value.

    The value 0 is compared directly.  For any other value, the computation ends: an integer
    multiple of the value is the logarithm of a rational number, so the value is irrational
    (Lindemann), and differs from the rational bound.
    """
    from flint import arb, ctx, fmpq

    if value == 0:
        return bound >= 0
    bits = BITS
    while True:
        with ctx.workprec(bits):
            gap = arb(fmpq(bound.numerator, bound.denominator)) - value.ball(bits)
        if not gap.contains(0):
            return bool(gap > 0)
        bits *= 2


@checked
def log(value: PositiveExact) -> Log:
    """The natural logarithm of a positive rational number, exactly.

    Raises `ValueError` if the numerator or the denominator exceeds 2^64.
    """
    if (large := max(value.numerator, value.denominator)) > LARGEST:
        raise InputError(
            f"value has {large.bit_length()} bits, too many to factor: give numerators and "
            "denominators of at most 64 bits"
        )
    return Log(_factors(value.numerator)) - Log(_factors(value.denominator))


@cache
def _is_prime(value: int) -> bool:
    from flint import fmpz

    return 1 < value <= LARGEST and bool(fmpz(value).is_prime())


@cache
def _factors(value: int) -> dict[int, Fraction]:
    from flint import fmpz

    return {int(prime): Fraction(int(power)) for prime, power in fmpz(value).factor()}


@checked
def entropy(p: Distribution) -> Log:
    """The entropy −Σ p ln p of a distribution p in nats, exactly, with 0 ln 0 = 0."""
    return -sum((each * log(each) for each in p if each), start=Log())


@checked
def cross_entropy(p: Distribution, q: Distribution) -> Log:
    """The cross-entropy −Σ p ln q of q under p in nats, exactly.

    Raises `ValueError` if the cross-entropy is infinite: if q = 0 at an outcome with p > 0.
    """
    check_alike(p=p, q=q)
    if any(a > 0 == b for a, b in zip(p, q, strict=True)):
        raise InputError(
            "q is 0 where p is not, so that the divergence is infinite: give q > 0 where p > 0"
        )
    return -sum((a * log(b) for a, b in zip(p, q, strict=True) if a), start=Log())


@checked
def kl(p: Distribution, q: Distribution) -> Log:
    """The Kullback–Leibler divergence KL(p‖q) = Σ p ln(p/q) ≥ 0 in nats, exactly.

    Raises `ValueError` if the divergence is infinite.
    """
    return cross_entropy(p, q) - entropy(p)


@checked
def binary_kl(a: ExactProbability, b: ExactProbability) -> Log:
    """The divergence of two Bernoulli distributions with means a and b, in nats, exactly.

    The divergence is kl(a‖b) = a ln(a/b) + (1 − a) ln((1 − a)/(1 − b)).  Raises `ValueError` if the
    divergence is infinite.
    """
    if (b == 0 < a) or (b == 1 > a):
        raise InputError(f"b is {b} and a is {shown(a)}: give b from 0 to 1, but not 0 or 1")
    return kl((a, 1 - a), (b, 1 - b))
