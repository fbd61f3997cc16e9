"""A class of another library without one of its attributes is no expression."""

from typing import Any

import pytest
from refusals import rejects

from theory.programs.foreign import program_of
from theory.programs.language import Expression


def other(kind: str, **attributes: Any) -> Any:
    return type(kind, (), attributes)()


TOKENS = other("TokensType")
SELECTOR = other("Select", keys=TOKENS, queries=TOKENS, predicate="<")
EXPRESSIONS: dict[str, dict[str, Any]] = {
    "Map": {"f": abs, "inner": TOKENS},
    "SequenceMap": {"f": max, "fst": TOKENS, "snd": TOKENS},
    "LinearSequenceMap": {"fst": TOKENS, "snd": TOKENS, "fst_fac": 1, "snd_fac": 2},
    "Full": {"fill": 1},
    "Aggregate": {"selector": SELECTOR, "sop": TOKENS, "default": None},
    "SelectorWidth": {"selector": SELECTOR},
    "Select": {"keys": TOKENS, "queries": TOKENS, "predicate": "<"},
    "SelectorAnd": {"fst": SELECTOR, "snd": SELECTOR},
    "SelectorOr": {"fst": SELECTOR, "snd": SELECTOR},
    "SelectorNot": {"inner": SELECTOR},
}


@pytest.mark.parametrize(
    ("kind", "missing"),
    [(kind, name) for kind, attributes in EXPRESSIONS.items() for name in attributes],
)
def test_every_attribute_is_needed(kind: str, missing: str) -> None:
    attributes = EXPRESSIONS[kind]
    assert isinstance(program_of(other(kind, **attributes)), Expression)
    with rejects(kind, missing):
        program_of(other(kind, **{key: attributes[key] for key in attributes if key != missing}))
