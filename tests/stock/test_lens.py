"""Our models in TransformerLens and under nnsight; skipped where those are not installed.

Weights and logits are also tested with a stand-in for TransformerLens (`lens_stand_in.py`).
"""

import sys

import lens_stand_in
import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import (
    Transformer,
    composition,
    gridworld_walk,
    hop,
    induction_heads,
    newton,
    parity,
    prefix_sums,
    semiautomaton,
)
from constructions.attention import Attention
from constructions.blocks import MLP, Block, Embed, LayerNorm, PosEmbed, Unembed, UnitNorm
from constructions.programs import compiled
from constructions.stock import labels, to_lens
from constructions.stream import Stream
from constructions.tokens import Tokens
from theory.computation import S3
from theory.programs import SOp, evaluate
from theory.programs import tokens as word
from theory.programs.library import brackets, counts, order, positions
from theory.retrieval import induction
from theory.sequences import random_sequences

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs are not ours to mend


@pytest.fixture
def lens():
    return pytest.importorskip("transformer_lens", reason="needs the extra [lens]")


@pytest.fixture
def stand_in(monkeypatch):
    for name, each in lens_stand_in.modules().items():
        monkeypatch.setitem(sys.modules, name, each)


@pytest.fixture(params=["lens", "stand_in"])
def either(request):
    return request.getfixturevalue(request.param)


MODELS = {
    "latest": lambda: induction_heads(5, 12).sharpened(20.0),
    "mean": lambda: induction_heads(5, 12, match="mean").sharpened(20.0),
    "units": lambda: semiautomaton(S3, 12, form="robust").sharpened(20.0),
    "several heads": lambda: gridworld_walk(5, 12).sharpened(200.0),
    "strictly causal": lambda: hop(3, 5, 12).sharpened(20.0),
    "all tokens": lambda: parity(12).sharpened(2000.0),
}


@pytest.mark.parametrize("name", MODELS)
def test_logits_are_those_of_our_model(either, name):
    model = MODELS[name]()
    tokens = random_sequences(200, 12, model.interface.vocabulary_size, seed=1)
    bridge = to_lens(model)
    prompt = model.prompt(tokens)
    logits, ours = bridge(prompt.tokens)[:, prompt.answers], model.logits(tokens)
    assert (logits - ours).abs().max() < 1e-14 * max(1.0, float(ours.abs().max()))
    assert torch.equal(model.interface.read(logits, tokens), model(tokens))


def random_model(n=12, V=7, D=5, mask="causal", last="softmax", width=6, **norms):
    """A model with random weights and biases, in layers of different sizes, some without parts."""
    rng = np.random.default_rng(3)

    def normal(*shape):
        return torch.as_tensor(rng.normal(scale=0.4, size=shape))

    def heads(h, d_k, d_v, scale, rule="softmax"):
        shapes = (h, D, d_k), (h, D, d_k), (h, D, d_v), (h, d_v, D), (h, d_k), (h, d_k)
        return Attention(*(normal(*s) for s in shapes), normalise=rule, mask=mask, scale=scale)

    def mlp(units):
        return MLP(normal(D, units), normal(units), normal(units, D), normal(D))

    blocks = [
        Block(heads(3, 2, 1, 0.7), mlp(9)),
        Block(None, mlp(4)),
        Block(heads(2, 1, width, 1.5, last), **{name: each(D) for name, each in norms.items()}),
    ]
    return Transformer(
        Embed(normal(V, D)),
        blocks,
        Unembed(normal(D, V), normal(V)),
        pos_embed=PosEmbed(normal(n, D)),
        interface=Tokens(V, n),
        stream=Stream(all=D),
        stages=(),
        source="random weights",
    )


@pytest.mark.parametrize("mask", ["causal", "full"])
@pytest.mark.parametrize("n", [1, 12, 1200])
def test_every_weight_is_copied(either, n, mask):
    model = random_model(n, mask=mask)
    tokens = random_sequences(2, n, 7, seed=4)
    logits = to_lens(model)(torch.as_tensor(tokens))
    assert (logits - model.logits(tokens)).abs().max() < 1e-10


@pytest.mark.parametrize(("width", "padded"), [(2, 4), (4, 4), (5, 16), (16, 16), (17, 64)])
def test_heads_have_the_smallest_width_of_an_exact_root(either, width, padded):
    """Scores are divided by its root, which is exact for a power of 4."""
    weights = to_lens(random_model(width=width)).state_dict()
    assert len(weights["blocks.0.attn.q.weight"]) == 3 * padded


def test_models_of_only_mlps_or_only_heads(stand_in):
    """TransformerLens needs at least one head, and no number of units where there are no MLPs."""
    mlps, heads = random_model(), random_model()
    mlps.blocks, heads.blocks = mlps.blocks[1:2], heads.blocks[2:]
    tokens = random_sequences(2, 12, 7, seed=4)
    for model, n_heads, d_mlp in ((mlps, 1, 4), (heads, 2, None)):
        bridge = to_lens(model)
        assert (bridge.config.n_heads, bridge.config.d_mlp) == (n_heads, d_mlp)
        assert (bridge(torch.as_tensor(tokens)) - model.logits(tokens)).abs().max() < 1e-10


def test_the_stand_in_has_the_weights_of_the_package(lens, stand_in, monkeypatch):
    model = random_model()
    ours = to_lens(model).state_dict()
    for name in lens_stand_in.modules():
        monkeypatch.delitem(sys.modules, name)
    theirs = to_lens(model).state_dict()
    assert {name: W.tolist() for name, W in ours.items()} == {
        n: W.tolist() for n, W in theirs.items()
    }


def test_masks_of_our_own_are_registers_behind_ours(lens):
    """Under a strictly causal mask a token does not attend to itself: its weight is exactly 0."""
    model = MODELS["strictly causal"]()
    tokens = random_sequences(20, 12, 5, seed=1)
    bridge = to_lens(model)
    _, cache = bridge.run_with_cache(model.prompt(tokens).tokens)
    for number, (block, H) in enumerate(zip(model.blocks, model.streams(tokens), strict=False)):
        found = cache[f"blocks.{number}.hook_resid_pre"]
        assert torch.allclose(found[..., : model.d_model], H, rtol=0, atol=1e-13)
        if set(block.attn.masks) == {"strictly causal"}:
            here = cache[f"blocks.{number}.attn.hook_pattern"].diagonal(dim1=-2, dim2=-1)
            assert not here[..., 1:].any()
    hardmax = model.sharpened(None)
    assert torch.equal(
        model.interface.read(bridge(model.prompt(tokens).tokens)[:, 1:], tokens), hardmax(tokens)
    )
    off = bridge(model.prompt(tokens).tokens)[:, 1:] - hardmax.logits(tokens)
    assert off.abs().max() <= model.softmax_error(20.0).logits
    assert bridge.residual_labels[: model.d_model] == labels(model)
    assert bridge.residual_labels[-1] == "own_place[12]"


# program, vocabulary, causal
PROGRAMS: dict[str, tuple[SOp, str, bool]] = {
    "reverse": (positions.reverse(), "abc", False),  # full masks, and a layer without heads
    "sort": (order.sort(), "abc", False),  # full and strictly causal masks
    "shuffle_dyck": (brackets.shuffle_dyck([("(", ")"), ("[", "]")]), "()[]", False),
    "fraction": (counts.fraction_of_previous("a"), "abc", True),  # no position embedding
}


def test_a_program_without_layers(either):
    model = compiled(word, "ab", 3)
    logits = to_lens(model)(model.prompt([*"aba"]).tokens[None])
    assert logits[0, 1:].argmax(-1).tolist() == [0, 1, 0]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_have_their_values(either, name):
    program, vocabulary, causal = PROGRAMS[name]
    model = compiled(program, vocabulary, 5, causal=causal)
    beta = 1.01 * model.least_sharpness()
    bridge = to_lens(model.sharpened(beta))
    for n in (1, 3, 5):
        tokens = random_sequences(50, n, len(vocabulary), seed=n)
        prompt = model.prompt(tokens)
        logits = bridge(prompt.tokens)[:, prompt.answers].detach()
        assert (logits - model.sharpened(beta).logits(tokens)).abs().max() < 1e-10
        assert (logits - model.logits(tokens)).abs().max() <= model.softmax_error(beta).logits
        values = model.interface.decoded(model.interface.read(logits, tokens))
        rows = [[vocabulary[i] for i in row] for row in tokens]
        assert values == [evaluate(program, row, causal=causal) for row in rows]


def test_of_a_composition_the_last_token_is_answered(either):
    model = composition(3).sharpened(20.0)
    tokens = random_sequences(20, 7, 3, seed=1)
    logits = to_lens(model)(model.prompt(tokens).tokens)
    assert (logits[:, -1] - model.logits(tokens)[:, -1]).abs().max() < 1e-13


def test_the_stream_is_ours_and_has_its_names(lens):
    model = MODELS["latest"]()
    tokens = random_sequences(3, 12, 5, seed=2)
    _, cache = to_lens(model).run_with_cache(model.prompt(tokens).tokens)
    for number, H in enumerate(list(model.streams(tokens))[:-1]):
        assert torch.allclose(cache[f"blocks.{number}.hook_resid_pre"], H, rtol=0, atol=1e-14)
    named = to_lens(model).residual_labels
    assert named == labels(model)
    assert len(named) == model.d_model
    assert named[model.stream["previous"]] == ["previous[0]", "previous[1]", "previous[2]"]


def test_induction_draws_its_stripe(lens):
    """On a block of tokens that is repeated the second layer looks right behind the last match."""
    V = 5
    model = induction_heads(V, 2 * V).sharpened(40.0)
    tokens = np.tile(np.random.default_rng(0).permutation(V), 2)[None]
    _, cache = to_lens(model).run_with_cache(model.prompt(tokens).tokens)
    first, second = (cache[f"blocks.{i}.attn.hook_pattern"][0, 0] for i in range(2))
    for t in range(2, 2 * V + 1):
        assert first[t, t - 1] > 0.999
    for t in range(V + 1, 2 * V + 1):  # t = 0 is BOS
        assert second[t, t - V + 1] > 0.999
    assert (model(tokens).numpy() == induction(tokens)).all()


def test_hooks_change_what_the_register_holds(lens):
    model = MODELS["latest"]()
    bridge = to_lens(model)

    def forget(stream, hook):
        stream[..., model.stream["previous"]] = 0
        return stream

    tokens = [[3, 1, 4, 1, 0, 3]]
    prompt = model.prompt(tokens)
    hooks = [("blocks.1.hook_resid_pre", forget)]
    logits = bridge.run_with_hooks(prompt.tokens, fwd_hooks=hooks)
    answers = model.interface.read(logits[:, prompt.answers].detach(), tokens)
    assert (answers == -1).all()
    assert model(tokens)[0, -1] == 1


REFUSED = {
    "sharpened": lambda: induction_heads(5, 12),  # hardmax attention
    "tokens": lambda: newton(2, 3, 0.1),
    "over tokens": lambda: prefix_sums(1),
}
NORMED = {"ln1": LayerNorm, "ln2": LayerNorm, "norm": lambda _: UnitNorm()}


@pytest.mark.parametrize("named", REFUSED)
def test_what_has_no_place_is_rejected(either, named):
    with rejects(named):
        to_lens(REFUSED[named]())


@pytest.mark.parametrize("norm", NORMED)
def test_norms_are_rejected(either, norm):
    with rejects("layer 3", "norms"):
        to_lens(random_model(**{norm: NORMED[norm]}))


@pytest.mark.parametrize("rule", ["hardmax", "linear", "relu"])
def test_other_attention_is_rejected(either, rule):
    with rejects("layer 3", rule):
        to_lens(random_model(last=rule))


def test_a_missing_extra_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformer_lens.config", None)
    with rejects("weightwright[lens]"):
        to_lens(MODELS["latest"]())


def test_nnsight_wraps_our_module_unchanged():
    nnsight = pytest.importorskip("nnsight", reason="needs nnsight")
    model = induction_heads(8, 16)
    tokens, wrapped = [3, 1, 4, 1, 5, 3], nnsight.NNsight(model)
    with wrapped.trace(tokens):
        stream = wrapped.blocks[0].output.save()
        answers = wrapped.output.save()
    assert torch.equal(answers, model(tokens))
    assert torch.equal(stream, list(model.streams(tokens))[1])
    with wrapped.trace(tokens):
        wrapped.blocks[0].output[..., model.stream["previous"]] = 0.0
        answers = wrapped.output.save()
    assert answers.tolist() == [-1] * 6
