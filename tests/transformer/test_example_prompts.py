"""Prompts of examples and queries: the encoders, and how all models that read them are called."""

import copy
import re

import numpy as np
import pytest
import torch
from exact import array, fractions
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions import chebyshev, examples, gradient_descent, newton, online_gradient_descent

RNG = np.random.default_rng(0)
X, Y, Q = RNG.normal(size=(5, 2)), RNG.normal(size=5), RNG.normal(size=(3, 2))
MODELS = {
    "direct": newton(2, 2, 2.0**-6),
    "ladder": newton(2, 3, 2.0**-6, "ladder", start="identity"),
    "paper": newton(2, 1, 2.0**-6, "paper", n=5),
    "interleaved": newton(2, 1, 2.0**-6, interleaved=True),
    "descent": gradient_descent(2, 3, 2.0**-4),
    "online": online_gradient_descent(2, 6),
    "chebyshev": chebyshev(2, 3, 1.0, 9.0),
    "causal": gradient_descent(2, 3, 2.0**-4, causal=True),
}
one_answer = pytest.mark.parametrize("name", [name for name in MODELS if name != "causal"])
every = pytest.mark.parametrize("name", MODELS)


def test_packed():
    tokens, n, answers = examples.packed(np, X, Y, Q)
    assert (n, answers) == (5, slice(5, None))
    assert np.array_equal(tokens, np.vstack([np.c_[X, Y], np.c_[Q, np.zeros(3)]]))


def test_interleaved():
    tokens, n, answers = examples.interleaved(np, X, Y, Q[:1])
    assert (n, answers) == (10, slice(-1, None))
    rows = []
    for i in range(5):
        rows += [[*X[i], 0], [0, 0, Y[i]]]
    rows.append([*Q[0], 0])
    places = [[t, t * t, (-1) ** t] for t in range(11)]
    assert np.array_equal(tokens, np.hstack([rows, places]))


def test_alternating():
    tokens, n, answers = examples.alternating(np, X, Y, Q[:1])
    assert (n, answers) == (11, slice(0, None, 2))
    assert np.array_equal(tokens[::2], np.vstack([X, Q[:1]]))
    assert np.array_equal(tokens[1::2], np.c_[Y, np.zeros(5)])


def test_shifted():
    tokens, n, read = examples.shifted(np, X, Y, Q[:1])
    asks, answers = np.vstack([X, Q[:1]]), np.vstack([np.zeros(2), X])
    assert (n, read) == (6, slice(None))
    assert np.array_equal(tokens, np.c_[asks, answers, np.r_[0, Y]])


def test_fitted():
    x = X.copy()
    x[2] = 0
    tokens, n, _ = examples.fitted(np, x, Y, Q)
    keys = [row / (row @ row) if row.any() else row for row in x]
    assert n == 6
    assert np.array_equal(tokens[0], np.zeros(5))
    assert np.allclose(tokens[1:6], np.c_[x, keys, Y], rtol=4 * np.finfo(float).eps, atol=0)
    assert np.array_equal(tokens[6:], np.c_[Q, np.zeros((3, 3))])


@pytest.mark.parametrize(
    "encode",
    [
        *(examples.packed, examples.interleaved, examples.alternating),
        *(examples.shifted, examples.fitted, examples.measured),
    ],
)
@pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
def test_torch_numpy_and_exact_tokens_agree(encode, leading):
    rng = np.random.default_rng(1)
    shapes = (4, 2), (4,), (1, 2)
    entries = [fractions(rng, *leading, *shape) for shape in shapes]
    exact, *rest = encode(np, *entries)
    floats = [a.astype(np.float64) for a in entries]
    for xp, read in ((np, np.asarray), (torch, torch.as_tensor)):
        tokens, *other = encode(xp, *map(read, floats))
        assert other == rest
        # At most the division by ‖x‖² and the two roundings of its inputs.
        assert np.allclose(
            np.asarray(tokens), exact.astype(np.float64), rtol=10 * np.finfo(float).eps, atol=0
        )


def test_fitted_keys_are_exact_in_an_exact_type():
    x = array([fmpq(1), fmpq(2), fmpq(0), fmpq(0)], 2, 2)
    tokens, *_ = examples.fitted(np, x, array([fmpq(1), fmpq(1)], 2), x[:1])
    assert tokens[1, 2:4].tolist() == [fmpq(1, 5), fmpq(2, 5)]
    assert tokens[2, 2:4].tolist() == [0, 0]


def one_by_one(model, x, y, q):
    """Every prompt and query in a call of its own."""
    leading = np.broadcast_shapes(x.shape[:-2], q.shape[:-1])
    x = np.broadcast_to(x, (*leading, *x.shape[-2:]))
    y = np.broadcast_to(y, (*leading, y.shape[-1]))
    q = np.broadcast_to(q, (*leading, q.shape[-1]))
    answers = [model(x[i], y[i], q[i]).numpy() for i in np.ndindex(*leading)]
    return np.reshape(answers, (*leading, *answers[0].shape))


@every
@settings(max_examples=20)
@given(
    st.lists(st.integers(1, 3), max_size=2),
    st.lists(st.integers(1, 3), max_size=1),
    st.integers(0, 2),
)
@pytest.mark.filterwarnings("ignore::theory.kinds.OutsideHypotheses")
def test_leading_dimensions_broadcast(name, leading, further, dropped):
    """x (…, n, d) with x_query (…, d), (m, …, d), or fewer or singleton leading dimensions."""
    model, rng = MODELS[name], np.random.default_rng(0)
    x, y = rng.normal(size=(*leading, 5, 2)), rng.normal(size=(*leading, 5))
    own = leading if further else [1] * min(dropped, len(leading)) + leading[dropped:]
    q = rng.normal(size=(*further, *own, 2))
    answers, wanted = model(x, y, q).numpy(), one_by_one(model, x, y, q)
    assert answers.shape == wanted.shape
    # The same sums in another order; all numbers here are of order 1 to 100.
    assert np.allclose(answers, wanted, rtol=0, atol=1e-12 * max(1, np.abs(wanted).max()))


@one_answer
def test_shapes_named_in_the_documentation(name):
    model, rng = MODELS[name], np.random.default_rng(2)
    many = rng.normal(size=(4, 5, 2)), rng.normal(size=(4, 5))
    assert model(*many, rng.normal(size=(2, 7, 4, 2))).shape == (2, 7, 4)
    assert model(*many, rng.normal(size=(7, 1, 2))).shape == (7, 4)
    assert model(X, Y, np.zeros((0, 2))).shape == (0,)


@every
@pytest.mark.filterwarnings("ignore::theory.kinds.OutsideHypotheses")
def test_inputs_may_be_lists_arrays_or_tensors(name):
    model = MODELS[name]
    wanted = model(torch.tensor(X), torch.tensor(Y), torch.tensor(Q[0]))
    for read in (np.asarray, np.ndarray.tolist, lambda a: torch.tensor(a, requires_grad=True)):
        assert torch.equal(model(read(X), read(Y), read(Q[0])), wanted)
    frozen = X.copy()
    frozen.flags.writeable = False
    assert torch.equal(model(frozen, Y, Q[0]), wanted)
    assert torch.equal(model(X[::-1][::-1], Y, Q[0]), wanted)
    backwards = model(X[::-1], Y[::-1], Q[0])
    assert torch.equal(backwards, model(X[::-1].copy(), Y[::-1].copy(), Q[0]))
    whole = model([[1, 2]] * 5, [1] * 5, [3, 4])
    assert whole.dtype == torch.float64


@every
def test_inputs_are_left_alone(name):
    x, y, q = (torch.tensor(a) for a in (X, Y, Q[0]))
    MODELS[name](x, y, q)
    assert torch.equal(x, torch.tensor(X))
    assert torch.equal(y, torch.tensor(Y))
    assert torch.equal(q, torch.tensor(Q[0]))


@every
def test_a_float32_model_answers_in_float32(name):
    assert copy.deepcopy(MODELS[name]).float()(X, Y, Q[0]).dtype == torch.float32


@every
def test_printing_says_what_the_layers_do(name):
    text = str(MODELS[name])
    assert re.search(r"query .*, key .*, value .* → ", text)
    counted = sum(
        int(last or first) - int(first) + 1
        for first, last in re.findall(r"\n  layers? (\d+)(?:–(\d+), each)?", text)
    )
    assert counted == MODELS[name].n_layers
    for word in (MODELS[name].name, MODELS[name].source, str(MODELS[name].stream)):
        assert word in text


@every
def test_the_name_is_the_call_that_builds_it(name):
    functions = (newton, gradient_descent, online_gradient_descent, chebyshev)
    model = MODELS[name]
    rebuilt = eval(model.name, {function.__name__: function for function in functions})
    assert all(
        torch.equal(a, b) for a, b in zip(model.parameters(), rebuilt.parameters(), strict=True)
    )
    assert rebuilt.name == model.name


def test_the_name_keeps_every_digit_of_alpha():
    alpha = 1 / 3000007
    assert eval(newton(2, 1, alpha).name, {"newton": newton}).blocks[0].attn.W_O.max() == alpha


@every
@pytest.mark.parametrize(
    ("x", "y", "q", "named"),
    [
        (X[0], Y, Q[0], "x"),
        (X, Y[:4], Q[0], "y"),
        (X[None], Y, Q[0], "y"),
        (X, Y, Q[0, :1], "x_query"),
        (X[:, :1], Y, Q[0, :1], "d"),
        (X[:0], Y[:0], Q[0], "x"),
        (X * np.nan, Y, Q[0], "x"),
        (X, Y * np.inf, Q[0], "y"),
        (X, Y, Q[0] * np.nan, "x_query"),
        (np.stack([X] * 2), np.stack([Y] * 2), Q, "x_query"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(name, x, y, q, named):
    with rejects(named):
        MODELS[name](x, y, q)


def test_a_model_with_n_in_its_weights_refuses_other_prompts():
    with rejects("x", "4", "5"):
        MODELS["paper"](X[:4], Y[:4], Q[0])
    with rejects("x", "7", "6"):
        MODELS["online"](np.ones((7, 2)), np.ones(7), Q[0])
