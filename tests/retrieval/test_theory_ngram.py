"""n-grams against their definition, the Bayes predictor exactly, bad input."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects
from sequences_of import by_rows, problems

from theory import retrieval as r

EPS = np.finfo(np.float64).eps


def test_counts_by_hand():
    """In 0 1 0 1 1 the symbol 1 was followed by 0 once and by 1 once."""
    tokens = [0, 1, 0, 1, 1]
    assert r.ngram_counts(tokens, 2, 1)[-1].tolist() == [2, 3]
    assert r.ngram_counts(tokens, 2, 2).tolist() == [[0, 0], [0, 0], [0, 1], [1, 0], [1, 1]]
    assert r.ngram_counts(tokens, 2, 3)[3].tolist() == [1, 0]
    assert r.ngram_counts(tokens, 2, 3)[4].tolist() == [0, 0]
    # 1 + 1, 1 + 1 of 2 + 2; and (1 + 1)/(1 + 2) where only one transition was seen.
    assert r.ngram(tokens, 2, 2, 1)[4].tolist() == [0.5, 0.5]
    assert r.ngram(tokens, 2, 2, 1)[3].tolist() == [2 / 3, 1 / 3]


@pytest.mark.parametrize("order", [5, 6, 7, 8, 10**12])
def test_contexts_longer_than_the_sequence(order):
    """With T = 4, order 5 is the last whose context is complete somewhere; nothing follows it."""
    assert not r.ngram_counts([1, 1, 1, 1], 2, order).any()
    assert r.ngram([1, 1, 1, 1], 2, order, 2.0).tolist() == [[0.5, 0.5]] * 4
    assert r.ngram_counts([1, 1, 1, 1], 2, 4).tolist() == [[0, 0]] * 3 + [[0, 1]]


@given(
    problems(length=10, size=4),
    st.integers(1, 4),
    st.sampled_from([0.0, 2.0**-40, 0.1, 1.0, 3.5, 1e9]),
)
def test_smoothing(problem, order, alpha):
    """One rounding each in count + alpha, alpha·V, total + alpha·V and the quotient: 2·eps in all,
    and a little for their products."""
    tokens, V = problem
    exact = by_rows(r.ngram_by_definition, tokens, V, order, alpha).astype(float)
    smoothed = r.ngram(tokens, V, order, alpha)
    assert smoothed.dtype == np.float64
    assert (np.abs(smoothed - exact) <= 3 * EPS * exact).all()


def test_without_smoothing_a_row_without_counts_is_zero():
    assert r.ngram([0, 1, 0], 2, 2, 0.0).tolist() == [[0, 0], [0, 0], [0, 1]]


@given(
    st.integers(1, 3).flatmap(
        lambda V: st.tuples(st.just(V), st.lists(st.integers(0, V - 1), min_size=1, max_size=7))
    ),
    st.integers(1, 4),
    st.fractions(min_value=Fraction(1, 10), max_value=4, max_denominator=10),
)
def test_the_bayes_predictor_is_add_alpha_smoothing(problem, order, alpha):
    V, row = problem
    bayes = r.dirichlet_predictor_by_definition(row, V, order, alpha)
    assert bayes == r.ngram_by_definition(row, V, order, alpha)
    assert all(sum(distribution) == 1 for distribution in bayes)


@pytest.mark.parametrize("order", [3, 9, 10, 11, 18])
def test_contexts_that_differ_in_their_first_token(order):
    """1 2 … 2 was followed by 0 once, and 0 2 … 2 by 1: (1 + ½)/(1 + 3/2) for what followed."""
    same, half = [2] * (order - 2), Fraction(1, 2)
    for first in (0, 1):
        row = [1, *same, 0, 0, *same, 1, first, *same]
        wanted = [Fraction(1, 5)] * 3
        wanted[1 - first] = Fraction(3, 5)
        assert r.dirichlet_predictor_by_definition(row, 3, order, half)[-1] == wanted
        assert r.ngram_by_definition(row, 3, order, half)[-1] == wanted
        assert r.ngram(row, 3, order, 0.5)[-1] == pytest.approx([float(x) for x in wanted])


def test_the_bayes_predictor_by_hand():
    """Uniform prior on one coin: Laplace's rule of succession, (1 + 1)/(3 + 2) after 1 1 0."""
    rule = r.dirichlet_predictor_by_definition([1, 1, 0], 2, 1, 1)
    assert rule[-1] == [Fraction(2, 5), Fraction(3, 5)]
    assert rule[0] == [Fraction(1, 3), Fraction(2, 3)]
    # Order 3: no context of two tokens is complete at position 0.
    assert r.dirichlet_predictor_by_definition([1, 1, 1], 2, 3, 1) == [
        [Fraction(1, 2)] * 2,
        [Fraction(1, 2)] * 2,
        [Fraction(1, 3), Fraction(2, 3)],
    ]


def test_a_prior_beyond_float64_is_rejected():
    with rejects("alpha"):
        r.ngram([0], 2, 2, 1e308)
