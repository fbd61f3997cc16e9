"""Entropies as exact numbers: rational combinations of logarithms of primes.

    Σ_p c_p ln p,   p prime, c_p rational

Logarithms of different primes are independent over Q, as integers factor in one way: so two such
numbers are equal iff their coefficients are, and one that has a coefficient is not 0.  Its sign
then comes from balls, at more and more bits until 0 is not in one.  Every entropy and divergence
of rational probabilities is such a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache, total_ordering
from typing import TYPE_CHECKING

from theory.kinds import Exact, ExactProbability, InputError, Instance, checked
from theory.language.distributions import Distribution, PositiveExact, check_alike, fractions

if TYPE_CHECKING:
    from flint import arb

LARGEST = 2**64  # beyond, factoring may take long
BITS = 64


@total_ordering
class Log:
    """Σ_p c_p ln p, from the coefficients {p: c_p}: immutable, exact, ordered.

    Sums and differences with others and with 0, and products with rationals; `float` and `ball`
    enclose its value.  Raises `ValueError` for coefficients of what is no prime of at most 64 bits,
    as two such numbers may be equal without it being seen, and for those that are not exact.
    """

    def __init__(self, coefficients: Mapping[int, Exact] | None = None) -> None:
        found = {} if coefficients is None else coefficients
        given = Instance(dict, "{prime: coefficient}").read("coefficients", found)
        for prime in given:
            if type(prime) is not int or not _is_prime(prime):
                raise InputError(
                    f"ln {prime!r} is not that of a prime: use `log` for other numbers"
                )
        values = fractions("coefficients", given.values())
        pairs = sorted(zip(given, values, strict=True))
        self.coefficients = {prime: c for prime, c in pairs if c}

    def __add__(self, other: object) -> Log:
        if isinstance(other, int) and other == 0:  # `sum` begins with it
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
        return self + (-1 * other) if isinstance(other, Log) else self + other

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int) and other == 0:
            return not self.coefficients
        return isinstance(other, Log) and self.coefficients == other.coefficients

    def __hash__(self) -> int:
        return hash(tuple(self.coefficients.items()))

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Log) and other != 0:
            return NotImplemented
        return (self - other).sign < 0

    @property
    def sign(self) -> int:
        """−1, 0 or 1."""
        if not self.coefficients:
            return 0
        bits = BITS
        while (found := self.ball(bits)).contains(0):
            bits *= 2
        return 1 if found > 0 else -1

    def ball(self, bits: int = BITS) -> arb:
        """An enclosure of its value at so many bits."""
        from flint import arb, ctx, fmpq

        with ctx.workprec(bits):
            terms = (
                arb(fmpq(c.numerator, c.denominator)) * arb(prime).log()
                for prime, c in self.coefficients.items()
            )
            return sum(terms, start=arb(0))

    def __float__(self) -> float:
        return float(self.ball().mid())

    def __repr__(self) -> str:
        text = ""
        for prime, c in self.coefficients.items():
            sign = (" − " if c < 0 else " + ") if text else "−" * (c < 0)
            text += f"{sign}{'' if abs(c) == 1 else f'{abs(c)}·'}ln {prime}"
        return text or "0"


@checked
def at_most_rational(value: Log, bound: Exact) -> bool:
    """value ≤ bound, decided by balls, which some precision does: e to a multiple of the value is
    rational, so that the value is not (Lindemann), unless it is 0."""
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
    """ln of a rational number > 0.

    Raises `ValueError` for a numerator or denominator above 2^64.
    """
    if (large := max(value.numerator, value.denominator)) > LARGEST:
        raise InputError(
            f"value has {large.bit_length()} bits, which would have to be factored: give smaller "
            "numerators and denominators, of at most 64"
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
    """H(p) = −Σ p ln p, with 0 ln 0 = 0."""
    return -sum((each * log(each) for each in p if each), start=Log())


@checked
def cross_entropy(p: Distribution, q: Distribution) -> Log:
    """−Σ p ln q; `ValueError` where p > 0 = q, as it is infinite then."""
    check_alike(p=p, q=q)
    if any(a > 0 == b for a, b in zip(p, q, strict=True)):
        raise InputError("q is 0 where p is not: their divergence is infinite")
    return -sum((a * log(b) for a, b in zip(p, q, strict=True) if a), start=Log())


@checked
def kl(p: Distribution, q: Distribution) -> Log:
    """KL(p‖q) = Σ p ln(p/q) ≥ 0; `ValueError` where it is infinite."""
    return cross_entropy(p, q) - entropy(p)


@checked
def binary_kl(a: ExactProbability, b: ExactProbability) -> Log:
    """kl(a‖b) = a ln(a/b) + (1 − a) ln((1 − a)/(1 − b)), of two coins; `ValueError` where it is
    infinite."""
    return kl((a, 1 - a), (b, 1 - b))
