"""Number systems of models: one forward pass over each is the torch forward, and the others'."""

import copy
import math

import numpy as np
import pytest
import torch
from exact import array, newton_inverse, predict, prompt, prompt_of, read
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import plain
from prompts import entered, filled, symbols
from refusals import rejects

from constructions import chebyshev, gradient_descent, newton, online_gradient_descent
from constructions.assembly import Head, block, embed, unembed
from constructions.attention import Attention
from constructions.blocks import Block, Embed, PosEmbed, Unembed
from constructions.interface import Prompt
from constructions.stream import Stream, one
from verify.domains import (
    Ball,
    Degrees,
    Denominators,
    Domain,
    Heights,
    Modular,
    NotPolynomial,
    Rational,
    Symbolic,
    outputs,
    random_prime,
    streams,
)
from verify.domains.forward import _hardmax

Q = Rational()
P = Modular(random_prime(np.random.default_rng(0)))
MODELS = {
    "direct": newton(2, 2, 0.1),
    "direct αI": newton(2, 2, 0.1, start="identity"),
    "ladder": newton(2, 2, 0.1, "ladder"),
    "paper": newton(2, 1, 0.1, "paper", n=3),
    "descent": gradient_descent(2, 3, 0.1),
    "causal": gradient_descent(2, 2, 0.1, causal=True),
    "chebyshev": chebyshev(2, 4, 1.0, 3.0),
}
polynomial = pytest.mark.parametrize("name", MODELS)
ALL = {
    **MODELS,
    "online": online_gradient_descent(2, 3),
    "interleaved": newton(2, 1, 0.1, interleaved=True),
}
every = pytest.mark.parametrize("name", ALL)


@pytest.mark.parametrize(
    "domain",
    [Q, P, Ball(), Symbolic(["a"]), Degrees(), Denominators(), Heights()],
    ids=lambda domain: domain.name,
)
def test_every_number_system_has_what_a_domain_needs(domain):
    assert isinstance(domain, Domain)


@every
@settings(max_examples=15)
@given(seed=st.integers(0, 99))
def test_the_generic_forward_is_the_torch_forward(name, seed):
    """Every entry of every layer, within n·eps of the same layer in absolute values."""
    model, rng = ALL[name], np.random.default_rng(seed)
    x, y, q = (rng.integers(-8, 9, shape) / 8 for shape in ((3, 2), (3,), (1, 2)))
    written = prompt_of(model, Q, *(read(Q, a) for a in (x, y, q)))
    held = model.streams(x, y, q[0])
    for number, (exact, H) in enumerate(zip(streams(model, written, Q), held, strict=True)):
        wanted = np.array(exact.tolist(), dtype=object).astype(float)
        # Data below 1 and weights of at most 5 keep every number of these small models below 2^10;
        # 3^layers·200 roundings are more than any path has.
        size = max(1.0, np.abs(wanted).max()) * 2.0**10
        assert np.abs(H.numpy() - wanted).max() <= 3**number * 200 * 2.0**-53 * size
    unembedding = outputs(model, written, Q).tolist()
    predicted = np.array(unembedding, dtype=object).astype(float)
    slack = 3**number * 200 * 2.0**-53 * size
    assert np.abs(model.logits(x, y, q[0]).numpy() - predicted).max() <= slack


@every
@settings(max_examples=15)
@given(seed=st.integers(0, 99))
def test_balls_enclose_the_rational_value(name, seed):
    model, ball = ALL[name], Ball()
    x, y, q = prompt(np.random.default_rng(seed), 3, 2)
    with Ball.precision(200):
        enclosed = [array((arb(entry) for entry in a.ravel()), *a.shape) for a in (x, y, q)]
        balls = predict(model, ball, *enclosed)
    # A rational is itself read as a ball, so at a precision that makes it far narrower.
    with Ball.precision(1000):
        for enclosure, value in zip(balls, predict(model, Q, x, y, q), strict=True):
            assert enclosure.contains(arb(value))
            assert enclosure.rad() < arb(2) ** -100


def test_the_precision_is_restored():
    before = ctx.prec
    with Ball.precision(999):
        assert ctx.prec == 999
    assert ctx.prec == before
    with pytest.raises(ZeroDivisionError), Ball.precision(999):
        Q.number(1, 0)
    assert ctx.prec == before


def reduced(entries):
    return array((P.number(int(e.p), int(e.q)) for e in entries.ravel()), *entries.shape)


@polynomial
@settings(max_examples=15)
@given(seed=st.integers(0, 99))
def test_residues_are_the_rationals_mod_p(name, seed):
    model = MODELS[name]
    x, y, q = prompt(np.random.default_rng(seed), 3, 2)
    wanted = array(predict(model, Q, x, y, q), 4 if model.interface.every_prefix else 1)
    assert predict(model, P, *map(reduced, (x, y, q))) == reduced(wanted).tolist()


@pytest.mark.parametrize("name", ["direct αI", "ladder", "descent", "causal"])
@given(seed=st.integers(0, 9))
def test_polynomials_at_a_point_are_the_rational_values(name, seed, symbolic):
    x, y, q = prompt(np.random.default_rng(seed), 2, 2)
    polynomials = symbolic(name)
    point = [*x.ravel(), *y, *q.ravel()]
    assert [p(*point) for p in polynomials] == predict(SMALL[name], Q, x, y, q)


SMALL = {
    "direct αI": newton(2, 1, 0.1, start="identity"),
    "ladder": newton(2, 1, 0.25, "ladder", start="identity"),
    "descent": gradient_descent(2, 3, 0.1),
    "causal": gradient_descent(2, 2, 0.1, causal=True),
}


@pytest.fixture(scope="module")
def symbolic():
    computed = {}

    def of(name):
        if name not in computed:
            domain, x, y, q = symbols(2, 2)
            computed[name] = predict(SMALL[name], domain, x, y, q)
        return computed[name]

    return of


def test_the_identity_itself():
    domain, x, y, q = symbols(2, 1)
    S, b = sum(x[:, 0] * x[:, 0]), sum(x[:, 0] * y)
    M = fmpq(1, 4) * S
    M = 2 * M - M * S * M
    for layout in ("direct", "ladder"):
        assert predict(newton(1, 1, 0.25, layout), domain, x, y, q) == [q[0, 0] * M * b]


def test_constant_scores_can_be_compared_symbolically():
    """The copying layer of interleaved prompts looks at positions only."""
    domain, x, y, q = symbols(2, 2)
    for start in ("gram", "identity"):
        prediction = predict(newton(2, 1, 0.25, start=start, interleaved=True), domain, x, y, q)
        M = newton_inverse(x, 1, fmpq(1, 4), start)
        assert prediction == list(q @ M @ (x.T @ y))


def test_hardmax_needs_order():
    model = ALL["interleaved"]
    x, y, q = prompt(np.random.default_rng(0), 2, 2)
    M = newton_inverse(x, 1, read(Q, 0.1).item(), "gram")
    assert predict(model, Q, x, y, q) == list(q @ M @ (x.T @ y))
    residues = [reduced(a) for a in (x, y, q)]
    with rejects("layer 1", error=NotPolynomial):
        predict(model, P, *residues)
    for domain in (Degrees(), Denominators()):
        with rejects("layer 1", error=NotPolynomial):
            predict(model, domain, *filled(1, 2, 2))


def test_hardmax_of_scores_that_depend_on_the_data_is_refused_symbolically():
    stream = Stream(x=1, out=1)
    x = stream.read("x")
    model = plain(
        embed(stream, x={"x": 1.0}),
        [block(stream, [Head(x, x, x, "out")], normalise="hardmax")],
        unembed(stream, stream.read("out")),
        stream,
    )
    domain = Symbolic(["a", "b"])
    with rejects("layer 1", error=NotPolynomial):
        outputs(model, entered([[v] for v in domain.variables]), domain)
    # Balls: decided if apart, refused if they overlap, shared if they are equal numbers.
    apart = [[arb(1)], [arb(2, 0.25)]]
    assert outputs(model, entered(apart), Ball()).tolist()[1][0].contains(2)
    for overlapping in ([[arb(2)], [arb(2, 0.5)]], [[arb(2, 0.5)], [arb(2)]]):
        with rejects("precision", error=NotPolynomial):
            outputs(model, entered(overlapping), Ball())
    ties = outputs(model, entered([[arb(2)], [arb(2)]]), Ball())
    assert ties.tolist() == [[2], [2]]


def test_softmax_is_refused():
    model = copy.deepcopy(MODELS["direct"])
    model.blocks[1].attn.normalise = "softmax"
    with rejects("layer 2", error=NotPolynomial):
        predict(model, Q, *prompt(np.random.default_rng(0), 3, 2))


def positioned(normalise, mask, scale=1.0):
    """A model with positions, two heads and an unembedding with a bias, all of small integers."""
    rng = np.random.default_rng(5)

    def whole(*shape):
        return torch.as_tensor(rng.integers(-2, 3, shape).astype(float))

    weights = [whole(2, 3, 2), whole(2, 3, 2), whole(2, 3, 4), whole(2, 4, 3)]
    biases = [whole(2, 2), whole(2, 2)]
    attn = Attention(*weights, *biases, normalise=normalise, mask=mask, scale=scale)
    return plain(
        Embed(whole(4, 3)),
        [Block(attn)],
        Unembed(whole(3, 2), whole(2)),
        Stream(a=3),
        pos_embed=PosEmbed(whole(7, 3)),
    )


masked = pytest.mark.parametrize(
    "mask",
    ["full", "causal", "strictly causal", "context-only", "diagonal", ("diagonal", "context-only")],
)


@masked
@pytest.mark.parametrize("normalise", ["linear", "relu", "hardmax"])
@pytest.mark.parametrize("T", [1, 5, 7])
def test_positions_masks_and_biases_are_the_same_over_q_as_in_torch(normalise, mask, T):
    """Whole-number tokens name rows of the embedding."""
    model = positioned(normalise, mask)
    tokens = torch.as_tensor(np.random.default_rng(T).integers(4, size=T))
    written = Prompt(tokens, max(1, T - 2))
    exact = outputs(model, written, Q).tolist()
    found = model.run(written).tolist()
    # The float nearest to the fraction where one was formed: sums of averages are rounded again.
    for row, wanted in zip(found, exact, strict=True):
        for value, fraction in zip(row, wanted, strict=True):
            nearest = int(fraction.p) / int(fraction.q)
            slack = 0.0 if normalise == "linear" else 2.0**-53 * 2**12
            assert abs(value - nearest) <= slack
    if normalise == "linear":
        residues = outputs(model, written, P).tolist()
        assert residues == [[P.number(int(e.p), int(e.q)) for e in row] for row in exact]


@masked
def test_pairs_of_relu_heads_are_linear_heads_in_a_domain_without_order(mask):
    """ReLU(u)·v − ReLU(−u)·v = u·v, with the average over the tokens that each token sees."""
    model = positioned("relu", mask)
    attn = model.blocks[0].attn
    for name, sign in (("W_Q", -1), ("b_Q", -1), ("W_K", 1), ("b_K", 1), ("W_V", 1), ("W_O", -1)):
        weights = getattr(attn, name).data
        weights[1] = sign * weights[0]
    attn.masks = (attn.masks[0],) * 2
    written = Prompt(torch.as_tensor(np.random.default_rng(1).integers(4, size=6)), 4)
    exact = outputs(model, written, Q).tolist()
    assert any(max(map(abs, row)) > 0 for row in exact)
    wanted = [[P.number(int(e.p), int(e.q)) for e in row] for row in exact]
    assert outputs(model, written, P).tolist() == wanted


@masked
@pytest.mark.parametrize("scale", [0.1, 1.0, 3.0])
def test_balls_enclose_softmax_attention(mask, scale):
    model = positioned("softmax", mask, scale)
    written = Prompt(torch.as_tensor(np.random.default_rng(0).integers(4, size=6)), 4)
    found = model.run(written).tolist()
    for precision, widest in ((24, 1e-2), (200, 2.0**-150)):
        with Ball.precision(precision):
            enclosed = outputs(model, written, Ball()).tolist()
            for row, balls in zip(found, enclosed, strict=True):
                for value, ball in zip(row, balls, strict=True):
                    assert ball.rad() < widest
                    # Numbers of up to 2^8 in float64, a few dozen roundings of each.
                    assert abs(arb(value) - ball.mid()) <= ball.rad() + 2.0**-53 * 2**14
    with Ball.precision(400):
        finer = outputs(model, written, Ball()).tolist()
    for balls, narrow in zip(enclosed, finer, strict=True):
        assert all(ball.contains(value) for ball, value in zip(balls, narrow, strict=True))


def test_a_softmax_of_known_scores():
    """Weights 1 : e : e² of the values 0, 1, 2, and the first token alone with itself."""
    stream = Stream(x=1, out=1)
    x = stream.read("x")
    model = plain(
        embed(stream, x={"x": 1.0}),
        [block(stream, [Head(one, x, x, "out")], normalise="softmax", mask="strictly causal")],
        unembed(stream, stream.read("out")),
        stream,
    )
    with Ball.precision(100):
        written = entered([[arb(value)] for value in (0, 1, 2, 7)])
        first, second, third, last = (row[0] for row in outputs(model, written, Ball()).tolist())
        e = arb(1).exp()
        assert (first, second) == (0, 0)
        assert third.overlaps(e / (1 + e))
        assert last.overlaps((e + 2 * e**2) / (1 + e + e**2))
        assert last.rad() < 2.0**-90


@pytest.mark.parametrize("scale", [1 / math.sqrt(3), 2.0])
def test_the_scale_is_read_exactly(scale):
    model = copy.deepcopy(gradient_descent(1, 1, 1.0))
    model.blocks[0].attn.scale = scale
    x, y, q = prompt(np.random.default_rng(1), 3, 1)
    exact = fmpq(*scale.as_integer_ratio())
    assert predict(model, Q, x, y, q) == [exact * q[0, 0] * (x[:, 0] @ y)]


def test_weights_of_a_trained_model_can_be_read():
    model = copy.deepcopy(MODELS["direct"])
    for weights in model.parameters():
        weights.requires_grad_(True)
    x, y, q = prompt(np.random.default_rng(1), 3, 2)
    assert predict(model, Q, x, y, q) == predict(MODELS["direct"], Q, x, y, q)


@pytest.mark.parametrize("part", ["W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K"])
def test_a_broken_pair_of_relu_heads_is_refused(part):
    model = copy.deepcopy(MODELS["paper"])
    getattr(model.blocks[3].attn, part)[1, 0] += 1
    x, y, q = filled(P.number(2), 3, 2)
    assert predict(MODELS["paper"], P, x, y, q)
    with rejects("layer 4", "1", error=NotPolynomial):
        predict(model, P, x, y, q)


def test_equal_signs_are_not_a_pair():
    """The printed proof: relu(s)·v + relu(−s)·v = |s|·v."""
    model = copy.deepcopy(MODELS["paper"])
    model.blocks[1].attn.W_O[1] *= -1
    x, y, q = filled(P.number(2), 3, 2)
    with rejects("layer 2", "1", error=NotPolynomial):
        predict(model, P, x, y, q)


@pytest.mark.parametrize("part", ["W_in", "b_in", "W_out"])
def test_a_broken_pair_of_mlp_units_is_refused(part):
    model = copy.deepcopy(MODELS["paper"])
    layer = next(i for i, block in enumerate(model.blocks) if block.mlp is not None)
    weights = getattr(model.blocks[layer].mlp, part)
    weights[(0,) * weights.ndim] += 1
    x, y, q = filled(P.number(2), 3, 2)
    with rejects(f"layer {layer + 1}", "1", error=NotPolynomial):
        predict(model, P, x, y, q)


def test_a_ball_that_may_be_equal_to_the_largest_score_is_not_decided():
    ball = arb(0.5, 0.5)
    end = ball.upper()
    assert ball <= end
    assert _hardmax([end + 1, ball], Ball()) == [1, 0]
    with rejects("precision", error=NotPolynomial):
        _hardmax([end, ball], Ball())
