"""Means and their standard errors, prompts drawn again, and which checkpoints are meant."""

import math

import numpy as np
import pytest
from refusals import rejects

from constructions.trained import preset
from verify.evidence.checkpoints import kind_of, models_of, seeds_of
from verify.evidence.statistics import (
    Mean,
    above,
    agreed,
    agreeing,
    below,
    errors_for,
    estimated,
    fraction_of,
    resampled,
    sign_of,
)
from verify.finding import Verdict

HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED


def test_the_sign_of_a_mean():
    assert sign_of(3.1, 1.0) is HOLDS
    assert sign_of(-3.1, 1.0) is FAILS
    assert sign_of(2.9, 1.0) is sign_of(-2.9, 1.0) is UNDECIDED
    assert sign_of(math.nan, 1.0) is sign_of(1.0, math.nan) is UNDECIDED


def test_few_values_take_more_standard_errors():
    # P(t > x) for 2 degrees of freedom is ½ − x/(2√(2 + x²)).
    chance = math.erfc(3 / math.sqrt(2)) / 2
    x = errors_for(2)
    assert 0.5 - x / (2 * math.sqrt(2 + x * x)) == pytest.approx(chance, rel=1e-9)
    assert errors_for(4) == pytest.approx(6.62, abs=0.01)
    assert errors_for(math.inf) == pytest.approx(3)
    assert sign_of(3.1, 1.0, 4) is UNDECIDED
    assert sign_of(6.7, 1.0, 4) is HOLDS
    assert sign_of(-6.7, 1.0, 4) is FAILS
    found = above("id", "name", Mean(5.0, 1.0, 4), 0.0, words="", wanted="")
    assert found.verdict is UNDECIDED


def test_a_mean_and_its_error():
    mean = estimated(np.array([1.0, 2.0, 3.0, 6.0]))
    assert mean == pytest.approx((3.0, np.sqrt(14 / 3 / 4), 3))
    assert f"{mean:.2f}" == "3.00 ± 1.08"


@pytest.mark.parametrize(
    ("mean", "is_above", "is_below"),
    [
        (1.4, HOLDS, FAILS),
        (1.2, UNDECIDED, UNDECIDED),
        (0.8, UNDECIDED, UNDECIDED),
        (0.6, FAILS, HOLDS),
    ],
)
def test_means_beside_a_bound(mean, is_above, is_below):
    for compare, verdict in ((above, is_above), (below, is_below)):
        found = compare("id", "name", Mean(mean, 0.1), 1.0, words="words", wanted="wanted")
        assert found.verdict is verdict
        assert found.measured == {"mean": mean, "standard error": 0.1}
        assert found.bound == 1.0


def test_means_of_prompts_drawn_again():
    """Over many prompts they scatter as means do; each is a mean of values that are there."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((3, 400))
    again = resampled(rng, values)
    assert again.shape == (200, 3)
    np.testing.assert_allclose(again.mean(0), values.mean(-1), atol=0.02)
    np.testing.assert_allclose(again.std(0), values.std(-1) / 20, rtol=0.2)
    whole = resampled(rng, rng.integers(0, 2, (1, 7)).astype(float)) * 7
    np.testing.assert_allclose(whole, whole.round(), atol=1e-9)


@pytest.mark.parametrize(
    ("share", "verdict"),
    [
        (1.0, HOLDS),
        (0.975, HOLDS),
        (0.97, UNDECIDED),
        (0.03, UNDECIDED),
        (0.025, FAILS),
        (0.0, FAILS),
    ],
)
def test_shares_of_resampled_sets(share, verdict):
    assert agreed(share) is verdict
    found = agreeing("id", "name", share, words="words", wanted="so", steps=[1, 2])
    assert found.verdict is verdict
    assert found.as_json()["measured"] == {"share": share, "steps": [1, 2]}
    assert found.bound == 0.975
    assert found.wanted.startswith("so")
    assert all("97.5%" in f.wanted for f in (found, agreeing("id", "name", share, words="")))


def test_all_seeds_of_a_name():
    name = "regression-small-noise0.5"
    assert seeds_of(name) == [f"{name}-seed{seed}" for seed in range(3)]
    assert seeds_of(f"{name}-seed1") == [f"{name}-seed1"]
    assert len(seeds_of("regression-small")) == 5  # and none of noise, nor of the LSTM
    assert seeds_of("some/file.safetensors") == ["some/file.safetensors"]
    with rejects("'regression-smal'", "regression-small,"):
        seeds_of("regression-smal")
    with rejects("nothing", "constructions.trained list"):
        seeds_of("nothing")


def test_models_know_their_task():
    found = models_of("regression-small-lstm", "an LSTM trained on regression")
    assert [each.name for each in found] == [f"regression-small-lstm-seed{i}" for i in range(3)]
    assert {each.task for each in found} == {preset("regression", "small").task}
    with rejects("an LSTM trained on regression", "a dog"):
        models_of("regression-small-lstm", "a dog")


@pytest.mark.parametrize(
    ("task", "options", "words"),
    [
        ("regression", {}, "a softmax transformer trained on regression"),
        ("regression", {"size": "linear"}, "a linear transformer trained on regression"),
        ("regression", {"model": "lstm"}, "an LSTM trained on regression"),
        ("bigrams", {}, "a softmax transformer trained on bigrams"),
        ("automata", {}, "a softmax transformer trained on automata"),
    ],
)
def test_kinds_of_models_in_words(task, options, words):
    assert kind_of(preset(task, **options)) == words


def test_the_error_of_a_ratio():
    # Hits and counts that rise together: the ratio is known better than either.
    rng = np.random.default_rng(0)
    counted = rng.random((500, 20)) < rng.random((500, 1))
    right = counted & (rng.random((500, 20)) < 0.5)
    hits, count = right.sum(1), counted.sum(1)
    found = fraction_of(right, counted)
    assert found.mean == hits.sum() / count.sum()
    again = [rng.integers(0, 500, 500) for _ in range(400)]
    spread = np.std([hits[rows].sum() / count[rows].sum() for rows in again])
    assert found.error == pytest.approx(spread, rel=0.15)
    assert found.freedom == 499
