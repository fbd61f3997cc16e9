"""The examples run as a reader would run them, and print what they promise."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

PRINTED = {
    "induction.py": [
        "2 layers, 1 head",
        "layer 2: code → answer:",
        "the(13) ← bird(11)",
        "answer: bird",
        "wrong on 0 of 20 random sequences",
    ],
    "who_is_johns_mother.py": [
        "?(26) ← .(17) = Helen(16)",
        "?(26) ← .(10) = doctor(9)",
        "answer: doctor",
        "\n  pilot\n",
        "\n  none: the fact is missing\n",
        "\n  Helen\n",
    ],
}


@pytest.mark.parametrize("name", PRINTED)
def test_examples(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    printed = capsys.readouterr().out
    assert [text for text in PRINTED[name] if text not in printed] == []
    assert len(printed.splitlines()) < 60
