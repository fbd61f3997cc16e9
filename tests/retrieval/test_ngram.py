"""In-context n-grams against `theory.retrieval.ngram`: fractions rounded once."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions import in_context_ngram, induction_heads
from constructions.tokens import binary_codes
from theory.retrieval import (
    adversarial_sequences,
    all_sequences,
    dirichlet_predictor_by_definition,
    markov_sequences,
    ngram,
    ngram_by_definition,
    random_sequences,
)


def with_bottom(shares):
    """Shares (…, V), and a last column that is 1 where they are all 0."""
    return np.concatenate([shares, 1 - shares.sum(-1, keepdims=True).round()], axis=-1)


def expected(tokens, V, order, alpha):
    shares = ngram(tokens, V, order, alpha)
    return shares if alpha else with_bottom(shares)


def most_frequent(shares, V):
    """The smallest of the most frequent; −1 for the last column where there is one."""
    best = shares.argmax(-1)
    return np.where(best < V, best, -1)


@pytest.mark.parametrize("alpha", [0, 2])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("V", [1, 3, 4])
def test_all_sequences(V, order, alpha):
    model = in_context_ngram(V, order, 6, alpha)
    for T in (1, 2, 6):
        tokens = all_sequences(T, V)
        wanted = expected(tokens, V, order, alpha)
        assert np.array_equal(model.logits(tokens), wanted)
        assert np.array_equal(model(tokens), most_frequent(wanted, V))


@settings(max_examples=35)
@given(
    V=st.integers(1, 9),
    order=st.integers(1, 4),
    alpha=st.integers(0, 3),
    n=st.integers(1, 30),
    fraction=st.floats(0, 1),
    batch=st.lists(st.integers(1, 2), max_size=2),
    seed=st.integers(0, 999),
)
def test_its_definition(V, order, alpha, n, fraction, batch, seed):
    T = max(1, round(fraction * n))
    tokens = np.random.default_rng(seed).integers(V, size=(*batch, T))
    model = in_context_ngram(V, order, n, alpha)
    logits, answers = model.logits(tokens), model(tokens)
    assert logits.shape == (*batch, T, V + (alpha == 0))
    assert answers.shape == tokens.shape
    assert torch.equal(model.float()(tokens), answers)
    for place in np.ndindex(*batch):
        shares = ngram_by_definition(tokens[place], V, order, alpha)
        if alpha == 0:
            shares = [[*here, 1 - sum(here)] for here in shares]
        # Sums of whole numbers, divided once.
        assert logits[place].tolist() == [[float(share) for share in here] for here in shares]
        wanted = [here.index(max(here)) for here in shares]
        assert answers[place].tolist() == [v if v < V else -1 for v in wanted]


@pytest.mark.parametrize("alpha", [0, 2])
@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize(("V", "n"), [(1, 1), (7, 20)])
def test_softmax_at_the_least_sharpness(V, n, order, alpha):
    model = in_context_ngram(V, order, n, alpha)
    soft = model.sharpened(model.least_sharpness() * 1.001)
    for T in {1, n // 2 + 1, n}:
        tokens = random_sequences(50, T, V, seed=T)
        assert torch.equal(soft(tokens), model(tokens))
        wanted = expected(tokens, V, order, alpha)
        assert abs(soft.logits(tokens).numpy() - wanted).max() < model.interface.margin / 2


@pytest.mark.parametrize("alpha", [1, 2])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_it_is_the_bayes_predictor(order, alpha):
    for row in markov_sequences(3, 14, 3, order, 1.0, seed=order):
        predicted = in_context_ngram(3, order, 14, alpha).logits(row)
        posterior = dirichlet_predictor_by_definition(row, 3, order, alpha)
        assert predicted.tolist() == [[float(p) for p in here] for here in posterior]
        assert {sum(here) for here in posterior} == {Fraction(1)}


@pytest.mark.parametrize("alpha", [0, 1])
@pytest.mark.parametrize("order", [2, 3])
def test_adversarial_sequences(order, alpha):
    for V in (2, 8):
        model = in_context_ngram(V, order, 64, alpha)
        soft = model.sharpened(model.least_sharpness() * 1.001)
        for family, tokens in adversarial_sequences(64, V, seed=0).items():
            wanted = expected(tokens, V, order, alpha)
            assert np.array_equal(model.logits(tokens), wanted), family
            assert np.array_equal(soft(tokens), most_frequent(wanted, V)), family


def test_a_thousand_tokens():
    tokens = np.concatenate([f[:1] for f in adversarial_sequences(1024, 6, seed=1).values()])
    model = in_context_ngram(6, 3, 1024)
    assert np.array_equal(model.logits(tokens), ngram(tokens, 6, 3, 1))


def test_without_smoothing_the_bigram_is_the_mean_induction_head():
    tokens = random_sequences(20, 30, 5, seed=0)
    bigram, induction = in_context_ngram(5, 2, 30, 0), induction_heads(5, 30, "mean")
    assert torch.equal(bigram.logits(tokens), induction.logits(tokens))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_layer_one_writes_the_codes_of_the_context(order):
    V, alpha = 5, 2
    tokens = random_sequences(4, 9, V, seed=0)
    model, codes = in_context_ngram(V, order, 9, alpha), torch.as_tensor(binary_codes(V))
    held = list(model.streams(tokens))[1]
    for s in range(1, order):
        previous = held[..., model.stream[f"previous_{s}"]]
        start = alpha * V + s
        assert torch.equal(previous[:, start:], codes[tokens[:, :-s]])
        assert not previous[:, :start].any()


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("V", [1, 2, 8, 9])
def test_sizes(V, order):
    for alpha in (0, 1, 3):
        model, r = in_context_ngram(V, order, 20, alpha), binary_codes(V).shape[1]
        assert model.n_layers == (1 if order == 1 else 2)
        assert model.n_heads == max(1, order - 1)
        width = 2 * V + 3 if order == 1 else order * (r + 2) + 2 * V + 4
        assert model.d_model == width


def test_an_order_beyond_the_length_predicts_nothing():
    tokens = random_sequences(3, 4, 3, seed=0)
    assert (in_context_ngram(3, 9, 4, 0)(tokens) == -1).all()
    prior = in_context_ngram(3, 9, 4, 2).logits(tokens)
    assert torch.equal(prior, torch.full_like(prior, 1 / 3))


def test_many_pseudo_counts_flatten_the_frequencies():
    tokens = [0, 0, 0, 1]
    shares = in_context_ngram(2, 1, 4, 200).logits(tokens)[-1]
    assert shares.tolist() == [203 / 404, 201 / 404]
