"""The rounding bound bounds: float64 predictions against the rationals."""

import copy

import numpy as np
import pytest
import torch
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import plain
from refusals import rejects

from constructions import chebyshev, gradient_descent, newton, online_gradient_descent
from constructions.assembly import Head, block
from constructions.attention import Attention
from constructions.blocks import MLP, Block, Embed, LayerNorm, Unembed
from constructions.interface import Prompt
from constructions.primitives import Move
from constructions.stream import Stream
from verify.domains import Rational, outputs
from verify.evidence.rounding import _attention_size, _local_error, with_rounding_bound
from verify.evidence.statement import Inputs, predict

Q = Rational()
MODELS = {
    "direct": lambda d, n, k, a: newton(d, k, a),
    "direct αI": lambda d, n, k, a: newton(d, k, a, start="identity"),
    "interleaved": lambda d, n, k, a: newton(d, k, a, interleaved=True),
    "ladder": lambda d, n, k, a: newton(d, k, a, "ladder"),
    "ladder αI": lambda d, n, k, a: newton(d, k, a, "ladder", start="identity"),
    "paper": lambda d, n, k, a: newton(d, k, a, "paper", n=n),
    "descent": lambda d, n, k, a: gradient_descent(d, k, a),
    "causal": lambda d, n, k, a: gradient_descent(d, k, a, causal=True),
    "descent ladder": lambda d, n, k, a: gradient_descent(d, k + 1, a, "ladder"),
    "chebyshev": lambda d, n, k, a: chebyshev(d, k + 1, a, 8 * a),
    "online": lambda d, n, k, a: online_gradient_descent(d, n),
}
each_model = pytest.mark.parametrize("name", MODELS)


def exactly(model, x, y, queries):
    """The model's predictions over Q, flat; the inputs are read as the rationals they are."""
    rows = (np.atleast_2d(x), y[:, None], np.atleast_2d(queries))
    result = predict(model, Inputs(Q, *(Q.weights(a).tolist() for a in rows)))
    return [entry for row in result.tolist() for entry in row]


def errors(model, x, y, queries):
    """|float − exact|, rounded once, and the bounds, flat."""
    predictions, bounds = with_rounding_bound(model, x, y, queries)
    gaps = [
        abs(float(fmpq(*value.as_integer_ratio()) - exact))
        for value, exact in zip(
            predictions.reshape(-1).tolist(), exactly(model, x, y, queries), strict=True
        )
    ]
    return np.array(gaps), bounds.reshape(-1).numpy()


@each_model
@settings(max_examples=15)
@given(
    d=st.integers(1, 3),
    n=st.integers(1, 5),
    k=st.integers(0, 3),
    seed=st.integers(0, 999),
    spread=st.sampled_from([0, 1, 4]),
    units=st.sampled_from([0, -60, 60]),
    relative=st.sampled_from([2.0**-40, 0.1, 1.0, 3.0]),
)
def test_the_bound_holds(name, d, n, k, seed, spread, units, relative):
    """Badly scaled features and labels, and steps from tiny to divergent."""
    rng = np.random.default_rng(seed)
    columns = 10.0 ** rng.uniform(-spread, spread, size=d)
    x, queries = rng.standard_normal((n, d)) * columns, rng.standard_normal((1, d)) * columns
    y = rng.standard_normal(n) * 10.0**units
    largest = float(np.linalg.eigvalsh(x.T @ x)[-1])
    power = 2 if name in ("direct", "interleaved", "ladder", "paper") else 1
    alpha = relative / largest**power
    # One step less of the steep ones, so that no divergent run leaves the range of float64.
    model = MODELS[name](d, n, k if relative <= 1 else min(k, 2), alpha)
    gaps, bounds = errors(model, x, y, queries[0])
    assert (gaps <= bounds).all(), (gaps, bounds)


@each_model
@given(
    x=st.lists(st.sampled_from([-1.0, 0.0, 0.1, 0.3, 1.0]), min_size=6, max_size=6),
    y=st.lists(st.sampled_from([0.0, 0.1, -0.7]), min_size=3, max_size=3),
    query=st.lists(st.sampled_from([0.0, 0.1, 1.0]), min_size=2, max_size=2),
)
@settings(max_examples=12)
def test_the_bound_holds_where_numbers_cancel_to_zero(name, x, y, query):
    rows = np.array(x).reshape(3, 2)
    gaps, bounds = errors(MODELS[name](2, 3, 2, 0.1), rows, np.array(y), np.array(query))
    assert (gaps <= bounds).all(), (gaps, bounds)


def test_the_bound_sees_what_cancels_under_a_relu():
    """x + αSx − x is 0 in float64 for a tiny α; the exact value is not, and the bound covers it."""
    x, y, query = np.array([[1.0], [2.0]]), np.array([3.0, 1.0]), np.array([1.5])
    model = newton(1, 2, 2.0**-80, "paper", n=2)
    assert (np.abs(errors(model, x, y, query)[0]) < 1e-30).all()
    copied, stream = model.stream.read("x"), model.stream
    for layer, move in ((0, Move(copied, "m")), (3, Move(-copied, "m"))):
        model.blocks.insert(layer, block(stream, primitives=[move]))
    gaps, bounds = errors(model, x, y, query)
    assert 1e-30 < gaps[0] <= bounds[0]


@each_model
def test_the_bound_is_not_absurdly_loose(name):
    """On a well-conditioned prompt the bound is at most 10⁻¹¹, where predictions are about 1."""
    rng = np.random.default_rng(0)
    x, y, query = rng.standard_normal((8, 2)), rng.standard_normal(8), rng.standard_normal(2)
    largest = float(np.linalg.eigvalsh(x.T @ x)[-1])
    power = 2 if name in ("direct", "interleaved", "ladder", "paper") else 1
    alpha = largest / 8 if name == "chebyshev" else largest**-power
    _, bounds = with_rounding_bound(MODELS[name](2, 8, 3, alpha), x, y, query)
    assert bounds.max() <= 1e-11


@each_model
def test_a_perturbation_beyond_the_bound_is_noticed(name):
    """One weight moved by 10⁻⁹ of its size leaves the bound around the unperturbed value."""
    rng = np.random.default_rng(1)
    x, y, query = rng.standard_normal((4, 2)), rng.standard_normal(4), rng.standard_normal(2)
    model = MODELS[name](2, 4, 2, 2.0**-6)
    if name == "paper" and model(x, y, query) < 0:
        query = -query  # so that the first ReLU head of the last layer is not silent
    exact = np.array([float(value) for value in exactly(model, x, y, query)])
    perturbed = copy.deepcopy(model)
    layers = [layer.attn for layer in perturbed.blocks if layer.attn is not None]
    layers[-1].W_O[0] *= 1 + 1e-9
    predictions, bounds = with_rounding_bound(perturbed, x, y, query)
    gaps = np.abs(predictions.reshape(-1).numpy() - exact)
    assert (gaps > bounds.reshape(-1).numpy()).any()


@pytest.mark.parametrize("name", ["direct", "ladder", "paper", "descent", "causal", "online"])
def test_predictions_are_those_of_the_model(name):
    rng = np.random.default_rng(2)
    x, y, query = (rng.standard_normal(shape) for shape in ((5, 4, 2), (5, 4), (5, 2)))
    model = MODELS[name](2, 4, 2, 2.0**-6)
    predictions, bounds = with_rounding_bound(model, x, y, query)
    assert torch.equal(predictions, model(x, y, query))
    assert bounds.shape == predictions.shape
    assert (bounds >= 0).all()


@pytest.mark.parametrize("name", ["direct", "ladder", "paper", "descent"])
def test_several_queries_of_one_prompt(name):
    rng = np.random.default_rng(3)
    x, y, queries = rng.standard_normal((4, 2)), rng.standard_normal(4), rng.standard_normal((3, 2))
    model = MODELS[name](2, 4, 2, 2.0**-6)
    gaps, bounds = errors(model, x, y, queries)
    assert gaps.shape == bounds.shape == (3,)
    assert (gaps <= bounds).all()


def test_overflow_stays_visible():
    predictions, _ = with_rounding_bound(newton(1, 20, 1.0), [[9.0]], [1.0], [1.0])
    assert not torch.isfinite(predictions).all()


def test_softmax_has_no_bound():
    model = copy.deepcopy(MODELS["direct"](1, 2, 1, 0.5))
    model.blocks[0].attn.normalise = "softmax"
    with rejects("softmax", error=ValueError):
        with_rounding_bound(model, [[1.0], [2.0]], [1.0, 2.0], [1.0])


def test_causal_relu_heads_are_divided_by_the_tokens_seen():
    """The first token sees itself alone, so its sum is divided by 1 and not by T."""
    stream = newton(1, 0, 0.5).stream
    x = stream.read(next(iter(stream)))
    layer = block(stream, [Head(x, x, x, next(iter(stream)))], normalise="relu", mask="causal")
    H = torch.ones((4, stream.d_model), dtype=torch.float64)
    size = _local_error(layer, H, 3)[..., 0]
    assert torch.allclose(size, size[:1].expand(4), rtol=1e-12)


@pytest.mark.parametrize(
    "mask",
    ["full", "causal", "strictly causal", "context-only", "diagonal", ("diagonal", "context-only")],
)
@pytest.mark.parametrize("normalise", ["linear", "relu", "hardmax"])
@given(seed=st.integers(0, 99))
def test_the_size_of_a_layer_is_above_what_it_adds(normalise, mask, seed):
    """Under every mask and at every scale: a strict ReLU head averages fewer tokens than a causal
    one."""
    rng = np.random.default_rng(seed)
    shapes = ((2, 4, 3), (2, 4, 3), (2, 4, 2), (2, 2, 4), (2, 3), (2, 3))
    weights = [torch.as_tensor(rng.standard_normal(shape)) for shape in shapes]
    scale = 2.0 ** int(rng.integers(-3, 4))
    attn = Attention(*weights, normalise=normalise, mask=mask, scale=scale)
    H = torch.as_tensor(rng.standard_normal((5, 4)) * 10.0 ** rng.uniform(-3, 1, (5, 1)))
    size = _attention_size(attn, H, 3)
    assert (attn(H, 3).abs() <= size * (1 + 1e-12)).all()
    # With numbers that are not negative nothing cancels, and the size is what is added.
    positive = Attention(*(W.abs() for W in weights), normalise=normalise, mask=mask, scale=scale)
    assert torch.allclose(positive(H.abs(), 3), _attention_size(positive, H.abs(), 3), rtol=1e-12)


@pytest.mark.parametrize("normalise", ["linear", "relu"])
@pytest.mark.parametrize("mask", ["causal", "strictly causal", "context-only", "diagonal"])
def test_the_bound_holds_under_every_mask_and_scale(normalise, mask):
    """A layer of its own over Q: with scale 2^10 and few seen tokens its rounding is large too."""
    rng = np.random.default_rng(0)
    shapes = ((1, 3, 2), (1, 3, 2), (1, 3, 2), (1, 2, 3), (1, 2), (1, 2))
    weights = [torch.as_tensor(rng.standard_normal(shape)) for shape in shapes]
    attn = Attention(*weights, normalise=normalise, mask=mask, scale=2.0**10)
    eye = torch.eye(3, dtype=torch.float64)
    model = plain(Embed(eye), [Block(attn)], Unembed(eye), Stream(a=3))
    tokens = torch.as_tensor(rng.standard_normal((6, 3)))
    prompt = Prompt(tokens, 4)
    exact = np.array(outputs(model, prompt, Q).tolist())
    added = _local_error(model.blocks[0], tokens, 4).numpy()
    for place, held in np.ndenumerate(model.run(prompt).numpy()):
        assert abs(fmpq(*held.as_integer_ratio()) - exact[place]) <= fmpq(
            *added[place].as_integer_ratio()
        )


@pytest.mark.parametrize("heads", [False, True])
@given(seed=st.integers(0, 99))
@settings(max_examples=15)
def test_the_bound_holds_for_an_mlp(heads, seed):
    """One layer over Q, whose MLP takes nearly all of the stream away, and what the heads rounded.

    Every term is as large as the stream, and their sum a thousandth of it.
    """
    rng = np.random.default_rng(seed)

    def random(*shape):
        return torch.as_tensor(rng.standard_normal(shape))

    eye, zero = torch.eye(3, dtype=torch.float64), torch.zeros(6, dtype=torch.float64)
    mixed = random(3, 3)
    # relu(u) − relu(−u) = u for u = H mixed, and mixed·inverse is near the identity.
    W_in = torch.cat([mixed, -mixed], 1)
    inverse = torch.linalg.inv(mixed) * (1 - 2.0**-10)
    layer = MLP(W_in, zero, torch.cat([-inverse, inverse]), torch.zeros(3, dtype=torch.float64))
    shapes = ((1, 3, 2), (1, 3, 2), (1, 3, 2), (1, 2, 3), (1, 2), (1, 2))
    attn = Attention(*(random(*shape) for shape in shapes), normalise="linear", mask="full")
    block = Block(attn if heads else None, layer)
    model = plain(Embed(eye), [block], Unembed(eye), Stream(a=3))
    tokens = random(4, 3)
    exact = np.array(outputs(model, Prompt(tokens, 4), Q).tolist())
    bound = _local_error(block, tokens, 4).numpy()
    for place, held in np.ndenumerate(model.run(Prompt(tokens, 4)).numpy()):
        off = abs(fmpq(*held.as_integer_ratio()) - exact[place])
        assert off <= fmpq(*bound[place].as_integer_ratio())


@pytest.mark.parametrize("b", [1.0, 3.0])
def test_biases_are_terms_of_the_sums_that_are_rounded(b):
    """Of −0.3 − b before a hidden neuron, where relu is 0, and of 1 + b after one."""
    one, none = torch.ones((1, 1), dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    before, after = (
        [MLP(-0.3 * one, -b * one[0], one, none), MLP(-0.3 * one, none, one, none)],
        MLP(one, none, one, b * one[0]),
    )
    inner, without = (float(_local_error(Block(None, mlp), one, 1)) for mlp in before)
    assert inner * 0.3 >= (0.3 + b) * without > 0
    # One rounding of the sum 1 + b, and one of the sum with the stream.
    assert float(_local_error(Block(None, after), one, 1)) >= 2.0**-53 * (1 + b + 2 + b)


def test_the_rounding_of_heads_passes_through_the_mlp():
    """An MLP that multiplies by a million multiplies the heads' error, too."""
    stream = newton(1, 0, 0.5).stream
    name = next(iter(stream))
    x = stream.read(name)
    head, times = Head(x, x, x, name), Move(2.0**20 * x, name)
    H = torch.as_tensor(np.random.default_rng(0).standard_normal((4, stream.d_model)))
    alone, moved = (_local_error(block(stream, [head], words), H, 3) for words in ((), [times]))
    assert (moved[:, 0] >= 2.0**20 * alone[:, 0]).all()


def test_the_bound_of_a_model_that_only_reads():
    """ŷ = Σ w_i x_i of three registers: 7 roundings of each on the way in (its product, three
    columns and three more), 3 on the way out, and twice that for terms of second order."""
    x = torch.tensor([[1.0, -2.0, 0.3]], dtype=torch.float64)
    w = torch.tensor([[0.1], [0.7], [-3.0]], dtype=torch.float64)
    eye, none = torch.eye(3, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    model = plain(Embed(eye), [], Unembed(w, none), Stream(a=3))
    _, bound = with_rounding_bound(model, x)
    assert bound.shape == (1, 1)
    assert float(bound) == pytest.approx(
        2 * (7 + 3) * 2.0**-53 * (0.1 + 1.4 + 0.9), rel=1e-12, abs=0
    )


def test_a_product_alone_is_rounded():
    """b + 0.1a, where b is −0.1a as rounded: the sum is 0 in float64, and is not over Q."""
    weights = torch.tensor([[0.1, -0.1], [0.0, 0.0]], dtype=torch.float64)
    out = torch.tensor([[0.0, 1.0], [0.0, -1.0]], dtype=torch.float64)
    two, eye = torch.zeros(2, dtype=torch.float64), torch.eye(2, dtype=torch.float64)
    layer = Block(None, MLP(weights, two, out, two))
    tokens = torch.tensor([[3.0, -(3.0 * 0.1)]], dtype=torch.float64)
    model = plain(Embed(eye), [layer], Unembed(eye), Stream(a=1, b=1))
    (_, exact), *_ = outputs(model, Prompt(tokens, 1), Q).tolist()
    assert model.run(Prompt(tokens, 1))[0, 1] == 0 != exact
    assert abs(float(exact)) <= float(_local_error(layer, tokens, 1)[0, 1]) <= 1e-15


@pytest.mark.parametrize("norm", ["ln1", "ln2"])
def test_a_layer_that_normalises_has_no_bound(norm):
    model = newton(2, 1, 0.1)
    setattr(model.blocks[0], norm, LayerNorm(model.d_model))
    with pytest.raises(ValueError, match="normalises the stream"):
        with_rounding_bound(model, np.ones((3, 2)), np.ones(3), np.ones(2))
