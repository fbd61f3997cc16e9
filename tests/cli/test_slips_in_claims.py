"""Slips in a claim that a user writes: one line that names them, at its definition or its run."""

import inspect
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from refusals import rejected, rejects
from toys import found

from verify.claim import COMMON, Run, claim, option
from verify.cli import main as cli
from verify.finding import Finding, Verdict


def test_a_claim_takes_the_run_and_options_after_a_star() -> None:
    made: Any = claim()

    def without() -> Iterator[Finding]:
        yield found(Verdict.HOLDS)

    def only_options(*, k: int = 3) -> Iterator[Finding]:
        yield found(Verdict.HOLDS)

    def positional(run: Run, d: int = 3) -> Iterator[Finding]:
        yield found(Verdict.HOLDS)

    def any_options(run: Run, **others: int) -> Iterator[Finding]:
        yield found(Verdict.HOLDS)

    for function in (without, only_options, positional, any_options):
        with rejects(function.__name__):
            made(function)


@pytest.mark.parametrize("name", sorted(COMMON))
def test_a_claim_has_no_option_of_every_claim(name: str) -> None:
    made: Any = claim()
    with rejects(name):
        exec(f"def mine(run, *, {name}=3): yield", names := {"made": made})
        made(names["mine"])


def test_the_options_of_every_claim_are_those_of_its_command(claims: Any) -> None:
    @claim(picture="a:b", certifies=True)
    def mine(run: Run, *, k: Annotated[int, option("k")] = 3) -> Iterator[Finding]:
        """Mine."""
        yield found(Verdict.HOLDS)

    assert inspect.signature(cli._command("mine", mine)).parameters.keys() - {"k"} == COMMON


def test_what_is_no_finding_is_named(claims: Any, capsys: pytest.CaptureFixture[str]) -> None:
    made: Any = claim()

    def nothing(run: Run) -> None:
        """Forgets to yield."""

    def number(run: Run) -> Iterator[Any]:
        """Yields a number."""
        yield 5

    def later(run: Run) -> Iterator[Any]:
        """Yields a finding first."""
        yield found(Verdict.HOLDS)
        yield [found(Verdict.HOLDS)]

    claims(nothing=made(nothing), number=made(number))
    rejected(capsys, ["nothing"], "nothing", "None")
    rejected(capsys, ["number"], "number", "5")
    with rejects("later"):
        [*made(later).findings(Run())]


def test_an_option_without_effect_is_named_before_its_limits(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rejected(capsys, ["automata", "--automaton", "S3", "--states", "65"], "states", "automaton")
