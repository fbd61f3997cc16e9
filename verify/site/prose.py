"""Docstrings and other plain text of the library as Markdown for pages."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import latex2mathml.converter

import theory

BIBLIOGRAPHY = Path(theory.__file__).with_name("references.bib")
SPECIAL = re.compile(r"([\\*_<>\[\]|$#~])")
EMPHASIS = re.compile(r"(?<![\w*)\]}\\])(\*{1,2})(?=[\w⌈])([^*]*[^*\s])\1(?![\w*])")


def escaped(text: str, up: str = "") -> str:
    """Text as Markdown that shows it as it is: code between backticks, *words* and **words** that
    are stressed, sources as links to the page of references, `up` from here."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if i % 2 else _words(part, up) for i, part in enumerate(parts))


def _words(text: str, up: str) -> str:
    plain, *stressed = EMPHASIS.split(text)
    shown = [_plain(plain, up)]
    for stars, words, after in zip(*[iter(stressed)] * 3, strict=True):
        shown.append(f"{stars}{_plain(words, up)}{stars}{_plain(after, up)}")
    return "".join(shown)


def _plain(text: str, up: str) -> str:
    return _cited(SPECIAL.sub(r"\\\1", text), up)


def _cited(text: str, up: str) -> str:
    keys = rf"\b(?:{'|'.join(references())})\b"
    return re.sub(keys, lambda key: f"[{key[0]}]({up}references.md#{key[0].lower()})", text)


def documented(text: str, up: str = "") -> str:
    """A docstring as Markdown: paragraphs, and what is set out in lines or columns as it stands."""
    blocks = re.split(r"\n\s*\n", text.rstrip())
    return "\n\n".join(
        f"```text\n{block}\n```"
        if block.startswith("    ") or re.search(r"\S {3,}\S|\n {2,}\S|^[|] ", block)
        else escaped(block, up)
        for block in blocks
    )


def mathematics(latex: str) -> str:
    """A formula in LaTeX as MathML, which browsers show without fonts or scripts from elsewhere."""
    written: str = latex2mathml.converter.convert(latex)
    return written


@cache
def references() -> dict[str, str]:
    """The bibliography as HTML, by key, with titles as they are written there."""
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
