"""What `make docs` has built; skipped where it has not."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from verify.claim import installed
from verify.theorems import ledger

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


def test_every_statement_has_a_page_with_a_run(pages):
    claims = installed()
    for name, entry in ledger().items():
        ran = "Computed by weightwright" in pages[BUILT / "statements" / f"{name}.html"]
        assert ran or claims[entry.claim].load().asks, name
