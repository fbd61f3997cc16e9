"""The work of a run: a loop that ends early and an array with fewer rows are noticed."""

from __future__ import annotations

import ast
import sys
from functools import cache
from types import ModuleType

import counting
import numpy as np
import pytest
import torch
import work

from constructions import newton
from verify.evidence.size import units
from verify.ledger.claims import installed


def module(text: str, **names: object) -> ModuleType:
    """A module whose functions count."""
    made, tree = ModuleType("verify.made"), ast.parse(text)
    counting.count(tree)
    vars(made).update(names, **counting.NAMES)
    exec(compile(tree, "made.py", "exec"), vars(made))
    return made


def given(A: object, *, B: object = None) -> None:
    """Arrays are given to it."""


SOURCE = """
def run(n, A):
    for i in range(n):
        [given(A) for _ in range(2)]
"""


def test_steps_and_entries_are_counted():
    run = module(SOURCE, given=given).run
    ones = np.ones((3, 5))
    (_, (steps, entries)), *others = (
        work.of(lambda n=n, A=A: run(n, A))
        for n, A in ((4, ones), (4, ones[:2]), (3, ones), (4, ones))
    )
    assert entries == 4 * 2 * 15
    assert [found[1] == entries for _, found in others] == [False, False, True]
    assert [found[0] == steps for _, found in others] == [True, False, True]


@pytest.mark.parametrize(
    ("body", "steps", "entries"),
    [
        ("pass", 1, 0),
        ("for i in range(n): pass", 1 + 1 + 3, 0),
        ("return [i for i in range(n)]", 1 + 1 + 3, 0),
        ("return {i for i in range(n)}", 1 + 1 + 3, 0),
        ("return {i: i for i in range(n)}", 1 + 1 + 3, 0),
        ("return sum(i for i in range(n))", 1 + 1 + 1 + 3, 0),
        ("return [A for i in range(n)]", 1 + 1 + 3, 3 * 6),
        ("given(A, B=A)", 1 + 2, 2 * 6),
        ("given(*[A], **{'B': A})", 1, 0),
        ("given(A[:1])", 1 + 1, 3),
        ("given(torch.from_numpy(A))", 1 + 1 + 1, 2 * 6),
        ("given(7)", 1, 0),
        ("return (lambda x: x)(A)", 1 + 1 + 1, 2 * 6),
        ("x: 'given(A)' = given(A)", 1 + 1, 6),
        ("x: 'given(A)'", 1, 0),
        ("def inner(x=given(A)): return x\n  inner()", 1 + 1 + 1, 0),
        ("if n: pass\n  elif given(A): pass", 1 + 1, 0),
        ("if not n: pass\n  elif given(A): pass", 1 + 1 + 1, 6),
        ("try: given(A) / 0\n  except TypeError: return n", 1 + 1 + 1 + 1, 6),
        ("match n:\n    case 3: given(A)", 1 + 1 + 1, 6),
    ],
)
def test_each_statement_argument_and_element_is_a_step(body, steps, entries):
    source = f'def run(n, A):\n  """What it does."""\n  {body}\nA = given(7)'
    made = module(source, given=given, torch=torch)
    assert made.run.__doc__ == "What it does."
    assert work.of(lambda: made.run(3, np.ones((2, 3))))[1] == (steps, entries)


def test_functions_return_what_they_returned():
    source = "def run(f, xs):\n  try:\n    return {x: f(x) for x in xs}, sorted(xs, key=f)\n"
    source += "  except ZeroDivisionError as error:\n    return str(error)"
    plain: dict[str, object] = {}
    exec(source, plain)
    for xs in ([3, 1, -2], [0, 1], []):
        assert module(source).run(lambda x: 1 / x, xs) == plain["run"](lambda x: 1 / x, xs)


def test_modules_of_claims_count_and_others_do_not():
    model = newton(1, 1, 0.5)
    assert work.of(lambda: units(model))[1][0] > 0
    assert work.of(lambda: installed()["newton"].load())[1][0] == 0


@pytest.mark.parametrize(
    ("file", "counted"),
    [
        ("verify/regression/newton.py", True),
        ("verify/cli/main.py", False),
        ("verify/domains/sizes.py", False),
        ("verify/program_checker.py", False),
        ("theory/regression/newton.py", False),
        ("constructions/transformer.py", False),
    ],
)
def test_the_work_of_claims_is_in_their_folders(file, counted):
    assert counting.is_counted(str(work.FILE.parent.parent / file)) == counted


def test_caches_are_emptied_before_a_run(monkeypatch):
    made = module("def listed(n): return [i for i in range(n)]\ndef run(): listed(7)")
    once = work.of(made.run)[1]
    monkeypatch.setattr(made, "listed", cache(made.listed))
    monkeypatch.setitem(sys.modules, "verify.made", made)
    assert [work.of(made.run)[1] for _ in range(3)] == [once] * 3


def test_only_what_depends_on_the_processor_may_differ_from_what_is_recorded():
    runs = work.recorded()
    for run, near in (("lstm #0", True), ("random-weights draws=10", True), ("newton #0", False)):
        steps, entries = runs[run]
        assert work.same(run, (steps, entries))
        assert work.same(run, (steps + steps // 1000, entries)) == near
        assert not work.same(run, (steps, entries + entries // 100))
