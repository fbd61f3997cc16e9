"""Docs, docstrings, messages and comments use the terms of the field (docs/glossary.md)."""

from pathlib import Path

import pytest
from dialect import files, found

ROOT = Path(__file__).parents[2]
READ = "theory", "constructions", "verify", "benchmarks", "examples", "docs", "README.md"
DEFINED = ROOT / "docs" / "glossary.md"
SCHEMA = {
    "verify/checker.py": {"letters", "latch"},
    "verify/gap_checker.py": {"letters"},
}  # fields of certificates, which are a format


@pytest.mark.parametrize("place", READ)
def test_no_word_that_the_field_has_a_better_term_for(place):
    hits = [
        f"{path.relative_to(ROOT)}:{number}: {word}"
        for path in files([str(ROOT / place)])
        if path != DEFINED
        for number, word, _ in found(path)
        if word not in SCHEMA.get(str(path.relative_to(ROOT)), ())
    ]
    assert not hits, "\n".join(hits)


@pytest.mark.parametrize(
    "text",
    [
        '"""It says what it is."""\n',
        "x = 'the letters of a word'\n",
        "x = 1  # by chance\n",
        'def f():\n    raise ValueError(f"{1} is refused: give a whole number")\n',
    ],
)
def test_such_words_are_found_in_python(tmp_path, text):
    path = tmp_path / "wrong.py"
    path.write_text(text)
    assert list(found(path))


def test_code_in_markdown_is_not_prose(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("A page.\n\n```python\nsays = told\n```\n\nThe field `letters`.\n")
    assert not list(found(path))
    path.write_text("A page that says something.\n")
    assert [(number, word) for number, word, _ in found(path)] == [(1, "says")]
