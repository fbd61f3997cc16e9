"""The example on trained induction heads prints what it promises, and saves its picture.

`newton_vs_trained.py` takes half a minute: it runs with the README's commands, and what it prints
and draws is that of the claim `newton-or-gd`, which is tested.
"""

import runpy
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"

PRINTED = [
    "induction_heads(16, 64",
    "right answers",
    "100.00%",
    "  match       100.0% of 16",
    "  previous  ",
]


def test_trained_induction_heads_beside_built_ones(tmp_path, monkeypatch, capsys):
    picture = tmp_path / "picture.png"
    monkeypatch.setattr(sys, "argv", ["", str(picture)])
    runpy.run_path(str(EXAMPLES / "induction_trained_vs_built.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert [text for text in PRINTED if text not in printed] == []
    assert picture.stat().st_size > 10_000
