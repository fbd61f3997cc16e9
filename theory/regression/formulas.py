"""Formulas of registers as text: polynomials in S = XᵀX, in the notation of a reader.

Powers of 1 − αSᵐ, and sums of these powers, are recognised and written in closed form:

    c(1 − αSᵐ)ᴺ    and    c S⁻¹(1 − (1 − αSᵐ)ᴺ) = c α S^(m−1) Σ_{i<N} (1 − αSᵐ)ⁱ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import log10

from flint import fmpq, fmpq_poly

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
VULGAR = {Fraction(1, 2): "½", Fraction(1, 4): "¼", Fraction(3, 4): "¾", Fraction(1, 8): "⅛"}
TERMS = 5  # longer polynomials are shortened
DIGITS = 8  # of numerator and denominator; longer fractions are rounded


@dataclass(frozen=True)
class Formula:
    """The content of a register as a function of a token (x, y), of S = XᵀX and of b = Xᵀy.

    A vector register contains p(S) x + q(S) b: `parts` has the keys "x" and "b". A scalar register
    contains a·y + xᵀ g(S) b + c: the keys are "y", "x b" and "1". The values are polynomials over Q
    (of degree 0 for a and c), and parts that are 0 are absent.
    """

    parts: Mapping[str, fmpq_poly]

    @property
    def degree(self) -> int:
        """The degree of the content as a polynomial in X, y and x; 0 for an empty register."""
        further = {"x": 1, "b": 2, "y": 1, "x b": 3, "1": 0}
        return max((2 * p.degree() + further[name] for name, p in self.parts.items()), default=0)

    def __str__(self) -> str:
        text = ""
        for name in ("y", "x", "b", "x b", "1"):
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


def polynomial_text(polynomial: fmpq_poly, variable: str = "S") -> str:
    """The text of a polynomial over Q, such as "½S − 3/32 S³".

    Powers of 1 − αSᵐ, and sums of these powers, are written in closed form. Other polynomials of
    more than five terms are shortened, and long fractions are rounded to four digits.
    """
    return _written(polynomial, variable)[0]


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
    (minus, text), *more = terms
    signed = (f" {'−' if negative else '+'} {term}" for negative, term in more)
    return "−" * minus + text + "".join(signed), len(terms) > 1


def _closed(p: fmpq_poly, variable: str) -> tuple[fmpq, str] | None:
    """The factor c and the rest of c(1 − αtᵐ)ᴺ or of c t⁻¹(1 − (1 − αtᵐ)ᴺ), or None."""
    places = [i for i, c in enumerate(p.coeffs()) if c != 0]
    if len(places) < 3:
        return None
    if places[0] == 0:
        m, c = places[1], p[0]
        N = p.degree() // m
        alpha = -p[m] / (N * c)
        power = fmpq_poly([1, *[0] * (m - 1), -alpha]) ** N
        if p == c * power:
            return c, _power(alpha, m, N, variable)
    m = places[0] + 1
    N = (p.degree() + 1) // m
    if places[1] != 2 * m - 1 or N < 3:
        return None
    alpha = -2 * p[2 * m - 1] / ((N - 1) * p[m - 1])
    c = p[m - 1] / (N * alpha)
    power = fmpq_poly([1, *[0] * (m - 1), -alpha]) ** N
    if fmpq_poly([0, 1]) * p == c * (1 - power):
        return c, f"{variable}⁻¹(1 − {_power(alpha, m, N, variable)})"
    return None


def _power(alpha: fmpq, m: int, N: int, variable: str) -> str:
    """(1 − αtᵐ)ᴺ."""
    minus, term = _term(-alpha, m, variable)
    return f"(1 {'−' if minus else '+'} {term}){_raised(N)}"


def _term(c: fmpq, power: int, variable: str) -> tuple[bool, str]:
    """Whether a term is negative, and the text of its absolute value, such as "3/32 S³"."""
    symbol = (variable + (_raised(power) if power > 1 else "")) if power else ""
    if abs(c) == 1 and power:
        return c < 0, symbol
    text = _number(abs(c))
    return c < 0, f"{text} {symbol}" if symbol and text not in VULGAR.values() else text + symbol


def _number(c: fmpq) -> str:
    value = Fraction(int(c.p), int(c.q))
    if value in VULGAR:
        return VULGAR[value]
    if max(value.numerator, value.denominator) < 10**DIGITS:
        return str(value)
    tens = value.numerator.bit_length() - value.denominator.bit_length()
    if abs(tens) > 1000:  # outside the range of floats
        return f"10{_raised(round(tens * log10(2)))}"
    return f"{float(value):.4g}".replace("e-", "e−")


def _raised(power: int) -> str:
    return str(power).translate(RAISED)
