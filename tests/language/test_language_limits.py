"""Limits of parameters of language: the last value is accepted, and the next one is refused."""

import math
from fractions import Fraction as F
from importlib import import_module

import numpy as np
import pytest
from limits import limited
from refusals import rejects

from constructions.language import (
    parity_by_linear_tokens,
    parity_with_steps,
    string_model,
)
from theory import language as L


def test_logarithms_at_their_limits():
    assert L.log(2**64) == 64 * L.log(2)
    assert L.log(F(1, 2**64)) == -64 * L.log(2)
    assert L.Log({2**64 - 59: 1}) == L.log(2**64 - 59)
    assert 0 < L.log(2).ball(2) < 1
    with rejects("bits"):
        L.log(2).ball(10**7 + 1)
    for value in (2**64 + 1, F(1, 2**64 + 1)):
        with rejects("value"):
            L.log(value)
    with rejects(str(2**64 + 13)):
        L.Log({2**64 + 13: 1})


def test_gates_at_their_limits():
    both = {f for f in range(16) if (f ^ f >> 1) & 5 and (f ^ f >> 2) & 3}
    assert set(L.FUNCTIONS) == both
    for f in range(17):
        if f in both:
            L.circuit(2, [(0, 1, f)])
        else:
            with rejects("gate"):
                L.circuit(2, [(0, 1, f)])
    L.circuit(3, [(0, 2, 8), (2, 3, 8)])
    for gate in ((1, 1, 8), (2, 1, 8), (0, 3, 8)):
        with rejects("gate"):
            L.circuit(3, [gate])
    assert len(L.random_circuit(10**5 - 1, 1, 0).gates) == 1
    with rejects("n_inputs", "n_gates"):
        L.random_circuit(10**5, 1, 0)
    assert L.GateLearner(446, np.zeros((1, 447), dtype=int)).n_inputs == 446
    with rejects("wires"):
        L.GateLearner(447, np.zeros((1, 448), dtype=int))
    with rejects("n_inputs"):
        L.GateLearner(4, np.zeros((1, 3), dtype=int))


def test_good_turing_at_its_limits():
    assert L.seen_once([1, 2, 1], 4) == F(1, 2)
    with rejects("counts", "documents"):
        L.seen_once([1, 2, 1], 3)
    half = [F(1, 2)] * 2
    assert L.mean_difference(half, 500_000) == F(1, 2**500_000)
    with rejects("documents"):
        L.mean_difference(half, 500_001)
    assert L.moments_by_definition([1], 20) == (0, 0)
    assert L.moments_by_definition(half, 3) == (L.mean_difference(half, 3), L.mean_square(half, 3))
    for p, n in (([1], 21), (half, 20), ([F(1, 1001)] * 1001, 2)):
        with rejects("corpora"):
            L.moments_by_definition(p, n)


def test_choices_at_their_limit():
    for k in (10**4, 10**6 - 10**4):
        lgamma = math.lgamma(10**6 + 1) - math.lgamma(k + 1) - math.lgamma(10**6 - k + 1)
        assert L.log_choices(10**6, k) == pytest.approx(lgamma, rel=1e-9)
    for k in (10**4 + 1, 10**6 - 10**4 - 1):
        with rejects("k"):
            L.log_choices(10**6, k)


def test_exact_sums_at_their_limit(monkeypatch):
    """The sum has one term of 3 log 2 + … bits for each of 2 outcomes."""
    half, bits = [F(1, 2)] * 2, 3 * 2
    for most, fits in ((bits * 2, True), (bits * 2 - 1, False)):
        monkeypatch.setattr(import_module("theory.language.good_turing"), "MOST_BITS", (bits, most))
        if fits:
            assert L.mean_difference(half, 3) == L.moments_by_definition(half, 3)[0]
        else:
            with rejects("documents"):
                L.mean_difference(half, 3)


def test_certificates_at_their_limit():
    below = np.nextafter(1e100, 0)
    for V, B, A in ((1.0, 1.0, below), (below, 1.0, 0.5)):
        assert L.margin_certificate(1, A, V, B, 1.0, 1, 0.1) > 1e200
    for V, B, A in ((1.0, 1.0, 1e100), (1e100, 1.0, 0.5)):
        with rejects("margin"):
            L.margin_certificate(1, A, V, B, 1.0, 1, 0.1)


@pytest.mark.parametrize("certain", [[F(1), F(0)], [F(0), F(1)]])
def test_no_scale_is_best_for_what_is_certain(certain):
    half = [F(1, 2)] * 2
    assert L.best_scale(half, half, [0]) == 1
    for p, g in ((certain, half), (half, certain)):
        with rejects("A"):
            L.best_scale(p, g, [0])


def test_sharpness_at_its_limit():
    least = math.log(3.5 * (4 + 2))
    assert parity_with_steps(4, 2, sharpness=least).generate([0, 1, 1, 0], 1).tolist() == [1]
    with rejects("sharpness"):
        parity_with_steps(4, 2, sharpness=np.nextafter(least, 0))


@pytest.mark.parametrize("length", [1, 501])
def test_strings_at_their_limits(length):
    with rejects("strings"):
        string_model(2, [[0] * length], [F(1, 2)])


LIMITS = [
    (L.distributions_on_grid, "parts", 1, 1000),
    (L.distributions_on_grid, "outcomes", 1, 1000),
    (L.greedy_text, "length", 1, 2000),
    (L.distance_of_greedy, "length", 1, 2000),
    (L.mean_signal_bound, "d", 1, 10**5),
    (L.least_step_signal, "m", 2, None),
    (L.fact_strings, "base", 2, None),
    (L.random_circuit, "n_inputs", 2, 10**9),
    (L.random_circuit, "n_gates", 1, 10**9),
    (L.hypotheses, "n_inputs", 2, 10**9),
    (L.mean_difference, "documents", 1, 10**15),
    (L.most_mean_difference, "documents", 1, 50_000),
    (L.mean_square, "documents", 2, 10**15),
    (L.most_mean_square, "documents", 2, 50_000),
    (L.uniform_mean_square, "documents", 2, 10**15),
    (L.uniform_mean_square, "facts", 1, 10**15),
    (L.seen_and_once, "documents", 1, 50),
    (L.seen_and_once, "facts", 1, 10**15),
    (L.expected_bound, "documents", 1, 10**15),
    (L.occam, "samples", 1, 10**15),
    (L.vote_bound, "T", 1, 10**15),
    (L.random_conjunction, "T", 1, 10**8),
    (L.false_bits, "samples", 0, 10**15),
    (L.least_samples, "k", 1, 1000),
    (L.greatest_probability, "k", 1, 1000),
    (L.parity_tree, "d", 1, 10**8),
    (L.enough_restrictions, "depth", 0, 10**9),
    (L.restrictions, "count", 0, 10**15),
    (L.tree_by_restriction, "d", 1, 10**6),
    (L.random_tree, "n_leaves", 2, None),
    (L.conditional_entropy, "t", 1, 200),
    (L.window_cost, "t", 1, 200),
    (L.world, "facts", 1, 10**8),
    (L.world, "others", 1, 2**53),
    (L.world, "documents", 1, 10**8),
    (L.prompted, "prompts", 1, 10**8),
    (L.prompted, "alpha", None, 1),
    (parity_by_linear_tokens, "d", 1, 10**15),
    (string_model, "vocabulary_size", 1, 10**15),
]


@pytest.mark.parametrize(("function", "name", "least", "most"), LIMITS)
def test_limits_of_arguments(function, name, least, most):
    limited(function, name, least, most)
