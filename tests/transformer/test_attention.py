"""Attention with every normalisation and mask beside its definition."""

import copy

import numpy as np
import pytest
import torch
from attentions import EPS, MASKS, NORMALISE, an_attention, by_definition, integers, tolerance
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from constructions import (
    attention,
    binary_search,
    in_context_ngram,
    nearest_neighbour,
    newton,
    pram,
    prefix_sums,
    sphere_dynamics,
)
from constructions.attention import CAUSAL_BLOCK, Attention, Heads
from constructions.maps import LONG
from theory import machine
from theory.computation import list_ranking


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("normalise", NORMALISE)
@pytest.mark.parametrize("seed", range(3))
def test_attention_is_its_definition(normalise, mask, seed):
    rng = np.random.default_rng(seed)
    # A power of two keeps scores exact and shows whether it is applied once.
    attn, H = an_attention(rng, normalise, mask, scale=(1.0, 2.0, 0.5)[seed]), integers(rng, 6, 4)
    wanted = by_definition(attn, H, n_examples=4)
    assert (attn(H, 4) - wanted).abs().max() <= tolerance(attn, H)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("normalise", NORMALISE)
def test_the_pattern_times_the_values_is_the_layer(normalise, mask):
    rng = np.random.default_rng(5)
    attn, H = an_attention(rng, normalise, mask), integers(rng, 7, 4)
    A = attn.pattern(H, 5)
    attended = H[:5] if mask == "context-only" else H
    if mask == "diagonal":
        assert torch.equal(A.tril(-1), torch.zeros_like(A))
    assert A.shape == (2, 7, len(attended))
    if mask in ("causal", "strictly causal", "diagonal", ("causal", "strictly causal")):
        assert torch.equal(A.triu(1), torch.zeros_like(A))
    if mask == "strictly causal":
        assert torch.equal(A.diagonal(dim1=-2, dim2=-1)[:, 1:], torch.zeros(2, 6).double())
    mixed = torch.einsum("hts,sd,hdv,hvo->to", A, attended, attn.W_V, attn.W_O)
    assert (attn(H, 5) - mixed).abs().max() <= tolerance(attn, H)
    if normalise in ("softmax", "hardmax"):
        assert (A.sum(-1) - 1).abs().max() <= 2 * 7 * EPS
        assert (A >= 0).all()


def test_hardmax_shares_ties_equally():
    ones, zeros = torch.ones(1, 1, 1), torch.zeros(1, 1)
    attn = Attention(0 * ones, ones, ones, ones, zeros + 1, zeros, normalise="hardmax", mask="full")
    H = torch.tensor([[3.0], [1.0], [3.0], [0.0]], dtype=torch.float64)
    assert torch.equal(attn.pattern(H, 4)[0, 0], torch.tensor([0.5, 0, 0.5, 0]).double())
    causal = Attention(
        0 * ones, ones, ones, ones, zeros + 1, zeros, normalise="hardmax", mask="causal"
    )
    assert torch.equal(causal.pattern(H, 4)[0, 1], torch.tensor([1.0, 0, 0, 0]).double())


@pytest.mark.parametrize(
    "T", [CAUSAL_BLOCK - 1, CAUSAL_BLOCK, CAUSAL_BLOCK + 1, 2 * CAUSAL_BLOCK + 77]
)
def test_the_causal_sum_in_blocks_is_exact_at_every_token(T):
    rng = np.random.default_rng(T)
    attn, H = an_attention(rng, "linear", "causal"), integers(rng, 2, T, 4)
    added = attn(H, T)
    Q = H.unsqueeze(-3) @ attn.W_Q + attn.b_Q.unsqueeze(-2)
    K = H.unsqueeze(-3) @ attn.W_K + attn.b_K.unsqueeze(-2)
    V = H.unsqueeze(-3) @ attn.W_V
    for t in range(T):
        seen = (Q[..., t, None, :] * K[..., : t + 1, :]).sum(-1, keepdim=True)
        row = ((seen * V[..., : t + 1, :]).sum(-2, keepdim=True) @ attn.W_O).sum((-3, -2))
        assert torch.equal(added[:, t], row)


@pytest.mark.parametrize("mask", ["full", "context-only"])
@pytest.mark.parametrize(("T", "n_examples", "one_map"), [(3, 2, False), (40, 30, True)])
def test_both_orders_of_the_linear_products_agree(T, n_examples, one_map, mask):
    rng = np.random.default_rng(T)
    attn, H = an_attention(rng, "linear", mask, scale=2.0), integers(rng, 5, T, 4)
    attended = H[:, :n_examples] if mask == "context-only" else H
    (heads,) = attn.parts()
    assert heads.is_a_map(H, n_examples) is one_map
    values = torch.einsum("...sd,hdv->...hsv", attended, attn.W_V)
    by_scores = torch.einsum(
        "...hts,...hsv,hvo->...to", attn.pattern(H, n_examples), values, attn.W_O
    )
    one_map, offset = heads.as_a_map(H, n_examples)
    assert torch.equal(H @ one_map + offset, by_scores)
    assert torch.equal(attn(H, n_examples), by_scores)


@pytest.mark.parametrize("T", [3, 40])
def test_linear_maps_of_the_own_token_beside_sums_over_examples(T):
    """Constant scores of two heads, others of a third, and a sum: by the pattern, exactly."""
    rng = np.random.default_rng(T)
    whole = an_attention(rng, "linear", "diagonal", heads=4, scale=2.0)
    for masks in (
        ("diagonal", "diagonal", "context-only", "diagonal"),
        ("context-only", "diagonal", "causal", "diagonal"),
    ):
        for constant in ([0, 1], [0, 1, 3]):
            W_Q, W_K = whole.W_Q.clone(), whole.W_K.clone()
            W_Q[constant], W_K[constant] = 0.0, 0.0
            weights = (W_Q, W_K, whole.W_V, whole.W_O, whole.b_Q, whole.b_K)
            attn = Attention(*weights, normalise="linear", mask=masks, scale=2.0)
            H = integers(rng, 5, T, 4)
            values = torch.einsum("...sd,hdv->...hsv", H, attn.W_V)
            added = torch.einsum("...hts,...hsv,hvo->...to", attn.pattern(H, 2), values, attn.W_O)
            assert torch.equal(attn(H, 2), added)


def several(T: int, d: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(T, d))


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (lambda: in_context_ngram(4, 15, 2, 100), ([0, 1, 2],)),
        (lambda: nearest_neighbour(2), (several(300, 2), several(300, 1)[:, 0], [0.0, 1.0])),
        (lambda: sphere_dynamics(2, 1.0, 0.1, 1), (np.tile([0.6, 0.8], (300, 1)),)),
        (lambda: newton(2, 1, 1e-6, interleaved=True), (several(300, 2), np.ones(300), [1.0, 1.0])),
        (lambda: binary_search(9), (np.arange(1, 512), [7])),
        (lambda: prefix_sums(400), (np.ones(300),)),
        (lambda: pram(list_ranking(400)), (np.zeros(300, dtype=int),)),
    ],
)
def test_scores_beyond_the_memory_are_rejected(model, inputs, monkeypatch):
    """Also of tokens that the model adds to its inputs."""
    built = model()
    monkeypatch.setattr(attention, "LARGE", 2**10)
    monkeypatch.setattr(machine, "available_memory", lambda: 2**30)
    built(*inputs)
    monkeypatch.setattr(machine, "available_memory", lambda: 2**16)
    with rejects("scores"):
        built(*inputs)


@pytest.mark.parametrize(
    "error",
    [RuntimeError("DefaultCPUAllocator: can't allocate memory: …"), torch.OutOfMemoryError("GPU")],
)
def test_memory_that_torch_lacks_is_one_line(monkeypatch, error):
    def beyond(*_):
        raise error

    model = newton(2, 1, 0.25)
    monkeypatch.setattr(model.blocks[0], "forward", beyond)
    with rejects("newton"):
        model([[1.0, 2.0]], [1.0], [1.0, 1.0])


def test_as_many_masks_as_heads():
    weights = [torch.zeros(2, 3, 1)] * 3 + [torch.zeros(2, 1, 3)] + [torch.zeros(2, 1)] * 2
    with rejects("3 masks", "2 heads"):
        Attention(*weights, normalise="linear", mask=("diagonal", "full", "diagonal"))


@given(st.sampled_from(NORMALISE), st.sampled_from(MASKS), st.lists(st.integers(1, 3), max_size=2))
def test_leading_dimensions_are_separate_prompts(normalise, mask, leading):
    rng = np.random.default_rng(len(leading))
    attn, H = an_attention(rng, normalise, mask), integers(rng, *leading, 5, 4)
    together = attn(H, 4)
    assert together.shape == H.shape
    for place in np.ndindex(*leading):
        assert (together[place] - attn(H[place], 4)).abs().max() <= tolerance(attn, H)


def test_under_a_strict_mask_the_first_token_sees_itself_and_the_second_only_the_first():
    rng = np.random.default_rng(0)
    for normalise in NORMALISE:
        attn, H = an_attention(rng, normalise, "strictly causal"), integers(rng, 5, 4)
        other = H.clone()
        other[2:] = integers(rng, 3, 4)
        assert torch.equal(attn(H, 5)[:2], attn(other, 5)[:2])
        assert (attn(H, 5)[0] - by_definition(attn, H[:1], 1)[0]).abs().max() <= tolerance(attn, H)


@pytest.mark.parametrize(
    ("given", "named"), [(("sparsemax", "full"), "normalise"), (("linear", "past"), "mask")]
)
def test_unknown_normalisations_and_masks_are_refused(given, named, unchecked):
    with rejects(named):
        an_attention(np.random.default_rng(0), *given)


@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("answers", [False, True])
def test_heads_of_a_tokens_own_are_a_map_only_if_their_scores_are_constant(asks, answers):
    rng = np.random.default_rng(0)
    given = an_attention(rng, "linear", "diagonal")
    attn = copy.deepcopy(given)
    for used, W in ((asks, attn.W_Q), (answers, attn.W_K)):
        W.mul_(float(used))
    H = integers(rng, 2, 5, 4)
    (heads,) = attn.parts()
    assert heads.is_a_map(H, 3) is (not asks and not answers)
    Q = torch.einsum("...td,hdk->...htk", H, attn.W_Q) + attn.b_Q[:, None]
    K = torch.einsum("...td,hdk->...htk", H, attn.W_K) + attn.b_K[:, None]
    V = torch.einsum("...td,hdv->...htv", H, attn.W_V)
    wanted = torch.einsum("...ht,...htv,hvo->...to", (Q * K).sum(-1), V, attn.W_O) * attn.scale
    assert torch.equal(attn(H, 3), wanted)
    assert torch.equal(attn.after(H, 3), H + wanted)


@pytest.mark.parametrize("mask", ["full", "context-only", ("context-only", "diagonal", "full")])
@pytest.mark.parametrize("biased", [False, True])
def test_many_short_prompts_are_the_definition(mask, biased, monkeypatch):
    """Heads that read and write few registers; the second one neither reads keys nor has scores."""
    used, from_blocks = [], Heads._from_blocks
    monkeypatch.setattr(
        Heads, "_from_blocks", lambda *args: [used.append(args[0].mask), from_blocks(*args)][1]
    )
    rng = np.random.default_rng(7)
    attn = an_attention(rng, "linear", mask, heads=3, D=12, d_head=3, d_value=4, scale=0.5)
    for W, dropped in ((attn.W_Q, 5), (attn.W_K, 3), (attn.W_V, 8)):
        W[0, :dropped], W[2, dropped:] = 0, 0
    attn.W_O[0, :, 4:], attn.W_O[2, :, :9], attn.W_K[1] = 0, 0, 0
    if not biased:
        attn.b_Q.zero_(), attn.b_K.zero_()
    H = integers(rng, LONG // (5 * 12) + 1, 5, 12)
    found = attn(H, 4)
    assert set(used) == (set() if biased else {*attn.masks} - {"diagonal"})
    for prompt in (0, len(H) // 2, -1):
        assert torch.equal(found[prompt], by_definition(attn, H[prompt], 4))
