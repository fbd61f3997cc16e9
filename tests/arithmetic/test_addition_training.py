"""Training on sums: the pairs that are drawn, the models, what of them is trained and lowered."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from constructions.trained import Configuration, load, preset, train, untrained
from constructions.trained.models import TiedShape
from constructions.trained.numbers import KINDS
from constructions.trained.presets import name_of
from constructions.trained.process import Process
from constructions.trained.quadratic import QuadraticShape
from constructions.trained.state import State
from constructions.trained.tasks.addition import Addition
from constructions.trained.tasks.modular import ModularAddition
from constructions.trained.training import advance
from theory.arithmetic import modular_neurons, network
from theory.checks import InputError

TINY = {"steps": 40, "batch_size": 8}
SMALL = replace(preset("addition", "gaussian"), task=Addition(6))
MODULAR = replace(preset("modular", "p7"), shape=QuadraticShape(5))


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_pairs_are_parted_once_and_drawn_both_ways():
    task = Addition(20)
    known, new = (task.pairs(trained).numpy() for trained in (True, False))
    assert len(known) == 168  # of 210
    both = np.concatenate([known, new])
    assert (both[:, 0] <= both[:, 1]).all()
    assert len(np.unique(both, axis=0)) == 210
    pairs, sums = (part.numpy() for part in task.sequences(3000, generator()))
    assert (pairs.sum(1) == sums[:, 0]).all()
    assert set(map(tuple, np.sort(pairs))) == set(map(tuple, known))
    assert 0.4 < (pairs[:, 0] > pairs[:, 1]).mean() < 0.5  # and some are of two equal numbers


def test_all_pairs_are_a_step_of_a_modular_run():
    made = preset("modular", "p7")
    pairs, sums = made.task.draw(made, 49, generator(), step=3)
    assert len(np.unique(pairs.numpy(), axis=0)) == 49
    assert (sums[:, 0] == pairs.sum(1) % 7).all()
    pairs, sums = made.task.sequences(5, generator())
    assert (sums[:, 0] == pairs.sum(1) % 7).all()


@pytest.mark.parametrize("rows", KINDS)
def test_a_read_out_is_the_embedding(rows):
    made = replace(SMALL, task=Addition(150), shape=replace(SMALL.shape, rows=rows), seed=3)
    model = untrained(made)
    assert torch.equal(model.unembed.W_U, model.embed.W_E[:300].mT)
    assert (model.embed.W_E[300] == 0).all()
    assert ("embed.W_E" in model.state_dict()) == (rows == "scratch")
    assert model.pos_embed.W_pos.shape == (3, 64)
    assert model.logits([3, 4]).shape == (1, 300)


@pytest.mark.parametrize("rows", ["gaussian", "scratch"])
def test_what_a_step_changes(rows, tmp_path):
    """All weights, and rows where they are learned: then the read-out, too."""
    made = replace(SMALL, **TINY, shape=replace(SMALL.shape, rows=rows))
    run = State.begin(made, tmp_path, Process.join("cpu"))
    before = {name: W.detach().clone() for name, W in run.model.named_parameters()}
    rows_before = run.model.embed.W_E.detach().clone()
    [*advance(run, 3, made.task.loss)]
    after = dict(run.model.named_parameters())
    still = {name for name in before if torch.equal(before[name], after[name])}
    assert all(name.endswith("attn.b_K") for name in still)  # which softmax does not see
    assert torch.equal(rows_before, run.model.embed.W_E) == (rows == "gaussian")
    assert torch.equal(run.model.unembed.W_U, run.model.embed.W_E[:12].mT)


@pytest.mark.parametrize(
    "made", [SMALL, replace(SMALL, shape=TiedShape(1, 2, 8, 0)), MODULAR], ids=str
)
def test_a_checkpoint_is_the_model(made, tmp_path):
    file = train(replace(made, **TINY), tmp_path)
    model = load(file)
    first, *_ = [*made.task.evaluate(model, 40, 0)]
    assert first.startswith("40 sequences: ")
    again = train(replace(made, **TINY), tmp_path)  # finished: nothing changes
    assert torch.equal(load(again).logits([1, 2]), model.logits([1, 2]))


def test_evaluation_tells_new_pairs_apart():
    *_, line = SMALL.task.evaluate(untrained(SMALL).requires_grad_(False), 10, 0)
    assert line.startswith("4 pairs that were not trained on: ")


def test_a_quadratic_network_is_what_the_theory_says():
    """By definition, in its own words and as two layers of linear heads."""
    model = untrained(MODULAR).double().requires_grad_(False)
    wanted = network(*model.neurons)
    a = np.arange(7)
    pairs = np.stack(np.meshgrid(a, a, indexing="ij"), axis=-1)
    built = model.as_transformer()
    for each in (model, built):
        assert np.allclose(each.logits(pairs).numpy()[:, :, 0], wanted, atol=1e-12)
    assert (built.n_layers, built.n_heads, built.d_model) == (2, 5, 24)
    assert model.n_layers == 1
    with pytest.raises(InputError, match="tokens contain 7"):
        model([7, 0])


def test_the_loss_is_the_entropy_and_the_cubes():
    made = replace(MODULAR, task=ModularAddition(7, 0.25))
    model = untrained(made).double().requires_grad_(False)
    pairs, sums = made.task.corpus
    f, (u, v, w) = network(*model.neurons), model.neurons
    chances = np.exp(f) / np.exp(f).sum(-1, keepdims=True)
    entropy = -np.log(chances[pairs[:, 0], pairs[:, 1], sums[:, 0]]).mean()
    cubes = (((u**2).sum(1) + (v**2).sum(1) + (w**2).sum(1)) ** 1.5).sum()
    assert float(made.task.loss(model, pairs, sums)) == pytest.approx(entropy + cubes / 4)
    # Neurons that attain the largest margin are right, all of them.
    tables = [torch.nn.Parameter(torch.as_tensor(each)) for each in modular_neurons(7)]
    model.u, model.v, model.w = tables
    assert torch.equal(model(pairs), sums)


def test_names_and_records():
    assert name_of("addition", "minilm", preset("addition", "minilm", seed=2)) == (
        "addition-minilm-seed2"
    )
    assert name_of("modular", "p11", preset("modular", "p11")) == "modular-p11-seed0"
    for made in (SMALL, MODULAR, preset("addition", "scratch")):
        assert Configuration.from_json(made.to_json()) == made


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Addition(1), "^numbers is 1: give at least 2"),
        (lambda: Addition(2.0), "^numbers is 2.0"),
        (lambda: ModularAddition(8, 1e-4), "^p is 8: give an odd number"),
        (lambda: ModularAddition(7, -1.0), "^penalty contains -1"),
        (lambda: QuadraticShape(0), "^n_neurons is 0"),
        (lambda: TiedShape(1, 1, 8, 0, rows="some"), "^rows is 'some'"),
        (lambda: replace(SMALL, shape=MODULAR.shape), "kind quadratic, which does not read addit"),
        (lambda: replace(MODULAR, shape=SMALL.shape), "kind tied, which does not read modular"),
        (lambda: preset("modular", "p7", layers=2), "^a quadratic network has one layer"),
        (lambda: preset("modular", "p13"), "^preset is 'p13'"),
        (lambda: untrained(replace(MODULAR, shape=QuadraticShape(10**10))), "layers? of width"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(InputError, match=message):
        make()
