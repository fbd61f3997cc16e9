"""Single heads against their definitions: previous token, average, skip-gram."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions import broad_average, previous_token, skip_gram
from constructions.tokens import binary_codes
from theory import retrieval as theory
from theory.retrieval import adversarial_sequences, all_sequences

shapes = {
    "V": st.integers(1, 20),
    "n": st.integers(1, 40),
    "fraction": st.floats(0, 1),
    "batch": st.lists(st.integers(1, 3), max_size=2),
    "seed": st.integers(0, 999),
}


def random_tokens(V, n, fraction, batch, seed):
    T = max(1, round(fraction * n))
    return np.random.default_rng(seed).integers(V, size=(*batch, T))


def soft(model):
    return model.sharpened(model.least_sharpness() * 1.001)


def most_frequent(shares):
    return [here.index(max(here)) for here in shares]


def floats(shares):
    return [[float(share) for share in here] for here in shares]


@pytest.mark.parametrize("V", [1, 2, 3, 4])
@pytest.mark.parametrize("T", [1, 2, 6])
def test_previous_token_of_all_sequences(V, T):
    tokens = all_sequences(T, V)
    model = previous_token(V, 6)
    wanted = theory.previous_token(tokens)
    assert np.array_equal(model(tokens), wanted)
    assert np.array_equal(soft(model)(tokens), wanted)


@settings(max_examples=25)
@given(dtype=st.sampled_from([torch.float64, torch.float32]), **shapes)
def test_previous_token_is_its_definition(V, n, fraction, batch, seed, dtype):
    tokens, model = random_tokens(V, n, fraction, batch, seed), previous_token(V, n).to(dtype)
    found = model(tokens)
    assert found.shape == tokens.shape
    for place in np.ndindex(*batch):
        assert found[place].tolist() == theory.previous_token_by_definition(tokens[place])
    assert model.d_model == 2 * binary_codes(V).shape[1] + 5
    assert (model.n_layers, model.n_heads) == (1, 1)


@settings(max_examples=25)
@given(dtype=st.sampled_from([torch.float64, torch.float32]), **shapes)
def test_broad_average_is_its_definition(V, n, fraction, batch, seed, dtype):
    tokens, model = random_tokens(V, n, fraction, batch, seed), broad_average(V, n)
    logits = model.logits(tokens)
    assert torch.equal(model.sharpened(0.5).logits(tokens), logits)
    answers = model.to(dtype)(tokens)
    assert answers.shape == tokens.shape
    for place in np.ndindex(*batch):
        shares = theory.token_frequencies_by_definition(tokens[place], V)
        assert logits[place].tolist() == floats(shares)
        assert answers[place].tolist() == most_frequent(shares)
    assert (model.n_layers, model.n_heads, model.d_model) == (1, 1, 2 * V)


# Few distinct scores, so that rows have ties; 0.1 has no short binary form.
scores = st.sampled_from([-3.0, 0.0, 0.1, 1.0, 2.5, 7.0])


@settings(max_examples=25)
@given(data=st.data(), **shapes)
def test_skip_gram_is_its_definition(data, V, n, fraction, batch, seed):
    V = min(V, 5)
    row = st.lists(scores, min_size=V, max_size=V)
    table = data.draw(st.lists(row, min_size=V, max_size=V))
    tokens, model = random_tokens(V, n, fraction, batch, seed), skip_gram(table, n)
    logits, answers = model.logits(tokens), model(tokens)
    for place in np.ndindex(*batch):
        shares = theory.skip_gram_by_definition(tokens[place], table)
        assert logits[place].tolist() == floats(shares)
        assert answers[place].tolist() == most_frequent(shares)
    assert (model.n_layers, model.n_heads, model.d_model) == (1, 1, 3 * V)


@pytest.mark.parametrize(("V", "n"), [(1, 1), (2, 5), (7, 20), (40, 33)])
def test_softmax_at_the_least_sharpness(V, n):
    rng = np.random.default_rng(V)
    table = rng.choice([-3.0, 0.0, 0.1, 1.0, 7.0], (V, V))
    for model in (previous_token(V, n), skip_gram(table, n)):
        for T in {1, n // 2 + 1, n}:
            tokens = rng.integers(V, size=(50, T))
            assert torch.equal(soft(model)(tokens), model(tokens))


@pytest.mark.parametrize("T", [64, 1024])
def test_adversarial_sequences(T):
    table = np.random.default_rng(0).integers(0, 3, (8, 8))
    models = previous_token(8, T), broad_average(8, T), skip_gram(table, T)
    for family, tokens in adversarial_sequences(T, 8, seed=0).items():
        tokens = tokens[:2] if T > 64 else tokens
        before, average, attended = (model.logits(tokens) for model in models)
        wanted = theory.previous_token(tokens)
        assert np.array_equal(models[0](tokens), wanted), family
        assert np.array_equal(before.argmax(-1), np.where(wanted < 0, 8, wanted)), family
        assert np.array_equal(average, theory.token_frequencies(tokens, 8)), family
        assert np.array_equal(attended, theory.skip_gram(tokens, table)), family


def test_brackets():
    """left, right and a filler: "right" looks back for "left", over any distance."""
    left, right, filler = range(3)
    table = np.zeros((3, 3))
    table[right, left] = 1
    tokens = [left, *[filler] * 50, right]
    assert skip_gram(table, 52).logits(tokens)[-1].tolist() == [1.0, 0.0, 0.0]
    assert skip_gram(table, 52)(tokens)[-1] == left
    # Without one all scores are equal.
    assert skip_gram(table, 52).logits([filler, right])[-1].tolist() == [0.0, 0.5, 0.5]


def test_at_every_sharpness_a_table_of_equal_scores_averages():
    model = skip_gram(np.ones((2, 2)), 8)
    assert model.blocks[0].margins[0].gap == np.inf
    tokens = [0, 1, 1, 0, 1]
    assert torch.equal(model.sharpened(0.01).logits(tokens), model.logits(tokens))
    assert model.least_sharpness() <= 0.01
    assert broad_average(3, 8).least_sharpness() <= 0.01
