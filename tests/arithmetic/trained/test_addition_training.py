"""Training on sums: the drawn pairs, the models, their trained parameters, and the loss."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions.trained import Configuration, load, preset, train, untrained
from constructions.trained.group import Group
from constructions.trained.numbers import FORMS
from constructions.trained.presets import name_of
from constructions.trained.process import Process
from constructions.trained.quadratic import QuadraticShape
from constructions.trained.state import State
from constructions.trained.tasks.addition import Addition
from constructions.trained.training import advance
from constructions.trained.transformers import TiedShape

TINY = {"steps": 40, "batch_size": 8}
SMALL = replace(preset("addition", "gaussian"), task=Addition(6))


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_pairs_are_split_once_and_drawn_in_both_orders():
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


@pytest.mark.parametrize("rows", FORMS)
def test_the_unembedding_is_the_embedding(rows):
    made = replace(SMALL, task=Addition(150), shape=replace(SMALL.shape, rows=rows), seed=3)
    model = untrained(made)
    assert torch.equal(model.unembed.W_U, model.embed.W_E[:300].mT)
    assert (model.embed.W_E[300] == 0).all()
    assert ("embed.W_E" in model.state_dict()) == (rows == "scratch")
    assert model.pos_embed.W_pos.shape == (3, 128)
    assert model.logits([3, 4]).shape == (1, 300)


def test_weights_begin_with_a_third_over_their_rows():
    model = untrained(preset("addition", "scratch")).requires_grad_(False)
    for block in model.blocks:
        W_O = block.attn.W_O.flatten(0, 1)  # 128 rows, 32 of each head
        for W in (*block.attn.W_Q, W_O, block.mlp.W_in, block.mlp.W_out):
            assert float(W.var()) == pytest.approx(1 / (3 * len(W)), rel=0.1)
    assert float(model.embed.W_E[:300].std()) == pytest.approx(0.02, rel=0.02)
    assert float(model.pos_embed.W_pos.std()) == pytest.approx(0.02, rel=0.1)


@pytest.mark.parametrize("rows", ["gaussian", "scratch"])
def test_what_a_step_changes(rows, tmp_path):
    """All weights change, and learned rows, and with them the unembedding."""
    made = replace(SMALL, **TINY, shape=replace(SMALL.shape, rows=rows))
    run = State.begin(made, tmp_path, Process.join("cpu"))
    before = {name: W.detach().clone() for name, W in run.model.named_parameters()}
    rows_before = run.model.embed.W_E.detach().clone()
    [*advance(Group([run]), 3)]
    after = dict(run.model.named_parameters())
    still = {name for name in before if torch.equal(before[name], after[name])}
    assert all(name.endswith("attn.b_K") for name in still)  # which softmax does not see
    assert torch.equal(rows_before, run.model.embed.W_E) == (rows == "gaussian")
    assert torch.equal(run.model.unembed.W_U, run.model.embed.W_E[:12].mT)


@pytest.mark.parametrize("made", [SMALL, replace(SMALL, shape=TiedShape(1, 2, 8, 0))], ids=str)
def test_a_checkpoint_is_the_model(made, tmp_path):
    file = train(replace(made, **TINY), tmp_path)
    model = load(file)
    first, *_ = [*made.task.evaluate(model, 40, 0)]
    assert first.startswith("40 sequences: ")
    again = train(replace(made, **TINY), tmp_path)  # finished: nothing changes
    assert torch.equal(load(again).logits([1, 2]), model.logits([1, 2]))


def test_evaluation_distinguishes_new_pairs():
    *_, line = SMALL.task.evaluate(untrained(SMALL).requires_grad_(False), 10, 0)
    assert line.startswith("4 held-out pairs: ")


def test_names_and_records():
    assert name_of("addition", "minilm", preset("addition", "minilm", seed=2)) == (
        "addition-minilm-seed2"
    )
    for made in (SMALL, preset("addition", "scratch")):
        assert Configuration.from_json(made.to_json()) == made


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: Addition(1), "numbers"),
        (lambda: Addition(2.0), "numbers"),
        (lambda: TiedShape(1, 1, 8, 0, rows="some"), "rows"),
        (lambda: replace(SMALL, shape=QuadraticShape(5)), "shape quadratic addition"),
    ],
)
def test_rejected_arguments(make, names):
    with rejects(*names.split()):
        make()
