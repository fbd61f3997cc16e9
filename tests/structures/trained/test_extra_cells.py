"""Extra cells of lookup networks, and sketches that are trained: what they are."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions.trained import Configuration, load, train, untrained
from constructions.trained.lookup import LookupShape
from constructions.trained.sketch import SketchShape, counted
from constructions.trained.tasks.counts import Counts
from constructions.trained.tasks.search import Search
from theory.structures import uniform_points, zipf

SHAPE = LookupShape(1, 2, 8, 8, 8, reads="fourier", sort="soft")
TASK = Search(5, 2, objective="final", queries=4, paths=3, extra=3, bonus=0.15)
MADE = Configuration(TASK, SHAPE, steps=10, learning_rate=1e-3, batch_size=6)
HINTS = replace(MADE, shape=replace(SHAPE, begins=True))
COUNTS = Configuration(Counts(6, 9), SketchShape(3, 8), steps=20, learning_rate=1e-2, batch_size=8)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("made", [MADE, HINTS], ids=["free", "begins"])
def test_lookups_at_extra_cells_by_hand(made):
    """Cells of points and then extra ones; an extra cell shows N + t, whatever it holds."""
    model = untrained(made).requires_grad_(False)
    x, q = uniform_points(40, 5, 1, np.random.default_rng(0))
    x = np.random.default_rng(1).permuted(x, axis=1)
    shown = model(x, q)[:, 0]
    points, asked = (torch.as_tensor(each[..., None], dtype=torch.float32) for each in (x, q))
    scores, held = model.layout(points)
    assert held.shape == (40, 3, 1)
    assert bool((held.abs() < 1).all())
    order = scores.argsort(-1)
    cells = torch.cat([points.gather(1, order[..., None]), held], 1)
    names = torch.cat([order, torch.arange(5, 8).expand(40, 3)], 1)
    search = model.lookups(asked, cells)
    first = next(search).argmax(-1)
    second = search.send(first).argmax(-1)
    assert torch.equal(shown, names.gather(1, torch.cat([first, second], 1)))
    if made is HINTS:
        assert bool((shown[:, 0] >= 5).all())


def test_contents_depend_on_the_set_and_not_on_its_order():
    model = untrained(MADE).requires_grad_(False)
    x = torch.rand(2, 5, 1, generator=generator())
    assert torch.allclose(model.layout(x)[1], model.layout(x.flip(1))[1], atol=1e-6)
    assert not torch.allclose(*model.layout(x)[1], atol=1e-3)


@pytest.mark.parametrize("made", [MADE, HINTS], ids=["free", "begins"])
def test_what_is_lowered_reaches_contents(made):
    model = untrained(made)
    batch = made.task.draw(made, 6, generator(), step=0)
    value = made.task.loss(model, *batch)
    value.backward()
    assert bool(value.isfinite())
    assert bool((model.data.embed.W_E.grad[-3:] != 0).any())
    assert all(bool(W.grad.isfinite().all()) for W in model.parameters())
    assert len(list(made.task.evaluate(model, 20, 0))) == 3


def test_a_sketch_by_definition():
    """Item by item: an update adds δ to its cell by how many there were."""
    model = untrained(COUNTS).requires_grad_(False)
    model.grows.copy_(torch.linspace(-1, 1, 9))
    rng = np.random.default_rng(0)
    streams, adds = rng.integers(6, size=(20, 9)), model.updates()
    writes, reads = model.writes().argmax(-1), model.reading().argmax(-1)
    asked = np.tile(np.arange(6), (20, 1))
    found = model(streams, asked)
    for stream, said in zip(streams, found, strict=True):
        hits, value = [0] * 3, torch.zeros(3)
        for item in stream:
            cell = int(writes[item])
            value[cell] += adds[hits[cell]]
            hits[cell] += 1
        answers = model.unembedding(value[reads][:, None])[:, 0]
        assert torch.equal(said, answers.round().long())
    assert torch.equal(untrained(COUNTS).updates(), torch.ones(9))


def test_the_loss_of_a_sketch_is_the_mean_over_reads():
    model = untrained(COUNTS).requires_grad_(False)
    laws, counts, done = COUNTS.task.draw(COUNTS, 8, generator(), step=5)
    assert counts.sum(1).tolist() == [9.0] * 8
    assert torch.allclose(laws.sort(descending=True).values[0].double(), torch.tensor(zipf(6, 1.2)))
    assert torch.equal(done, torch.full((8,), 0.25))
    held, total = model.cell_values(counts), 0.0
    pi = model.reading().softmax(-1)
    for law, count, cells in zip(laws, counts, held, strict=True):
        said = model.unembedding(cells[:, None])[:, 0]
        off = (said[None] - count[:, None]).abs()
        total += float((law[:, None] * pi * off).sum())
    bonus = 0.03 * (1 - 0.25 / 0.6) * float(-(pi * pi.log()).sum(-1).mean())
    wanted = total / 8 - bonus
    assert float(COUNTS.task.loss(model, laws, counts, done)) == pytest.approx(wanted, rel=1e-5)


def test_gradients_reach_all_of_a_sketch():
    model = untrained(COUNTS)
    COUNTS.task.loss(model, *COUNTS.task.draw(COUNTS, 8, generator(), step=0)).backward()
    assert all(bool((W.grad != 0).any()) for W in model.parameters())
    writes = model.writes().detach()
    assert torch.allclose(writes, writes.round(), atol=1e-6)


def test_a_sketch_is_trained_and_measured(tmp_path):
    model = load(train(COUNTS, tmp_path))
    first, second = COUNTS.task.evaluate(model, 300, 0)
    assert "300 streams" in first
    assert re.findall(r"\d\.\d+", second)[:2] == ["2.14", "1.28"]  # count-min; balanced cells
    [cells] = model.streams(np.array([0, 1, 1]), np.array([2]))
    assert cells.shape == (3, 1)
    assert model.n_layers == 0
    assert Configuration.from_json(COUNTS.to_json()) == COUNTS
    assert counted(torch.tensor([[1, 1, 2]]), 4).tolist() == [[0.0, 2.0, 1.0, 0.0]]


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: Search(5, 2, extra=-1), "extra"),
        (lambda: Search(5, 2, bonus=-0.1), "bonus"),
        (lambda: untrained(replace(HINTS, task=replace(TASK, extra=0))), "extra"),
        (lambda: Counts(0, 5), "items"),
        (lambda: Counts(5, 5, exponent=-1.0), "exponent"),
        (lambda: SketchShape(0, 5), "cells"),
        (lambda: untrained(replace(COUNTS, shape=SketchShape(5, 10**13))), "weights"),
        (lambda: replace(COUNTS, shape=SHAPE), "shape"),
        (lambda: untrained(COUNTS)([[6]], [[0]]), "stream"),
        (lambda: untrained(COUNTS)([[0] * 10], [[0]]), "stream"),
        (lambda: untrained(COUNTS)([[0.5]], [[0]]), "stream"),
    ],
)
def test_refusals(call, parameter):
    with rejects(*parameter.split()):
        call()
