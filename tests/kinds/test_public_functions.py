"""Every public function against every wrong value of every kind of its parameters.

`of_<topic>.py` beside this holds what is special to a topic.  A failure names the parameter and the
value; where an example makes no call that works, `ARGUMENTS` there gives one.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import child
import numpy as np
import pytest
from public import EXAMPLES, WITHOUT, arguments, missing, public, wrong_arguments
from refusals import check_line, rejects

from theory import machine
from theory.kinds import (
    Array,
    Count,
    InputError,
    Integers,
    Kind,
    Many,
    Maybe,
    Whole,
    Within,
    checked,
    kinds_of,
)

PUBLIC = public()
CHECKED = {name: it for name, it in PUBLIC.items() if kinds_of(it) is not None}


def test_every_parameter_has_a_kind_or_a_reason():
    assert {each.partition(":")[0] for each in WITHOUT} <= set(PUBLIC)
    assert set(WITHOUT) == {each for name, it in PUBLIC.items() for each in missing(name, it)}


def refuses_all_wrong_arguments(name: str, it: Any) -> None:
    tried = 0
    for parameter, given in wrong_arguments(name, it):
        tried += 1
        try:
            with rejects(parameter):
                it(**given)
        except BaseException as error:
            raise AssertionError(f"{name} with {parameter} = {given[parameter]!r}") from error
    assert tried or not any(kinds_of(it).values()), name


@pytest.mark.parametrize("name", CHECKED)
@pytest.mark.filterwarnings("error")
def test_wrong_arguments_are_refused(name):
    refuses_all_wrong_arguments(name, CHECKED[name])


@pytest.mark.parametrize("name", CHECKED)
def test_signatures_are_readable(name):
    """Annotations are not evaluated, so that `help` shows the names of kinds."""
    module = sys.modules[CHECKED[name].__module__]
    assert "annotations" in vars(module), f"{module.__name__} lacks the import from __future__"


def no_prompts(name: str, it: Any) -> dict[str, Any]:
    """The arrays of prompts among the arguments, for no prompts."""
    kinds, right = kinds_of(it) or {}, arguments(name, it)
    chosen = {p: kind.kind if isinstance(kind, Maybe) else kind for p, kind in kinds.items()}
    return {
        p: np.zeros((0, *np.shape(value)), dtype=np.asarray(value).dtype)
        for p, value in right.items()
        if isinstance(kind := chosen[p], Array) and kind.leading in ("...", "+...")
    }


@pytest.mark.parametrize("name", [n for n, it in CHECKED.items() if no_prompts(n, it)])
def test_no_prompts_are_answered_or_refused(name):
    it = CHECKED[name]
    assert _outcome(it, arguments(name, it) | no_prompts(name, it)) in ("an answer", "one line")


# Sizes whose cost explodes


HUGE = (10**12, 10**400)


def huge_arguments(it: Any) -> Iterator[dict[str, Any]]:
    """Each parameter that is an integer, or holds some, with huge ones that its kind takes."""
    for parameter, kind in (kinds_of(it) or {}).items():
        kind = kind.kind if isinstance(kind, Maybe) else kind
        if isinstance(kind, Whole):
            yield from ({parameter: n} for n in HUGE)
        elif isinstance(kind, Many) and isinstance(kind.each, Whole):
            yield from ({parameter: kind.into([n])} for n in HUGE)
        elif isinstance(kind, Integers) and kind.within.most is None:
            yield {parameter: np.full_like(kind.example, HUGE[0])}


def answers_or_refuse(functions: dict[str, Any]) -> str:
    """An error at the examples or at huge sizes, in words; empty if there is none."""
    tried = [
        (name, arguments(name, it), changed)
        for name, it in functions.items()
        for changed in [{}, *huge_arguments(it)]
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "available_memory", lambda: 2**31)
        calls = [
            (
                partial(_outcome, functions[name], right | new),
                child.SECONDS if new else child.LOADING,
            )
            for name, right, new in tried
        ]
        # Where there are fewer outcomes than calls the last one is a signal, which is returned.
        for (name, _, changed), said in zip(tried, child.in_child(calls), strict=True):
            if said != "an answer" and not (said == "one line" and changed):
                return f"{name}: {changed or 'the examples'}: {said}"
    return ""


@pytest.mark.parametrize(
    "name",
    [n for n, it in CHECKED.items() if "fit in memory" in " ".join((it.__doc__ or "").split())],
)
def test_what_may_not_fit_in_memory_is_refused_if_none_is_available(name, monkeypatch):
    given = arguments(name, CHECKED[name])
    monkeypatch.setattr(machine, "available_memory", lambda: -1)
    with pytest.raises(InputError) as refused:
        CHECKED[name](**given)
    check_line(message := str(refused.value), "memory")
    assert any(f"{each} is " in message or f"{each} has shape " in message for each in given)


def _outcome(it: Any, given: dict[str, Any]) -> str:
    try:
        answer = it(**given)
        if inspect.isgenerator(answer):
            next(answer, None)
    except InputError as error:
        check_line(str(error))
        return "one line"
    return "an answer"


NEEDS = dict.fromkeys(
    ("constructions.stock.StockGPT2", "constructions.stock.to_gpt2"), "transformers"
)
"""Packages that a function needs and an installation may lack."""


LARGE = [name for name, it in CHECKED.items() if [*huge_arguments(it)]]


def place(name: str) -> str:
    """The functions of a module share a child, but for those that need a package."""
    return name if name in NEEDS else name.rpartition(".")[0]


@pytest.mark.parametrize("where", dict.fromkeys(map(place, LARGE)))
def test_huge_sizes_are_answered_or_refused_at_once(where, tmp_path, monkeypatch):
    if where in NEEDS:
        pytest.importorskip(NEEDS[where])
    monkeypatch.chdir(tmp_path)  # where files are written
    assert not answers_or_refuse({name: CHECKED[name] for name in LARGE if place(name) == where})


# These tests can fail


class Lax(Kind):
    """A kind that takes what it calls wrong."""

    what, example, wrong = "anything", 1, (None,)

    def read(self, name: str, value: Any) -> Any:
        return value


@checked
def lax(a: Count, b: Annotated[Any, Lax()]) -> None: ...


@checked
def renamed(a: Count) -> None: ...


@checked
def slow(n: Count) -> int:
    while n > 100:
        n += 1
    return n


@checked
def broken(n: Count) -> Any:
    return [][n]


@checked
def fussy(n: Annotated[Count, Within(least=2)]) -> None:
    raise InputError(f"n is {n}: give another")


@checked
def bare(n: int, k: Count) -> None: ...


def test_faulty_functions_are_found(monkeypatch):
    with pytest.raises(AssertionError, match="lax with b = None"):
        refuses_all_wrong_arguments("lax", lax)
    monkeypatch.setattr(Whole, "what", "another")
    monkeypatch.setattr(Whole, "error", lambda self, name, value: InputError("it is wrong"))
    with pytest.raises(AssertionError, match="renamed with a"):
        refuses_all_wrong_arguments("renamed", renamed)
    monkeypatch.undo()
    assert list(missing("bare", bare)) == ["bare:n"]
    assert list(missing("len", len)) == ["len"]
    monkeypatch.setattr(child, "SECONDS", 0.2)
    assert not answers_or_refuse({"renamed": renamed})
    for wrong, words in ((slow, "SIGPROF"), (broken, "IndexError"), (fussy, "examples: one line")):
        name = wrong.__name__
        found = answers_or_refuse({"renamed": renamed, name: wrong, "last": renamed})
        assert found.startswith(f"{name}: ")
        assert words in found


def test_examples_of_classes_are_of_them():
    for name, make in EXAMPLES.items():
        assert name in [base.__name__ for base in type(make()).__mro__]
