"""k-hop against `theory.retrieval.hop`, with the pointer and the answer that each layer holds."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions import hop as hop_model
from constructions import induction_heads
from constructions.tokens import binary_codes, lattice
from theory.retrieval import (
    adversarial_sequences,
    all_sequences,
    hop,
    hop_by_definition,
    hop_layers,
    hop_positions,
    hop_positions_by_definition,
    random_sequences,
)
from verify.claim import Run
from verify.retrieval.hop import certified


@pytest.mark.parametrize("k", range(1, 7))
@pytest.mark.parametrize("V", [1, 2, 3, 4])
def test_all_sequences(k, V):
    model = hop_model(k, V, 6)
    for T in (1, 3, 6):
        tokens = all_sequences(T, V)
        assert model(tokens).tolist() == hop(tokens, k).tolist()
    if (k, V) in ((1, 3), (6, 2)):
        soft = model.sharpened(model.least_sharpness() * 1.001)
        assert soft(tokens).tolist() == hop(tokens, k).tolist()


@settings(max_examples=35)
@given(
    k=st.integers(1, 20),
    V=st.integers(1, 20),
    n=st.integers(1, 60),
    fraction=st.floats(0, 1),
    batch=st.lists(st.integers(1, 3), max_size=2),
    dtype=st.sampled_from([torch.float64, torch.float32]),
    seed=st.integers(0, 999),
)
def test_its_definition(k, V, n, fraction, batch, dtype, seed):
    T = max(1, round(fraction * n))
    # Few symbols, so that chains of several hops are found.
    tokens = np.random.default_rng(seed).integers(min(V, 4), size=(*batch, T))
    model = hop_model(k, V, n).to(dtype)
    found = model(tokens)
    assert found.shape == tokens.shape
    for place in np.ndindex(*batch):
        assert found[place].tolist() == hop_by_definition(tokens[place], k)


@pytest.mark.parametrize(
    ("k", "V", "n"), [(1, 8, 64), (3, 2, 64), (5, 1, 1), (6, 8, 64), (13, 8, 33), (16, 8, 64)]
)
def test_long_and_adversarial_sequences(k, V, n):
    """With hardmax, and with softmax at the least sharpness that is right for all of them."""
    hard = hop_model(k, V, n)
    soft = hard.sharpened(hard.least_sharpness() * 1.001)
    families = adversarial_sequences(n, V, seed=0)
    families |= {f"{T} tokens": random_sequences(40, T, min(V, 3), seed=T) for T in {1, n // 2 + 1}}
    for family, tokens in families.items():
        wanted = hop(tokens, k).tolist()
        assert hard(tokens).tolist() == wanted, family
        assert soft(tokens).tolist() == wanted, family


def test_a_thousand_tokens():
    k = 11
    model = hop_model(k, 8, 1024)
    tokens = np.concatenate([f[:1] for f in adversarial_sequences(1024, 8, seed=1).values()])
    wanted = hop(tokens, k)
    assert (wanted >= 0).sum() > 1000
    assert model(tokens).tolist() == wanted.tolist()


def test_one_hop_is_the_induction_head_of_the_latest_match():
    tokens = random_sequences(30, 25, 4, seed=0)
    one_hop, induction = hop_model(1, 4, 30), induction_heads(4, 30)
    assert torch.equal(one_hop(tokens), induction(tokens))
    assert torch.equal(one_hop.logits(tokens), induction.logits(tokens))


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 21])
def test_registers_hold_what_the_proof_says(k):
    """After layer 1 + m the pointer is at find^{2^m}, and the answer is that of k mod 2^m hops."""
    V, n = 3, 24
    tokens = random_sequences(6, n, V, seed=k)
    points, codes = torch.as_tensor(lattice(n + 1)), torch.as_tensor(binary_codes(V))
    model = hop_model(k, V, n)
    held = list(model.streams(tokens))[1:]
    assert len(held) == hop_layers(k)

    def register(H, name):
        return H[..., 1:, model.stream[name]]

    for m, H in enumerate(held[:-1]):
        # Token i stands at position i + 1, behind BOS, whose point is the origin and means ⊥.
        expected = points[hop_positions(tokens, 2**m) + 1]
        assert torch.equal(register(H, "pointer"), expected)
        assert not H[..., 0, model.stream["pointer"]].any()
    for m, H in enumerate(held):
        low = k % 2**m
        if low:
            wanted = hop(tokens, low)
            assert torch.equal(
                register(H, "answer"), codes[wanted] * torch.as_tensor(wanted >= 0)[..., None]
            )
        else:
            assert not register(H, "answer").any()
        if "fetched" in model.stream:
            assert not H[..., model.stream["fetched"]].any()
    wanted = hop(tokens, k)
    codes = torch.cat([codes, 0 * codes[:1]])
    assert torch.equal(register(held[-1], "answer"), codes[wanted])


def test_positions_of_the_doubling():
    """The identity that the layers rest on, on the definition itself."""
    row = random_sequences(1, 40, 3, seed=0)[0]
    for m in range(4):
        once, twice = (hop_positions_by_definition(row, 2**e) for e in (m, m + 1))
        assert twice == [once[p] if p >= 0 else -1 for p in once]


def test_layers_are_those_of_the_theorem():
    for k in (*range(1, 18), 31, 32, 33, 63, 64, 65):
        model = hop_model(k, 2, 4)
        assert model.n_layers == hop_layers(k) == math.floor(math.log2(k)) + 2
        assert model.n_heads == 1


@pytest.mark.parametrize("V", [1, 2, 8, 9])
@pytest.mark.parametrize("k", [1, 2, 3, 8, 11])
def test_width_is_that_of_the_docstring(k, V):
    r, power_of_two = binary_codes(V).shape[1], bin(k).count("1") == 1
    for n in (1, 50):
        assert hop_model(k, V, n).d_model == (2 if power_of_two else 3) * r + 8


def test_the_size_of_16_hops():
    model = hop_model(16, 8, 128)
    assert model.n_layers <= 6
    assert model.d_model <= 50
    assert model.n_parameters <= 12_400
    assert [block.attn.masks[0] for block in model.blocks] == ["strict"] + ["causal"] * 5


def test_many_hops():
    """A token that repeats the one before it is its own match, however many hops are made."""
    tokens = [0, 0, 0, 1, 0, 1]
    found = hop_model(2**40, 2, 6)(tokens).tolist()
    assert found == hop(tokens, 2**40).tolist() == [-1, 0, 0, -1, -1, -1]


def test_a_certificate_is_about_words_in_which_many_hops_lead_somewhere():
    for k, share in ((3, 0.5), (16, 0.4)):
        said = certified(Run(), k)
        assert (said["hops"], said["letters"], said["length"]) == (k, 2, 9)
        words = list(itertools.product(range(2), repeat=9))
        answered = sum(ends_somewhere(word, i, k) for word in words for i in range(9))
        assert said["name"].endswith(f": {answered} of {9 * 2**9} answers are not ⊥")
        assert answered > share * 9 * 2**9


def ends_somewhere(word, i, hops):
    """Whether so many hops from i find a match, by the definition."""
    for _ in range(hops):
        matches = [j for j in range(1, i + 1) if word[j - 1] == word[i]]
        if not matches:
            return False
        i = matches[-1]
    return True
