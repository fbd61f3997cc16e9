"""The text of formulas, read as a reader does."""

from __future__ import annotations

import pickle
import re
from copy import deepcopy
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_poly
from formula_by_definition import RATIONALS, S
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from theory.regression import RegisterFormula
from theory.regression.formulas import combination_text, polynomial_text


def evaluated(text: str, at: Fraction) -> Fraction:
    """The value of the text of a polynomial in S, read as a reader does."""
    text = text.replace("−", "-").replace("·", "*").replace("⁻¹", "**-1*")
    raised = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda found: "**" + found[0].translate(raised), text)
    for one, fraction in (("½", "1/2"), ("¼", "1/4"), ("¾", "3/4"), ("⅛", "1/8")):
        text = text.replace(one, fraction)
    text = re.sub(r"(\d+)/(\d+) ?", r"F(\1,\2)", text)
    text = re.sub(r"\)S", ")*S", re.sub(r"(\d) S", r"\1*S", text))
    return eval(text, {"F": Fraction, "S": at})


@given(st.lists(RATIONALS, max_size=5))
def test_the_text_of_a_short_polynomial_is_the_polynomial(coefficients):
    p = fmpq_poly([fmpq(c.numerator, c.denominator) for c in coefficients])
    at = Fraction(3, 7)
    assert evaluated(polynomial_text(p), at) == sum(c * at**i for i, c in enumerate(coefficients))


@given(RATIONALS, RATIONALS, st.integers(1, 3), st.integers(2, 40), st.booleans())
def test_powers_are_recognised(c, alpha, m, N, inverse):
    at = Fraction(2, 5)
    power = fmpq_poly([1, *[0] * (m - 1), fmpq(-alpha.numerator, alpha.denominator)]) ** N
    factor = fmpq(c.numerator, c.denominator)
    p = factor * ((1 - power) // S if inverse else power)
    wanted = c * ((1 - (1 - alpha * at**m) ** N) / at if inverse else (1 - alpha * at**m) ** N)
    text = polynomial_text(p)
    assert evaluated(text, at) == wanted
    assert len(text) < 60


@pytest.mark.parametrize(
    ("parts", "text", "degree"),
    [
        ({}, "0", 0),
        ({"x": S}, "S x", 3),
        ({"x": 1 - S, "b": 2 * S}, "(1 − S) x + 2 S b", 4),
        ({"y": 1 + 0 * S, "x b": -S}, "y − xᵀ S b", 5),
        ({"y": -1 + 0 * S, "1": 3 + 0 * S}, "−y + 3", 1),
        ({"1": 1 + 0 * S}, "1", 0),
        ({"x": 0 * S}, "0", 0),
    ],
)
def test_the_text_of_a_register(parts, text, degree):
    assert str(RegisterFormula(parts)) == text
    assert RegisterFormula(parts).degree == degree


def test_long_polynomials_are_shortened():
    text = polynomial_text(fmpq_poly([fmpq(1, 3 + i) for i in range(30)]))
    assert text == "1/3 + ¼S + 1/5 S² + … + 1/32 S²⁹"


def test_long_fractions_are_rounded():
    """Also those that are no floats, and whose digits Python does not convert."""
    p = fmpq_poly([fmpq(10**5000 + 1, 10**5000), fmpq(1, 3**20000), fmpq(7**9000, 2), fmpq(1, 7)])
    assert polynomial_text(p) == "≈1 + ≈3.758·10⁻⁹⁵⁴³ S + ≈3.814·10⁷⁶⁰⁵ S² + 1/7 S³"


@given(st.floats(min_value=5e-324, allow_infinity=False))
def test_rounded_numbers_are_marked_and_right_to_four_digits(value):
    exactly = Fraction(value)
    text = polynomial_text(fmpq_poly([fmpq(exactly.numerator, exactly.denominator)]))
    rounded = text.startswith("≈")
    assert rounded == (max(exactly.numerator, exactly.denominator) >= 10**8)
    if rounded:
        plain = text[1:].translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
        raised = plain != text[1:]
        mantissa, tens = re.fullmatch(r"(.*?)·?10(-?\d+)" if raised else "(.*)()", plain).groups()
        found = Fraction(mantissa or 1) * Fraction(10) ** int(tens or 0)
        assert abs(found - exactly) <= exactly / 2000


def test_formulas_are_compared_copied_and_pickled():
    formula = RegisterFormula({"x": 1 - S / 3, "b": 2 * S})
    for other in (pickle.loads(pickle.dumps(formula)), deepcopy(formula)):
        assert other == formula
        assert hash(other) == hash(formula)
    assert formula != RegisterFormula({"x": 1 - S / 3})


def test_parts_are_polynomials_with_known_names(unchecked):
    with rejects("'q'"):
        RegisterFormula({"q": S})
    with rejects("x"):
        RegisterFormula({"x": 1})
    for parts in (set(), np.eye(3)):
        with rejects("parts"):
            RegisterFormula(parts)


@pytest.mark.parametrize(
    ("factors", "text"),
    [
        ({}, "0"),
        ({"x": 0}, "0"),
        ({"x": 1, "y": -1}, "x − y"),
        ({"x": Fraction(-1, 2), "": 3, "y": Fraction(2, 3)}, "−½x + 3 + 2/3 y"),
    ],
)
def test_the_text_of_a_linear_combination(factors, text):
    assert combination_text({name: Fraction(c) for name, c in factors.items()}) == text
