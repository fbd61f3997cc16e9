"""A quick run takes at most as many samples as are given."""

import ast
from pathlib import Path

import pytest

import verify
from verify.claim import Run

FILES = sorted(Path(verify.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize(("given", "taken"), [(3, 3), (8, 8), (100, 8)])
def test_a_number_is_limited_in_quick_runs_alone(given, taken):
    assert Run(quick=True).limited(8, samples=given) == taken
    assert Run().limited(8, samples=given) == given


def replaced(text: str) -> list[str]:
    """The variables for which a quick run takes something else, which does not depend on them."""
    return [
        value.id
        for each in ast.walk(ast.parse(text))
        if isinstance(each, ast.IfExp) and ast.unparse(each.test).endswith("quick")
        for value in (each.orelse.elts if isinstance(each.orelse, ast.Tuple) else [each.orelse])
        if isinstance(value, ast.Name) and value.id.islower()
        if value.id not in {of.id for of in ast.walk(each.body) if isinstance(of, ast.Name)}
    ]


def test_what_is_replaced_in_quick_runs_is_found():
    assert replaced("n = 8 if run.quick else samples") == ["samples"]
    assert replaced("n, m = (8, FEW) if quick else (samples, MANY)") == ["samples"]
    assert replaced("n = min(samples, 8) if quick else samples") == []
    assert replaced("n = 8 if run.quick else LARGE") == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_option_is_replaced_in_quick_runs(file):
    """`Run.limited` limits them, so that a smaller number counts."""
    assert replaced(file.read_text(encoding="utf-8")) == []
