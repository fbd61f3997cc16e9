"""The task of a world's documents, and the probabilities of all strings under models."""

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from constructions import (
    fact_model,
    log_probabilities,
    previous_token,
    string_model,
    string_probabilities,
)
from constructions.trained import load, preset, train
from constructions.trained.tasks.facts import Facts
from theory.language import Levels
from theory.sequences import all_sequences
from verify.finding import Verdict
from verify.language.trained.facts_trained import findings, recalibrated
from verify.language.trained.figures import Snapshot, figures, string_distribution

TASK = Facts(base=3, digits=1, documents=4, world=1)


def test_all_strings_are_scored_by_their_prefixes():
    model = string_model(3, [[0, 1, 1], [2, 2, 0]], [F(1, 2), F(1, 4)])
    strings = all_sequences(3, 3)
    each = log_probabilities(model, np.hstack([np.full((27, 1), 3), strings])).sum(-1).exp()
    assert torch.allclose(string_probabilities(model, 3), each, rtol=1e-14)
    assert float(string_probabilities(model, 1)[0]) == pytest.approx(F(1, 2) + F(8, 100))


def test_its_corpus_are_the_documents():
    tokens, wanted = TASK.corpus
    assert tokens.tolist()[0][0] == 3
    assert torch.equal(tokens[:, 1:], wanted[:, :-1])
    facts = {tuple(fact) for fact in TASK.facts.tolist()}
    assert {tuple(row) for row in wanted.tolist()} <= facts
    assert TASK.counts.sum() == len(wanted) == 4
    assert Facts(3, 1, 4, world=1).facts.tolist() == TASK.facts.tolist()


def test_planted_models_are_measured_as_what_they_are():
    seen = TASK.facts[TASK.counts > 0]
    unseen = 1 - F(len(seen), 3)
    calibrated = string_probabilities(string_model(3, seen, [F(1, 3)] * len(seen)), 2).numpy()
    frequencies = [F(each, 4) for each in TASK.counts[TASK.counts > 0].tolist()]
    memorised = string_probabilities(string_model(3, seen, frequencies), 2).numpy()
    levels = TASK.levels(calibrated)
    tau = 1 / levels.unseen.sum()
    others, left = 6, 9 - len(seen)
    assert levels.unseen_mass == pytest.approx(float(unseen))
    assert levels.hallucination == pytest.approx(float(unseen * others / left))
    assert levels.hallucination >= levels.deterministic_bound(tau)
    assert TASK.recall(memorised) == pytest.approx(1.0)
    assert TASK.levels(memorised).hallucination < 1e-20
    assert TASK.levels(memorised).over_confidence(tau) == pytest.approx(float(unseen))
    model = string_model(3, seen, frequencies)
    assert "100.00%" in next(TASK.evaluate(model, 2, 0))


@pytest.mark.slow
def test_a_corpus_is_memorised(tmp_path):
    made = replace(preset("facts", "tiny"), steps=200)
    path = train(made, tmp_path, keep=[20])
    model, early = load(path), load(path.with_name("model-step20.safetensors"))
    first, last = (
        made.task.recall(string_probabilities(each, 4).numpy()) for each in (early, model)
    )
    assert last > first


PLANTED = Facts(base=4, digits=2, documents=16)


def planted(name):
    """The figures of a calibrated model or a memoriser of a small world, and its probabilities."""
    model = fact_model(4, PLANTED.facts, [F(1, 16)] * 16, PLANTED.counts, name)
    probabilities = string_probabilities(model, 4).numpy()
    assert np.allclose(probabilities, string_distribution(PLANTED, name), rtol=1e-12, atol=1e-25)
    return figures(PLANTED, probabilities), probabilities


def test_planted_models_are_on_opposite_sides_of_the_thresholds():
    calibrated, memoriser = planted("calibrated")[0], planted("memoriser")[0]
    assert calibrated.deterministic <= calibrated.hallucination
    first, last = Snapshot(1, calibrated), Snapshot(2, memoriser)
    found = {each.id: each.verdict for each in findings({"a": [first, last]}, {"a": calibrated})}
    assert found.pop("a/printed") is Verdict.UNDECIDED  # vacuous in so small a world
    assert set(found.values()) == {Verdict.HOLDS}
    turned = {each.id: each.verdict for each in findings({"a": [last, first]}, {})}
    wrong = {"a/trade", "memorised/falsehoods", "memorised/over", "early/falsehoods", "early/over"}
    assert {id for id, verdict in turned.items() if verdict is Verdict.FAILS} >= wrong
    steady = [first, Snapshot(2, memoriser._replace(over_confidence=calibrated.over_confidence))]
    assert {each.id: each.verdict for each in findings({"a": steady}, {})}[
        "a/trade"
    ] is Verdict.FAILS
    broken = [first, Snapshot(2, memoriser._replace(recall=0.9, deterministic=0.5, printed=0.1))]
    failed = {each.id for each in findings({"a": broken}, {}) if each.verdict is Verdict.FAILS}
    assert {"a/sure", "a/printed", "learned"} <= failed
    runs = {"a": broken, "b": [first, last]}
    failed = {each.id for each in findings(runs, {}) if each.verdict is Verdict.FAILS}
    assert failed == {"a/sure", "a/printed", "learned"}  # every seed has to


def test_one_number_takes_back_what_a_memoriser_is_over_confident_by():
    before, probabilities = planted("memoriser")
    weight, mixed = recalibrated(PLANTED, probabilities, np.random.default_rng(0))
    after = figures(PLANTED, mixed)
    assert weight == pytest.approx(
        before.unseen * 256 / (256 - (PLANTED.counts > 0).sum()), abs=0.1
    )
    assert after.over_confidence < before.over_confidence / 4
    assert after.hallucination > before.unseen / 2
    calibrated = planted("calibrated")[1]
    assert recalibrated(PLANTED, calibrated, np.random.default_rng(0))[0] < 0.1


@given(st.integers(0, 2**31), st.integers(1, 12))
def test_bins_are_unions_of_levels(seed, bins):
    """Mis in bins is at most Mis, with equality if each level has its own bin."""
    rng = np.random.default_rng(seed)
    p, weights = rng.dirichlet(np.ones(12)), rng.integers(1, 5, 12)
    ones = np.ones(12)
    of = Levels(ones, ones, p, weights / weights.sum(), ones < 0, ones)
    assert of.miscalibration_in(bins) <= of.miscalibration + 1e-12
    assert of.miscalibration_in(10**4) == pytest.approx(of.miscalibration, abs=1e-12)
    assert of.miscalibration_in(1) == pytest.approx(0, abs=1e-12)


def test_branches_go_on_as_whole_sequences_do():
    made = preset("facts", "tiny")
    model = made.shape.build(made.task.form(made.shape), 3, "facts").double()
    strings = all_sequences(4, 16)[::97]
    begun = np.hstack([np.full((len(strings), 1), 16), strings])
    each = log_probabilities(model, begun).sum(-1).exp()
    assert torch.allclose(string_probabilities(model, 4)[::97], each, rtol=1e-12)


def test_models_that_hold_no_keys_are_scored_alike(monkeypatch):
    model = string_model(3, [[0, 1, 1], [2, 2, 0]], [F(1, 2), F(1, 4)])
    held = string_probabilities(model, 3)
    monkeypatch.setattr(type(model), "decoder", lambda *given: None)
    assert torch.allclose(string_probabilities(model, 3), held, rtol=1e-14)


SHORT = string_model(2, [[0, 1]], [1])


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: string_probabilities(SHORT, 30), "2^30"),
        (lambda: string_probabilities(SHORT, 3), "sequence"),
        (lambda: string_probabilities(previous_token(3, 4), 2), "logits"),
        (lambda: Facts(base=100, digits=3, documents=5), "100^6"),
    ],
)
def test_bad_input_is_rejected(call, parameter):
    with rejects(parameter):
        call()
