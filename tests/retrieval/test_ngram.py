"""In-context n-grams: the Bayes predictor, the mean induction head, and orders at the ends."""

from fractions import Fraction

import pytest
import torch

from constructions import in_context_ngram, induction_heads
from theory.retrieval import dirichlet_predictor_by_definition, markov_sequences, random_sequences
from verify.retrieval.ngram import head_states


@pytest.mark.parametrize("alpha", [1, 2])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_it_is_the_bayes_predictor(order, alpha):
    for row in markov_sequences(3, 14, 3, order, 1.0, seed=order):
        predicted = in_context_ngram(3, 14, order, alpha).logits(row)
        posterior = dirichlet_predictor_by_definition(row, 3, order, alpha)
        assert predicted.tolist() == [[float(p) for p in here] for here in posterior]
        assert {sum(here) for here in posterior} == {Fraction(1)}


@pytest.mark.parametrize("order", [1, 2, 4])
def test_the_gap_of_every_head_is_checked(order):
    model = in_context_ngram(3, 8, order, 1)
    checked = [(states.layer, states.head) for states in head_states(model, order, 1)]
    assert checked == [*((1, head) for head in range(order - 1)), (model.n_layers, 0)]


def test_without_smoothing_the_bigram_is_the_mean_induction_head():
    tokens = random_sequences(20, 30, 5, seed=0)
    bigram, induction = in_context_ngram(5, 30, 2, 0), induction_heads(5, 30, "mean")
    assert torch.equal(bigram.logits(tokens), induction.logits(tokens))


def test_an_order_beyond_the_length_predicts_nothing():
    tokens = random_sequences(3, 4, 3, seed=0)
    assert (in_context_ngram(3, 4, 9, 0)(tokens) == -1).all()
    prior = in_context_ngram(3, 4, 9, 2).logits(tokens)
    assert torch.equal(prior, torch.full_like(prior, 1 / 3))


def test_many_pseudo_counts_flatten_the_frequencies():
    tokens = [0, 0, 0, 1]
    shares = in_context_ngram(2, 4, 1, 200).logits(tokens)[-1]
    assert shares.tolist() == [203 / 404, 201 / 404]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_only_contexts_that_occur_are_listed(order):
    """Tokens are missing at the start only: V^0 + … + V^(m − 1) contexts, and the key before."""
    *_, states = head_states(in_context_ngram(2, 8, order, 1), order, 1)
    queries, keys = states.preference.shape
    assert keys == 2**order
    assert queries == (2**order - 2 if order > 1 else 1)
