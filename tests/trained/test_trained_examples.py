"""The example on trained induction heads runs as a reader would run it, and saves its picture.

`newton_vs_trained.py` takes half a minute: it runs with the README's commands, and what it prints
and draws is that of the claim `newton-or-gd`, which is tested.
"""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

PRINTED = {
    "induction_trained_vs_built.py": [
        "induction_heads(16, 64",
        "right answers",
        "100.00%",
        "  match       100.0% of 16",
        "  previous  ",
    ],
}


@pytest.mark.parametrize("name", PRINTED)
def test_examples(name, tmp_path):
    picture = tmp_path / "picture.png"
    command = [sys.executable, str(EXAMPLES / name), str(picture)]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert [text for text in PRINTED[name] if text not in run.stdout] == []
    assert picture.stat().st_size > 10_000
