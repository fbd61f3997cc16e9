"""The README's example runs and prints what it says; its commands are the project's own."""

from __future__ import annotations

import re

import pytest
from readme import README, commands, fences

from verify.claim import installed


@pytest.mark.parametrize("number", range(4))
def test_the_python_examples_print_what_the_readme_shows(number, capsys):
    examples, printed = fences("python"), fences("text")[1:]
    assert len(examples) == 4
    exec(examples[number], {})
    assert capsys.readouterr().out == printed[number]


def test_every_claim_is_in_the_table():
    claims = set(
        re.findall(r"^\| `([\w-]+)` \| ", README.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert set(installed()) <= claims


@pytest.mark.parametrize("command", commands())
def test_commands_are_the_projects_own(command):
    assert command.startswith(
        ("python -m verify ", "python -m constructions.trained ", "python examples/")
    )
