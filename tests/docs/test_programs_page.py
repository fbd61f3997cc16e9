"""The page on programs: sizes in its table are those of the models, and all programs are listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from constructions.programs import compiled
from theory.programs import library
from theory.programs.library.published import TRACR

PAGE = (Path(__file__).parents[2] / "docs" / "programs.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"^\| ([^|]+) \| (\d+) vs \d+ \| (\d+) vs \d+ \| (\d+) vs \d+ \| (\d+) vs \d+ \| ", re.M
)


def test_every_program_of_the_list_has_a_row():
    assert [row[0] for row in ROW.findall(PAGE)] == [*TRACR]


@pytest.mark.parametrize("name", TRACR)
def test_the_sizes_are_those_of_the_model(name):
    (row,) = (row for row in ROW.findall(PAGE) if row[0] == name)
    model = compiled(*TRACR[name])
    hidden = max((len(b.mlp.b_in) for b in model.blocks if b.mlp is not None), default=0)
    assert [*map(int, row[1:])] == [model.n_layers, model.n_heads, model.d_model, hidden]
    weights = f"{model.n_parameters:,}".replace(",", " ")
    assert re.search(rf"^\| {re.escape(name)} \|.*\| {weights} vs ", PAGE, re.M)


def test_the_programs_of_the_library_are_listed():
    assert {*re.findall(r"^\| `(\w+)\(", PAGE, re.M)} >= {*library.__all__}
