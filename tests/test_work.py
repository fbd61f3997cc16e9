"""The work of a run: a loop that ends early and an array with fewer rows are noticed."""

from __future__ import annotations

import sys
from functools import cache
from types import ModuleType

import numpy as np
import pytest
import work

from theory.computation import window_sums

SOURCE = """
def run(n, A):
    for i in range(n):
        [given(A) for _ in range(2)]
"""


def module(package: str, text: str, **names: object) -> ModuleType:
    """A module as if it were in a file of a package."""
    made = ModuleType(f"{package}.made")
    vars(made).update(names)
    exec(compile(text, f"{work.FILE.parent.parent / package}/made.py", "exec"), vars(made))
    return made


@pytest.mark.parametrize("owner", ["theory", "constructions", "verify"])
def test_lines_and_entries_are_counted_that_verify_runs_and_gives(owner):
    given = module(owner, "def given(A, *, B=None): return A.sum()").given
    run = module("verify", SOURCE, given=given).run
    ones = np.ones((3, 5))
    (_, (lines, entries)), *others = (
        work.of(lambda n=n, A=A: run(n, A))
        for n, A in ((4, ones), (4, ones[:2]), (3, ones), (4, ones))
    )
    assert entries == 4 * 2 * 15
    assert [found[1] == entries for _, found in others] == [False, False, True]
    assert [found[0] == lines for _, found in others] == [True, False, True]


def test_entries_given_to_checked_functions_are_counted_once():
    run = module("verify", "def run(A): window_sums(A, 2)", window_sums=window_sums).run
    assert work.of(lambda: run(np.ones((3, 7))))[1] == (1, 21)


@pytest.mark.parametrize("file", ["theory", "constructions", "verify/cli", "verify/domains"])
def test_lines_of_other_folders_are_not_counted(file):
    given = module("theory", "def given(A): return A.sum()").given
    run = module(file, SOURCE, given=given).run
    assert work.of(lambda: run(4, np.ones(3)))[1] == (0, 0)


def test_caches_are_emptied_before_a_run(monkeypatch):
    made = module("verify", "def listed(n): return [i for i in range(n)]\ndef run(): listed(7)")
    once = work.of(made.run)[1]
    monkeypatch.setattr(made, "listed", cache(made.listed))
    monkeypatch.setitem(sys.modules, "verify.made", made)
    assert [work.of(made.run)[1] for _ in range(3)] == [once] * 3
