"""The examples on trained models run as a reader would run them, and save their pictures."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

PRINTED = {
    "newton_vs_trained.py": [
        "regression-small-seed0, made by: python -m constructions.trained train regression",
        "Newton steps from αS that match best: 0 3 9 1",
        "gradient steps of 1.9/λmax that match best: 2 1 16 64 ",
    ],
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
