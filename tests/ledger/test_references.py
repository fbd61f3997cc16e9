"""Every source that the code cites is in the one bibliography."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("theory", "constructions", "verify")


def cited() -> set[str]:
    texts = (
        path.read_text(encoding="utf-8") for p in PACKAGES for path in (ROOT / p).rglob("*.py")
    )
    return {key for text in texts for key in re.findall(r"\[([A-Za-z]+\d{4})[\],]", text)}


def bibliography() -> str:
    return (ROOT / "theory" / "references.bib").read_text(encoding="utf-8")


def listed() -> set[str]:
    return set(re.findall(r"^@\w+\{(\w+),", bibliography(), flags=re.MULTILINE))


def test_every_citation_is_in_the_bibliography():
    assert cited()
    assert cited() <= listed()


def test_every_entry_is_closed():
    """From one @ to the next as many braces close as open, and the line of the last is its own."""
    for entry in re.split(r"^(?=@)", bibliography(), flags=re.MULTILINE)[1:]:
        assert entry.count("{") == entry.count("}"), entry
        assert entry.rstrip().endswith("\n}"), entry


def test_articles_name_their_journal():
    """Without it the site cannot be built; a preprint is an entry of another kind."""
    for entry in re.split(r"^(?=@)", bibliography(), flags=re.MULTILINE)[1:]:
        assert not entry.startswith("@article") or "journal" in entry, entry
