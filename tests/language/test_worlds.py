"""Good–Turing exactly, the deterministic bound, and worlds of facts."""

from fractions import Fraction as F
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from theory.language import (
    bound_given_corpus,
    deviation_bound,
    expected_bound,
    expected_prompted_bound,
    fact_strings,
    levels,
    mean_difference,
    mean_square,
    miscalibration,
    moments_by_definition,
    most_mean_difference,
    most_mean_square,
    over_confidence,
    printed_bound,
    printed_prompted_bound,
    printed_slack,
    probabilities_of_seen,
    prompted,
    prompted_bound_given_data,
    seen_once,
    uniform_mean_square,
    world,
)

weights = st.lists(st.integers(0, 6), min_size=4, max_size=4).filter(any)


def law(values):
    return [F(each, sum(values)) for each in values]


def test_good_turing_is_worst_for_as_many_equal_facts_as_documents():
    assert mean_difference([F(1, 6)] * 6, 6) == most_mean_difference(6)
    assert seen_once([1, 0, 2, 1], 4) == F(1, 2)
    n = 10**4
    assert float(n * most_mean_square(n)) == pytest.approx(1 + np.exp(-1), rel=1e-3)
    assert uniform_mean_square(6, 5) == pytest.approx(
        float(mean_square([F(1, 6)] * 6, 5)), rel=1e-12
    )
    assert deviation_bound(100, 0.04) == pytest.approx(0.01 + 2.42 * sqrt(log(100) / 100))


@given(weights, weights, st.integers(0, 8), st.sets(st.integers(0, 3)))
def test_the_deterministic_bound_holds(p, g, tau, unseen):
    p, g = law(p), law(g)
    facts = [y for y, each in enumerate(p) if each]
    found = levels(p, g, facts, unseen)
    assert found.hallucination >= found.deterministic_bound(F(tau, 8))
    assert found.over_confidence(F(tau, 8)) == over_confidence(p, g, F(tau, 8))[1]
    assert found.miscalibration == miscalibration(p, g)


def test_the_bound_on_the_mean_square_is_that_of_its_three_terms():
    for n in (2, 3, 7):
        at = F(1, n + 1), F(2, n)  # where p(1 − p)^n and s²(1 − s)^{n−2} are largest
        terms = [lambda p, n=n: p * (1 - p) ** n, lambda s, n=n: s**2 * (1 - s) ** (n - 2)]
        assert most_mean_square(n) == F(1, n) + sum(f(x) for f, x in zip(terms, at, strict=True))
        assert all(f(F(i, 60)) <= f(x) for f, x in zip(terms, at, strict=True) for i in range(61))


def test_means_over_corpora_are_not_those_of_one():
    drawn = [world(30, 60, 20, "zipf", seed) for seed in range(400)]
    once = [each.seen_once for each in drawn]
    assert {each.mean_seen_once for each in drawn} == {drawn[0].mean_seen_once}
    assert abs(np.mean(once) - drawn[0].mean_seen_once) < 5 * np.std(once) / 20
    asked = [prompted(30, 5, 20, 0.6, seed) for seed in range(400)]
    once = [each.once for each in asked]
    assert abs(np.mean(once) - asked[0].mean_once) < 5 * np.std(once) / 20
    assert asked[0].mean_once == pytest.approx(0.6 * (1 - 0.02) ** 19)


def test_what_good_and_turing_leave_is_what_came_once():
    p, counts = [F(1, 5)] * 5, [2, 1, 1, 0, 0]
    assert probabilities_of_seen(p, counts, "good-turing") == [F(1, 4), F(1, 8), F(1, 8)]
    assert probabilities_of_seen(p, [2, 1, 0, 0, 0], "good-turing") == [F(4, 9), F(2, 9)]


def test_by_hand():
    found = levels([F(1, 2), F(1, 2), 0, 0], [F(1, 4)] * 4, [0, 1], [1, 2, 3])
    assert found.hallucination == F(1, 2)
    assert found.unseen_mass == F(1, 2)
    # A = ∅ at ¼; all strings below it, where g(A) = p(A)
    assert found.deterministic_bound(F(1, 4)) == F(1, 2) - F(1, 4) * 2
    assert found.deterministic_bound(F(1, 8)) == F(1, 2) - F(2, 8) + F(4, 8) - F(1, 2)


def test_a_world_of_a_million_facts():
    found = world(10**6, 10**11, 10**5, "zipf", 0)
    assert found.seen_once == pytest.approx(0.3065, abs=0.003)
    tau = 1 / found.unseen
    for name, hallucination, over in (
        ("calibrated", found.unseen_mass, 0.0),
        ("good-turing", found.seen_once, 0.0),
        ("memoriser", 0.0, found.unseen_mass),
    ):
        model = found.model(name)
        assert model.mass.sum() == pytest.approx(1)
        assert model.hallucination == pytest.approx(hallucination, abs=2e-5)
        assert model.over_confidence(tau) == pytest.approx(over, abs=1e-9)
        assert model.hallucination >= model.deterministic_bound(tau)
    mis = found.model("calibrated").miscalibration
    printed = printed_bound(found.seen_once, mis, found.facts, found.others, 10**5, 0.01)
    assert printed == pytest.approx(found.seen_once - 0.003 - sqrt(6 * log(600) / 1e5), abs=1e-9)


def test_a_small_world_in_floats_and_in_fractions():
    found = world(5, 7, 4, "uniform", 1)
    model, seen = found.model("calibrated"), (found.counts > 0).tolist()
    new = 1 - F(sum(seen), 5)
    p = [F(1, 5)] * 5 + [F(0)] * 7
    g = [F(1, 5) if each else new / found.unseen for each in seen] + [new / found.unseen] * 7
    unseen = [y for y in range(12) if y >= 5 or not seen[y]]
    exact = levels(p, g, range(5), unseen)
    assert float(exact.hallucination) == pytest.approx(model.hallucination)
    tau = F(1, found.unseen)
    assert float(exact.deterministic_bound(tau)) == pytest.approx(
        model.deterministic_bound(float(tau))
    )


def test_prompts():
    found = prompted(1000, 5, 700, 0.5, 0)
    model = found.calibrated()
    sampled, most = found.errors()
    assert model.hallucination == pytest.approx(sampled)
    assert most == 0
    assert model.p.sum() == pytest.approx(1)
    assert model.mass.sum() == pytest.approx(1)
    assert model.valid == pytest.approx(2)
    assert model.hallucination >= model.deterministic_bound(1 / 5)
    assert found.squares == pytest.approx(found.never * 1000 * (0.5 / 1000) ** 2)
    surely = prompted(1000, 5, 700, 1.0, 0)
    assert surely.errors()[0] == surely.errors()[1] == surely.never * 4 / 5


def test_bounds_are_their_formulas():
    assert expected_bound(F(1, 2), F(1, 8), 2, 40, 10) == F(1, 2) - F(1, 8) - F(1, 20) - F(1, 10)
    assert bound_given_corpus(0.5, 0.1, 2, 40, 0.25) == pytest.approx(0.5 - 0.1 - 0.2)
    assert expected_prompted_bound(F(1, 2), 0, 8, 10) == F(1, 2) - F(1, 4) - F(1, 10)
    given = prompted_bound_given_data(0.5, 0.1, 8, np.exp(-2), 0.01)
    assert given == pytest.approx(0.5 - 0.1 - 0.25 - 0.1)
    assert printed_slack(1, 600, 10**6, 0.01) == pytest.approx(0.5 + sqrt(6 * log(600)) / 1e3)
    printed = printed_prompted_bound(0.3031, 0.0, 364, 10**6)
    assert printed == pytest.approx(0.3031 - 2 / 364 - (35 + 6 * log(10**6)) / 1000)


def test_documents_are_names_and_values():
    found = fact_strings(3, 2, 0)
    assert found.shape == (9, 4)
    assert (found[:, 0] * 3 + found[:, 1] == np.arange(9)).all()
    assert found.max() == 2


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: world(10, 5, 3, "zipf", 0), "facts"),
        (lambda: moments_by_definition([F(1, 30)] * 30, 15), "corpora"),
        (lambda: levels([F(1, 2)] * 2, [F(1, 2)] * 2, [0], [1]), "p"),
        (lambda: levels([1, 0], [1, 0], [0], [2]), "unseen"),
        (lambda: fact_strings(64, 5, 0), "64^5"),
    ],
)
def test_bad_worlds_are_rejected(call, parameter, unchecked):
    with rejects(*parameter.split()):
        call()
