"""The transformer: blocks, norms, the stream, sizes, copies and sharpness."""

import copy
import math

import numpy as np
import pytest
import torch
from attentions import EPS, MASKS, NORMALISE, an_attention, by_definition, integers
from plain import plain
from refusals import rejects

import constructions
from constructions import newton, structures
from constructions.blocks import MLP, Block, Embed, PosEmbed, Stage, Unembed, UnitNorm
from constructions.interface import Prompt
from constructions.stream import Stream
from constructions.tokens import Tokens, binary_codes, lattice
from constructions.transformer import Transformer
from verify.domains import Ball, Modular, NotPolynomial, Rational, outputs


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
            # Integers before the norm: only its own 5 roundings of entries of at most 1.
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


def test_the_least_sharpness_of_a_model_without_a_margin_needs_an_error():
    model = newton(2, 1, 0.5, interleaved=True)
    assert model.interface.margin is None
    with rejects("error"):
        model.least_sharpness()


def test_softmax_tends_to_hardmax():
    """Integer scores: the weight of others is at most (T − 1)·e^{−β}."""
    model, tokens = a_transformer(2, "hardmax"), integers(np.random.default_rng(3), 5, 3)
    H = model.embed(tokens)
    hard = model.blocks[0].attn.pattern(H, 5)
    for sharpness in (1.0, 4.0, 20.0):
        soft = model.sharpened(sharpness).blocks[0].attn.pattern(H, 5)
        assert (hard - soft).abs().max() <= 4 * math.exp(-sharpness) + 10 * EPS


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan, math.inf])
def test_a_scale_or_sharpness_that_is_not_above_0_is_refused(wrong):
    with rejects("scale"):
        an_attention(np.random.default_rng(0), "softmax", "full", scale=wrong)
    with rejects("sharpness"):
        a_transformer().sharpened(wrong)


def built(**changed):
    """A model of one token of width 2, with some of its parts replaced."""
    eye = torch.eye(2)
    parts = {"embed": Embed(eye), "blocks": [], "unembed": Unembed(eye), "stream": Stream(a=2)}
    return Transformer(**parts | {"interface": Tokens(2, 3), "source": ""} | changed)


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({"blocks": None}, "blocks"),
        ({"blocks": [None]}, "blocks"),
        ({"stream": Stream(a=3)}, "W_E"),
        ({"unembed": Unembed(torch.eye(3))}, "W_U"),
        ({"pos_embed": PosEmbed(torch.ones(3, 4))}, "W_pos"),
        ({"blocks": [Block(mlp=MLP(*map(torch.ones, ((3, 4), 4, (4, 3), 3))))]}, "W_in"),
        ({"pos_embed": PosEmbed(torch.ones(2, 2))}, "W_pos"),
        ({"interface": Tokens(3, 3)}, "W_E"),
        ({"interface": Tokens(2, 3, prefix=(2,))}, "W_E"),
        ({"stages": (Stage(1, "a", len),)}, "stages"),
        ({"stages": (Stage(0, "b", len),)}, "b"),
        ({"at_most": {"b": 1.0}}, "b"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(changed, names, unchecked):
    assert built()([0, 1, 1]).tolist() == [0, 1, 1]
    with rejects(names):
        built(**changed)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        *((lambda width=width: Stream(x=width), "x") for width in (0, 1.5, math.nan, None, "a")),
        *((lambda n=n: Stream(x=2).fits(n), "layers") for n in (-1, math.nan, 1.5)),
        *((lambda n=n: Tokens(n, 5), "vocabulary_size") for n in (0, "x", 1.5)),
        (lambda: Tokens(2, 5, margin=-1.0), "margin"),
        (lambda: Tokens(2, 5, slots=[3]), "slots"),
        (lambda: Stage(-1, "a", len), "after"),
        (lambda: Stage(0, 3, len), "register"),
        (lambda: Stage(0, "a", 5), "holds"),
        *((lambda n=n: lattice(n), "count") for n in (-1, 0, 1.5, None)),
        *((lambda n=n: binary_codes(n), "count") for n in (-1, 0, 1.5, None)),
    ],
)
def test_parts_read_their_arguments(call, name, unchecked):
    with rejects(name):
        call()


@pytest.mark.parametrize(
    "model",
    [
        lambda: constructions.prefix_sums(10),
        lambda: constructions.newton(2, 2, 0.25, interleaved=True),
        lambda: structures.bucket_table(15, 20, largest=100),
        lambda: structures.interpolation_search(15, 2, largest=100),
    ],
)
def test_models_that_are_right_with_hardmax_only_have_no_softmax(model):
    """At sharpness 2 a table of buckets returned numbers that are no points."""
    assert model().sharpened(None) is not None
    with rejects("softmax", "2"):
        model().sharpened(2.0)


@pytest.mark.parametrize("sharpness", [None, 2.0])
def test_labels_without_a_margin_are_right_at_their_own_sharpness_only(sharpness):
    with rejects("attention", "parity_bounded"):
        constructions.parity_bounded(4).sharpened(sharpness)
