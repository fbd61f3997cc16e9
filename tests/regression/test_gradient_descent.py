import numpy as np
import pytest
import torch
from exact import close_to_exact, gradient_descent_weights, predict, prompt, read, registers
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from constructions import gradient_descent
from verify.domains import Rational

Q = Rational()
sizes = {
    "d": st.integers(1, 3),
    "n": st.integers(1, 4),
    "k": st.integers(0, 7),
    "eta": st.sampled_from([0.25, 0.1, 5.0, 1e-200]),
    "seed": st.integers(0, 99),
}


def exactly(value):
    return fmpq(*value.as_integer_ratio())


@pytest.mark.parametrize("layout", ["direct", "ladder"])
@given(**sizes)
def test_equal_to_the_recursion_over_q(layout, d, n, k, eta, seed):
    k = max(k, layout == "ladder")
    x, y, q = prompt(np.random.default_rng(seed), n, d, 3)
    w = gradient_descent_weights(x, y, int(k), exactly(eta))
    assert predict(gradient_descent(d, int(k), eta, layout), Q, x, y, q) == (q @ w).tolist()


@given(**sizes)
def test_causal_is_a_run_of_its_own_on_every_prefix(d, n, k, eta, seed):
    x, y, q = prompt(np.random.default_rng(seed), n, d)
    inputs = [*x, *q]
    wanted = [
        inputs[t] @ gradient_descent_weights(x[:t], y[:t], k, exactly(eta)) for t in range(1, n + 1)
    ]
    assert predict(gradient_descent(d, k, eta, causal=True), Q, x, y, q) == [0, *wanted]


@given(d=sizes["d"], n=sizes["n"], k=st.integers(1, 7), seed=sizes["seed"])
def test_every_register_satisfies_its_layer_invariant(d, n, k, seed):
    x, y, q = prompt(np.random.default_rng(seed), n, d)
    for causal in (False, True):
        model = gradient_descent(d, k, 0.25, causal=causal)
        held = registers(model, Q, x, y, q)
        assert [stage.after for stage in model.stages] == list(range(1, k + 1))
        for stage in model.stages:
            w = gradient_descent_weights(x, y, stage.holds.power, fmpq(1, 4))
            register = fmpq(int(stage.times)) * held[stage.after][stage.register][:, 0]
            assert register[-1] == q[0] @ w
            if not causal:  # on examples e is the residual
                assert (-register[:n]).tolist() == (y - x @ w).tolist()


@pytest.mark.parametrize("options", [{}, {"layout": "ladder"}, {"causal": True}], ids=str)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_float64_is_within_its_rounding_bound(options, k):
    rng = np.random.default_rng(k)
    x, y, q = rng.normal(size=(4, 2)) / 4, rng.normal(size=4), rng.normal(size=2)
    model = gradient_descent(2, k, 2.0**-4, **options)
    rows = read(Q, x), read(Q, y), read(Q, q)[None]
    close_to_exact(model, x, y, q, lambda: predict(model, Q, *rows))


@pytest.mark.filterwarnings("ignore::theory.kinds.OutsideHypotheses")  # one step
def test_many_tokens_under_a_causal_mask():
    """More tokens than one block of the causal sum; integers keep one step exact."""
    rng = np.random.default_rng(0)
    n = 700
    x, y = rng.integers(-3, 4, (n, 2)).astype(float), rng.integers(-3, 4, n).astype(float)
    q = np.array([2.0, -1.0])
    predictions = gradient_descent(2, 1, 0.5, causal=True)(x, y, q).numpy()
    moments = 0.5 * np.vstack([np.zeros(2), np.cumsum(x * y[:, None], axis=0)])
    assert np.array_equal(predictions, (np.vstack([x, q]) * moments).sum(-1))


def test_only_the_causal_form_answers_at_every_prefix():
    assert not gradient_descent(2, 3, 0.5).interface.every_prefix
    assert gradient_descent(2, 3, 0.5, causal=True).interface.every_prefix


def test_no_steps_predict_zero():
    x, y, q = np.ones((3, 2)), np.ones(3), np.ones(2)
    assert gradient_descent(2, 0, 0.5)(x, y, q).item() == 0
    every_prefix = gradient_descent(2, 0, 0.5, causal=True)(x, y, q)
    assert torch.equal(every_prefix, torch.zeros(4, dtype=torch.float64))


def test_a_ladder_of_no_steps_and_a_causal_one_are_rejected():
    with rejects("k"):
        gradient_descent(2, 0, 0.5, layout="ladder")
    with rejects("ladder"):
        gradient_descent(2, 1, 0.5, layout="ladder", causal=True)
