"""Claims and their statements."""

import inspect
from pkgutil import resolve_name

from verify.claim import Run
from verify.ledger.claims import installed
from verify.ledger.theorems import entries_of, ledger


def test_every_claim_has_a_statement_of_its_own():
    statements = [point.load().statement for point in installed().values()]
    assert all(len(statement.split()) > 5 for statement in statements)
    assert len({*statements}) == len(statements)


def test_claims_and_ledger_name_each_other():
    assert {entry.claim for entry in ledger().values()} == {*installed()}
    assert all(entries_of(name) for name in installed())


def test_claims_that_offer_a_picture_draw_one():
    """Each names a function, and its module hands over what that draws."""
    for name, point in installed().items():
        claim = point.load()
        draws = "run.draw(" in inspect.getsource(inspect.getmodule(claim.check))
        assert draws == bool(claim.picture), name
        assert not draws or callable(resolve_name(claim.picture)), name


def test_the_command_of_every_claim_can_be_shown():
    """Also of a claim with an option that has an effect only with an option of other claims."""
    for name, point in installed().items():
        claim = point.load()
        command = claim.command(name, dict(claim.defaults), Run())
        assert command == f"python -m verify {name} --seed 0"
