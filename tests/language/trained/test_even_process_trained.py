"""The task of the even process, and measures of its models."""

import re

import numpy as np
import pytest
import torch

from constructions import string_model
from constructions.trained import preset
from constructions.trained.tasks.even_process import EvenProcess
from theory.language import StringDistributions, even_process, window_cost
from theory.language.documents import numbers
from theory.sequences import all_sequences
from verify.finding import Verdict
from verify.language.trained.even_process_trained import (
    control,
    losses,
    scored,
    trained,
)

T = 8
WORDS = all_sequences(T, 2)
PROBABILITIES = [even_process().probability(word) for word in WORDS.tolist()]
P = np.array([float(each) for each in PROBABILITIES])


def windowed(window):
    """The best predictor from a window, by definition."""
    probabilities = np.ones(len(WORDS))
    for t in range(T):
        lost = t - min(window, t)
        for i, word in enumerate(WORDS.tolist()):
            alike = (WORDS[:, lost:t] == word[lost:t]).all(1)
            before, after = P[alike].sum(), P[alike & (WORDS[:, t] == word[t])].sum()
            probabilities[i] *= after / before if before else 0.5
    return StringDistributions(P, probabilities)


def test_words_have_the_frequencies_of_the_source():
    tokens, wanted = EvenProcess(T).sequences(40_000, torch.Generator().manual_seed(0))
    assert (tokens[:, 0] == 2).all()
    assert torch.equal(tokens[:, 1:], wanted[:, :-1])
    frequencies = np.bincount(numbers(wanted.numpy(), 2), minlength=2**T) / len(wanted)
    assert not frequencies[P == 0].any()
    error = np.sqrt(P * (1 - P) / len(wanted))
    assert (abs(frequencies - P) <= 6 * error).all()


def test_the_source_itself_loses_nothing():
    possible = [i for i, probability in enumerate(PROBABILITIES) if probability]
    model = string_model(2, WORDS[possible], [PROBABILITIES[i] for i in possible])
    of = scored(model, T)
    assert np.allclose(losses(of), 0, atol=1e-12)
    assert of.impossible < 1e-20
    assert of.worst_level.delta < 1e-12


@pytest.mark.parametrize("window", [0, 1, 2, 4])
def test_what_a_window_costs_is_what_a_predictor_with_it_loses(window):
    each = losses(windowed(window))
    costs = [float(window_cost(even_process(), t, min(window, t - 1))) for t in range(1, T + 1)]
    assert each == pytest.approx(costs, abs=1e-12)


def test_bounds_on_impossible_words_hold_of_any_model():
    rng = np.random.default_rng(0)
    for power in (0.1, 1, 4, 30):
        weights = (P + 1e-3) ** (1 / power) * rng.random(len(P)) ** 0.3
        of = StringDistributions(P, weights / weights.sum())
        assert of.least_impossible <= of.impossible + 1e-12
        assert of.impossible <= -np.expm1(-of.divergence) + 1e-12
        delta, gain = of.worst_level.delta, of.worst_level.gain
        taus = [abs(of.g[of.g > tau].sum() - P[of.g > tau].sum()) for tau in [0, *of.g]]
        assert delta == pytest.approx(max(taus), abs=1e-12)
        assert 2 * delta**2 <= gain + 1e-12
        assert gain <= of.divergence + 1e-12
    g = np.where(P > 0, 0.75 * P, 0.25 / (P == 0).sum())
    assert StringDistributions(P, g).impossible == pytest.approx(
        -np.expm1(-StringDistributions(P, g).divergence)
    )


def test_models_that_have_not_learned_it_fail():
    found = {each.id: each.verdict for each in trained(windowed(2))}
    assert {id for id, verdict in found.items() if verdict is Verdict.FAILS} == {
        "learned",
        "calibrated",
        "looks-back",
    }
    uniform = StringDistributions(P, np.full(len(P), 1 / len(P)))
    assert {each.verdict for each in control([uniform])} == {Verdict.HOLDS}
    assert {each.verdict for each in control([StringDistributions(P, P), uniform])} == {
        Verdict.FAILS
    }


def test_its_best_is_the_entropy_of_the_source():
    task = preset("even-process").task
    tokens, wanted = task.sequences(1, torch.Generator().manual_seed(0))
    (best,) = re.findall(r"\d+\.\d+", task.best(tokens, wanted))
    assert float(best) == pytest.approx(0.5238, abs=1e-4)
