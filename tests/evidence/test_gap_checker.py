"""Certificates by gaps: what is verified is so on all sequences, and nothing else is verified."""

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from constructions import hop, induction_heads
from constructions.transformer import Transformer
from tests.evidence.test_certificates import numbers, with_another
from theory.retrieval import hop as definition
from verify import checker, gap_checker
from verify.evidence.certificates import by_gaps
from verify.evidence.gaps import gap_finding
from verify.evidence.statement import OverTokens
from verify.retrieval.hop import head_states

CHECKER = Path(gap_checker.__file__)
ERRORS = (ArithmeticError, LookupError, ValueError, TypeError)


def stated(model: Transformer, letters: int, length: int, hops: int, first: Any) -> dict[str, Any]:
    """The statement of this very model."""
    of = OverTokens("", lambda V, n: model, lambda rows: rows, dict)
    return by_gaps(of, letters, hops, first) | {"letters": letters, "length": length}


def hops_said(k: int, V: int, n: int) -> dict[str, Any]:
    return stated(hop(k, V, n), V, n, k, "behind")


def induction_said(V: int, n: int) -> dict[str, Any]:
    return stated(induction_heads(V, n), V, n, 1, "before")


def evidence(statement: Any) -> Any:
    """Evidence, if there is any."""
    try:
        return gap_checker.computed(statement)
    except ERRORS:
        return None


@pytest.mark.parametrize(("V", "n"), [(1, 2), (1, 4), (2, 5), (3, 7)])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 7, 16])
def test_hops_are_verified_with_the_gaps_that_are_found_elsewhere(k: int, V: int, n: int) -> None:
    model = hop(k, V, n)
    found = gap_checker.computed(hops_said(k, V, n))
    assert len(found["gaps"]) == model.n_layers
    assert Fraction(found["margin"]) >= Fraction(str(model.interface.margin))
    if V > 1 and n > 4:  # where every pair of states occurs
        elsewhere = [gap_finding("", model, states).measured for states in head_states(model)]
        assert [*map(Fraction, found["gaps"])] == [*map(Fraction, elsewhere)]


@pytest.mark.parametrize(("V", "n"), [(1, 3), (2, 3), (3, 6), (5, 9)])
def test_induction_is_verified_with_the_gaps_of_the_construction(V: int, n: int) -> None:
    model, found = induction_heads(V, n), gap_checker.computed(induction_said(V, n))
    gaps = [min(margin.gap for margin in block.margins) for block in model.blocks]
    assert [*map(Fraction, found["gaps"])] == [*map(Fraction, gaps)]
    assert Fraction(found["margin"]) >= Fraction(str(model.interface.margin))


def answers(statement: Any, word: tuple[int, ...]) -> list[int]:
    """The model's, as the other checker runs it, and −1 where no logit is the largest."""
    R = checker.Numbers()
    model = R.read(statement["model"], "model")
    H = [model["embed"][v] for v in (statement["letters"], *word)]
    logits = checker.run(R, model, H, 0, [set() for _ in model["blocks"]])[1:]
    return [row.index(max(row)) if row.count(max(row)) == 1 else -1 for row in logits]


@pytest.mark.slow
@pytest.mark.parametrize("made", [lambda: hops_said(3, 2, 3), lambda: induction_said(2, 3)])
def test_changed_weights_that_are_verified_answer_rightly_on_every_sequence(made: Any) -> None:
    """And of 60 changes many are verified, and many not."""
    statement, rng = made(), np.random.default_rng(0)
    words = list(product(range(2), repeat=3))
    right = {
        word: [
            statement["letters"] if v < 0 else v for v in definition([word], statement["hops"])[0]
        ]
        for word in words
    }
    assert all(answers(statement, word) == right[word] for word in words)
    paths = list(numbers(statement["model"]))
    verified = 0
    for _ in range(60):
        changed = deepcopy(statement)
        *path, last = paths[rng.integers(len(paths))]
        inner = changed["model"]
        for key in path:
            inner = inner[key]
        inner[last] = str(Fraction(inner[last]) + Fraction(int(rng.integers(-8, 9)), 4))
        if evidence(changed):
            verified += 1
            assert all(answers(changed, word) == right[word] for word in words)
    assert 10 <= verified <= 50


def without(statement: Any, path: tuple[Any, ...], value: Any) -> Any:
    inner = statement["model"]["blocks"][path[0]]
    for key in path[1:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return statement


def with_field(statement: Any) -> Any:
    statement["model"]["blocks"][0]["heads"][0]["scale"] = "2"
    return statement


def tied() -> Any:
    """Places 1 and 2 have one rank, and the latest match may be either."""
    statement = hops_said(1, 2, 4)
    rank = hop(1, 2, 4).stream["rank"].start
    places = statement["model"]["positions"]
    places[2][rank] = places[1][rank]
    return statement


def with_head(statement: Any) -> Any:
    heads = statement["model"]["blocks"][0]["heads"]
    heads.append(deepcopy(heads[0]))
    return statement


def with_neuron() -> Any:
    """A hidden neuron that is always 1 raises the logits of a wrong token."""
    statement = hops_said(3, 2, 4)
    model = statement["model"]
    (mlp, *_) = (block["mlp"][0] for block in model["blocks"] if block["mlp"])
    mlp["b_in"].append("1")
    for row in mlp["in"]:
        row.append("0")
    mlp["out"].append([str(8 * Fraction(row[0])) for row in model["unembed"]])
    return statement


FALSE = {
    "equal scores": tied,
    "a hidden neuron more": with_neuron,
    "a head more": lambda: with_head(hops_said(1, 2, 4)),
    "another number of hops": lambda: hops_said(2, 2, 4) | {"hops": 3},
    "a hop for the symbol": lambda: hops_said(2, 2, 4) | {"hops": 0},
    "the first match": lambda: stated(induction_heads(2, 4, "first"), 2, 4, 1, "before"),
    "itself for ⊥": lambda: stated(induction_heads(2, 4, no_match="self"), 2, 4, 1, "before"),
    "the other program": lambda: induction_said(2, 4) | {"first": "behind"},
    "no program": lambda: induction_said(2, 4) | {"first": "beside"},
    "induction of two hops": lambda: induction_said(2, 4) | {"hops": 2},
    "a look at itself": lambda: without(hops_said(1, 2, 4), (0, "heads", 0, "mask"), "causal"),
    "a look at nothing": lambda: without(
        induction_said(2, 4), (1, "heads", 0, "mask"), "strictly causal"
    ),
    "softmax": lambda: without(hops_said(1, 2, 4), (0, "heads", 0, "rule"), "softmax"),
    "no heads": lambda: without(hops_said(1, 2, 4), (0, "heads"), []),
    "a layer less": lambda: (said := hops_said(4, 2, 4), said["model"]["blocks"].pop())[0],
    "a field that is not read": lambda: with_field(hops_said(1, 2, 4)),
    "another kind": lambda: hops_said(1, 2, 4) | {"kind": "sequences"},
    "a field more": lambda: hops_said(1, 2, 4) | {"prefix": [2]},
    "longer sequences": lambda: hops_said(1, 2, 4) | {"length": 5},
    "more symbols": lambda: hops_said(1, 2, 4) | {"letters": 3},
    "fewer symbols": lambda: hops_said(1, 3, 4) | {"letters": 2},
    "no symbols": lambda: hops_said(1, 2, 4) | {"letters": 0},
    "negative sizes": lambda: hops_said(1, 2, 4) | {"letters": -2, "length": -4},
    "true for 1": lambda: hops_said(1, 1, 4) | {"letters": True},
    "a float": lambda: hops_said(1, 2, 4) | {"length": 4.0},
    "sizes without an end": lambda: hops_said(1, 2, 4) | {"length": 10**9},
    "hops without an end": lambda: hops_said(1, 2, 4) | {"hops": 10**9},
    "a number for a text": lambda: without(hops_said(1, 2, 4), (0, "heads", 0, "b_Q"), [1, 0, 0]),
    "a number too long to write": lambda: without(
        hops_said(1, 2, 4), (0, "heads", 0, "b_Q", 0), "1e99999999"
    ),
}


@pytest.mark.parametrize("what", FALSE)
def test_what_is_false_or_says_less_than_it_seems_is_refused(what: str) -> None:
    assert evidence(FALSE[what]()) is None


def test_one_letter_has_no_gaps() -> None:
    with pytest.raises(ArithmeticError):
        gap_checker.computed(hops_said(1, 2, 4) | {"length": 1})


@pytest.mark.parametrize("made", [lambda: hops_said(1, 1, 2), lambda: induction_said(2, 2)])
def test_no_number_can_be_changed(made: Any) -> None:
    statement = made()
    whole = {"statement": statement, "evidence": gap_checker.computed(statement)}
    for path in numbers(whole):
        changed = with_another(whole, path)
        assert evidence(changed["statement"]) != changed["evidence"], path
