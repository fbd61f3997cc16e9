"""Docstrings and other plain text of the library as Markdown for pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

import latex2mathml.converter

from verify.ledger.written import BIBLIOGRAPHY

SPECIAL = re.compile(r"([\\*_<>\[\]|$#~])")
COLUMNS = re.compile(r"\S {3,}\S")
LISTED = re.compile(r"((?:\S.*\n)*?\S.*:)\n((?: {2,}\S.*(?:\n|$))+)((?:\S(?s:.*))?)")
EMPHASIS = re.compile(r"(?<![\w*)\]}\\])(\*{1,2})(?=[\w⌈])([^*]*[^*\s])\1(?![\w*])")


def escaped(text: str, up: str = "") -> str:
    """Returns text as Markdown, with code in backticks, stressed words, and sources as links.

    The links lead to the page of references, at the relative path `up`.
    """
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if i % 2 else _words(part, up) for i, part in enumerate(parts))


def _words(text: str, up: str) -> str:
    plain, *stressed = EMPHASIS.split(text)
    shown = [_plain(plain, up)]
    for stars, words, after in zip(*[iter(stressed)] * 3, strict=True):
        shown.append(f"{stars}{_plain(words, up)}{stars}{_plain(after, up)}")
    return "".join(shown)


def _plain(text: str, up: str) -> str:
    return cited(
        SPECIAL.sub(r"\\\1", text), lambda key: f"[{key}]({up}references.md#{key.lower()})"
    )


def cited(text: str, link: Callable[[str], str]) -> str:
    """Returns text in which keys of the bibliography are replaced by `link(key)`."""
    return _keys().sub(lambda key: link(key[0]), text)


@cache
def _keys() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(references())})\b")


def documented(text: str, up: str = "") -> str:
    """Returns a docstring as Markdown: paragraphs, and preformatted text for lists and columns."""
    return "\n\n".join(
        f"```text\n{block}\n```" if stands else escaped(block, up) for block, stands in blocks(text)
    )


def blocks(text: str) -> Iterator[tuple[str, bool]]:
    """The paragraphs of a docstring, each with a flag: whether the paragraph is preformatted.

    Indented lines below a colon are a separate paragraph.
    """
    for block in re.split(r"\n\s*\n", text.rstrip()):
        inside = LISTED.fullmatch(block)
        if inside and not COLUMNS.search(inside[1]):
            yield inside[1], False
            yield inside[2].rstrip("\n"), True
            if inside[3]:
                yield from blocks(inside[3])
        else:
            yield block, bool(re.search(r"^    |\n {2,}\S|^[|] ", block) or COLUMNS.search(block))


def mathematics(latex: str) -> str:
    """Returns a LaTeX formula as MathML.

    Browsers show MathML without external fonts or scripts.
    """
    written: str = latex2mathml.converter.convert(latex)
    return written


@cache
def references() -> dict[str, str]:
    """The entries of the bibliography as HTML, by key."""
    from pybtex.database import parse_file
    from pybtex.plugin import find_plugin
    from pybtex.style.template import field, sentence

    class Style(find_plugin("pybtex.style.formatting", "unsrt")):  # type: ignore[misc]
        def format_title(self, entry: object, name: str, as_sentence: bool = True) -> object:
            return sentence[field(name)] if as_sentence else field(name)

    style = Style()
    backend = find_plugin("pybtex.backends", "html")()
    listed = parse_file(str(BIBLIOGRAPHY), "bibtex").entries.values()
    texts = {each.key: each.text.render(backend) for each in style.format_entries(listed)}
    return {
        key: re.sub(r"\$([^$]+)\$", lambda formula: mathematics(formula[1]), text)
        for key, text in texts.items()
    }
