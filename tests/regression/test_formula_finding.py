"""The finding on formulas: its quantifiers, its error probability, and what leaves it undecided."""

from __future__ import annotations

import re

import pytest

from verify.claim import Run
from verify.evidence.formula import derivation, formula
from verify.finding import Verdict
from verify.regression.statements import newton_statement


@pytest.mark.parametrize(("layout", "number"), [("direct", False), ("paper", True)])
def test_the_number_of_examples_is_part_of_the_statement_of_models_that_contain_it(layout, number):
    run = Run()
    found = formula(run, newton_statement(run, layout, "gram", 0.25).at(3, 4, 2))
    assert ("n = 4" in found.name) == number


def test_the_prime_is_longer_than_the_logarithm_of_the_bits_of_the_coefficients():
    """g has the coefficient α^(2^k), whose denominator has more bits than g has terms."""
    run, k, bits = Run(), 13, 60
    found = formula(run, newton_statement(run, "direct", "gram", 2.0**-bits).at(2, 3, k))
    assert found.verdict is Verdict.HOLDS
    assert int(re.search(r"(\d+) bits", found.words)[1]) >= 70 + (bits * 2**k).bit_length()
    assert float(re.search(r"probability ≤ ([^;, ]+)", found.words)[1]) < 2.0**-60


def test_a_derivation_without_invariants_is_undecided():
    run = Run()
    case = newton_statement(run, "direct", "gram", 0.25).at(3, 4, 2)
    case.model.stages = ()
    assert derivation(case).verdict is Verdict.UNDECIDED
