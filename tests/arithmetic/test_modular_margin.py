"""Modular addition: the margin, its proof, neurons that attain it, and rejected arguments."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from by_id import not_holding
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from constructions import modular_addition
from theory.arithmetic import (
    cubed_norms,
    few_frequencies_margin,
    frequency_fractions,
    largest_margin_squared,
    mean_over_cubes,
    modular_neurons,
    network_logits,
    normalised_margin,
)
from theory.arithmetic.modular_margin_balls import square_root
from verify.arithmetic import modular_margin as claim_module
from verify.arithmetic.modular_margin import (
    compared,
    forward_bound,
    margin_of_tensors,
    modular_margin,
    of_models,
)
from verify.arithmetic.quadratic import unlike_neurons
from verify.claim import Run
from verify.finding import Verdict
from verify.selftest.tensor_mutations import EntryFault

ODD = [3, 5, 9, 15, 21]
HUGE = np.full((1, 3), 1e200)


def star(p: int) -> float:
    return float(largest_margin_squared(p)) ** 0.5


@pytest.mark.parametrize("p", ODD)
def test_the_margin_is_attained(p):
    neurons = modular_neurons(p)
    assert neurons.u.shape == (4 * (p - 1), p)
    assert np.isclose(normalised_margin(*neurons), star(p), rtol=1e-12)
    assert np.allclose(mean_over_cubes(*neurons), star(p), rtol=1e-12)


@pytest.mark.parametrize("p", ODD)
def test_the_transformer_is_the_network(p):
    model = modular_addition(p)
    a = np.arange(p)
    pairs = np.stack(np.meshgrid(a, a, indexing="ij"), axis=-1)
    logits = model.logits(pairs).numpy()[:, :, 0]
    assert np.allclose(logits, network_logits(*modular_neurons(p)), atol=1e-9)
    assert (model(pairs).numpy()[..., 0] == (a[:, None] + a) % p).all()
    right = np.take_along_axis(logits, ((a[:, None] + a) % p)[..., None], axis=-1)
    assert np.allclose(right, 2 * (p - 1))
    assert np.isclose(float(margin_of_tensors(model)), star(p), rtol=1e-12)


@given(st.sampled_from([3, 5, 7, 9]), st.integers(1, 6), st.integers(0, 999))
def test_no_network_exceeds_it(p, count, seed):
    u, v, w = np.random.default_rng(seed).normal(size=(3, count, p))
    assert normalised_margin(u, v, w) <= mean_of(u, v, w) + 1e-12
    assert mean_over_cubes(u, v, w).max() <= star(p) * (1 + 1e-12)
    assert normalised_margin(u, v, w) <= star(p) * (1 + 1e-12)


def mean_of(u: np.ndarray, v: np.ndarray, w: np.ndarray) -> float:
    """The mean over a, b and c ≠ a + b by definition, over Σ‖θ‖³."""
    f, p = network_logits(u, v, w), u.shape[1]
    right = np.add.outer(np.arange(p), np.arange(p))[..., None] % p
    apart = np.take_along_axis(f, right, axis=-1) - f
    cubed_norms = ((u**2).sum(1) + (v**2).sum(1) + (w**2).sum(1)) ** 1.5
    assert np.isclose(
        apart.sum() / (p * p * (p - 1)), (mean_over_cubes(u, v, w) * cubed_norms).sum(), atol=1e-9
    )
    return float(apart.sum() / (p * p * (p - 1)) / cubed_norms.sum())


def test_the_margin_of_zero_neurons_is_0():
    assert normalised_margin(*np.zeros((3, 2, 3))) == 0


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-370, 2.0**340, 2.0**1000])
def test_quotients_of_cubes_are_the_same_at_any_scale(scale):
    neurons = np.random.default_rng(5).normal(size=(3, 4, 5))
    scaled = scale * neurons
    assert normalised_margin(*scaled) == normalised_margin(*neurons)
    assert (mean_over_cubes(*scaled) == mean_over_cubes(*neurons)).all()
    assert (frequency_fractions(*scaled) == frequency_fractions(*neurons)).all()


def test_each_neuron_has_its_own_scale():
    neurons = np.random.default_rng(5).normal(size=(3, 4, 5))
    scaled = neurons * [[1.0], [2.0**-500], [2.0**500], [1.0]]
    assert (mean_over_cubes(*scaled) == mean_over_cubes(*neurons)).all()
    assert (frequency_fractions(*scaled) == frequency_fractions(*neurons)).all()


def test_few_frequencies():
    assert round(few_frequencies_margin(113, (14, 35, 41, 42, 52)), 3) == 2.410
    every = few_frequencies_margin(11, range(1, 6))
    assert np.isclose(every, 5 * 11 / 10)


@pytest.mark.parametrize("p", [3, 11])
def test_it_holds_at_other_moduli(p):
    assert not_holding(modular_margin, p=p) == {}


ENTRIES = [  # at p = 11: number 0 … 10, a 11 … 21, b 22 … 32, first, second, equals
    ("blocks.1.attn.W_K", (39, 14, 0)),
    ("blocks.1.attn.W_Q", (39, 25, 0)),
    ("blocks.1.attn.W_V", (39, 35, 0)),
    ("blocks.1.attn.W_O", (39, 0, 3)),
    ("blocks.1.attn.b_K", (39, 0)),
    ("blocks.0.attn.W_V", (0, 10, 10)),
    ("blocks.0.attn.W_O", (1, 10, 32)),
    ("embed.W_E", (10, 10)),
    ("embed.W_E", (11, 35)),
    ("unembed.W_U", (10, 10)),
    ("unembed.W_U", (35, 10)),
]


@pytest.mark.parametrize(("tensor", "index"), ENTRIES)
def test_one_changed_entry_fails(tensor, index):
    faulty = EntryFault("modular_addition", tensor, index, "1 more")(modular_addition(11))
    _, farthest, strange = compared(faulty)
    assert not farthest <= forward_bound(11) or strange


def test_each_difference_from_a_quadratic_network_is_found():
    def one(change):
        change(model := modular_addition(3), model.blocks[1].attn)
        return len([*unlike_neurons(model)])

    changes = [
        lambda model, attn: attn.W_K.mul_(2),
        lambda model, attn: attn.b_Q.add_(1),
        lambda model, attn: attn.b_K.add_(1),
        lambda model, attn: (attn.W_Q.add_(1), attn.W_K.add_(1)),
        lambda model, attn: attn.W_V.add_(1),
        lambda model, attn: attn.W_O.add_(1),
        lambda model, attn: setattr(attn, "normalise", "hardmax"),
        lambda model, attn: setattr(attn, "masks", ("full", *attn.masks[1:])),
        lambda model, attn: setattr(model.blocks[1], "mlp", torch.nn.Identity()),
        lambda model, attn: setattr(model.unembed, "b_U", torch.nn.Parameter(torch.ones(3))),
        lambda model, attn: model.unembed.W_U.mul_(2),
    ]
    with torch.no_grad():
        assert [*map(one, changes)] == [1] * len(changes)


@pytest.mark.parametrize(("part", "verdict"), [(0.99, "HOLDS"), (1.01, "FAILS")])
def test_the_margin_of_the_tensors_has_the_stated_distance(part, verdict, monkeypatch):
    def moved(model):
        return square_root(largest_margin_squared(3)) * (1 + arb(part) / 2**48)

    monkeypatch.setattr(claim_module, "margin_of_tensors", moved)
    found = {f.id: f for f in of_models(Run(quick=True), {3: modular_addition(3)})}
    assert found["ratio"].verdict is Verdict[verdict]


def test_a_smaller_key_fails():
    """The keys of all heads are scaled, which changes no prediction."""

    def smaller(model):
        model.blocks[1].attn.W_K.data[:, [14, 25]] *= 0.9
        return model

    assert compared(modular_addition(11))[2] == []
    found, farthest, strange = compared(smaller(modular_addition(11)))
    assert found.wrong == 0
    assert farthest > forward_bound(11)
    assert strange


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: modular_addition(5)([5, 0]), "tokens"),
        (lambda: modular_addition(5)([0, 1, 2]), "3"),
        (lambda: modular_addition(5).float(), "float32"),
        (lambda: few_frequencies_margin(7, [1, 1]), "K"),
        (lambda: network_logits(*np.ones((3, 2, 1))), "u v w"),
        (lambda: cubed_norms(*np.ones((3, 2, 1))), "u v w"),
        (lambda: mean_over_cubes(*np.zeros((3, 1, 3))), "0"),
        (lambda: mean_over_cubes(*np.ones((3, 1, 4))), "u v w"),
        (lambda: cubed_norms(HUGE, HUGE, HUGE), "u v w"),
        (lambda: network_logits(HUGE, HUGE, HUGE), "u v w"),
        (lambda: network_logits(*np.broadcast_to(1.0, (3, 2, 100_001))), "p"),
        (lambda: list(modular_margin.findings(Run(quick=True), p=8)), "p"),
        (lambda: list(modular_margin.findings(Run(), p=63)), "p 61"),
    ],
)
def test_rejected_arguments(call, names):
    with rejects(*names.split()):
        call()
