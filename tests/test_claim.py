"""Statements of claims, read from their source."""

import sys
from importlib.metadata import EntryPoint

from verify.claim import Claim, claim, installed, statement


def check(run):
    """All is well.

    A second paragraph.
    """
    yield from ()


made_otherwise: Claim = claim(source="")(check)


def test_the_statement_in_the_source_is_the_claims():
    points = installed()
    assert points
    assert all(statement(point) == point.load().statement for point in points.values())


def test_reading_statements_imports_no_claim():
    point = installed()["hop"]
    before = sys.modules.pop(point.module, None)
    assert statement(point).startswith("k-hop induction heads take")
    assert point.module not in sys.modules
    if before is not None:
        sys.modules[point.module] = before


def test_a_claim_that_is_no_function_of_its_module_is_loaded():
    assert (
        statement(EntryPoint("it", f"{__name__}:made_otherwise", "verify.claims")) == "All is well."
    )
