"""Induction heads against `theory.retrieval.induction`, every convention, exhaustively if small."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions import induction_heads
from constructions.tokens import binary_codes
from theory.retrieval import (
    adversarial_sequences,
    all_sequences,
    induction,
    induction_by_definition,
    ngram_by_definition,
    random_sequences,
)

CONVENTIONS = list(itertools.product(("latest", "first", "mean"), ("bottom", "self")))
every = pytest.mark.parametrize(("match", "no_match"), CONVENTIONS)


def answers(model, tokens):
    return model(tokens).tolist()


@every
@pytest.mark.parametrize("V", [1, 2, 3, 4])
def test_all_sequences(match, no_match, V):
    model = induction_heads(V, 6, match, no_match)
    for T in (1, 3, 6):
        tokens = all_sequences(T, V)
        wanted = induction(tokens, match, no_match).tolist()
        assert answers(model, tokens) == wanted
    if V == 3:
        assert answers(model.sharpened(model.least_sharpness() * 1.001), tokens) == wanted


@every
@given(
    V=st.integers(1, 70),
    n=st.integers(1, 40),
    fraction=st.floats(0, 1),
    batch=st.lists(st.integers(1, 3), max_size=2),
    dtype=st.sampled_from([torch.float64, torch.float32]),
    seed=st.integers(0, 999),
)
@settings(max_examples=20)
def test_its_definition(match, no_match, V, n, fraction, batch, dtype, seed):
    T = max(1, round(fraction * n))
    tokens = np.random.default_rng(seed).integers(V, size=(*batch, T))
    model = induction_heads(V, n, match, no_match).to(dtype)
    found = model(tokens)
    assert found.dtype == torch.int64
    assert found.shape == tokens.shape
    for place in np.ndindex(*batch):
        wanted = induction_by_definition(tokens[place], match, no_match)
        assert found[place].tolist() == wanted


@every
@pytest.mark.parametrize(("V", "n"), [(1, 1), (2, 64), (8, 64)])
def test_long_and_adversarial_sequences(match, no_match, V, n):
    """With hardmax, and with softmax at the least sharpness that is right for all of them."""
    hard = induction_heads(V, n, match, no_match)
    soft = hard if V == 2 else hard.sharpened(hard.least_sharpness() * 1.001)
    families = adversarial_sequences(n, V, seed=0)
    families |= {f"random, {T} tokens": random_sequences(40, T, V, seed=T) for T in {1, n // 2 + 1}}
    for family, tokens in families.items():
        wanted = induction(tokens, match, no_match).tolist()
        assert answers(hard, tokens) == wanted, family
        assert answers(soft, tokens) == wanted, family


def test_a_thousand_tokens():
    rows = [family[-1:] for family in adversarial_sequences(1024, 64, seed=1).values()]
    tokens = np.concatenate([*rows, random_sequences(1, 1024, 64, seed=2)])
    for match in ("latest", "first"):
        model = induction_heads(64, 1024, match).to(torch.float32)
        wanted = induction(tokens, match).tolist()
        assert answers(model, tokens) == wanted
        if match == "latest":
            assert answers(model.sharpened(model.least_sharpness() * 1.001), tokens) == wanted


@every
@pytest.mark.parametrize("V", [1, 2, 3, 5])
def test_logits_are_those_of_the_definition(match, no_match, V):
    tokens = random_sequences(20, 9, V, seed=V)
    logits = induction_heads(V, 9, match, no_match).logits(tokens)
    assert logits.shape == (20, 9, V + (no_match == "bottom"))
    codes = binary_codes(V)
    r = codes.shape[1]
    for row, found in zip(tokens, logits.tolist(), strict=True):
        if match == "mean":
            shares = ngram_by_definition(row, V, 2, 0)
            for token, here in zip(row, shares, strict=True):
                none = Fraction(1 - sum(here))
                if no_match == "bottom":
                    here.append(none)
                else:
                    here[token] += none
            # Frequencies are rounded once.
            assert found == [[float(share) for share in here] for here in shares]
            continue
        wanted = induction_by_definition(row, match, "bottom")
        answer = np.array([codes[v] if v >= 0 else np.zeros(r) for v in wanted])
        if no_match == "bottom":
            expected = np.pad(answer @ codes.T, ((0, 0), (0, 1)), constant_values=r / 2)
        else:
            expected = (2 * answer + codes[row]) @ codes.T
        assert found == expected.tolist()


@pytest.mark.parametrize("match", ["latest", "first"])
def test_layer_one_writes_the_code_of_the_previous_token(match):
    tokens = random_sequences(5, 12, 6, seed=0)
    model, codes = induction_heads(6, 12, match), torch.as_tensor(binary_codes(6))
    _, after, at_the_end = model.streams(tokens)
    previous = after[..., model.stream["previous"]]
    assert torch.equal(previous[:, 2:], codes[tokens[:, :-1]])
    assert not previous[:, :2].any()  # BOS, and the first token
    for register in set(model.stream) - {"previous", "answer"}:
        span = model.stream[register]
        assert torch.equal(after[..., span], at_the_end[..., span])
    found = induction(tokens, match)
    answer = codes[found] * torch.as_tensor(found >= 0)[..., None]
    assert torch.equal(at_the_end[:, 1:, model.stream["answer"]], answer)


@pytest.mark.parametrize("V", [1, 2, 8, 9])
@every
def test_sizes_are_those_of_the_docstring(V, match, no_match):
    r = binary_codes(V).shape[1]
    width = 2 * r + 2 * V + 8 if match == "mean" else 3 * r + 6
    for n in (1, 128):
        model = induction_heads(V, n, match, no_match)
        assert (model.n_layers, model.n_heads, model.d_model) == (2, 1, width)
        with_mlp = [block.mlp is not None for block in model.blocks]
        assert with_mlp == [False, (match, no_match) == ("mean", "self")]


def test_the_size_for_128_tokens_of_8_symbols():
    for match in ("latest", "first"):
        for no_match in ("bottom", "self"):
            model = induction_heads(8, 128, match, no_match)
            assert model.n_layers <= 2
            assert model.d_model <= 18
            assert model.n_parameters <= 3100


def test_the_sharpness_needed_hardly_grows_with_the_length():
    """The second layer's leak is 4q/(1 − q)² at any length, and the first one's is far below."""
    needed = [induction_heads(8, n).least_sharpness() for n in (16, 128, 1024, 8192)]
    assert max(needed) <= min(needed) * 1.002
    assert max(needed) < 4
