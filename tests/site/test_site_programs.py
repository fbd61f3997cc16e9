"""Programs on a page: the shown code compiles the shown models, from the shown sources."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from theory.programs import library
from verify.site import programs
from verify.site.exported import exported
from verify.site.programs import PLACE, PROGRAMS, Live, sources, with_programs

ROOT = Path(__file__).parents[2]
MOST = 1_500_000  # bytes of all models


def test_sources_follow_those_that_they_use():
    names = [re.search(r"^def (\w+)", text, re.M)[1] for text in sources(library.sort)]
    assert names == ["_before", "rank", "sort"]
    (alone,) = sources(library.histogram)
    assert alone.endswith('return SelectorWidth(Select(tokens, tokens, "=="))')


def test_the_line_of_a_page_is_replaced(monkeypatch):
    monkeypatch.setattr(programs, "PROGRAMS", [Live(library.shift_by, [(1,), (2,)], "<b", "b<")])
    page = with_programs(f"# A\n\n{PLACE}\n\n## B\n")
    assert page.startswith("# A\n\n## Run a program\n")
    assert page.endswith("</div>\n\n## B\n")
    (data,) = re.findall(r'ww-programs"><script type="application/json">(.*?)</script>', page)
    assert "<" not in data
    (shown,) = json.loads(data)
    assert (shown["name"], shown["parameter"]) == ("shift_by", "k")
    assert [each["text"] for each in shown["choices"]] == ["1", "2"]
    assert [each["model"]["sample"] for each in shown["choices"]] == [[1, 0], [1, 0]]
    for each in shown["choices"]:
        exec(each["python"], found := {})
        assert exported(found["model"]) | {"sample": [1, 0]} == each["model"]


def test_the_page_on_programs_has_a_place_for_them():
    assert (ROOT / "docs" / "programs.md").read_text(encoding="utf-8").count(PLACE) == 1
    assert len({program.function for program in PROGRAMS}) == len(PROGRAMS) >= 6


@pytest.mark.slow
def test_all_programs_run_and_are_small():
    page = with_programs(PLACE)
    assert len(page.encode()) < MOST
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', page)
    for program, shown in zip(PROGRAMS, json.loads(data), strict=True):
        assert len(shown["choices"]) == len(program.arguments)
        for each in shown["choices"]:
            assert each["model"]["tokens"]
            exec(each["python"], found := {})
            assert exported(found["model"])["blocks"] == each["model"]["blocks"]
