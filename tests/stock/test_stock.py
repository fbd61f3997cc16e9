"""Our models inside torch's own encoder: answers, bounds, registers, and errors."""

from copy import deepcopy
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from refusals import rejects
from torch import nn

from constructions import (
    chebyshev,
    composition,
    gradient_descent,
    hop,
    hyperpower,
    induction_heads,
    linear_adder,
    modern_hopfield_update,
    nearest_neighbour,
    newton,
    newton_with_pauses,
    previous_token,
    tripling,
    turing_machine,
)
from constructions.blocks import MLP
from constructions.exactness import hardmax_numbers
from constructions.memory import hebbian_attention
from constructions.stock import Gadgets, to_encoder
from constructions.stock.bound import prompts_bound
from constructions.stock.gadgets import chosen
from constructions.stock.softened import tokens_read
from constructions.stock.translated import measured
from theory.computation import MACHINES
from theory.graphs import path

RNG = np.random.default_rng(0)
D, N, K = 2, 5, 2
X, Y, Q = RNG.normal(size=(6, N, D)), RNG.normal(size=(6, N)), RNG.normal(size=(6, D))
OVER_EXAMPLES = {
    "descent": gradient_descent(D, K, 2.0**-5),
    "causal descent": gradient_descent(D, K, 2.0**-5, causal=True),
    "newton": newton(D, K, 2.0**-10),
    "causal newton": newton(D, 1, 2.0**-10, causal=True),
    "with pauses": newton_with_pauses(D, K, 2.0**-5),
    "ladder": newton(D, K, 2.0**-10, "ladder"),
    "chebyshev": chebyshev(D, 4, 1.0, 30.0),
    "hyperpower": hyperpower(D, 1, 3, 2.0**-10),
}
HOP = hop(3, 4, 12)
OVER_TOKENS = {
    "induction": induction_heads(4, 12),
    "hop": HOP,
    "composition": composition(3),
    "previous": previous_token(3, 6),
    "turing": turing_machine(MACHINES["busy-beaver-2"], 6),
    "addressed": turing_machine(MACHINES["busy-beaver-2"], 6, addressed=True),
}


def tokens_for(model):
    faces = model.interface
    length = faces.length or faces.max_length
    most = min(slot.stop for slot in faces.slots) if faces.slots else faces.vocabulary_size
    return RNG.integers(0, most, (20, length))


def largest_at_norms(stock, *inputs):
    """The largest ‖v‖² at norms; behind the last heads, only of answered tokens."""
    seen, answers = [], stock.prompt(*inputs).answers
    attends = [block.attn is not None for block in stock.plan.soft.blocks]
    last = 2 * max(i for i, heads in enumerate(attends) if heads)  # the norm before the last heads

    def look(_, given):
        v = stock.doubled.back(given[0]).double()
        if len(seen) > last:
            v = v[..., answers, :]
        seen.append(float((v**2).sum(-1).max()))

    norms = [norm for layer in stock.module.layers for norm in (layer.norm1, layer.norm2)]
    hooks = [norm.register_forward_pre_hook(look) for norm in norms]
    list(stock.streams(*inputs))  # with hooks torch takes no path around its norms
    for hook in hooks:
        hook.remove()
    assert len(seen) == len(norms)
    return max(seen)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", OVER_EXAMPLES)
def test_answers_are_within_their_bound(name, dtype):
    model = OVER_EXAMPLES[name]
    stock, wanted = to_encoder(model, X, Y, Q, dtype=dtype), model(X, Y, Q)
    off, bound = (stock(X, Y, Q).double() - wanted).abs(), stock.bound(X, Y, Q)
    assert (off <= bound).all()
    assert bound.max() < (1e-8 if dtype == torch.float64 else 0.2)
    assert largest_at_norms(stock, X, Y, Q) <= stock.plan.square * 1.001
    assert type(stock.module) is nn.TransformerEncoder
    assert {type(layer) for layer in stock.module.layers} == {nn.TransformerEncoderLayer}
    assert len(stock.module.layers) == stock.n_layers == model.n_layers
    assert next(stock.module.parameters()).dtype == dtype


@pytest.mark.parametrize("name", [*OVER_EXAMPLES, *OVER_TOKENS])
def test_no_answer_depends_on_tokens_that_are_not_read(name):
    model = OVER_EXAMPLES.get(name) or OVER_TOKENS[name]
    prompt = model.prompt(*((X, Y, Q) if name in OVER_EXAMPLES else (tokens_for(model),)))
    stream, read = list(model.residual_stream(prompt)), tokens_read(model, prompt)
    wanted = model.unembedding(stream[-1])[..., prompt.answers, :]
    counted = 0
    for number, (H, rows) in enumerate(zip(stream[1:], read, strict=True), start=1):
        changed = H + 1000.0
        changed[..., rows, :] = H[..., rows, :]
        counted += int((changed != H).any())
        for block in model.blocks[number:]:
            changed = block(changed, prompt.n_examples)
        assert torch.equal(model.unembedding(changed)[..., prompt.answers, :], wanted)
    if name in OVER_EXAMPLES:  # only models that predict from every prefix answer at examples
        assert (counted > 0) == (not model.interface.every_prefix)


def test_only_scores_of_tokens_that_are_read_count():
    """A far pause token or example has large scores in the last layer, and no answer needs them."""
    model, large = OVER_EXAMPLES["with pauses"], 64.0
    sizes, _ = measured(model, X, Y, Q)
    stream = list(model.residual_stream(model.prompt(X, Y, Q)))
    u, x = (stream[-2][..., model.stream[name]] for name in "ux")
    scores = (u @ x.mT).abs()
    assert sizes[-1][0] == pytest.approx(float(scores[..., -1, :].max()), rel=1e-12, abs=0)
    assert sizes[-1][0] < float(scores.max()) / 4
    # Inputs for which no other token may count in bounds.
    for dtype in (torch.float64, torch.float32):
        inputs = X, Y, Q / large
        stock = to_encoder(model, *inputs, dtype=dtype)
        off, bound = (stock(*inputs).double() - model(*inputs)).abs(), stock.bound(*inputs)
        assert (off <= bound).all()
        assert bound.max() < (1e-9 if dtype == torch.float64 else 0.05)


def test_prompts_without_queries_are_rejected():
    with rejects("query"):
        to_encoder(OVER_EXAMPLES["newton"], X, Y, np.ones((0, *Q.shape)))


UNUSUAL = {
    "no targets": (X, 0 * Y, Q),
    "no query": (X, Y, 0 * Q),
    "large targets": (X, 1e6 * Y, Q),
    "small inputs": (1e-4 * X, Y, 1e-4 * Q),
    "one large example": (np.where(np.arange(N)[:, None] == 0, 20.0, 1.0) * X, Y, Q),
}
TOO_LARGE = {
    ("newton", "large targets"),
    ("descent", "large targets"),
    ("newton", "one large example"),
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", UNUSUAL)
@pytest.mark.filterwarnings("ignore::theory.kinds.OutsideHypotheses")
def test_small_numbers_beside_large_ones_are_bounded(name, dtype):
    """A layer norm rounds at the size of the error of its mean, not of its input."""
    for which in ("newton", "descent"):
        model = OVER_EXAMPLES[which]
        if dtype == torch.float32 and (which, name) in TOO_LARGE:
            with rejects("bound", "float64"):  # errors are as large as the numbers
                to_encoder(model, *UNUSUAL[name], dtype=dtype)
            continue
        stock = to_encoder(model, *UNUSUAL[name], dtype=dtype)
        off = (stock(*UNUSUAL[name]).double() - model(*UNUSUAL[name])).abs()
        assert (off <= stock.bound(*UNUSUAL[name])).all()


@pytest.mark.parametrize("times", [3.0, 30.0])
@pytest.mark.filterwarnings("ignore::theory.kinds.OutsideHypotheses")
def test_larger_inputs_than_it_was_made_for_are_bounded_or_said_to_be_unknown(times):
    for model in (OVER_EXAMPLES["newton"], OVER_EXAMPLES["descent"]):
        stock, others = to_encoder(model, X, Y, Q), (times * X, times * Y, times * Q)
        off, bound = (stock(*others) - model(*others)).abs(), stock.bound(*others)
        assert (off <= bound).all()  # no NaN
        assert (bound > stock.bound(X, Y, Q)).all()


@pytest.mark.parametrize("name", OVER_TOKENS)
def test_answers_over_tokens_are_those_of_hardmax(name):
    model = OVER_TOKENS[name]
    stock, tokens = to_encoder(model), tokens_for(model)
    assert torch.equal(stock(tokens), model(tokens))
    assert (stock.logits(tokens) - model.logits(tokens)).abs().max() <= stock.bound() < 1e-11
    assert largest_at_norms(stock, tokens) <= stock.plan.square
    in_float32 = to_encoder(model, dtype=torch.float32)
    assert torch.equal(in_float32(tokens), model(tokens))
    off = (in_float32.logits(tokens).double() - model.logits(tokens)).abs().max()
    assert off <= in_float32.bound() < model.interface.margin / 2


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["induction", "hop", "composition", "previous"])
def test_short_formats_restore_the_numbers_of_the_hardmax_pass(name, dtype):
    model = OVER_TOKENS[name]
    stock, tokens = to_encoder(model, dtype=dtype), tokens_for(model)
    assert stock.logits(tokens).dtype == dtype
    assert torch.equal(stock(tokens), model(tokens))
    off = (stock.logits(tokens).double() - model.logits(tokens)).abs().max()
    assert off <= stock.bound() < 1e-4
    for H, v in zip(model.streams(tokens), stock.streams(tokens), strict=True):
        there = H != 0  # what is not 0 is restored, and the rest is small
        v = v[..., : model.d_model].double()
        assert torch.equal(v[there], H[there])
        assert v[~there].abs().max() < 1e-4


def test_what_is_off_by_half_a_roundoff_is_restored_in_every_number_of_float16():
    y = torch.arange(1, 0x7C00, dtype=torch.int16).view(torch.float16)
    y = y[y >= torch.finfo(torch.float16).smallest_normal]
    for share in (-(2.0**-12), 2.0**-12):
        assert torch.equal((y.double() * (1 + 0.999 * share)).half(), y)
    assert not torch.equal((y.double() * (1 + 1.01 * 2.0**-11)).half(), y)


def test_multiples_of_less_than_the_least_normal_number_are_refused():
    """A head with small values and a large W_O: the numbers of the stream are not small."""
    least, tokens = torch.finfo(torch.float16).smallest_normal, np.array([[2, 0, 1, 1, 2, 0]])

    def carrying(times):
        model = previous_token(3, 6)
        (attn,) = model.attentions
        attn.W_V.mul_(times)
        attn.W_O.div_(times)
        return model

    model = carrying(least)
    assert torch.equal(to_encoder(model, dtype=torch.float16)(tokens), model(tokens))
    with rejects("float16"):
        to_encoder(carrying(least / 2), dtype=torch.float16)


def test_tokens_that_compare_themselves_with_themselves_count_as_long():
    """Their registers mark all other positions at each position."""
    model = previous_token(3, 60)
    model.pos_embed.W_pos.zero_()
    (attn,) = model.attentions
    attn.masks, tokens = ("diagonal",), RNG.integers(0, 3, (2, 60))
    stock = to_encoder(model)
    assert torch.equal(stock.logits(tokens).argmax(-1), model.logits(tokens).argmax(-1))
    assert 60 < largest_at_norms(stock, tokens) <= stock.plan.square < 80


def test_answers_over_tokens_are_sure_whatever_error_is_allowed():
    for dtype in (torch.float64, torch.float16):
        stock = to_encoder(HOP, error=100.0, dtype=dtype)
        assert stock.bound() < HOP.interface.margin / 2


def test_what_norms_see_within_a_layer_counts():
    """A head writes large numbers and the MLP makes them small: the norm between counts."""
    model, large = gradient_descent(D, 1, 2.0**-5), 2.0**10
    model.attentions[0].W_O.mul_(large)
    into = torch.zeros(model.d_model, 2, dtype=torch.float64)
    into[model.stream["e"]] = torch.tensor([1.0, -1.0], dtype=torch.float64)
    out = (1 / large - 1) * into.T
    model.blocks[0].mlp = MLP(
        into, torch.zeros(2).double(), out, torch.zeros(model.d_model).double()
    )
    ends = max(float((H**2).sum(-1).max()) for H in model.streams(X, Y, Q))
    stock = to_encoder(model, X, Y, Q)
    assert 100 * ends < largest_at_norms(stock, X, Y, Q) <= stock.plan.square * 1.001
    assert ((stock(X, Y, Q) - model(X, Y, Q)).abs() <= stock.bound(X, Y, Q)).all()


@pytest.mark.parametrize("name", ["newton", "ladder", "causal descent"])
def test_registers_are_half_the_difference_of_the_copies(name):
    model = OVER_EXAMPLES[name]
    stock = to_encoder(model, X, Y, Q)
    ours, theirs = list(model.streams(X, Y, Q)), list(stock.streams(X, Y, Q))
    assert len(ours) == len(theirs)
    for H, v in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(v[..., 1:, : model.d_model], H, atol=1e-9)


def test_the_sink_stays_exactly_zero():
    """Any rest in it would be multiplied by e^C/δ in every layer."""
    model = OVER_EXAMPLES["newton"]
    for dtype in (torch.float64, torch.float32):
        for v in to_encoder(model, X, Y, Q, dtype=dtype).streams(X, Y, Q):
            assert not v[..., 0, : model.d_model].any()


def test_biases_of_an_mlp_do_not_reach_the_sink():
    model = gradient_descent(D, K, 2.0**-5)
    W_in, W_out = (torch.as_tensor(RNG.normal(size=s)) for s in ((model.d_model, 3), (3, 1)))
    b_in, b_out = torch.tensor([2.0, -1.0, 0.5]), torch.full((model.d_model,), 0.25)
    into = W_out.expand(3, model.d_model)
    model.blocks[0].mlp = MLP(W_in, b_in.double(), into.clone(), b_out.double())
    stock = to_encoder(model, X, Y, Q)
    assert ((stock(X, Y, Q) - model(X, Y, Q)).abs() <= stock.bound(X, Y, Q)).all()
    for v in stock.streams(X, Y, Q):
        assert not v[..., 0, : model.d_model].any()


def test_leading_dimensions_and_further_queries_are_the_originals():
    model = OVER_EXAMPLES["descent"]
    stock = to_encoder(model, X, Y, Q)
    queries = RNG.normal(size=(3, 6, D))
    x, y = X.reshape(2, 3, N, D), Y.reshape(2, 3, N)
    assert stock(X, Y, queries).shape == model(X, Y, queries).shape == (3, 6)
    np.testing.assert_allclose(stock(X, Y, queries), model(X, Y, queries), atol=1e-9)
    np.testing.assert_allclose(
        stock(x, y, Q.reshape(2, 3, D)), model(X, Y, Q).reshape(2, 3), atol=1e-9
    )
    np.testing.assert_allclose(stock(X[0], Y[0], Q[0]), model(X[0], Y[0], Q[0]), atol=1e-9)


def test_an_error_is_allowed_for_connected_pairs_of_unconnected_nodes():
    """The outputs of `tripling` are integers, so that an error below ½ changes no answer."""
    model, A = tripling(5, 1), path(5)
    A[2, 3] = A[3, 2] = 0
    stock = to_encoder(model, A, error=1e-4)
    assert (stock(A) == model(A)).all()
    assert (stock.logits(A) - model.logits(A)).abs().max() < 1e-4
    assert not stock.bound(A).any()


def test_the_least_order_that_is_sure_of_the_error_is_taken():
    model = OVER_EXAMPLES["newton"]
    orders = [
        to_encoder(model, X, Y, Q, error=error).plan.gadgets.order for error in (1e-6, 1e-9, 3e-11)
    ]
    assert orders == sorted(orders)
    assert orders[0] < orders[-1]


def test_the_angle_has_the_least_bound_and_errs_less_than_the_first_choice():
    """Which takes all scores for the largest, and so leaves too much to rounding."""
    model, rng = OVER_EXAMPLES["with pauses"], np.random.default_rng(2)
    x, y, q = rng.normal(size=(200, N, D)), rng.normal(size=(200, N)), rng.normal(size=(200, D))
    stock, wanted = to_encoder(model, x, y, q), model(x, y, q)
    plan = stock.plan
    first = chosen(plan.gadgets.order, torch.float64, N + 2, plan.square)
    assert plan.gadgets.theta == 2 * first.theta
    bounds, errors = [], []
    for theta in (first.theta, plan.gadgets.theta, 2 * plan.gadgets.theta):
        other = to_encoder(model, x, y, q, gadgets=replace(plan.gadgets, theta=theta))
        bounds.append(float(other.bound(x, y, q).max()))
        errors.append(float((other(x, y, q) - wanted).square().mean()))  # one is mostly rounding
    assert bounds[1] == min(bounds) < max(bounds)
    assert errors[1] < errors[0]


def test_a_smaller_angle_errs_less_until_rounding():
    model = OVER_EXAMPLES["descent"]
    errors = [
        float((to_encoder(model, X, Y, Q, gadgets=g)(X, Y, Q) - model(X, Y, Q)).abs().max())
        for g in (Gadgets(1, 2.0**-i, 60, 2.0**32, 1.0) for i in (2, 3, 4))
    ]
    ratios = np.array(errors[:-1]) / errors[1:]
    np.testing.assert_allclose(ratios, 4.0, rtol=0.1)


def test_a_larger_constant_of_the_norms_costs_digits_over_tokens_too():
    bounds = [
        prompts_bound(
            OVER_TOKENS["induction"], 40.0, Gadgets(1, 0.5, 8, K, 1.0), 1.0, torch.float32
        )
        for K in (2.0**20, 2.0**40)
    ]
    assert bounds[1] > 100 * bounds[0]


def test_the_hardmax_pass_is_made_once_however_many_sharpnesses_are_tried(monkeypatch):
    # At a million positions a pass takes a second, and thirteen sharpnesses are tried.
    passes = []

    def counted(model):
        passes.append(model.name)
        return hardmax_numbers(model)

    for module in ("exactness", "softmax", "stock.translated"):
        monkeypatch.setattr(f"constructions.{module}.hardmax_numbers", counted)
    for dtype, most in ((torch.float64, 2), (torch.bfloat16, 2)):  # `sharpened` makes the second
        passes.clear()
        to_encoder(OVER_TOKENS["induction"], dtype=dtype)
        assert 1 <= len(passes) <= most


def test_a_bound_that_overflows_says_nothing_and_is_no_nan():
    bound = to_encoder(OVER_EXAMPLES["newton"], X, Y, Q).bound(1e4 * X, 1e4 * Y, 1e4 * Q)
    assert not bound.isnan().any()
    assert bound.isinf().all()


def test_a_bound_for_answers_that_are_vectors():
    patterns = RNG.normal(size=(5, 3))
    model, states = modern_hopfield_update(patterns, 2.0), RNG.normal(size=(4, 3))
    stock = to_encoder(model, states)
    off, bound = (stock(states) - model(states)).abs(), stock.bound(states)
    assert off.shape == bound.shape == (4, 3)
    assert (off <= bound).all()
    assert bound.max() < 1e-11


@pytest.mark.parametrize(
    "memory", [modern_hopfield_update(np.eye(2), 1.0), hebbian_attention([[1, -1]])]
)
@pytest.mark.parametrize("own", [torch.float64, torch.float32], ids=str)
def test_the_original_stays_as_it_was(memory, own):
    """Patterns of a memory are weights of its interface, and biases have no part in norms."""
    adder, states = linear_adder(3), torch.ones(1, 2, dtype=own)
    for model, given in ((deepcopy(memory).to(own), states), (adder.to(own), [[1, 2]])):
        before, answers = deepcopy(model.state_dict()), model(given)
        stock = to_encoder(model, given, dtype=torch.float64)
        for weights in stock.parameters():
            weights.add_(1.0)
        assert all(torch.equal(W, before[name]) for name, W in model.state_dict().items())
        assert {W.dtype for W in model.state_dict().values()} == {own}
        assert torch.equal(model(given), answers)


def test_patterns_are_rounded_in_the_translation_only():
    states = [[0.3, 0.4]]
    model = modern_hopfield_update(RNG.normal(size=(3, 2)), 1.0)
    before = model(states)
    stock = to_encoder(model, states, dtype=torch.float16, error=0.5)
    assert torch.equal(model(states), before)
    assert {W.dtype for W in stock.parameters()} == {torch.float16}
    assert ((stock(states) - before).abs() <= stock.bound(states)).all()


@pytest.mark.parametrize(
    ("patterns", "steps", "error"),
    [
        ([[1, 1]], 2, 1e-9),
        ([[1, 1]], 10, 0.01),
        ([[1, 1, 1]], 1, 1e-7),
        ([[1, -1, 1, 1]] * 3, 2, 1e-4),
    ],
)
def test_errors_at_the_kinks_of_relus_are_in_the_bound(patterns, steps, error):
    """The field of a state can be 0, where the sign of a neuron turns on any error."""
    states = np.array([*product([-1, 1], repeat=len(patterns[0]))])
    model = hebbian_attention(patterns, steps)
    stock = to_encoder(model, states, error=error)
    off, bound = (stock(states) - model(states)).abs(), stock.bound(states)
    assert (off <= bound).all()
    assert bound.max() <= error


@pytest.mark.parametrize("scale", [16.0, 100.0, 1e4])
def test_keys_that_are_no_longer_masked_leave_no_bound(scale):
    model = nearest_neighbour(2, sharpness=2.0)
    stock = to_encoder(model, X, Y, Q)
    assert ((stock(X, Y, Q) - model(X, Y, Q)).abs() <= stock.bound(X, Y, Q)).all()
    larger = scale * X, Y, scale * Q
    off = (stock(*larger) - model(*larger)).abs()
    assert (off <= stock.bound(*larger)).all()


@pytest.mark.parametrize(
    ("model", "scale"),
    [
        (nearest_neighbour(2, sharpness=2.0), 1e4),
        (newton(2, 2, 0.01), 1e7),
        (gradient_descent(2, 3, 0.01), 1e7),
    ],
)
def test_queries_too_long_for_the_mask_are_refused(model, scale):
    """The score of a query with itself, which a mask hides, grows with its square."""
    to_encoder(model, X, Y, Q)
    with rejects("bound"):
        to_encoder(model, X, Y, scale * Q)
