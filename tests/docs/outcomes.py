"""The table of questions in docs/trained.md: its outcomes are those of the statement index.

`python tests/docs/outcomes.py` writes the outcomes again; the questions are written by hand.
"""

import re
from pathlib import Path

from verify.ledger.theorems import ledger

PAGE = Path(__file__).parents[2] / "docs" / "trained.md"
ROW = re.compile(r"^\| (?P<question>[^|]+\?) \| \[`(?P<name>[a-z0-9-]+)`\].*$", re.MULTILINE)


def outcomes() -> dict[str, str]:
    """The outcome of each replication, by the name of its statement."""
    return {name: entry.outcome for name, entry in ledger().items() if entry.kind == "replication"}


def row(question: str, name: str) -> str:
    """A line of the table: the question, a link to the statement, and its outcome."""
    kind, _, seeds = outcomes()[name].partition(": ")
    return f"| {question} | [`{name}`](theorems.md#{name}) | **{kind}**: {seeds} |"


def written(page: str) -> str:
    """The page with the outcomes of the statement index."""
    return ROW.sub(lambda found: row(found["question"], found["name"]), page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
