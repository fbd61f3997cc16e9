"""Training on graphs: the drawn graphs, the models, and their trained parameters."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions.graphs import disentangled
from constructions.trained import Configuration, load, preset, train, untrained
from constructions.trained.disentangled import DisentangledShape, TwoChannels, kronecker
from constructions.trained.group import Group
from constructions.trained.lstm import LSTMShape
from constructions.trained.presets import name_of
from constructions.trained.process import Process
from constructions.trained.state import State
from constructions.trained.tasks import connectivity as module
from constructions.trained.tasks.connectivity import Connectivity, within_reach
from constructions.trained.training import advance
from constructions.trained.transformers import TransformerShape
from theory.graphs import (
    as_adjacency,
    beyond,
    erdos_renyi,
    relabelled,
    two_chain,
    two_channels,
)
from theory.graphs import connected as connected_by_theory

CHANNELS = preset("connectivity", "channels", graphs="within")
DENSE = preset("connectivity", "dense")
TINY = {"steps": 70, "batch_size": 8}


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("graphs", ["all", "within", "beyond"])
def test_graphs_and_labels_agree_with_the_theory(graphs):
    made = replace(CHANNELS, task=Connectivity(9, 0.15, graphs))
    A, R = (each.numpy() for each in made.task.draw(made, 300, generator(), step=0))
    assert A.shape == R.shape == (300, 9, 9)
    assert A.dtype == np.float32
    assert (connected_by_theory(as_adjacency(A, 9)) == R).all()
    far = beyond(A, 1).any((-1, -2))
    assert (within_reach(torch.as_tensor(A)).numpy() == ~far).all()
    assert far.all() if graphs == "beyond" else far.any() == (graphs == "all")
    assert len(np.unique(A, axis=0)) > 200


def test_graphs_have_the_distribution_of_the_theory():
    """The frequencies of each possible edge, and of graphs within distance 3, within five standard
    errors."""
    count, p = 8000, 0.2
    A = Connectivity(8, p).random_graphs(count, generator(1)).numpy()
    i, j = np.triu_indices(8, 1)
    assert (abs(A[:, i, j].mean(0) - p) < 5 * np.sqrt(p * (1 - p) / count)).all()
    shares = [
        (~beyond(graphs, 1).any((-1, -2))).mean() for graphs in (A, erdos_renyi(count, 8, p, 0))
    ]
    assert abs(shares[0] - shares[1]) < 5 * np.sqrt(0.5 / count)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("values", "names"),
    [
        ((1, 0.2), "n"),
        ((8, 0), "p"),
        ((8, 1.0), "p"),
        ((8, 0.2, "some"), "graphs"),
        ((4, 0.2, "beyond"), "4"),
    ],
)
def test_rejected_tasks(values, names):
    with rejects(*names.split()):
        Connectivity(*values)


def test_the_smallest_tasks():
    for values in ((2, 0.2), (2, 0.2, "within"), (5, 0.2, "beyond")):
        assert Connectivity(*values).n == values[0]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: Connectivity(10**6, 0.2).random_graphs(1, generator()), "1000000"),
        (lambda: Connectivity(8, 0.2).random_graphs(-1, generator()), "count"),
        (lambda: [*Connectivity(8, 0.2).evaluate(disentangled(8, 1), 0, 0)], "prompts"),
        (lambda: [*Connectivity(8, 0.2).evaluate(disentangled(8, 1), 5, -1)], "seed"),
    ],
)
def test_rejected_numbers_of_graphs(call, names):
    with rejects(*names.split()):
        call()


@pytest.mark.parametrize("p", [0.99, 1e-9])
def test_a_distribution_with_too_few_graphs_of_the_kind_is_rejected(p, monkeypatch):
    monkeypatch.setattr(module, "ATTEMPTS", 20)
    with rejects(str(p), "beyond"):
        Connectivity(8, p, "beyond").random_graphs(4, generator())


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: DisentangledShape(0, True), "n_layers"),
        (lambda: DisentangledShape(1, 1), "two_channel"),
        (lambda: replace(DENSE, shape=LSTMShape(1, 8)), "shape lstm connectivity"),
        (lambda: replace(preset("hop"), shape=DENSE.shape), "shape disentangled hop"),
        (lambda: preset("connectivity", "dense", model="lstm"), "disentangled"),
        (lambda: preset("connectivity", "paper"), "size small"),
        (lambda: preset("hop", graphs="all"), "graphs"),
        (lambda: untrained(replace(DENSE, shape=DisentangledShape(60, False))), "60 layers"),
    ],
)
def test_rejected_shapes_and_presets(make, names):
    with rejects(*names.split()):
        make()


def test_names_and_records():
    assert name_of("connectivity", "channels", CHANNELS) == (
        "connectivity-channels-1-layer-within-seed0"
    )
    two = preset("connectivity", n_layers=2, graphs="within", seed=1)
    assert name_of("connectivity", "small", two) == "connectivity-small-2-layers-within-seed1"
    for made in (CHANNELS, DENSE, two):
        assert Configuration.from_json(made.to_json()) == made


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("two_channel", [False, True])
def test_a_model_to_be_trained_is_the_built_one_with_its_weights(layers, two_channel):
    """Outputs and registers are the same; only W, C and the threshold are trained."""
    made = replace(DENSE, shape=DisentangledShape(layers, two_channel))
    model = untrained(made).double().requires_grad_(False)
    W = [(attn.W_K[0].mT @ attn.W_Q[0]).numpy() for attn in model.attentions]
    built = disentangled(8, layers, W, model.unembed.W_U.numpy())
    A = erdos_renyi(20, 8, 0.3, 0)
    wanted = built.logits(A) + model.unembed.b_U
    torch.testing.assert_close(model.logits(A), wanted, rtol=1e-12, atol=1e-12)
    assert (model.unembed.b_U == (-1.0 if two_channel else 0.0)).all()
    learned = {name for name, W in untrained(made).named_parameters() if W.requires_grad}
    assert len(learned) == (2 * layers + 3 if two_channel else layers + 2)
    assert all("W_Q" in name or name.startswith("unembed.") for name in learned)


def test_two_channels_are_projected_as_the_theory_does():
    W = np.random.default_rng(0).normal(size=(12, 18))
    A, B = TwoChannels(6, torch.eye(12)).right_inverse(torch.as_tensor(W))
    wanted = two_channels(W, 6)
    np.testing.assert_allclose(A, wanted.I, rtol=1e-12)
    np.testing.assert_allclose(B, wanted.J, rtol=1e-12)
    np.testing.assert_allclose(
        TwoChannels(6, torch.eye(12))(A, B),
        np.kron(A, np.eye(6)) + np.kron(B, np.ones((6, 6))),
        rtol=1e-12,
    )
    assert torch.equal(kronecker(A, B, 6), TwoChannels(6, torch.eye(12).double())(A, B))


def test_two_channels_are_equivariant():
    model = untrained(CHANNELS).double().requires_grad_(False)
    A, order = erdos_renyi(20, 8, 0.3, 0), np.random.default_rng(0).permutation(8)
    wanted = model.logits(A)[:, order][:, :, order]
    torch.testing.assert_close(model.logits(relabelled(A, order)), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("made", [CHANNELS, DENSE], ids=["channels", "dense"])
def test_what_a_step_changes(made, tmp_path):
    """Only trained weights change; those of two channels stay ≥ 0; free ones stay 0 where registers
    are still empty."""
    made = replace(made, **TINY, learning_rate=0.3)
    run = State.begin(made, tmp_path, Process.join("cpu"))
    before = {name: W.detach().clone() for name, W in run.model.named_parameters()}
    [*advance(Group([run]), 40)]
    after = dict(run.model.named_parameters())
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {name for name, W in after.items() if W.requires_grad}
    smallest = min(float(after[name].detach().min()) for name in changed)
    assert smallest == 0 if made.shape.two_channel else smallest < 0
    assert (run.model.attentions[0].W_Q[0, 16:] == 0).all()
    assert (run.model.attentions[0].W_Q[0, :16] != 0).any()


@pytest.mark.parametrize("made", [CHANNELS, DENSE], ids=["channels", "dense"])
def test_a_checkpoint_is_the_model(made, tmp_path):
    file = train(replace(made, **TINY), tmp_path)
    model = load(file)
    lines = [*made.task.evaluate(model, 40, 0)]
    assert lines[0].startswith("40 graphs: ")
    names = [line.split(":")[0] for line in lines[1:]]
    assert names[-3:] == ["2Chain, relabelled", "2Clique, relabelled", "best possible"]
    assert names[0] == "graphs within distance 3"
    A = torch.as_tensor(two_chain(8))
    assert ((model.logits(A) > 0) == (model(A) == 1)).all()


def test_the_loss_is_the_entropy_of_pairs():
    made = preset("connectivity", n_layers=2)
    assert made.shape == TransformerShape(2, 1, 64, 128)
    model = untrained(made).requires_grad_(False)
    A, R = made.task.draw(made, 10, generator(), step=0)
    chance = torch.sigmoid(model.logits(A)).double()
    entropy = -(R * chance.log() + (1 - R) * (1 - chance).log()).mean()
    assert float(made.task.loss(model, A, R)) == pytest.approx(float(entropy), rel=1e-5)
