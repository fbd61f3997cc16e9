"""The claim on trained quadratic networks: its measures, and networks that contradict it."""

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions.trained import preset, untrained
from theory.arithmetic import (
    Neurons,
    cubed_norms,
    frequency_fractions,
    modular_neurons,
    normalised_margin,
)
from verify.arithmetic.quadratic import margin_of_tensors
from verify.arithmetic.trained.margin_trained import control, frequencies_of, trained
from verify.finding import Verdict

HOLDS = Verdict.HOLDS


def model_of(neurons):
    model = untrained(preset("modular", "p7")).requires_grad_(False)
    model.u, model.v, model.w = (
        torch.nn.Parameter(torch.as_tensor(each).float()) for each in neurons
    )
    return model


def lost(findings):
    return {finding.id for finding in findings if finding.verdict is not HOLDS}


def test_the_built_network_satisfies_all_findings():
    """Its margin is γ* up to rounding to float32, which may increase it."""
    assert lost(trained(model_of(modular_neurons(7)))) <= {"bound"}
    assert lost(control(model_of(modular_neurons(7)))) == {"ratio", "single"}


def test_the_margin_of_tensors_is_that_of_the_definition():
    """On random networks, wrong on most pairs: all c count, also those below a + b."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        model = model_of(rng.standard_normal((3, 4, 7)))
        found = float(margin_of_tensors(model.as_transformer()))
        assert found == pytest.approx(normalised_margin(*model.neurons), rel=1e-9)


def test_networks_of_few_frequencies_have_a_smaller_margin():
    """Without one of three frequencies all predictions are right."""
    neurons = modular_neurons(7)
    kept = frequency_fractions(*neurons)[:, 3] < 0.5
    few = model_of([each[kept] for each in neurons])
    pairs, sums = preset("modular", "p7").task.corpus
    assert torch.equal(few(pairs), sums)
    assert lost(trained(few)) == {"ratio", "frequencies"}


def test_networks_of_mixed_neurons():
    rng = np.random.default_rng(0)
    mixed = [each + 0.3 * rng.standard_normal(each.shape) for each in modular_neurons(7)]
    assert {"ratio", "single"} <= lost(trained(model_of(mixed)))


def test_frequencies_of_neurons():
    c = np.cos(2 * np.pi * np.arange(7) / 7)
    one = np.ones(7)
    neurons = Neurons(np.stack([c, one]), np.stack([c, c]), np.stack([c, 0 * c]))
    # Squares: 3.5 each of c, and 7 of 1: the second neuron has a third of its 10.5 at 1.
    assert np.allclose(frequency_fractions(*neurons), [[0, 1, 0, 0], [2 / 3, 1 / 3, 0, 0]])
    assert np.allclose(cubed_norms(*neurons), 10.5**1.5)
    found = frequencies_of(neurons)
    assert found.single == pytest.approx(2 / 3)
    assert np.allclose(found.frequencies, [3, 0, 0])
    # Twice the first neuron counts eight times as much, as its cube does.
    found = frequencies_of(Neurons(*(each * [[2], [1]] for each in neurons)))
    assert found.single == pytest.approx((8 + 1 / 3) / 9)
    assert np.allclose(found.frequencies, [3, 0, 0])
    with rejects("1"):
        frequency_fractions(*(each * [[1], [0]] for each in neurons))
    with rejects("u", "v", "w"):
        frequency_fractions(*np.ones((3, 2, 4)))
