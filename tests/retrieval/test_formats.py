"""Bits and ranges: the dtypes in which models are exact, and those that are rejected."""

import math

import numpy as np
import pytest
import torch
from refusals import rejects
from token_models import MODELS, a_model, attends_to_one, prompts

from constructions import broad_average, hop, induction_heads, skip_gram
from constructions.exactness import exact_in, hardmax_numbers, stream_quantum
from constructions.structures import sort

every = pytest.mark.parametrize("name", MODELS)


FORMATS = {
    torch.bfloat16: (8, 3.38e38, 2.0**-126),
    torch.float16: (11, 65504.0, 2.0**-14),
    torch.float32: (24, 3.40e38, 2.0**-126),
    torch.float64: (53, 1.79e308, 2.0**-1022),
}
SHORT = {
    **{name: (build, 3, 9) for name, build in MODELS.items()},
    "8 symbols": (MODELS["latest, self"], 8, 33),
    "8 symbols, six hops": (MODELS["six hops"], 8, 33),
    "8 symbols, trigram": (MODELS["trigram"], 8, 33),
    "300 tokens": (MODELS["latest"], 8, 300),
    "300 tokens, six hops": (MODELS["six hops"], 8, 300),
}


def fits(exactness, dtype):
    bits, largest, smallest = FORMATS[dtype]
    return exactness.fits(bits, largest, smallest)


@pytest.mark.parametrize("name", SHORT)
def test_the_shortest_floats_that_fit_are_exact(name):
    build, V, n = SHORT[name]
    model = build(V, n)
    dtype = next(dtype for dtype in FORMATS if fits(exact_in(model), dtype))
    short, tokens = build(V, n).to(dtype), prompts(model)[::7]
    one_each = attends_to_one(model)
    n_examples = model.interface.n_examples
    streams = zip(model.streams(tokens), short.streams(tokens), strict=True)
    for i, (H, G) in enumerate(streams):
        assert G.dtype == dtype
        if one_each:
            assert torch.equal(G.double(), H)
        if i < model.n_layers:
            patterns = (
                m.blocks[i].attn.pattern(S, n_examples) for m, S in ((model, H), (short, G))
            )
            attended, also = (pattern > 0 for pattern in patterns)
            assert torch.equal(attended, also)
    assert torch.equal(short(tokens), model(tokens))


def significant_bits(numbers):
    """The most bits of significand that any of these numbers needs."""
    mantissas, _ = np.frexp(numbers.numpy())
    whole = (mantissas * 2.0**53).astype(np.int64)
    zeros = np.log2((whole & -whole)[whole != 0])
    return int(53 - zeros.min(initial=53))


def partial_sums(left, right):
    """All partial sums, in order, of the products of rows (…, m, d) and columns (…, d, k)."""
    return (left.unsqueeze(-1) * right.unsqueeze(-3)).cumsum(-2)


@every
@pytest.mark.parametrize(("V", "n"), [(3, 9), (8, 33)])
def test_the_bits_suffice_for_every_partial_sum_and_are_not_many_more(name, V, n):
    model = a_model(name, V, n)
    one_each = attends_to_one(model)
    tokens, numbers = prompts(model)[::4], []
    for block, H in zip(model.blocks, model.streams(tokens), strict=False):
        attn, examples = block.attn, H[:, : model.interface.n_examples or None]
        attended = H if attn.masks[0] != "context-only" else examples
        for h in range(attn.n_heads):
            Q = partial_sums(H, attn.W_Q[h])
            K, V_ = partial_sums(attended, attn.W_K[h]), partial_sums(attended, attn.W_V[h])
            q, k = Q[..., -1, :] + attn.b_Q[h], K[..., -1, :] + attn.b_K[h]
            numbers += [H, Q, K, V_, q, k, partial_sums(q, k.transpose(-1, -2))]
    if one_each:
        *_, H = model.streams(tokens)
        numbers += [H, partial_sums(H, model.unembed.W_U), model.logits(tokens)]
    needed = max(map(significant_bits, numbers))
    largest = max(float(part.abs().max()) for part in numbers)
    exact = exact_in(model)
    assert needed <= max(1, exact.bits)
    # That at most one entry of a one-hot code is not 0 is not known to the bound.
    if not one_each:  # frequencies 1/T apart, and two bits to keep them apart
        needed = max(needed, math.ceil(math.log2(4 * model.interface.context)))
    assert exact.bits <= needed + (6 if name == "skip-gram" else 3)
    assert largest <= exact.largest <= 8 * largest


def test_averages_in_a_format_too_short_to_count_in_are_not_called_exact():
    model = broad_average(2, 599)
    tokens = [0] * 299 + [1] * 300
    assert int(model(tokens)[-1]) == 1
    assert exact_in(model).bits > 8
    with rejects("12 bits", "bfloat16", "8", "float32"):
        model.to(torch.bfloat16)


@pytest.mark.parametrize(
    ("build", "dtype", "names"),
    [
        (
            lambda: induction_heads(8, 2000),
            torch.float16,
            ("13 bits", "0.5", "50144", "float16", "11 bits", "6.1e-05", "6.55e+04", "float32"),
        ),
        (lambda: hop(3, 8, 300), torch.bfloat16, ("bfloat16", "8", "float32")),
        (lambda: skip_gram(0.1 * np.eye(3), 9), torch.float32, ("54 bits", "float64")),
        # Few bits, but below the normal numbers of the format.
        (lambda: skip_gram(2.0**-30 * np.eye(3), 9), torch.float16, ("9.31323e-10", "1")),
        (lambda: skip_gram(2.0**16 * np.eye(3), 9), torch.float16, ("6 bits", "196608")),
    ],
    ids=["scores", "pointers", "a table", "too small", "too large"],
)
def test_no_model_goes_to_a_format_in_which_it_could_answer_wrongly(build, dtype, names):
    model = build()
    before = [weights.clone() for weights in model.parameters()]
    with rejects(*names):
        model.to(dtype)
    with rejects(*names):  # nor as a part of something
        torch.nn.Sequential(model).to(dtype)
    assert all(map(torch.equal, before, model.parameters()))
    assert model.double() is model


def test_the_limit_of_a_format_is_its_own_up_to_the_last_token():
    """At the longest exact length a model is converted and right, one token more and it is not."""
    n = 681
    induction_heads(8, n).half()
    with rejects("float16", "11"):
        induction_heads(8, n + 1).half()


def test_what_linear_heads_add_is_a_multiple_of_their_scale():
    """Entries 0 or 1 of a table, times integers, times a quarter."""
    model = skip_gram(np.eye(2), 9)
    (attn,) = model.attentions
    attn.normalise, attn.scale = "linear", 0.25
    *_, H = model.streams([0, 1, 1])
    assert H[-1, model.stream["attended"]].tolist() == [0, 0.5]
    assert H[0, model.stream["attended"]].tolist() == [0.25, 0]
    assert stream_quantum(model) == 0.25


def test_relu_heads_are_exact_in_no_format_and_rejected():
    for ask in (exact_in, hardmax_numbers):
        with rejects("layer 1", "sort"):
            ask(sort(2))


def test_weights_that_are_assigned_keep_their_dtype_only_if_answers_stay_right():
    model, tokens = induction_heads(8, 700), np.arange(700) % 7
    answers = model(tokens)
    short = {name: each.to(torch.bfloat16) for name, each in model.state_dict().items()}
    with rejects("bfloat16"):
        model.load_state_dict(short, assign=True)
    assert model.like.dtype == torch.float64
    single = {name: each.to(torch.float32) for name, each in model.state_dict().items()}
    model.load_state_dict(single, assign=True)
    assert model.like.dtype == torch.float32
    assert torch.equal(model(tokens), answers)
