"""Models that cannot run inside torch's encoder raise an error of one line."""

import re
from importlib import import_module

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import (
    gradient_descent,
    gridworld_walk,
    hop,
    induction_heads,
    majority,
    newton,
    sphere_dynamics,
    turing_machine,
)
from constructions.stock import Gadgets, to_encoder, to_gpt2
from constructions.stock.bound import prompts_bound
from theory.computation import MACHINES
from theory.kinds import InputError, kinds_of

RNG = np.random.default_rng(0)
D, N, K = 2, 5, 2
X, Y, Q = RNG.normal(size=(6, N, D)), RNG.normal(size=(6, N)), RNG.normal(size=(6, D))
NEWTON = newton(D, K, 2.0**-10)
HOP = hop(3, 4, 12)
MODELS = {
    "newton": NEWTON,
    "hop": HOP,
    "turing": turing_machine(MACHINES["busy-beaver-2"], 6),
}


def test_layers_of_different_sharpness_are_refused_as_bounds_are_for_one():
    model = induction_heads(4, 12).sharpened(8.0)
    whole = to_encoder(model)
    assert whole.plan.original is model
    assert whole.bound() == prompts_bound(
        model, 8.0, whole.plan.gadgets, whole.plan.square, torch.float64
    )
    for changes in ({"scale": 4.0}, {"normalise": "hardmax"}):
        mixed = induction_heads(4, 12).sharpened(8.0)
        vars(mixed.attentions[0]).update(changes)
        with rejects("sharpness"):
            to_encoder(mixed)


@pytest.mark.parametrize("inputs", [("abc",), ([4],), ([0], [0])], ids=str)
def test_inputs_on_which_the_translation_does_not_depend_are_checked(inputs):
    with rejects():
        to_encoder(induction_heads(4, 12), *inputs)


def test_the_error_that_a_refusal_advises_is_taken():
    """It was rounded down."""
    for model in (gridworld_walk(2, 5), majority(6)):
        with pytest.raises(InputError) as refused:
            to_encoder(model, error=1e-12, dtype=torch.float32)
        advised = float(re.findall(r"at least ([\d.e+-]+\d)", str(refused.value))[0])
        assert to_encoder(model, error=advised, dtype=torch.float32).bound() <= advised


def test_bounds_on_longer_prompts_than_a_translation_has_places_for():
    model = newton(D, 1, 0.125, causal=True)
    stock = to_encoder(model, X[:, :4], Y[:, :4], Q)
    with rejects("tokens", "positions"):
        stock.bound(X, Y, Q)
    assert stock.bound(X[:, :3], Y[:, :3], Q).shape == (len(X), 4)


def test_bounds_of_a_model_over_numbers_without_heads_have_the_shape_of_its_answers():
    stock = to_encoder(gradient_descent(D, 0, 0.1), X, Y, Q)
    assert stock.bound(X, Y, Q).shape == stock(X, Y, Q).shape == (len(X),)
    assert (stock(X, Y, Q).abs() <= stock.bound(X, Y, Q)).all()


def test_prompts_whose_scores_no_memory_holds_are_refused_before_they_are_computed():
    # Broadcast, so that the prompts themselves take none.
    x, y, query = np.ones((10**7, 1)), np.ones(10**7), np.ones(1)
    with rejects("10000001"):
        to_encoder(gradient_descent(1, 1, 2.0**-5), x, y, query)


NO_FORM = {
    "relu": newton(D, K, 2.0**-10, "paper", n=N),
    "unit norm": sphere_dynamics(2, 1.0, 0.5, 1),
    "hardmax": newton(D, K, 2.0**-10, interleaved=True),
}


@pytest.mark.parametrize("name", NO_FORM)
def test_a_layer_without_such_a_form_is_named(name):
    with rejects("layer", NO_FORM[name].call.builder.__name__):
        to_encoder(NO_FORM[name], X, Y, Q)


def gadgets(constant):
    return Gadgets(1, 0.5, 1, constant, 16.0)


@pytest.mark.parametrize(
    ("model", "inputs", "changes", "named"),
    [
        ("newton", (), {}, "inputs"),
        ("newton", (X, Y, Q), {"error": 1e-30}, "error"),
        ("newton", (X, Y, Q), {"error": 1e-9, "dtype": torch.float32}, "error"),
        ("newton", (X, Y, Q), {"dtype": torch.float16}, "float16"),
        ("newton", (np.inf * X, Y, Q), {}, "x"),
        ("newton", (X[:0], Y[:0], Q[:0]), {}, "inputs"),
        ("newton", (1e10 * X, 1e10 * Y, Q), {}, "inputs"),
        ("turing", (), {"dtype": torch.float16}, "float16"),
        ("hop", (), {"dtype": torch.float16, "gadgets": gadgets(600.0)}, "constant"),
        ("hop", (), {"dtype": torch.float16, "gadgets": gadgets(1999.5)}, "layers.0.norm1.weight"),
        ("hop", (), {"dtype": torch.float16, "error": 1e-9}, "float16"),
        ("hop", (), {"dtype": torch.int64}, "torch.int64"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(model, inputs, changes, named):
    with rejects(named):
        to_encoder(MODELS[model], *inputs, **changes)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: to_encoder(induction_heads(16, 64), dtype=torch.bfloat16), "bfloat16"),
        (lambda: to_encoder(HOP.sharpened(8.0), dtype=torch.float16), "float16 sharpness"),
        (lambda: to_encoder(HOP.sharpened(64.0), dtype=torch.float16), "float16 sharpness"),
        (lambda: to_encoder(to_encoder(HOP)), "StockEncoder"),
        (lambda: to_encoder(NEWTON, X, Y, Q).bound(), "inputs"),
        (lambda: to_encoder(HOP).bound("nonsense"), "tokens"),
        (lambda: to_encoder(HOP).half(), "float64"),
    ],
)
def test_models_that_cannot_be_are_refused_in_one_line(call, named):
    with rejects(*named.split()):
        call()


@pytest.mark.parametrize("name", ["gamma", "head", "mean", "parts", "rounding", "with_norms"])
@pytest.mark.parametrize("wrong", [None, "a", np.nan, -1.0, 1j, 10**400])
def test_bounds_of_gadgets_read_their_arguments(name, wrong):
    bound = getattr(gadgets(1.0), name)
    for parameter in kinds_of(bound):
        right = dict.fromkeys(kinds_of(bound), 0.5)
        bound(**right)
        with rejects(parameter):
            bound(**right | {parameter: wrong})


def test_a_prompt_longer_than_its_positions_is_refused():
    stock = to_encoder(newton(D, 1, 2.0**-10, causal=True), X, Y, Q)
    x, y = RNG.normal(size=(N + 1, D)), RNG.normal(size=N + 1)
    with rejects("8", "7"):
        stock(x, y, Q[0])


def test_without_the_extra_the_line_that_installs_it(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("constructions.stock.gpt2.import_module", missing)
    with rejects("weightwright[hf]"):
        to_gpt2(HOP)


class Built:
    """What stands in for the translation: it has the number of positions alone."""

    def __init__(self, plan, positions):
        self.positions = positions


@pytest.mark.usefixtures("unchecked")
def test_positions_of_gpt2_are_those_of_the_model_else_those_asked_for(monkeypatch):
    """Also without the package transformers."""
    gpt2 = import_module("constructions.stock.gpt2")
    monkeypatch.setattr(gpt2, "_transformers", lambda: None)
    monkeypatch.setattr(gpt2, "StockGPT2", Built)
    endless, limited = gradient_descent(D, K, 2.0**-5, causal=True), induction_heads(4, 12)
    assert to_gpt2(endless, X, Y, Q).positions == 1024
    assert to_gpt2(endless, X, Y, Q, positions=77).positions == 77
    assert to_gpt2(limited).positions == limited.interface.context
    with rejects("positions", str(limited.interface.context)):
        to_gpt2(limited, positions=77)
