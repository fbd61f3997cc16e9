"""The claim one-layer: its two games by brute force, and its findings."""

from itertools import product

import numpy as np
import pytest
import torch
from by_id import findings
from flint import fmpq
from refusals import rejects

from constructions.blocks import LayerNorm
from constructions.retrieval import (
    broad_average,
    composition,
    induction_heads,
    previous_token,
    skip_gram,
)
from constructions.trained import load
from theory.retrieval import composition_by_definition, induction_by_definition
from theory.retrieval.communication import composition_game, index_game
from verify.claim import Run
from verify.finding import Verdict
from verify.retrieval import one_layer as module
from verify.retrieval.collisions import collision
from verify.retrieval.messages import Split
from verify.retrieval.one_layer import (
    _errs,
    _mistakes,
    _reduction,
    judged,
    one_layer,
    random_layer,
    two_layers_compose,
    two_layers_find,
)


@pytest.fixture(scope="module")
def found():
    """By their ids."""
    return findings(one_layer)


def pairs_of(found):
    compared = (f for f in found.values() if isinstance(f.measured, dict))
    return {f.id: f for f in compared if "answers" in f.measured}


# The games


def test_index_is_induction():
    game = index_game(9)
    assert (game.alice, game.bits) == ((1, 3, 5, 7), 4)
    for row in product((0, 1), repeat=4):
        for place in range(4):
            prompt = game.prompt(row, place)
            assert len(prompt) == 9
            assert [prompt[j] for j in game.alice] == list(row)
            assert game.required(prompt) == induction_by_definition(prompt)[-1] == row[place]
    assert game.text(game.prompt([0, 1, 1, 0], 1)) == "b0a1b1b0a"
    assert game.question(game.prompt([0, 1, 1, 0], 1)) == "bit 1 of 0x6"


def test_composition_prompts():
    game = composition_game(5, seed=0)
    (u, v), *_ = game.choices
    assert u != v
    for f in ([4, 3, 2, 1, 0], [2, 2, 0, 1, 4]):
        for x in range(5):
            prompt = game.prompt(f, x)
            assert prompt == [*f, 0, 1, 2, 3, 4, x, 5]
            assert game.required(prompt) == composition_by_definition(f, range(5), x) == f[x]


@pytest.mark.parametrize("bits", [1, 2, 48, 64, 96])
def test_the_least_size_at_which_a_bound_is_not_vacuous(bits):
    n = int(index_game(5).least_size(bits).removeprefix("n = "))
    assert n % 2 == 1
    assert index_game(n).bits > bits >= index_game(n - 2).bits
    s = int(composition_game(4, seed=0).least_size(bits).removeprefix("s = "))
    smaller = 0 if s == 2 else composition_game(s - 1, seed=0).bits
    assert composition_game(s, seed=0).bits > bits >= smaller


@pytest.mark.parametrize(
    "model",
    [broad_average(4, 9), previous_token(4, 9), skip_gram(np.eye(4), 9)],
    ids=lambda model: model.name,
)
def test_no_one_layer_construction_answers_all_prompts(model):
    """And the two prompts that are exhibited are among those that show it."""
    game = index_game(9)
    every = [game.prompt(row, t) for row in product((0, 1), repeat=4) for t in range(4)]
    answers = model(every)[:, -1].tolist()
    wrong = {tuple(p) for p, a in zip(every, answers, strict=True) if a != game.required(p)}
    assert wrong
    split = Split(model, 9, game.alice, every[0][-1])
    one, two = collision(split, game.choices, lambda row: game.prompt(row, 0), 0, ())
    place = next(t for t in range(4) if one[t] != two[t])
    assert {tuple(game.prompt(row, place)) for row in (one, two)} & wrong


# The claim


@pytest.mark.parametrize(
    "options",
    [
        {"n_tokens": 5, "n_heads": 2},
        pytest.param({"n_tokens": 35, "n_heads": 3}, marks=pytest.mark.slow),
    ],
)
def test_it_holds_at_other_sizes(options):
    assert one_layer.verdict(Run(quick=True, seed=3), **options) is Verdict.HOLDS


def test_the_kinds_of_evidence(found):
    for f in found.values():
        soft = "/random" in f.id or f.id.startswith("induction/induction-small")
        assert f.evidence == ("enclosure" if soft else "exact"), f.id


def test_each_pair_gets_one_answer_and_needs_two(found):
    pairs = pairs_of(found)
    assert len(pairs) == 10
    for id, f in pairs.items():
        assert ("same message" in f.words) == (not id.endswith("/errs"))
        (given, given_too), needed = f.measured["answers"], f.bound["needed"]
        assert given == given_too
        prompts = [line.removeprefix("prompt ") for line in f.detail.splitlines()[-2:]]
        assert len(prompts) == len(set(needed)) == 2
        if id.startswith("induction/"):
            rows = [["01ab".index(symbol) for symbol in prompt] for prompt in prompts]
            answers = [induction_by_definition(row)[-1] for row in rows]
            assert rows[0][::2] == rows[1][::2], "Bob's tokens are the same"
        else:
            rows = [list(map(int, prompt.split())) for prompt in prompts]
            s = len(rows[0]) // 2 - 1
            answers = [composition_by_definition(r[:s], r[s : 2 * s], r[2 * s]) for r in rows]
            assert rows[0][s:] == rows[1][s:]
            assert composition(s)([row[:-1] for row in rows])[:, -1].tolist() == answers
        assert answers == needed


def test_the_bounds_are_those_of_the_theorems(found):
    """One head of value dimension 2 in 16 bits: 48 bits, below 64 and below 32·log₂32 = 160."""
    assert "48 < 64" in found["induction/random/bfloat16"].wanted
    composed = found["composition/random/bfloat16"]
    assert all(number in composed.wanted for number in ("48 bits", "R = 112", "0.233"))
    assert round(112 / (3 * 160), 3) == 0.233


def test_where_the_bound_is_vacuous_there_is_no_finding(found):
    """The words of the reduction state the size from which on the bound is not vacuous."""
    assert "induction/random/float32" not in found
    words = found["induction/random/reduction"].words
    assert all(number in words for number in ("32 bits", "96 ≥ 64", "n = 195"))
    run, s = Run(), 4
    model = random_layer(s + 1, 2 * s + 2, 1, True, run.rng)
    game = composition_game(s, run.rng)
    (reduction,) = judged(run, game, "random", model, ["float16"], [])
    assert all(number in reduction.words for number in ("16 bits", "48 ≥ 8", "s = 13"))


def test_the_trained_layer_is_a_message_and_errs(found):
    """Of 65 numbers, far more bits than Alice's input: the bound is vacuous, the model errs."""
    name = "induction/induction-small-1-layer-seed0"
    assert "1040" not in found[f"{name}/reduction"].words
    assert all(n in found[f"{name}/reduction"].words for n in ("2080 ≥ 31", "n = 4163"))
    errs = found[f"{name}/errs"]
    (one, two), (needed, other) = errs.measured["answers"], errs.bound["needed"]
    assert one == two
    assert needed != other
    prompts = [line.removeprefix("prompt ") for line in errs.detail.splitlines()]
    rows = np.array([["01ab".index(symbol) for symbol in prompt] for prompt in prompts])
    assert (rows[0] != rows[1]).sum() == 1
    assert load("induction-small-1-layer-seed0")(rows)[:, -1].tolist() == [one, two]
    assert found["induction-small-1-layer-seed0/two-layers"].measured == 2


def test_a_model_that_does_not_err_is_not_shown_to(monkeypatch):
    """Two layers, in the place of the trained one."""
    monkeypatch.setattr(module, "TRIES", 2)
    pairs = []
    errs = _mistakes(Run(), "errs", index_game(9), induction_heads(4, 9), pairs)
    assert (errs.verdict, pairs) == (Verdict.UNDECIDED, [])


def test_layers_that_see_the_stream_through_a_norm_are_rejected():
    model = random_layer(4, 9, 1, mlp=True, seed=0)
    model.blocks[0].ln1 = LayerNorm(model.d_model)
    with rejects("layer norm"):
        Split(model, 9, (1, 3), 2)


def test_two_layers_are_rejected_a_message(found):
    assert found["induction/no-message"].measured == 2


def test_two_layers_are_right_on_every_prompt_of_the_pairs(found):
    for game in ("induction", "composition"):
        control = found[f"{game}/two-layers"]
        of_game = [id for id in pairs_of(found) if id.startswith(f"{game}/")]
        count = 2 * sum(not id.endswith("/errs") for id in of_game)
        assert control.measured == control.bound == count


def test_without_a_pair_the_finding_is_undecided(monkeypatch):
    """Even if the message has so few bits that a pair exists; without prompts as well."""
    monkeypatch.setattr(module, "collision", lambda *_: None)
    run, game = Run(quick=True), index_game(129)
    for model, precision in (
        (random_layer(4, 129, 1, False, run.rng), "bfloat16"),
        (broad_average(4, 129), None),
    ):
        *_, errs = judged(run, game, "model", model, [precision], [])
        assert errs.verdict is Verdict.UNDECIDED
    two, message = two_layers_find(run, 129, [])
    assert (two.verdict, message.verdict) == (Verdict.UNDECIDED, Verdict.HOLDS)
    (empty,) = two_layers_compose(run, 4, [])
    assert empty.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("wrong", ["", "answers", "needed", "messages", "forward", "torch"])
@pytest.mark.parametrize("exact", [False, True])
def test_each_condition_on_a_pair_of_prompts_is_checked(wrong, exact, monkeypatch):
    """The forward pass and torch must agree as well, but only without rounding."""
    game = index_game(9)
    model = broad_average(4, 9) if exact else random_layer(4, 9, 1, False, 0)
    split = Split(model, 9, game.alice, 2, None if exact else "bfloat16")
    pair, answers = ([0, 1, 1, 0], [1, 0, 1, 0]), iter([1, 0])
    message, value = split.message(game.prompt(pair[0], 0)), split.forward(game.prompt(pair[0], 0))
    kept = {
        "message": lambda prompt: message,
        "complete": lambda message, prompt: value,
        "forward": lambda prompt: value,
        "answer": lambda logits: 3,
        "model": lambda prompt: torch.tensor([3]),
    }
    changed = {
        "": ("answer", lambda logits: 3),
        "needed": ("answer", lambda logits: 3),
        "answers": ("answer", lambda logits: next(answers)),
        "messages": ("message", lambda prompt: (*message, prompt[1])),
        "forward": ("forward", lambda prompt: [each + 1 for each in value]),
        "torch": ("model", lambda prompt: torch.tensor([2])),
    }
    for name, function in [*kept.items(), changed[wrong]]:
        monkeypatch.setattr(split, name, function)
    if wrong == "needed":
        game = game._replace(required=lambda prompt: 1)
    found = _errs("id", "name", game, split, pair, [])
    compared = wrong and (exact or wrong not in ("forward", "torch"))
    assert found.verdict is (Verdict.FAILS if compared else Verdict.HOLDS)


def test_an_even_length():
    with rejects("n_tokens", "128"):
        findings(one_layer, n_tokens=128)


@pytest.mark.parametrize("exact", [False, True])
def test_one_logit_of_the_message_that_is_off_fails(exact, monkeypatch):
    game = index_game(9)
    model = broad_average(4, 9) if exact else random_layer(4, 9, 1, False, 0)
    split = Split(model, 9, game.alice, 2)
    assert _reduction(Run(), "id", game, split, []).verdict is Verdict.HOLDS
    right = split.complete

    def complete(message, prompt):
        first, *others = right(message, prompt)
        return [first + fmpq(1, 10**6), *others]

    monkeypatch.setattr(split, "complete", complete)
    assert _reduction(Run(), "id", game, split, []).verdict is Verdict.FAILS


@pytest.mark.parametrize("wrong", [False, True])
def test_two_prompts_with_one_right_answer_are_no_mistake(wrong):
    game = index_game(9)
    if wrong:
        game = game._replace(required=lambda prompt: 1)
    found = _mistakes(Run(), "errs", game, broad_average(4, 9), [])
    assert found.verdict is (Verdict.FAILS if wrong else Verdict.HOLDS)


def test_two_layers_that_are_one_message_fail(monkeypatch):
    monkeypatch.setattr(module, "Split", lambda *given: None)
    *_, message = two_layers_find(Run(), 9, [])
    assert message.verdict is Verdict.FAILS
