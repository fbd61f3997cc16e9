"""Dyck languages: the mathematics, the weights, the claim and its picture."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.computation import dyck
from constructions.exactness import exact_in
from theory.computation import (
    adversarial_words,
    balances,
    bounded_dyck,
    brackets,
    is_dyck,
    random_dyck,
    read_brackets,
)
from theory.computation.dyck import match_types
from theory.sequences import all_sequences
from verify.claim import Run
from verify.computation.dyck import dyck as dyck_claim
from verify.computation.dyck import judges, looked_up, matched, sharpness_stated
from verify.finding import Verdict


def reduces(text: str) -> bool:
    """A Dyck word, by another definition: pairs are taken out until nothing is left."""
    while text != (shorter := re.sub(r"\(\)|\[\]|\{\}|<>", "", text)):
        text = shorter
    return not text


@pytest.mark.parametrize(("k", "T"), [(1, 7), (2, 4), (3, 3)])
def test_the_stack_and_taking_pairs_out_agree(k, T):
    words = all_sequences(T, 2 * k)
    by_pairs = [[reduces(brackets(word[: i + 1], k)) for i in range(T)] for word in words]
    assert (is_dyck(words, k) == by_pairs).all()


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_one_type_of_bounded_depth_is_the_automaton(depth):
    words = all_sequences(8, 2)
    assert (is_dyck(words, 1, depth) == (bounded_dyck(depth).run(words) == 0)).all()


def test_words_as_brackets_and_back():
    assert brackets([0, 1, 3, 2], 2) == "([])"
    assert read_brackets("([)]", 2) == [0, 1, 2, 3]
    assert brackets([0, 5, 9], 5) == "(0 0) 4)"
    assert read_brackets("", 1) == []


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 30))
def test_random_words_are_dyck_words(seed, k, T):
    words = random_dyck(3, 2 * T, k, seed)
    assert is_dyck(words, k)[:, -1].all()
    assert (random_dyck(3, 2 * T - 1, k, seed) == words[:, :-1]).all()


def test_random_words_are_uniform():
    words = random_dyck(7000, 6, 1, 0)
    _, counts = np.unique(words, axis=0, return_counts=True)
    assert len(counts) == 5  # Catalan(3)
    # Five cells, 1400 wanted in each: χ² of 4 degrees is above 27.9 with probability 10⁻⁵.
    assert ((counts - 1400) ** 2 / 1400).sum() < 27.9


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 17), st.integers(1, 5))
def test_adversarial_words_are_what_they_say(seed, k, T, depth):
    families = adversarial_words(2 * T, k, seed, depth)
    for words in families.values():
        assert words.shape[1] == 2 * T
        assert ((words >= 0) & (words < 2 * k)).all()
    assert is_dyck(families["words"], k)[:, -1].all()
    assert (balances(families["deep"], k).max(-1) == T).all()
    assert not is_dyck(families["one bracket flipped"], k)[:, -1].any()
    deep, deeper = families["as deep as allowed"]
    assert is_dyck(deep, k, depth)[-1]
    assert is_dyck(deeper, k, depth)[-1] == (depth >= T)
    if k > 1:
        assert not is_dyck(families["one wrong type"], k)[:, -1].any()
        assert (balances(families["one wrong type"], k)[:, -1] == 0).all()
        if T > 1:
            assert not is_dyck(families["crossing"], k)[:, -1].any()
    if k == 1 or T > 1:
        assert (balances(families["below 0 and back"], k)[:, -1] == 0).all()


@pytest.mark.parametrize(("k", "T"), [(1, 10), (2, 6), (3, 5)])
@pytest.mark.parametrize("depth", [None, 1, 2])
def test_all_short_words(k, T, depth):
    model, words = dyck(k, T, depth=depth), all_sequences(T, 2 * k)
    assert (model(words).numpy() == is_dyck(words, k, depth)).all()


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(1, 20), st.integers(1, 70), st.sampled_from([None, 1, 2, 9])
)
def test_words_that_are_nearly_dyck_words(seed, k, T, depth):
    model = dyck(k, T, depth=depth)
    for words in adversarial_words(T, k, seed, depth).values():
        assert (model(words).numpy() == is_dyck(words, k, depth)).all()


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2, 3])
def test_sixty_brackets_one_of_which_is_flipped(k):
    model, words = dyck(k, 60), random_dyck(20, 60, k, 0)
    for i in range(60):
        flipped = words.copy()
        flipped[:, i] = (flipped[:, i] + k) % (2 * k)
        answers = model(np.vstack([words, flipped])).numpy()
        assert (answers == is_dyck(np.vstack([words, flipped]), k)).all()
        assert answers[:20, -1].all()
        assert not answers[20:, -1].any()


def test_sizes_do_not_depend_on_types_or_depth():
    for k, depth, T in product((2, 3, 50), (None, 1, 7), (3, 100)):
        model = dyck(k, T, depth=depth)
        assert (model.n_layers, model.n_heads, model.d_model) == (4, 1, 11)
        assert max(len(b.mlp.b_in) for b in model.blocks if b.mlp is not None) == 4


@pytest.mark.parametrize(("k", "depth"), [(1, 3), (2, None), (3, 2), (20, None)])
def test_softmax_leaves_no_trace_at_a_sharpness_that_no_length_changes(k, depth):
    short, long = dyck(k, 12, depth=depth), dyck(k, 150, depth=depth)
    bound, _ = sharpness_stated(k, depth)
    assert max(short.least_sharpness(), long.least_sharpness()) <= 1.001 * bound
    soft = long.sharpened(1.01 * bound)
    assert long.softmax_error(1.01 * bound).logits == 0
    words = np.vstack([*adversarial_words(150, k, 5, depth).values()])
    assert (soft(words).numpy() == is_dyck(words, k, depth)).all()


def test_one_type_takes_softmax_at_any_sharpness():
    model, words = dyck(1, 60), np.vstack([*adversarial_words(60, 1, 0).values()])
    for sharpness in (1e-3, 1.0, 50.0):
        soft = dyck(1, 60, sharpness=sharpness)
        assert (soft(words).numpy() == is_dyck(words, 1)).all()
    assert model.softmax_error(1e-3).logits == 0


def test_short_formats_are_refused_where_they_could_be_wrong():
    model, words = dyck(2, 60), np.vstack([*adversarial_words(60, 2, 1).values()])
    assert exact_in(model).bits <= 24
    assert (model.to(torch.float32)(words).numpy() == is_dyck(words, 2)).all()
    with rejects("float16"):
        dyck(2, 60).half()


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: dyck(2, 5, sharpness=1.0), "sharpness 3.41"),
        (lambda: dyck(2, 5)([4]), "tokens"),
        (lambda: dyck(2, 5)([0] * 6), "max_length 5"),
        (lambda: is_dyck([0, 4], 2), "words"),
        (lambda: read_brackets("(]", 1), "character 2"),
        (lambda: random_dyck(10**9, 10**6, 1, 0), "1000000"),
        (lambda: list(dyck_claim.findings(Run(), types=0)), "types"),
        (lambda: list(dyck_claim.findings(Run(), depth=0)), "depth"),
    ],
)
def test_what_makes_no_sense_is_refused(call, names):
    with rejects(*names.split()):
        call()


def test_the_claim_holds_for_more_types_than_there_are_signs_for(tmp_path):
    run = Run(quick=True, plot=tmp_path / "word.png")
    assert dyck_claim.verdict(run, types=5, depth=1, max_length=7, samples=3) is Verdict.HOLDS


def test_a_type_is_that_of_the_bracket_that_is_closed():
    words = np.array([read_brackets("([]){", 3)])
    assert match_types(words, balances(words, 3), 3).tolist() == [[0, 0, 1, 0, 1]]


def test_balances_of_all_numbers_of_tokens_are_looked_up():
    T = 6
    states = looked_up(judges(Run(), 2, None).at(4, T).model)
    pairs = [(N, b) for N in range(1, T + 2) for b in range(1 - N, N)]
    assert [*zip(states.over, states.queries["average"], strict=True)] == pairs
    assert (states.queries["inverse"] == 1).all()
    assert states.keys["j"].ravel().tolist() == [*range(T + 1)]
    found = (states.preference > -np.inf).astype(int)
    assert (found.sum(1) == 1).all()
    assert found.argmax(1).tolist() == [max(b, 0) for _, b in pairs]


def test_brackets_are_matched_at_all_balances():
    T = 5
    states = matched(judges(Run(), 2, None).at(4, T).model)
    keys = {(j, c) for j in range(1, T + 1) for c in range(j + 1)}
    opens = {(j, c) for j, c in keys if c > 0}
    found = [*zip(states.position, states.keys["balance"], states.keys["sign"], strict=True)]
    assert len(found) == 1 + 2 * len(keys)
    assert {(j, c) for j, c, sign in found if sign > 0} == keys
    assert {(j, c) for j, c, sign in found if sign < 0} == keys
    assert states.queries["balance"].tolist() == [*range(T + 1)]
    assert (states.preference > 0).sum() == len(opens)
    assert (states.preference == 0).sum() == T + 1  # BOS, for every balance
