"""Options whose limits depend on other options, or are not those of the command line.

Both sides of each limit: a run with the last value begins, and one with the next value does not.
"""

import math
from typing import Any

import pytest
from refusals import rejects

from verify.claim import Run
from verify.ledger.claims import installed, loaded


def above(x: float) -> float:
    return math.nextafter(x, math.inf)


def below(x: float) -> float:
    return math.nextafter(x, 0)


def begin(name: str, options: dict[str, Any]) -> None:
    """The first finding of a run, after which the options were read."""
    claim = loaded(installed()[name])
    claim.check_options(options)
    assert next(iter(claim.findings(Run(quick=True), **{**claim.defaults, **options})))


LATEST = {"match": "latest"}
TREES = {"d": 4, "n_leaves": 5, "width": 4}
# name, accepted options, what is changed so that they are refused
LIMITS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("induction", {**LATEST, "error": below(0.75)}, {"error": 0.75}),
    ("induction", {**LATEST, "error": 1e-9}, {"error": below(1e-9)}),
    ("linear-tokens", {"d": 7, "k": 7}, {"k": 8}),
    ("restriction-access", TREES, {"n_leaves": 6}),
    ("restriction-access", TREES, {"width": 5}),
    ("good-turing", {"facts": 2, "documents": 2}, {"documents": 3}),  # fewer than 10 occur once
    ("good-turing", {"facts": 100, "documents": 356}, {"documents": 357}),
    ("good-turing", {"facts": 1000, "documents": 6470}, {"documents": 6471}),
    ("fourier-matrix", {"p": 3}, {"p": 4}),
    ("fourier-matrix", {"p": 23}, {"p": 22}),
    ("clustering", {"beta": 0.01}, {"beta": below(0.01)}),
    ("clustering", {"beta": 5.0}, {"beta": above(5.0)}),
    ("program", {"max_length": 20}, {"max_length": 21}),
    ("program", {"program": "sort", "max_length": 21}, {"program": None}),
    ("program", {"program": "sort", "vocabulary": "ab"}, {"program": None}),
    ("chomsky", {"task": "even pairs", "max_length": 4}, {"task": "even pear"}),
]


@pytest.mark.parametrize(("name", "accepted", "refused"), LIMITS)
def test_both_sides_of_a_limit(
    name: str, accepted: dict[str, Any], refused: dict[str, Any]
) -> None:
    begin(name, accepted)
    word = next((option for option, value in refused.items() if value is not None), "program")
    with rejects(word):
        begin(name, {**accepted, **refused})
