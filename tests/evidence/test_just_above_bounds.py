"""What is one per cent above its bound fails, in findings that compare numbers themselves.

Findings of `at_most` and the like have their bounds among the recorded figures; these do not.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from faults import failing, once, plant

from constructions import adder as adder_model
from constructions import hop
from theory.arithmetic.adder import default_bits
from theory.sensitivity import hybrid_bound, total_influence
from theory.sequences import all_sequences
from verify.arithmetic import adder
from verify.claim import Run
from verify.evidence.gaps import gap_finding
from verify.evidence.statistics import Mean
from verify.finding import Verdict
from verify.language import linear_tokens, sampling_or_argmax, tiny_worlds
from verify.memory import modern_hopfield_bounds
from verify.regression import depth, rates
from verify.regression.stability import Errors, stays_within
from verify.retrieval.hop import head_states
from verify.sensitivity import random_table, random_weights, retrieval_profiles, sensitivity
from verify.structures.accuracies import ERRORS, below, beside

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS
QUICK = Run(quick=True)
HOPS = hop(1, 2, 4)(all_sequences(4, 2))[..., -1].numpy()
TABLE = np.where(np.arange(16) % 3 == 0, -1, 1)
BY = pytest.mark.parametrize("by", [0.99, 1.01])


def when(by: float, *ids: str) -> set[str]:
    """The findings that fail if a number is above its bound."""
    return {*ids} if by > 1 else set()


@BY
@pytest.mark.parametrize("at", [0, 3])
def test_the_change_of_predictions(by, at, monkeypatch):
    bound = hybrid_bound(HOPS, 2, retrieval_profiles.DELTAS[at])
    fault = once(lambda _: Fraction(by) * bound, at)
    plant(monkeypatch, "verify.sensitivity.retrieval_profiles.change_when_redrawn", fault)
    assert failing(retrieval_profiles._decomposed(HOPS, 2)) == when(by, "hybrid")


@BY
def test_the_noise_sensitivity(by, monkeypatch):
    bound = sensitivity.DELTAS[1] * total_influence(TABLE[:8])
    fault = once(lambda _: Fraction(by) * bound, len(sensitivity.DELTAS) + 1)
    plant(monkeypatch, "verify.sensitivity.sensitivity.noise_sensitivity", fault)
    found = failing(sensitivity._noise_bound([TABLE, TABLE[:8], TABLE[:4]]))
    assert found == when(by, "noise-bound")


@BY
@pytest.mark.parametrize(
    ("name", "lower", "upper"),
    [("Var", "", "Var-I"), ("I", "Var-I", "I-degree"), ("degree", "I-degree", "degree-s2")],
)
def test_figures_of_300_functions(by, name, lower, upper):
    figures = {each: np.ones(300) for each in ("Var", "I", "degree", "s")}
    figures[name][299] = by
    assert failing(sensitivity._ordered(figures, "")) == {upper if by > 1 else lower} - {""}


@BY
def test_halves_of_random_weights(by, monkeypatch):
    values = dict.fromkeys(random_weights.THRESHOLDS, np.linspace(0, 1, 40))
    row = random_table.Row(values, 0.0, np.zeros((0, 256), dtype=bool))
    rows = {name: row for name, _ in random_weights.PAIRS.values()}
    table = dict.fromkeys(random_weights.DISTRIBUTIONS, rows)
    fault = once(lambda _: Mean(-by * random_weights.errors_for(30), 1.0, 30), 3)
    plant(monkeypatch, "verify.sensitivity.random_weights.difference", fault)
    assert failing(random_weights._control(table)) == when(by, "control")


@BY
def test_the_sums_of_an_adder(by):
    model = adder_model(10, 5, 4.0, default_bits(30, 5, 4.0))
    sums = next(f for f in adder.fourier(model) if f.id == "exactness").measured["largest sum"]
    model.at_most = dict.fromkeys(model.at_most, sums / by)
    assert failing(adder.fourier(model)) == when(by, "exactness")


@BY
@pytest.mark.parametrize("number", [0, 2])
def test_errors_of_the_ladder(by, number):
    float32 = [1e-4] * 3
    float32[number] = by * 2e-4
    lists = [1, 2, 3], [1e-4] * 3, [2e-4] * 3, float32, [2e-4] * 3, [1e-4] * 3
    found = stays_within("gram", Errors(10.0, *lists, [HOLDS] * 3))
    assert bool(failing(found)) == (by > 1)


@BY
def test_accuracies(by):
    means = [Mean(50.0, 0.0), Mean(50.0 + ERRORS * 0.1 * by, 0.1)]
    assert failing(below("a", "", means, [50.0, 50.0], "")) == when(by, "a")
    assert failing(beside("a", "", means, [50.0, 50.0])) == when(by, "a")


@pytest.mark.parametrize("more", [0, 1])
def test_degrees_of_layers(more, monkeypatch):
    right = depth.newton_lower_bound
    cases = [(k, start) for k in range(6) for start in depth.LAYOUTS]
    most = 3 ** right(*cases[9])
    plant(monkeypatch, "verify.regression.depth.newton_degree", once(lambda _: most + more, 9))
    assert failing(depth._lower_bound(5)) == ({"lower-bound"} if more else set())


@BY
def test_errors_of_samples(by, monkeypatch):
    def changed(found):
        least, _ = found
        return least, Fraction(by) * sampling_or_argmax.most_sampling_error(least, 3)

    plant(monkeypatch, "verify.language.sampling_or_argmax.errors", once(changed, 60))
    assert failing(sampling_or_argmax.between(True)) == when(by, "errors")


@BY
def test_guesses_of_learners(by, monkeypatch):
    monkeypatch.setattr(linear_tokens, "LEARNERS", 1)
    (guessed,) = linear_tokens._learned(Run()).measured["permuted"]
    monkeypatch.setattr(linear_tokens, "GUESSED", guessed / by)
    assert failing(linear_tokens._learned(Run())) == when(by, "learned")


@BY
def test_rates_below_a_bound(by, monkeypatch):
    monkeypatch.setattr(tiny_worlds, "two_levels", lambda quick: [])
    plant(
        monkeypatch,
        "verify.language.tiny_worlds.bound_given_corpus",
        lambda right: lambda unseen, *_: by * float(1),
    )
    world = SimpleNamespace(
        valid=1, strings=np.ones(2), unseen=np.ones(2, dtype=bool), unseen_mass=1.0,
        over_confidence=lambda _: 0.0, hallucination=Fraction(1),
    )  # fmt: skip
    monkeypatch.setattr(tiny_worlds, "guesses", lambda: [[(Fraction(1), world)]])
    assert failing(tiny_worlds.probable(True)) == when(by, "probable")


@BY
@pytest.mark.parametrize("id", modern_hopfield_bounds.BOUNDS)
def test_retrieval_errors_in_balls(by, id, monkeypatch):
    def changed(sides):
        return sides | {id: (by * sides[id][1], sides[id][1])}

    plant(monkeypatch, "verify.memory.modern_hopfield_bounds._sides", once(changed, 20))
    found = failing(modern_hopfield_bounds.separation_and_retrieval(QUICK))
    assert found == when(by, f"bound/{id}")


@BY
def test_ratios_of_errors_to_rates(by):
    ratios = [0.5, by, 0.5]
    assert failing(rates._at_most_all("a", "", ratios, [True] * 3, "")) == when(by, "a")
    errors = [(1.0, 0.0), (0.5, 0.0), (by / 4, 0.0), (0.0, 0.0)]
    assert failing(rates._every_step("a", "", errors, [0.5] * 3, "")) == when(by, "a")


@BY
def test_counts_of_steps(by, monkeypatch):
    monkeypatch.setattr(rates, "CASES", [(100.0, 1e-3)])
    monkeypatch.setitem(rates.RESIDUALS, "one", lambda lam, k, c: np.array([by * 1e-3]))
    count = rates.Count("one", "", lambda condition, epsilon: 7, least=False)
    assert bool([*rates._wrong_counts(count)]) == (by > 1)


@BY
def test_gaps_of_heads(by):
    model = hop(2, 3, 40)
    for states in head_states(model):
        (margin,) = model.blocks[states.layer - 1].margins
        model.blocks[states.layer - 1].margins = (replace(margin, gap=by * margin.gap),)
        assert bool(failing(gap_finding("a", model, states))) == (by > 1)
