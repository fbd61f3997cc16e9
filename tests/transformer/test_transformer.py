import copy
import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from plain import plain
from refusals import rejects

from constructions import newton
from constructions.attention import CAUSAL_BLOCK, Attention
from constructions.blocks import MLP, Block, Embed, PosEmbed, Unembed, UnitNorm
from constructions.interface import Prompt
from constructions.stream import Stream
from verify.domains import Ball, Modular, NotPolynomial, Rational, outputs

EPS = 2.0**-53

NORMALISE, MASKS = (
    ("linear", "relu", "softmax", "hardmax"),
    ("full", "causal", "strict", "examples", "own", ("own", "examples"), ("causal", "strict")),
)


def integers(rng, *shape, size=2):
    """Small whole numbers: sums and products of them are exact in float64."""
    return torch.as_tensor(rng.integers(-size, size + 1, shape).astype(np.float64))


def an_attention(rng, normalise, mask, heads=2, D=4, d_head=3, d_value=2, scale=1.0):
    shapes = ((heads, D, d_head), (heads, D, d_head), (heads, D, d_value), (heads, d_value, D))
    W = [integers(rng, *shape) for shape in shapes]
    b = [integers(rng, heads, d_head) for _ in range(2)]
    return Attention(*W, *b, normalise=normalise, mask=mask, scale=scale)


def by_definition(attn, H, n_examples):
    """H ↦ Σ_h A_h H W_V W_O, entry by entry, with the normalisations and masks in words."""
    T, D = H.shape
    added = [[0.0] * D for _ in range(T)]
    for h, t in itertools.product(range(attn.n_heads), range(T)):
        first, last = {
            "full": (0, T),
            "causal": (0, t + 1),
            "strict": (0, max(t, 1)),
            "examples": (0, n_examples),
            "own": (t, t + 1),
        }[attn.masks[h]]
        query = [
            (sum(H[t, i] * attn.W_Q[h, i, c] for i in range(D)) + attn.b_Q[h, c]).item()
            for c in range(attn.W_Q.shape[2])
        ]
        scores = []
        for j in range(first, last):
            key = [
                (sum(H[j, i] * attn.W_K[h, i, c] for i in range(D)) + attn.b_K[h, c]).item()
                for c in range(attn.W_K.shape[2])
            ]
            scores.append(attn.scale * sum(a * b for a, b in zip(query, key, strict=True)))
        top = max(scores)
        weights = {
            "linear": lambda s: s,
            "relu": lambda s, count=last - first: max(s, 0.0) / count,
            "softmax": lambda s, every=tuple(scores), top=top: (
                math.exp(s - top) / math.fsum(math.exp(r - top) for r in every)
            ),
            "hardmax": lambda s, every=tuple(scores), top=top: (s == top) / every.count(top),
        }[attn.normalise]
        for j, score in enumerate(scores, start=first):
            value = [
                sum(H[j, i] * attn.W_V[h, i, v] for i in range(D)).item()
                for v in range(attn.W_V.shape[2])
            ]
            for i in range(D):
                added[t][i] += weights(score) * sum(
                    c * attn.W_O[h, v, i].item() for v, c in enumerate(value)
                )
    return torch.tensor(added, dtype=torch.float64)


def tolerance(attn, H):
    """Whole numbers make scores and values exact; what is left is rounding in the last two sums.

    Weights carry at most T + 8 roundings, the sums over tokens, heads and values their lengths.
    """
    if attn.normalise == "linear":
        return 0.0
    values = (H.abs().unsqueeze(-3) @ attn.W_V.abs() @ attn.W_O.abs()).sum(-3).amax()
    scores = 1.0
    if attn.normalise == "relu":
        Q = H.abs().unsqueeze(-3) @ attn.W_Q.abs() + attn.b_Q.abs().unsqueeze(-2)
        K = H.abs().unsqueeze(-3) @ attn.W_K.abs() + attn.b_K.abs().unsqueeze(-2)
        scores = abs(attn.scale) * float((Q @ K.transpose(-1, -2)).amax())
    T, heads, d_value = H.shape[-2], attn.n_heads, attn.W_V.shape[-1]
    return float(2 * (3 * T + heads * d_value + 20) * EPS * scores * values)


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
    attended = H[:5] if mask == "examples" else H
    if mask == "own":
        assert torch.equal(A.tril(-1), torch.zeros_like(A))
    assert A.shape == (2, 7, len(attended))
    if mask in ("causal", "strict", "own", ("causal", "strict")):
        assert torch.equal(A.triu(1), torch.zeros_like(A))
    if mask == "strict":
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


@pytest.mark.parametrize("mask", ["full", "examples"])
@pytest.mark.parametrize(("T", "n_examples", "one_map"), [(3, 2, False), (40, 30, True)])
def test_both_orders_of_the_linear_products_agree(T, n_examples, one_map, mask):
    rng = np.random.default_rng(T)
    attn, H = an_attention(rng, "linear", mask, scale=2.0), integers(rng, 5, T, 4)
    attended = H[:, :n_examples] if mask == "examples" else H
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
    whole = an_attention(rng, "linear", "own", heads=4, scale=2.0)
    for masks in (("own", "own", "examples", "own"), ("examples", "own", "causal", "own")):
        for constant in ([0, 1], [0, 1, 3]):
            W_Q, W_K = whole.W_Q.clone(), whole.W_K.clone()
            W_Q[constant], W_K[constant] = 0.0, 0.0
            weights = (W_Q, W_K, whole.W_V, whole.W_O, whole.b_Q, whole.b_K)
            attn = Attention(*weights, normalise="linear", mask=masks, scale=2.0)
            H = integers(rng, 5, T, 4)
            values = torch.einsum("...sd,hdv->...hsv", H, attn.W_V)
            added = torch.einsum("...hts,...hsv,hvo->...to", attn.pattern(H, 2), values, attn.W_O)
            assert torch.equal(attn(H, 2), added)


def test_as_many_masks_as_heads():
    weights = [torch.zeros(2, 3, 1)] * 3 + [torch.zeros(2, 1, 3)] + [torch.zeros(2, 1)] * 2
    with rejects("3 masks", "2 heads"):
        Attention(*weights, normalise="linear", mask=("own", "full", "own"))


def normalised_block(norm):
    """Integer heads and MLP (the same for any norm), with which no token of the test is 0."""
    rng = np.random.default_rng(7)
    mlp = MLP(integers(rng, 4, 6), integers(rng, 6), integers(rng, 6, 4), integers(rng, 4))
    return Block(an_attention(rng, "linear", "full"), mlp, norm=norm)


@pytest.mark.parametrize("leading", [(), (3,), (0,)])
def test_unit_norm_divides_what_the_block_has_added_to_by_its_length(leading):
    """A sum of 4 squares, a root and a division: at most 5 roundings of each entry."""
    H = integers(np.random.default_rng(1), *leading, 5, 4)
    before, after = (normalised_block(norm)(H, 5) for norm in (None, UnitNorm()))
    assert after.shape == H.shape
    for place in np.ndindex(*leading, 5):
        row = before[place].tolist()
        length = math.sqrt(math.fsum(entry * entry for entry in row))
        assert length > 0
        for found, entry in zip(after[place].tolist(), row, strict=True):
            assert abs(found - entry / length) <= 6 * EPS * abs(entry / length)


def test_unit_norm_has_no_weights_leaves_its_input_alone_and_has_a_gradient():
    block, H = normalised_block(UnitNorm()), integers(np.random.default_rng(1), 5, 4)
    assert set(block.state_dict()) == set(normalised_block(None).state_dict())
    kept = H.clone()
    block(H, 5)
    assert torch.equal(H, kept)
    asked = H.clone().requires_grad_()
    (block(asked, 5) * torch.arange(4.0)).sum().backward()
    assert torch.isfinite(asked.grad).all()
    assert asked.grad.abs().max() > 0
    assert UnitNorm()(torch.zeros(1, 4)).isnan().all()


def one_block(block):
    eye, stream = torch.eye(4), Stream(a=4)
    return plain(Embed(eye), [block], Unembed(eye), stream)


def test_unit_norm_in_balls_encloses_torch_and_has_no_value_over_q():
    model, tokens = (
        one_block(normalised_block(UnitNorm())),
        integers(np.random.default_rng(1), 5, 4),
    )
    found = model.run(Prompt(tokens, 5)).tolist()
    with Ball.precision(200):
        enclosed = outputs(model, Prompt(tokens, 5), Ball()).tolist()
        for row, balls in zip(found, enclosed, strict=True):
            # Whole numbers before the norm: only its own 5 roundings of entries of at most 1.
            assert all(abs(b - value) <= 6 * EPS for value, b in zip(row, balls, strict=True))
            assert all(ball.rad() < 2.0**-150 for ball in balls)
            assert abs(sum(ball * ball for ball in balls) - 1) < 2.0**-140
    for domain in (Rational(), Modular(97)):
        with rejects("layer 1", error=NotPolynomial):
            outputs(one_block(Block(norm=UnitNorm())), Prompt(torch.eye(4), 4), domain)


def a_transformer(seed=0, normalise="linear", mask="full"):
    rng = np.random.default_rng(seed)
    mlp = MLP(integers(rng, 4, 6), integers(rng, 6), integers(rng, 6, 4), integers(rng, 4))
    blocks = [Block(an_attention(rng, normalise, mask), mlp, ("first",)), Block(mlp=mlp), Block()]
    embed, unembed = Embed(integers(rng, 3, 4)), Unembed(integers(rng, 4, 2))
    return plain(embed, blocks, unembed, Stream(a=4), name="example()", source="[None]")


def test_the_stream_is_the_sum_of_its_parts():
    model, tokens = a_transformer(), integers(np.random.default_rng(1), 5, 3)
    H = tokens @ model.embed.W_E
    passed = list(model.residual_stream(Prompt(tokens, 3)))
    assert len(passed) == model.n_layers + 1 == 4
    assert torch.equal(passed[0], H)
    for block, after in zip(model.blocks, passed[1:], strict=True):
        if block.attn is not None:
            H = H + by_definition(block.attn, H, 3)
        if block.mlp is not None:
            hidden = (H @ block.mlp.W_in + block.mlp.b_in).clamp(min=0)
            H = H + hidden @ block.mlp.W_out + block.mlp.b_out
        assert torch.equal(after, H)
    assert torch.equal(model.run(Prompt(tokens, 3)), H @ model.unembed.W_U)


@given(st.sampled_from(NORMALISE), st.sampled_from(MASKS), st.lists(st.integers(1, 3), max_size=2))
def test_leading_dimensions_are_separate_prompts(normalise, mask, leading):
    rng = np.random.default_rng(len(leading))
    attn, H = an_attention(rng, normalise, mask), integers(rng, *leading, 5, 4)
    together = attn(H, 4)
    assert together.shape == H.shape
    for place in np.ndindex(*leading):
        assert (together[place] - attn(H[place], 4)).abs().max() <= tolerance(attn, H)


def test_weights_have_the_names_and_shapes_of_the_field():
    model = newton(3, 1, 0.5, "paper", n=4)
    shapes = {name: tuple(w.shape) for name, w in model.state_dict().items()}
    number = next(i for i, block in enumerate(model.blocks) if block.attn and block.mlp)
    layer, heads, D, d_head, d_value = f"blocks.{number}", 2, 5 * 3 + 3, 3, 3
    assert shapes["embed.W_E"] == (4, D)
    assert shapes["unembed.W_U"] == (D, 1)
    assert shapes[f"{layer}.attn.W_Q"] == shapes[f"{layer}.attn.W_K"] == (heads, D, d_head)
    assert shapes[f"{layer}.attn.W_V"] == (heads, D, d_value)
    assert shapes[f"{layer}.attn.W_O"] == (heads, d_value, D)
    assert shapes[f"{layer}.attn.b_Q"] == shapes[f"{layer}.attn.b_K"] == (heads, d_head)
    M = shapes[f"{layer}.mlp.W_in"][1]
    assert shapes[f"{layer}.mlp.W_in"] == (D, M)
    assert shapes[f"{layer}.mlp.b_in"] == (M,)
    assert shapes[f"{layer}.mlp.W_out"] == (M, D)
    assert shapes[f"{layer}.mlp.b_out"] == (D,)


def test_a_model_knows_its_size_and_prints_it():
    model = a_transformer()
    assert (model.n_layers, model.n_heads, model.d_model) == (3, 2, 4)
    assert model.n_parameters == sum(w.numel() for w in model.state_dict().values()) - 58
    assert str(model).startswith("example(): 3 layers, 2 heads, width 4, ")
    assert repr(model) == str(model)
    assert "layer 1   first" in str(model)
    assert "1 head," in str(newton(2, 1, 0.5))


def test_a_copy_is_separate_and_a_state_dict_restores():
    model, tokens = a_transformer(), integers(np.random.default_rng(1), 5, 3)
    before = model.run(Prompt(tokens, 3))
    changed = copy.deepcopy(model)
    changed.blocks[0].attn.W_O[0] *= -1
    assert torch.equal(model.run(Prompt(tokens, 3)), before)
    assert not torch.equal(changed.run(Prompt(tokens, 3)), before)
    changed.load_state_dict(model.state_dict())
    assert torch.equal(changed.run(Prompt(tokens, 3)), before)


@pytest.mark.parametrize("normalise", NORMALISE)
@pytest.mark.parametrize("mask", MASKS)
def test_the_module_follows_its_dtype_and_device(normalise, mask):
    model = a_transformer(normalise=normalise, mask=mask)
    single = copy.deepcopy(model).float()
    tokens = integers(np.random.default_rng(1), 5, 3)
    assert model.run(Prompt(tokens, 3)).dtype == torch.float64
    assert single.run(Prompt(tokens.float(), 3)).dtype == torch.float32
    # On the meta device every tensor made in passing must follow the weights.
    meta = copy.deepcopy(model).to("meta")
    assert meta.run(Prompt(tokens.to("meta"), 3)).shape == (5, 2)


def test_gradients_reach_the_tokens():
    model, tokens = a_transformer(), integers(np.random.default_rng(1), 5, 3).requires_grad_()
    model.run(Prompt(tokens, 3)).sum().backward()
    assert tokens.grad is not None
    assert not any(weights.requires_grad for weights in model.parameters())


def test_whole_numbers_name_rows_of_the_embedding():
    embed = Embed(integers(np.random.default_rng(0), 5, 4))
    tokens = torch.tensor([[0, 4, 4], [2, 1, 0]])
    written = embed(tokens)
    assert written.shape == (2, 3, 4)
    one_hot = torch.nn.functional.one_hot(tokens, 5)
    assert torch.equal(written, embed(one_hot.double()))
    for place in np.ndindex(2, 3):
        assert torch.equal(written[place], embed.W_E[tokens[place]])
    assert torch.equal(embed(tokens.int()), written)


@pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
def test_positions_are_added_to_the_embedding_and_a_bias_to_the_read_out(leading):
    rng = np.random.default_rng(0)
    W_E, W_pos, W_U = (integers(rng, *shape) for shape in ((5, 4), (6, 4), (4, 3)))
    b_U = integers(rng, 3)
    blocks = [Block(an_attention(rng, "linear", "causal"))]
    model = plain(Embed(W_E), blocks, Unembed(W_U, b_U), Stream(a=4), pos_embed=PosEmbed(W_pos))
    for T in (1, 4, 6):
        tokens = torch.as_tensor(rng.integers(5, size=(*leading, T)))
        start, end = model.residual_stream(Prompt(tokens, 0))
        assert torch.equal(start, W_E[tokens] + W_pos[:T])
        assert torch.equal(model.run(Prompt(tokens, 0)), end @ W_U + b_U)
    assert model.n_parameters - W_pos.numel() - b_U.numel() == sum(
        weights.numel()
        for weights in (*model.blocks.parameters(), model.embed.W_E, model.unembed.W_U)
    )
    assert {"pos_embed.W_pos", "unembed.b_U"} <= set(model.state_dict())
    assert not {"pos_embed.W_pos", "unembed.b_U"} & set(a_transformer().state_dict())


def test_under_a_strict_mask_the_first_token_sees_itself_and_the_second_only_the_first():
    rng = np.random.default_rng(0)
    for normalise in NORMALISE:
        attn, H = an_attention(rng, normalise, "strict"), integers(rng, 5, 4)
        other = H.clone()
        other[2:] = integers(rng, 3, 4)
        assert torch.equal(attn(H, 5)[:2], attn(other, 5)[:2])
        assert (attn(H, 5)[0] - by_definition(attn, H[:1], 1)[0]).abs().max() <= tolerance(attn, H)


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf])
def test_scales_that_are_not_above_0_are_refused(scale):
    with rejects("scale"):
        an_attention(np.random.default_rng(0), "softmax", "full", scale=scale)


@pytest.mark.parametrize("normalise", NORMALISE)
def test_sharpening_changes_the_layers_that_compare_and_no_weight(normalise):
    model, tokens = a_transformer(0, normalise), integers(np.random.default_rng(1), 5, 3)
    before = model.run(Prompt(tokens, 3))
    soft = model.sharpened(2.5)
    attn = soft.blocks[0].attn
    compares = normalise in ("softmax", "hardmax")
    assert (attn.normalise, attn.scale) == (("softmax", 2.5) if compares else (normalise, 1.0))
    for ours, theirs in zip(model.parameters(), soft.parameters(), strict=True):
        assert ours is theirs
    assert model.blocks[0].attn.normalise == normalise
    assert torch.equal(model.run(Prompt(tokens, 3)), before)
    hard = soft.sharpened(None).blocks[0].attn
    assert (hard.normalise, hard.scale) == ("hardmax" if compares else normalise, 1.0)
    assert str(soft).partition(":")[0] == str(model).partition(":")[0]


def test_softmax_tends_to_hardmax():
    """Scores of whole numbers: the weight of others is at most (T − 1)·e^{−β}."""
    model, tokens = a_transformer(2, "hardmax"), integers(np.random.default_rng(3), 5, 3)
    H = model.embed(tokens)
    hard = model.blocks[0].attn.pattern(H, 5)
    for sharpness in (1.0, 4.0, 20.0):
        soft = model.sharpened(sharpness).blocks[0].attn.pattern(H, 5)
        assert (hard - soft).abs().max() <= 4 * math.exp(-sharpness) + 10 * EPS


@pytest.mark.parametrize("sharpness", [0.0, -1.0, math.nan, math.inf])
def test_a_sharpness_that_is_none_is_refused(sharpness):
    with rejects("sharpness"):
        a_transformer().sharpened(sharpness)


def test_unknown_normalisations_and_masks_are_refused(unchecked):
    rng = np.random.default_rng(0)
    with rejects("normalise"):
        an_attention(rng, "sparsemax", "full")
    with rejects("mask"):
        an_attention(rng, "linear", "past")


@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("answers", [False, True])
def test_heads_of_a_tokens_own_are_a_map_only_if_their_scores_are_constant(asks, answers):
    rng = np.random.default_rng(0)
    given = an_attention(rng, "linear", "own")
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
