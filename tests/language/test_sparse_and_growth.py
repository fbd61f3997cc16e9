"""Certificates for a head from samples, and sample complexity as T grows."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from theory.language import (
    attention_parameters,
    elimination,
    error_between,
    largest_scores,
    least_samples,
    log_choices,
    margin_certificate,
    random_conjunction,
    vote_bound,
)
from verify.claim import Run
from verify.finding import Verdict
from verify.language import sparse_and_growth
from verify.language.sparse_and_growth import (
    DENSE,
    GRID,
    LEARNERS,
    SEEDS,
    TRIED,
    _above_the_bound,
    _exponent,
    exponent,
    least,
    stream,
)
from verify.language.sparse_certificates import Certified, certificates, certified


def rng():
    return np.random.default_rng(2)


def test_how_often_two_conjunctions_differ_by_all_words():
    words = np.array(list(product((0, 1), repeat=5)))
    for first, second in ([(0, 1), (1, 2)], [(0,), (0, 3, 4)], [(2,), (2,)], [(), (1,)]):
        apart = words[:, first].all(axis=1) != words[:, second].all(axis=1)
        assert error_between(first, second) == Fraction(int(apart.sum()), 32)


def test_the_largest_scores_are_the_first_of_equal_ones():
    assert largest_scores([0.5, 2.0, 2.0, 2.0], 2) == (1, 2)
    assert largest_scores([3.0, 1.0, 2.0], 3) == (0, 1, 2)
    assert log_choices(50, 3) == math.log(19600)


def test_the_vote_is_its_bound_at_the_best_k():
    T, gamma, m, delta = 30, 0.25, 10**5, 0.05
    each = [
        2 * math.exp(-k * gamma**2 / 2)
        + math.sqrt(
            (k * math.log(T) + 2 * math.log(k + 2) + math.log(k * (k + 1) / delta)) / (2 * m)
        )
        for k in range(1, 600)
    ]
    assert vote_bound(T, gamma, m, delta) == pytest.approx(min(each))
    assert vote_bound(T, gamma, 100, delta) > 1


def test_a_head_is_certified_where_it_is_right():
    rule = random_conjunction(20, 3, rng())
    words = rng().integers(2, size=(120, 20))
    found = certified(rule, words, rule.labels(words))
    assert found.error == 0
    assert 1 < found.vote < found.norms
    s, a, b = attention_parameters(words, rule.labels(words))
    z = a * (words @ np.exp(s) / np.exp(s).sum()) + b
    margin = np.where(rule.labels(words) == 1, z, -z).min()
    norms = min(abs(s - shift).sum() for shift in s), abs(a) + abs(b), 3**0.5
    assert found.norms == pytest.approx(margin_certificate(22, *norms, margin, 120, 0.05), rel=1e-6)
    for samples, enough in ((found.norms_samples, True), (found.norms_samples / 1.02, False)):
        error = margin_certificate(22, *norms, margin, int(samples), 0.05)
        assert (error <= 0.1 + 1e-7) == enough
    wrong = certified(rule, words, np.roll(rule.labels(words), 1))
    assert np.isnan(wrong.error)
    assert wrong.vote == wrong.norms == np.inf
    verdicts = [each.verdict for each in certificates([found], 20, 3, 120, 1)]
    assert verdicts == [Verdict.HOLDS] * 6
    found = [*certificates([Certified(np.nan, np.inf, np.inf)], 20, 3, 120, 1)]
    assert [each.verdict for each in found[:2]] == [Verdict.FAILS, Verdict.UNDECIDED]


def test_the_least_samples_are_found_by_bisection():
    given = stream(Run(seed=4), 100)
    rule, words, asked = given
    m = least(elimination, given, 60)
    for size, right in ((m, True), (GRID[GRID.index(m) - 1], False)):
        seen = words[: int(size), :60].astype(np.int64)
        answers = elimination(seen, rule.labels(seen))(asked[:, :60]) > 0
        assert bool((answers == rule.labels(asked)).all()) is right
    assert least(lambda x, y: lambda asked: -np.ones(len(asked)), given, 60) == np.inf


def test_an_exponent_is_that_of_its_power():
    sizes = [50, 100, 200]
    found = np.array([[c * T**0.5 for T in sizes] for c in (3.0, 4.0, 5.0)])
    slope = exponent(found, sizes)
    assert slope.mean == pytest.approx(0.5)
    assert slope.error == pytest.approx(0, abs=1e-12)
    found[0, 2] = np.inf
    assert np.isnan(exponent(found, sizes).mean)


@pytest.mark.parametrize(("name", "power"), [("attention", 0.3), ("logistic", 1.0)])
def test_sparse_learners_are_below_and_the_dense_one_above(name, power):
    table = np.array([[c * T**power for T in (50, 100)] for c in (2.0, 3.0, 4.0)])
    other = table[:, ::-1] if power == 1 else table**4
    assert _exponent(name, table, [50, 100]).verdict is Verdict.HOLDS
    assert _exponent(name, other, [50, 100]).verdict is Verdict.FAILS


def test_every_learner_needs_as_much_as_any():
    needed = np.array([[least_samples(T, 3, 0.5) for T in (50, 100)]] * 3)
    table = {"one": 2.0 * needed, "other": 1.5 * needed}
    assert _above_the_bound(table, [50, 100]).measured == pytest.approx(1.5)
    table["other"] = 0.9 * needed
    assert _above_the_bound(table, [50, 100]).verdict is Verdict.FAILS


def test_half_of_the_seeds_and_all_of_them(monkeypatch):
    """One half of the seeds succeed from the second number of samples, all from the fourth."""
    counts = dict(zip(TRIED, (SEEDS // 2 - 1, SEEDS // 2, SEEDS - 1, SEEDS), strict=False))
    seen = dict.fromkeys(TRIED, 0)

    def succeeds(run, T, m, learner):
        seen[m] += 1
        return seen[m] <= counts[m]

    monkeypatch.setattr(sparse_and_growth, "succeeds", succeeds)
    assert SEEDS % 2 == 0
    assert sparse_and_growth.row(Run(), 9, LEARNERS[DENSE]) == (TRIED[1], TRIED[3])
