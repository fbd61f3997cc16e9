"""What `make docs` has built; skipped where it has not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from verify.claim import installed
from verify.theorems import ledger

BUILT = Path(__file__).parent.parent.parent / "docs" / "_build" / "html"
LOADED = re.compile(
    r'<(?:script|img|iframe)[^>]+src="(https?:[^"]+)|<link[^>]+href="(https?:[^"]+)'
)


@pytest.fixture(scope="module")
def pages():
    if not (BUILT / "index.html").exists():
        pytest.skip("the site is not built: make docs")
    return {file: file.read_text(encoding="utf-8") for file in BUILT.rglob("*.html")}


def test_no_page_needs_a_network(pages):
    assert {
        file.name: found for file, text in pages.items() if (found := LOADED.search(text))
    } == {}


def test_every_statement_has_a_page_with_a_run(pages):
    claims = installed()
    for name, entry in ledger().items():
        ran = "Computed by weightwright" in pages[BUILT / "statements" / f"{name}.html"]
        assert ran or claims[entry.claim].load().asks, name
