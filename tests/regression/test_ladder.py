import re

import numpy as np
import pytest
from exact import hyperpower_inverse, power_inverse, predict, prompt, registers
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions import hyperpower
from constructions.regression import Prediction
from constructions.regression.ladder import climbs, ladder, rungs, slots_of
from verify.domains import Rational

Q = Rational()
starts = st.sampled_from(["gram", "identity"])


@given(st.integers(1, 10**40))
def test_rungs_are_thirds_rounded_down(power):
    exponents = rungs(power)
    layers = len(exponents) - 1
    assert exponents == [power // 3 ** (layers - j) for j in range(layers + 1)]
    assert 3**layers >= power
    assert layers == 0 or 3 ** (layers - 1) < power


@given(st.integers(1, 10**40))
def test_a_climb_only_uses_exponents_that_the_layer_below_made(power):
    exponents = rungs(power)
    held = {"low": exponents[0], "high": 1} if exponents[0] == 0 else {"low": 1}
    for below, targets in climbs(exponents):
        for exponent in targets.values():
            assert sum(held[slot] for slot in slots_of(exponent, below)) == exponent
        held = targets
    assert held["low"] == power or power == 1


@settings(max_examples=25)
@given(
    d=st.integers(1, 3),
    n=st.integers(1, 4),
    power=st.integers(1, 30),
    start=starts,
    seed=st.integers(0, 99),
)
def test_every_power_is_exact_and_every_register_as_its_stage_says(d, n, power, start, seed):
    x, y, q = prompt(np.random.default_rng(seed), n, d, 2)
    model, alpha = ladder(d, power, 0.25, start=start, name=""), fmpq(1, 4)
    G = power_inverse(x, power, alpha, start)
    assert predict(model, Q, x, y, q) == (q @ G @ (x.T @ y)).tolist()
    held = registers(model, Q, x, y, q)
    for stage in model.stages:
        G, passed = power_inverse(x, stage.holds.power, alpha, start), held[stage.after]
        inputs = np.concatenate([x, q])
        if isinstance(stage.holds, Prediction):
            assert passed[stage.register][:, 0].tolist() == (inputs @ G @ (x.T @ y)).tolist()
            continue
        slot = stage.register.removesuffix("_u")
        assert passed[f"{slot}_u"].tolist() == (inputs @ G).tolist()
        if stage.after > (start == "gram"):
            assert passed[f"{slot}_z"].tolist() == (inputs @ G @ (x.T @ x)).tolist()
            assert passed[f"{slot}_r"][:, 0].tolist() == (inputs @ G @ (x.T @ y)).tolist()
        assert not passed[f"{slot}_new_u"].any(), "the heads' registers are emptied in every layer"


@settings(max_examples=25)
@given(
    d=st.integers(1, 2),
    n=st.integers(1, 3),
    k=st.integers(0, 3),
    order=st.integers(2, 4),
    start=starts,
    seed=st.integers(0, 99),
)
def test_hyperpower_is_its_recursion_over_q(d, n, k, order, start, seed):
    x, y, q = prompt(np.random.default_rng(seed), n, d)
    M = hyperpower_inverse(x, k, order, fmpq(1, 4), start)
    model = hyperpower(d, k, order, 0.25, start=start)
    assert predict(model, Q, x, y, q) == (q @ M @ (x.T @ y)).tolist()


def test_powers_of_three_never_need_a_neighbour():
    model = hyperpower(2, 4, 3, 0.5)
    assert model.n_layers == 6
    assert model.n_heads == 2
    assert not any("high" in line for block in model.blocks for line in block.lines)


def test_numpy_integers_are_integers(unchecked):
    """3^50 does not fit into 64 bits."""
    model = hyperpower(np.int64(1), np.int64(50), np.int64(3), 0.5)
    assert model.n_layers == 52
    assert model([[1.0]], [3.0], [2.0]).item() == 6.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"d": 0}, "d is 0"),
        ({"k": -1}, "k is -1"),
        ({"order": 1}, "order is 1: a hyperpower step needs order 2 (Newton) or more"),
        ({"order": 2.5}, "order is 2.5"),
        ({"order": -3}, "order is -3"),
        ({"alpha": 0.0}, "alpha is 0.0"),
        ({"start": "zero"}, "start is 'zero'"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(call, message, unchecked):
    with pytest.raises(ValueError, match=re.escape(message)):
        hyperpower(**{"d": 2, "k": 1, "order": 3, "alpha": 0.5, **call})
