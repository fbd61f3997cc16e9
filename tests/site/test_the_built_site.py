"""What `make docs` has built; skipped where it has not."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from constructions import retrieval
from verify.ledger.claims import installed
from verify.ledger.theorems import ledger

BUILT = Path(__file__).parent.parent.parent / "docs" / "_build" / "html"
LOADED = re.compile(
    r'<(?:script|img|iframe|source)[^>]+src(?:set)?="(?:https?:)?//[^"]+'
    r'|<link[^>]+href="(?:https?:)?//[^"]+|@import[^;]*//|url\(["\']?(?:https?:)?//'
)


@pytest.fixture(scope="module")
def pages():
    if not (BUILT / "index.html").exists():
        pytest.skip("the site is not built: make docs")
    return {file: file.read_text(encoding="utf-8") for file in BUILT.rglob("*.html")}


@pytest.mark.parametrize(
    "text",
    [
        '<script async src="https://a/b.js">',
        '<img src="//a/b.png">',
        '<link rel="stylesheet" href="http://a/b.css">',
        '@import "https://a/b.css";',
        "src: url('https://a/b.woff2')",
    ],
)
def test_what_is_loaded_from_elsewhere_is_seen(text):
    assert LOADED.search(text)
    assert not LOADED.search(re.sub(r"(https?:)?//", "", text))


def test_no_page_needs_a_network(pages):
    styles = {file: file.read_text(encoding="utf-8") for file in BUILT.rglob("*.css")}
    assert styles
    assert {
        file.name: found[0]
        for file, text in {**pages, **styles}.items()
        if (found := LOADED.search(text))
    } == {}


def test_no_link_within_the_site_is_dead(pages):
    for file, text in pages.items():
        for link in re.findall(r'<a [^>]*href="([^"#?]+)', text):
            place = unquote(html.unescape(link))
            assert re.match(r"[a-z]+:", place) or (file.parent / place).exists(), (file, link)


def test_every_page_is_of_something_that_there_is(pages):
    """And not of what an earlier build had: Sphinx keeps its own list of all pages."""
    listed = (BUILT / "searchindex.js").read_text(encoding="utf-8")
    known = set(json.loads(re.search(r'"?docnames"?:(\[[^]]*\])', listed)[1]))
    places = {file.relative_to(BUILT).with_suffix("").as_posix() for file in pages}
    assert places - known == {"genindex", "py-modindex", "search"}


def test_every_exported_name_has_its_place(pages):
    text = pages[BUILT / "api" / "constructions.retrieval.html"]
    for name in retrieval.__all__:
        assert f'id="constructions.retrieval.{name}"' in text
    first = pages[BUILT / "statements" / "hop.html"]
    assert 'href="../api/constructions.retrieval.html#constructions.retrieval.hop"' in first
    assert 'href="../api/theory.retrieval.html#theory.retrieval.hop"' in first


def test_every_statement_has_a_page_with_a_run(pages):
    claims = installed()
    for name, entry in ledger().items():
        ran = "Computed by weightwright" in pages[BUILT / "statements" / f"{name}.html"]
        assert ran or claims[entry.claim].load().needs_options, name
