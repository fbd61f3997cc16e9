"""Training on sums modulo p: the drawn pairs, the networks, and the loss."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions.trained import Configuration, load, preset, train, untrained
from constructions.trained.presets import name_of
from constructions.trained.quadratic import QuadraticShape
from constructions.trained.tasks.modular import ModularAddition
from theory.arithmetic import modular_neurons, network_logits

MODULAR = replace(preset("modular", "p7"), shape=QuadraticShape(5))


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_all_pairs_are_a_step_of_a_modular_run():
    made = preset("modular", "p7")
    pairs, sums = made.task.draw(made, 49, generator(), step=3)
    assert len(np.unique(pairs.numpy(), axis=0)) == 49
    assert (sums[:, 0] == pairs.sum(1) % 7).all()
    pairs, sums = made.task.sequences(5, generator())
    assert (sums[:, 0] == pairs.sum(1) % 7).all()


def test_a_checkpoint_is_the_model(tmp_path):
    made = replace(MODULAR, steps=40, batch_size=8)
    model = load(train(made, tmp_path))
    first, best = made.task.evaluate(model, 40, 0)
    assert first.startswith("40 sequences: ")
    assert best.startswith("best possible: 100.00% right")
    assert not any(W.requires_grad for W in model.parameters())


def test_a_quadratic_network_equals_its_definition():
    """By definition, as the trained module, and as two layers of linear heads."""
    model = untrained(MODULAR).double().requires_grad_(False)
    wanted = network_logits(*model.neurons)
    a = np.arange(7)
    pairs = np.stack(np.meshgrid(a, a, indexing="ij"), axis=-1)
    built = model.as_transformer()
    for each in (model, built):
        assert np.allclose(each.logits(pairs).numpy()[:, :, 0], wanted, atol=1e-12)
    assert (built.n_layers, built.n_heads, built.d_model) == (2, 5, 24)
    assert model.n_layers == 1
    assert built.name == model.name
    with rejects("tokens"):
        model([7, 0])


def test_the_loss_is_the_entropy_and_the_cubes():
    made = replace(MODULAR, task=ModularAddition(7, 0.25))
    model = untrained(made).double().requires_grad_(False)
    pairs, sums = made.task.corpus
    f, (u, v, w) = network_logits(*model.neurons), model.neurons
    chances = np.exp(f) / np.exp(f).sum(-1, keepdims=True)
    entropy = -np.log(chances[pairs[:, 0], pairs[:, 1], sums[:, 0]]).mean()
    cubes = (((u**2).sum(1) + (v**2).sum(1) + (w**2).sum(1)) ** 1.5).sum()
    assert float(made.task.loss(model, pairs, sums)) == pytest.approx(entropy + cubes / 4)
    # Neurons that attain the largest margin are right, all of them.
    tables = [torch.nn.Parameter(torch.as_tensor(each)) for each in modular_neurons(7)]
    model.u, model.v, model.w = tables
    assert torch.equal(model(pairs), sums)


def test_names_and_records():
    assert name_of("modular", "p11", preset("modular", "p11")) == "modular-p11-seed0"
    assert Configuration.from_json(MODULAR.to_json()) == MODULAR


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: ModularAddition(8, 1e-4), "p"),
        (lambda: ModularAddition(7, -1.0), "penalty"),
        (lambda: QuadraticShape(0), "n_neurons"),
        (lambda: replace(preset("hop"), shape=MODULAR.shape), "shape quadratic hop"),
        (lambda: replace(MODULAR, shape=preset("hop").shape), "shape transformer modular"),
        (lambda: preset("modular", "p7", n_layers=2), "n_layers"),
        (lambda: preset("modular", "p13"), "size p13"),
        (lambda: untrained(replace(MODULAR, shape=QuadraticShape(10**10))), "1 layers"),
    ],
)
def test_rejected_arguments(make, names):
    with rejects(*names.split()):
        make()
