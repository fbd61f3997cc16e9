"""Covers, certificates, and learners of sparse conjunctions."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from refusals import rejects

from theory.language import (
    Conjunction,
    attention_parameters,
    balanced_accuracy,
    binary_entropy,
    cover_radius,
    elimination,
    false_bits,
    greatest_probability,
    head,
    l1_logistic,
    least_samples,
    log_cover_size,
    logistic,
    margin_certificate,
    nearest_in_cover,
    occam,
    random_conjunction,
)
from theory.sequences import all_sequences


def rng():
    return np.random.default_rng(5)


def test_a_head_is_its_definition():
    q, v, X = rng().normal(size=3), rng().normal(size=3), rng().normal(size=(4, 5, 3))
    for prompt, found in zip(X, head(q, v, X), strict=True):
        weights = [math.exp(q @ x) for x in prompt]
        wanted = sum(w * (v @ x) for w, x in zip(weights, prompt, strict=True)) / sum(weights)
        assert math.isclose(found, wanted)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_what_is_near_is_in_the_cover_and_as_near_as_the_mean(k):
    q, A = [Fraction(1, 3), Fraction(-1, 2)], Fraction(1)
    near = nearest_in_cover(q, A, k)
    atoms = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)]
    cover = [
        [A * sum(c) / k for c in zip(*chosen, strict=True)] for chosen in product(atoms, repeat=k)
    ]
    assert near in cover
    room = (A**2 - sum(x * x for x in q)) / k
    assert sum((x - y) ** 2 for x, y in zip(q, near, strict=True)) <= room


def test_radius_size_and_certificate_are_their_formulas():
    assert math.isclose(cover_radius(2.0, 3.0, 0.5, 4, 9), 3 * 0.25 * 2 / 2 + 3 * 0.5 / 3)
    assert math.isclose(log_cover_size(4, 2, 3), 5 * math.log(9))
    k_q, k_v = math.ceil(16 * 9 * 0.5**4 * 4 / 0.25), math.ceil(16 * 9 * 0.25 / 0.25)
    assert cover_radius(2.0, 3.0, 0.5, k_q, k_v) <= 0.5 / 2
    wanted = ((k_q + k_v) * math.log(9) + math.log(20)) / 1000
    assert math.isclose(margin_certificate(4, 2.0, 3.0, 0.5, 0.5, 1000, 0.05), wanted)


def test_occam_is_a_union_bound():
    epsilon = occam(math.log(100), 50, 0.05)
    assert 100 * (1 - epsilon) ** 50 <= 0.05
    assert 100 * math.exp(-50 * epsilon) == pytest.approx(0.05)


def test_elimination_keeps_the_bits_of_all_positives():
    rule = Conjunction(5, (1, 3))
    words = all_sequences(5, 2)
    assert (rule.labels(words) == (words[:, 1] & words[:, 3])).all()
    scores = elimination(words, rule.labels(words))(words)
    assert ((scores > 0) == (rule.labels(words) == 1)).all()
    none = elimination(words[:1], rule.labels(words[:1]))(words)
    assert (none > 0).sum() == 1


def test_false_bits_by_all_samples():
    """Over all pairs of words of three bits, k = 1."""
    rule, words = Conjunction(3, (0,)), all_sequences(3, 2)
    left = []
    for pair in product(range(8), repeat=2):
        seen = words[list(pair)]
        labels = rule.labels(seen)
        left.append(sum((seen[labels == 1][:, j] == 1).all() for j in (1, 2)))
    assert math.isclose(np.mean(left), false_bits(3, 1, 2))


def test_the_least_of_samples_is_information():
    assert least_samples(50, 3) == 27
    assert [least_samples(T, 3) for T in (100, 200, 400, 800)] == [32, 38, 43, 49]
    assert least_samples(50, 3, 0.0) == 0
    assert math.isclose(binary_entropy(1 / 8), math.log(8) / 8 + 7 / 8 * math.log(8 / 7))
    assert greatest_probability(50, 3, 27) == 1.0
    assert greatest_probability(50, 3, 0) < 0.1
    most = greatest_probability(50, 3, 13)
    assert least_samples(50, 3, most - 0.001) == 13 < least_samples(50, 3, most)
    assert greatest_probability(10, 1, 1) == 0.595  # from one sample, 0.594291 is not excluded


def test_the_gradient_of_the_head_is_that_of_its_loss():
    """One step of Adam moves every parameter by its rate against the sign of the gradient."""
    from theory.language import sparse_and as learners

    words = rng().integers(2, size=(30, 6))
    labels = Conjunction(6, (0, 1)).labels(words)
    steps, learners.STEPS = learners.STEPS, 1
    try:
        s, a, b = attention_parameters(words, labels)
    finally:
        learners.STEPS = steps

    def loss(theta):
        alpha = np.exp(theta[:6]) / np.exp(theta[:6]).sum()
        z = theta[6] * (words @ alpha) + theta[7]
        each = np.log1p(np.exp(np.where(labels == 1, -z, z)))
        return (each[labels == 1].mean() + each[labels == 0].mean()) / 2

    start, h = np.array([0.0] * 6 + [20.0, -16.0]), 1e-6
    slope = [(loss(start + h * e) - loss(start - h * e)) / (2 * h) for e in np.eye(8)]
    moved = np.array([*s, a, b]) - start
    assert np.allclose(moved, -np.array([0.05] * 6 + [0.2] * 2) * np.sign(slope), atol=1e-4)


def test_a_penalty_finds_few_bits_and_none_does_not():
    rule = random_conjunction(100, 3, rng())
    words, asked = (rng().integers(2, size=(n, 100)) for n in (160, 2000))
    labels, wanted = rule.labels(words), rule.labels(asked)
    sparse = balanced_accuracy(l1_logistic(words, labels, 0.01)(asked), wanted)
    assert sparse > 0.99 > 0.9 > balanced_accuracy(logistic(words, labels)(asked), wanted)


def test_logistic_regression_is_invariant_under_rotations():
    """From 0 along gradients its weights are a combination of the words it has seen, as they would
    be for rotated ones; with a penalty on the coordinates they are not."""
    rule, draw = random_conjunction(20, 3, rng()), rng()
    words = draw.integers(2, size=(12, 20))
    labels, units = (
        rule.labels(words),
        np.vstack([np.zeros((1, 20), dtype=int), np.eye(20, dtype=int)]),
    )
    for learner, within in ((logistic, True), (lambda *of: l1_logistic(*of, 0.01), False)):
        scores = learner(words, labels)(units)
        w = scores[1:] - scores[0]
        seen = 2.0 * words.T - 1
        rest = w - seen @ np.linalg.lstsq(seen, w, rcond=None)[0]
        assert (abs(rest).max() < 1e-6 * abs(w).max()) == within


def test_the_radius_of_a_cover_is_attained_up_to_a_factor():
    """d = 1, k = 1: −A, 0 and A are all half of A away from A/2, and tokens ±B distinguish them."""
    A = 0.1
    X = [[[1.0], [-1.0]]]
    apart = min(abs(head([A / 2], [1.0], X) - head([q], [1.0], X))[0] for q in (-A, 0.0, A))
    radius = cover_radius(A, 1.0, 1.0, 1, 10**8)
    assert 0.45 * radius < apart <= radius


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: nearest_in_cover([Fraction(2)], Fraction(1), 3), "q"),
        (lambda: nearest_in_cover([Fraction(0)], Fraction(1), 10**7), "10000000"),
        (lambda: balanced_accuracy(np.ones(2), np.ones(2, dtype=int)), "labels"),
    ],
)
def test_bad_input_is_rejected_in_one_line(call, parameter):
    with rejects(*parameter.split()):
        call()
