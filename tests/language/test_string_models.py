"""Distributions on strings as weights of the transformer; samples and scores of any model."""

from fractions import Fraction as F
from importlib import import_module

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import (
    fact_model,
    in_context_ngram,
    log_probabilities,
    newton,
    previous_token,
    string_probabilities,
)
from constructions import string_model as build
from constructions.computation import dyck, majority, parity, semiautomaton
from constructions.language import sample
from theory.computation import flip_flop
from theory.language.documents import next_symbol
from theory.sequences import all_sequences

STRINGS, PROBABILITIES = [[0, 1, 1], [0, 1, 2], [2, 2, 0]], [F(1, 2), F(1, 8), F(1, 8)]


def probabilities(model, length, V):
    """All strings and their probabilities under the model."""
    strings = all_sequences(length, V)
    asked = np.hstack([np.full((len(strings), 1), V), strings])
    return strings, log_probabilities(model, asked).sum(-1).exp().numpy()


def test_given_strings_have_their_probabilities_and_the_rest_is_uniform():
    strings, found = probabilities(build(3, STRINGS, PROBABILITIES), 3, 3)
    wanted = [
        PROBABILITIES[STRINGS.index(string)] if string in STRINGS else F(1, 4) / 24
        for string in strings.tolist()
    ]
    assert found == pytest.approx([float(each) for each in wanted], rel=1e-13, abs=0)


def test_the_next_symbol_by_all_strings():
    g = dict.fromkeys(map(tuple, all_sequences(3, 3).tolist()), F(1, 4) / 24)
    g |= zip(map(tuple, STRINGS), PROBABILITIES, strict=True)
    for prefix in [(), *{string[:t] for string in g for t in (1, 2)}]:
        t = len(prefix)
        below = [[c for s, c in g.items() if s[: t + 1] == (*prefix, v)] for v in range(3)]
        wanted = [sum(each) / sum(map(sum, below)) for each in below]
        known = any(string[:t] == [*prefix] for string in STRINGS)
        found = next_symbol(np.array(STRINGS), PROBABILITIES, 3, prefix)
        assert found == (wanted if known else None)


def test_an_impossible_prefix_has_no_next_symbol():
    strings, certain = np.array([[0, 1], [1, 0]]), [F(1), F(0)]
    assert next_symbol(strings, certain, 2, (0,)) == [0, 1]
    assert next_symbol(strings, certain, 2, (1,)) is None


def test_no_strings_have_no_probabilities():
    for T in (2, 3):
        assert log_probabilities(MODEL, np.zeros((0, T), dtype=int)).shape == (0, T - 1)


def test_impossible_strings_have_tiny_probability():
    strings, found = probabilities(build(3, STRINGS, [F(3, 4), 0, F(1, 4)]), 3, 3)
    outside = [string not in (STRINGS[0], STRINGS[2]) for string in strings.tolist()]
    assert found[outside].sum() < 3 * 2 * np.exp(-64)


def test_generate_decodes_greedily():
    model = build(3, STRINGS, PROBABILITIES)
    assert model.generate([3], 3).tolist() == [0, 1, 1]
    assert model([[3, 2, 2]])[0, 1] == 2


def test_samples_are_of_the_distribution_and_of_their_seed():
    model = build(3, STRINGS, PROBABILITIES)
    drawn = sample(model, np.full((4000, 1), 3), 3, seed=0)
    fraction = np.mean([row == STRINGS[0] for row in drawn.tolist()])
    assert abs(fraction - 0.5) < 5 * np.sqrt(0.25 / 4000)
    assert torch.equal(sample(model, [3], 3, seed=4), sample(model, [3], 3, seed=4))
    assert sample(model, [3], 0, seed=0).shape == (0,)


FACTS, P, COUNTS = [[0, 1], [1, 1], [2, 0]], [F(1, 2), F(1, 3), F(1, 6)], [3, 1, 0]


@pytest.mark.parametrize(
    ("name", "known", "rest"),
    [
        ("calibrated", [F(1, 2), F(1, 3)], F(1, 6)),
        ("good-turing", [F(3, 4) * F(3, 4), F(3, 4) * F(1, 4)], F(1, 4)),
        ("memoriser", [F(3, 4), F(1, 4)], F(0)),
    ],
)
def test_models_of_facts_have_their_probabilities(name, known, rest):
    strings, found = probabilities(fact_model(3, FACTS, P, COUNTS, name), 2, 3)
    wanted = [
        known[FACTS.index(string)] if string in FACTS[:2] else rest / 7
        for string in strings.tolist()
    ]
    assert found == pytest.approx([float(each) for each in wanted], rel=1e-13, abs=1e-27)
    drawn = sample(fact_model(3, FACTS, P, COUNTS, name), np.full((4000, 1), 3), 2, seed=0)
    fraction = np.mean([row not in FACTS for row in drawn.tolist()])
    assert abs(fraction - float(rest * F(6, 7))) < 5 * np.sqrt(0.25 / 4000)


MODEL = build(3, STRINGS, PROBABILITIES)


def facts_changed(**change):
    given = {"facts": FACTS, "p": P, "counts": COUNTS, "vocabulary_size": 3, "name": "memoriser"}
    return fact_model(**given | change)


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: build(3, [[0], [1]], PROBABILITIES[:2]), "strings"),
        (lambda: build(3, STRINGS, PROBABILITIES[:2]), "probabilities"),
        (lambda: build(3, [[0, 1], [0, 1]], [F(1, 2)] * 2), "strings"),
        (lambda: build(3, [[0, 1], [0, 2]], [F(3, 4)] * 2), "probabilities"),
        (lambda: build(3, [[0, 1], [0, 2]], [F(3, 4), F(-1, 4)]), "probabilities"),
        (lambda: build(2, [[0, 0], [0, 1], [1, 0], [1, 1]], [F(1, 8)] * 4), "probabilities"),
        (lambda: facts_changed(counts=[0, 0, 0]), "counts"),
        (lambda: facts_changed(p=[F(1, 2), F(1, 2)]), "facts"),
        # sequences begin with BOS, which is never predicted
        (lambda: MODEL([0, 1]), "1"),
        (lambda: MODEL([3, 3]), "2"),
        (lambda: log_probabilities(MODEL, [[3, 0, 3]]), "3"),
        (lambda: log_probabilities(MODEL, [3]), "tokens 1"),
        (lambda: sample(MODEL, [3], 4, seed=0), "max_length"),
        # models without logits of the next token
        (lambda: sample(in_context_ngram(3, 8, 2), [0], 2, seed=0), "logits"),
        (lambda: log_probabilities(previous_token(3, 4), [0, 1]), "logits"),
        (lambda: sample(newton(2, 1, 0.5), [0], 2, seed=0), "logits"),
        (lambda: sample(majority(6), [0, 1], 2, seed=0), "majority"),
        (lambda: sample(dyck(2, 6), [0, 1], 2, seed=0), "dyck"),
        (lambda: log_probabilities(parity(6), [0, 1, 1]), "parity"),
        (lambda: string_probabilities(semiautomaton(flip_flop(2), 6), 2), "semiautomaton"),
    ],
)
def test_bad_input_is_rejected(call, parameter, unchecked):
    with rejects(*parameter.split()):
        call()


def test_more_steps_than_the_model_takes_are_rejected_with_their_number():
    model = build(3, STRINGS, PROBABILITIES)
    assert sample(model, [3], 3, seed=0).shape == (3,)
    with rejects("4 steps", "at most 3 steps"):
        sample(model, [3], 4, seed=0)


def test_more_strings_than_are_computed_are_rejected(monkeypatch):
    module = import_module("constructions.language.sampling")
    monkeypatch.setattr(module, "MOST", 3**3)
    assert len(string_probabilities(MODEL, 3)) == 27
    monkeypatch.setattr(module, "MOST", 3**3 - 1)
    with rejects("3^3"):
        string_probabilities(MODEL, 3)
