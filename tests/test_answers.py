"""Public functions answer as recorded, and every function and value of an option is recorded."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import answers
import numpy as np
import pytest
from flint import arb, fmpq
from mpmath import mpf
from small_models import TOPICS

from theory.kinds import Choice, Kind, Maybe, Truth, kinds_of

RECORDED = {
    text: digest
    for file in sorted(answers.FOLDER.glob("*.txt"))
    for text, digest in answers.recorded(file).items()
}


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("text", RECORDED)
def test_what_a_call_returns_is_as_recorded(text):
    """If this fails on purpose, write the digests again with `python tests/answers.py`."""
    found = answers.call(text)
    assert answers.same(found, RECORDED[text]), f"{found}, recorded {RECORDED[text]}"


@pytest.mark.parametrize("topic", TOPICS)
def test_every_public_function_and_value_of_an_option_has_a_recorded_answer(topic):
    calls = [text for text, digest in RECORDED.items() if not digest.startswith(answers.REFUSED)]
    missing = [
        f"{name}({option})"
        for name, it in functions(topic)
        for option in ("", *options(it))
        if not any(is_called(name, option, text) for text in calls)
    ]
    assert missing == []


def functions(topic: str) -> Iterator[tuple[str, Any]]:
    for package in ("theory", "constructions"):
        module = getattr(answers.NAMES[package], topic)
        for name in module.__all__:
            if inspect.isfunction(it := getattr(module, name)):
                yield f"{package}.{topic}.{name}", it


def options(it: Any) -> Iterator[str]:
    """The options of a function with each value that is not the default, `name=value`."""
    for name, parameter in inspect.signature(it).parameters.items():
        kind: Kind | None = (kinds_of(it) or {}).get(name)
        kind = kind.kind if isinstance(kind, Maybe) else kind
        values: tuple[Any, ...] = (True, False) if isinstance(kind, Truth) else ()
        values = kind.allowed if isinstance(kind, Choice) else values
        yield from (f"{name}={value!r}" for value in values if value != parameter.default)


def is_called(name: str, option: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\(", text) is not None and option in text


def test_a_changed_entry_type_or_shape_changes_the_digest():
    A = answers.reals(0, 30, 40)
    changed = A.copy()
    changed[29, 39] += 1e-5
    rounded = A * (1 + 1e-15)
    digest = answers.digest(A)
    assert answers.same(answers.digest(rounded), digest)
    assert not answers.same(answers.digest(changed), digest)
    assert not answers.same(answers.digest(A.T), digest)
    assert not answers.same(answers.REFUSED, digest)
    pairs = ((1, True), ([1, 2], [2, 1]), (np.zeros(2), np.zeros(3)), (1.0, np.inf))
    for one, other in (*pairs, (fmpq(1, 3), fmpq(2, 3)), (arb(1), arb(2)), (mpf(1), mpf(2))):
        assert not answers.same(answers.digest(one), answers.digest(other))
    with pytest.raises(TypeError, match="no digest"):
        answers.digest(object())


def test_what_a_refusal_names_is_in_its_digest():
    assert answers.call("theory.language.world(0, -3, 2)").startswith("refused ")
    assert (
        answers.refusal("the count 12 of k³ is 3.5: give 7 or 1/2, or 4 %") == "refused count 12 7"
    )
    assert answers.refusal("/tmp/x1/given, line 2: give 1") == "refused given 2 1"
    assert answers.refusal("weights need 12 GiB") == "refused weights"
    for one in ("refused k 3", "refused k", "refused j 2", answers.digest(2)):
        assert not answers.same(one, "refused k 2")
        assert not answers.same("refused k 2", one)
