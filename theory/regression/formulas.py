"""Formulas of registers as text: polynomials in S = XᵀX, in the notation of a reader.

Powers of 1 − αSᵐ, and sums of these powers, are recognised and written in closed form:

    c(1 − αSᵐ)ᴺ    and    c S⁻¹(1 − (1 − αSᵐ)ᴺ) = c α S^(m−1) Σ_{i<N} (1 − αSᵐ)ⁱ.

S⁻¹ stands for the division of polynomials: no inverse of S is taken, and 1 is the identity matrix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any

from flint import fmpq, fmpq_poly

from theory.kinds import InputError, checked, read, shown

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
VULGAR = {Fraction(1, 2): "½", Fraction(1, 4): "¼", Fraction(3, 4): "¾", Fraction(1, 8): "⅛"}
TERMS = 5  # longer polynomials are shortened
DIGITS = 8  # of numerator and denominator; longer fractions are rounded
ROUNDED = Context(prec=4, Emax=MAX_EMAX, Emin=MIN_EMIN)
DEGREES = {"y": 1, "x": 1, "b": 2, "x b": 3, "1": 0}  # in X, y and x, besides those of S


@checked
@dataclass(frozen=True)
class RegisterFormula:
    """The content of a register as a function of a token (x, y), of S = XᵀX and of b = Xᵀy.

    A vector register contains p(S) x + q(S) b: `parts` has the keys "x" and "b". A scalar register
    contains a·y + xᵀ g(S) b + c: the keys are "y", "x b" and "1". The values are polynomials over Q
    (of degree 0 for a and c), and a part that is absent is 0. The value of such a polynomial p at a
    rational number is p(fmpq(1, 3)), with `fmpq` of python-flint.

    In the text of a formula, a rounded number begins with ≈, and S⁻¹ stands for the division of
    polynomials by S: no inverse is taken. Raises ValueError for other keys.
    """

    parts: Mapping[str, fmpq_poly]

    def __post_init__(self) -> None:
        for name, polynomial in self.parts.items():
            if name not in DEGREES:
                raise InputError(f"a part is {shown(name)}: give parts from {', '.join(DEGREES)}")
            read(fmpq_poly, f"the part {name}", polynomial)

    @property
    def degree(self) -> int:
        """The degree of the content as a polynomial in X, y and x; 0 for an empty register."""
        degrees = (2 * p.degree() + DEGREES[name] for name, p in self.parts.items() if p != 0)
        return max(degrees, default=0)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:  # polynomials of FLINT are not pickled
        numbers = {
            name: [(int(c.p), int(c.q)) for c in p.coeffs()] for name, p in self.parts.items()
        }
        return _of_numbers, (numbers,)

    def __str__(self) -> str:
        text = ""
        for name in DEGREES:
            polynomial = self.parts.get(name, fmpq_poly())
            if polynomial != 0:
                part, is_sum = _written(polynomial, "S")
                minus = part.startswith("−")
                if minus:
                    part, is_sum = _written(-polynomial, "S")
                factors = [f"({part})" if is_sum else part, *name.split()]
                factors = ["xᵀ", *factors[::2]] if name == "x b" else factors
                text += (" − " if minus else " + ") if text else "−" * minus
                text += " ".join(factor for factor in factors if factor != "1") or "1"
        return text or "0"


def _of_numbers(numbers: Mapping[str, list[tuple[int, int]]]) -> RegisterFormula:
    return RegisterFormula({name: fmpq_poly([fmpq(*c) for c in p]) for name, p in numbers.items()})


def polynomial_text(polynomial: fmpq_poly, variable: str = "S") -> str:
    """The text of a polynomial over Q, such as "½S − 3/32 S³".

    Powers of 1 − αSᵐ, and sums of these powers, are written in closed form. Other polynomials of
    more than five terms are shortened, and long fractions are rounded to four digits, as in ≈0.1.
    """
    return _written(polynomial, variable)[0]


def combination_text(factors: Mapping[str, Fraction]) -> str:
    """The text of a linear combination of symbols, such as "½u − 3 x"; "" is the symbol of 1."""
    terms = [_of(fmpq(c.numerator, c.denominator), name) for name, c in factors.items() if c]
    return _sum(terms) if terms else "0"


def _written(p: fmpq_poly, variable: str) -> tuple[str, bool]:
    """The text of a polynomial, and whether this text is a sum."""
    closed = _closed(p, variable)
    if closed is not None:
        c, text = closed
        factor = "" if abs(c) == 1 else f"{_number(abs(c))}·"
        return "−" * (c < 0) + factor + text, False
    places = [i for i, c in enumerate(p.coeffs()) if c != 0]
    if not places:
        return "0", False
    shown = places if len(places) <= TERMS else [*places[: TERMS - 2], places[-1]]
    terms = [_term(p[i], i, variable) for i in shown]
    if len(places) > TERMS:
        terms.insert(-1, (False, "…"))
    return _sum(terms), len(terms) > 1


def _sum(terms: list[tuple[bool, str]]) -> str:
    """The text of a sum of terms, each with its sign."""
    signs = ("−" * terms[0][0], *(" − " if minus else " + " for minus, _ in terms[1:]))
    return "".join(sign + term for sign, (_, term) in zip(signs, terms, strict=True))


def _closed(p: fmpq_poly, variable: str) -> tuple[fmpq, str] | None:
    """The factor c and the rest of c(1 − αtᵐ)ᴺ or of c t⁻¹(1 − (1 − αtᵐ)ᴺ), or None."""
    places = [i for i, c in enumerate(p.coeffs()) if c != 0]
    if len(places) < 3:
        return None
    if places[0] == 0:
        m, c = places[1], p[0]
        N = p.degree() // m
        alpha = -p[m] / (N * c)
        # The next coefficient rejects most polynomials before a long power is computed.
        if p[2 * m] == c * N * (N - 1) / 2 * alpha**2 and p == c * _difference(alpha, m) ** N:
            return c, _power(alpha, m, N, variable)
    m = places[0] + 1
    N = (p.degree() + 1) // m
    if places[1] != 2 * m - 1 or N < 3:
        return None
    alpha = -2 * p[2 * m - 1] / ((N - 1) * p[m - 1])
    c = p[m - 1] / (N * alpha)
    if p[3 * m - 1] != c * N * (N - 1) * (N - 2) / 6 * alpha**3:
        return None
    if fmpq_poly([0, 1]) * p == c * (1 - _difference(alpha, m) ** N):
        return c, f"{variable}⁻¹(1 − {_power(alpha, m, N, variable)})"
    return None


def _difference(alpha: fmpq, m: int) -> fmpq_poly:
    """1 − αtᵐ."""
    return fmpq_poly([1, *[0] * (m - 1), -alpha])


def _power(alpha: fmpq, m: int, N: int, variable: str) -> str:
    """(1 − αtᵐ)ᴺ."""
    minus, term = _term(-alpha, m, variable)
    return f"(1 {'−' if minus else '+'} {term}){_raised(N)}"


def _term(c: fmpq, power: int, variable: str) -> tuple[bool, str]:
    """Whether a term is negative, and the text of its absolute value, such as "3/32 S³"."""
    return _of(c, (variable + (_raised(power) if power > 1 else "")) if power else "")


def _of(c: fmpq, symbol: str) -> tuple[bool, str]:
    """Whether c is negative, and the text of |c| times a symbol."""
    if abs(c) == 1 and symbol:
        return c < 0, symbol
    text = _number(abs(c))
    return c < 0, f"{text} {symbol}" if symbol and text not in VULGAR.values() else text + symbol


def _number(c: fmpq) -> str:
    value = Fraction(int(c.p), int(c.q))
    if value in VULGAR:
        return VULGAR[value]
    if max(value.numerator, value.denominator) < 10**DIGITS:
        return str(value)
    rounded = ROUNDED.divide(Decimal(value.numerator), Decimal(value.denominator))
    rounded, tens = rounded.normalize(ROUNDED), rounded.adjusted()
    if -4 <= tens <= 5:
        return f"≈{rounded:f}"
    mantissa = rounded.scaleb(-tens, ROUNDED)
    return f"≈{f'{mantissa:f}·' if mantissa != 1 else ''}10{_raised(tens)}"


def _raised(power: int) -> str:
    return str(power).translate(RAISED)
