"""What `--json` writes, as data: each key and what its value is.

Its number is `verify.output.report.SCHEMA`, which goes up when this changes (docs/stability.md).  A
value is a type, a tuple of words to choose from, or a list of one: so many of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from verify.finding import Evidence, Verdict

WORDS = (str,)
NUMBER = (int, float)
VALUE = (int, float, str, bool, list, dict, type(None))  # NaN and infinities are text
VERDICTS = tuple(map(str, Verdict))

FINDING: dict[str, Any] = {
    "id": WORDS,
    "name": WORDS,
    "evidence": get_args(Evidence),
    "measured": VALUE,
    "bound": VALUE,
    "verdict": VERDICTS,
    "words": WORDS,
    "wanted": WORDS,
    "detail": WORDS,
    "seconds": NUMBER,
}
RUN: dict[str, Any] = {
    "schema": (2,),
    "claim": WORDS,
    "statement": WORDS,
    "source": WORDS,
    "parameters": (dict,),
    "verdict": VERDICTS,
    "findings": [FINDING],
    "environment": (dict,),
    "seconds": NUMBER,
}
RUNS: dict[str, Any] = {"schema": (2,), "complete": (True, False), "claims": [RUN]}


def violations(document: Any, schema: Any, place: str = "") -> Iterator[str]:
    """Where a document is not as the schema has it; nothing where it is."""
    if isinstance(schema, dict):
        if not isinstance(document, dict) or document.keys() != schema.keys():
            yield f"{place or 'the document'} has not the keys {', '.join(schema)}"
            return
        for key, inner in schema.items():
            yield from violations(document[key], inner, f"{place}/{key}")
    elif isinstance(schema, list):
        if not isinstance(document, list):
            yield f"{place} is no list"
            return
        for number, each in enumerate(document):
            yield from violations(each, schema[0], f"{place}/{number}")
    elif not any(
        type(document) is each if isinstance(each, type) else document == each for each in schema
    ):
        yield f"{place} is {document!r}"
