"""Networks that lay points out and look them up: what they are, and what training lowers."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from constructions.trained import Configuration, load, preset, train, untrained
from constructions.trained.lookup import LookupShape, fourier
from constructions.trained.presets import PRESETS, name_of
from constructions.trained.relaxed_sort import neural_sort, soft_sort
from constructions.trained.tasks.distributions import nearest_point
from constructions.trained.tasks.search import Search, measured, sample
from theory.structures import (
    accuracy_by_lookup,
    hard_points,
    interpolation_search,
    looked_at,
    nearest,
    uniform_points,
)

SHAPE = LookupShape(1, 2, 8, 8, 8)
MADE = Configuration(Search(5, 3, queries=4), SHAPE, steps=10, learning_rate=1e-3, batch_size=6)
FINAL = replace(MADE, task=Search(7, 2, "hard", "final", queries=4, paths=3))


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=7, unique=True))
@pytest.mark.parametrize("relax", [neural_sort, soft_sort])
def test_relaxed_sorting_becomes_the_permutation(relax, scores):
    s = torch.tensor(scores, dtype=torch.float64)
    for tau in (10.0, 1e-3):
        assert torch.allclose(relax(s, tau).sum(-1), torch.ones(len(s), dtype=s.dtype))
    wanted = torch.eye(len(s), dtype=s.dtype)[s.argsort()]
    assert torch.allclose(relax(s, 1e-3), wanted)


def test_relaxed_sorting_by_definition():
    s, N, tau = torch.tensor([0.3, -1.0, 0.7], dtype=torch.float64), 3, 0.5
    far = torch.tensor([float(sum(abs(a - b) for b in s)) for a in s], dtype=s.dtype)
    rows = [torch.softmax(((2 * a + 1 - N) * s - far) / tau, 0) for a in range(N)]
    assert torch.allclose(neural_sort(s, tau), torch.stack(rows))
    rows = [torch.softmax(-abs(each - s) / tau, 0) for each in sorted(s)]
    assert torch.allclose(soft_sort(s, tau), torch.stack(rows))
    with rejects("tau"):
        neural_sort(s, 0.0)


def test_a_network_names_points_whatever_their_order():
    model = untrained(MADE)
    x, q = uniform_points(20, 5, 3, np.random.default_rng(0))
    shown = model(x, q)
    assert shown.shape == (20, 3, 3)
    mixed = np.random.default_rng(1).permutation(5)
    again = model(x[:, mixed], q)
    assert torch.equal(torch.from_numpy(mixed)[again], shown)
    assert [tuple(H.shape) for H in model.streams(x, q)] == [(20, 5, 8)] * 2
    assert model.n_layers == 1


def test_lookups_are_driven_by_hand():
    """The same path, network by network, with the cells' contents."""
    model = untrained(MADE).requires_grad_(False)
    x = torch.tensor([[[0.5], [-0.25], [0.0], [0.75], [-1.0]]])
    q = torch.tensor([[[0.1], [-0.9]]])
    order = model.order(x)[0]
    known, path = fourier(q), []
    for network in model.queries:
        at = network(known).argmax(-1)
        path.append(order[at])
        place = torch.eye(5)[at]
        known = torch.cat([known, place, fourier(x[0][order[at]])], -1)
    assert torch.equal(model(x[..., 0], q[..., 0]), torch.stack(path, -1))


def test_comparisons_see_signs_alone():
    task = Search(7, 3, "targets", "final", queries=4, paths=3, compares=True)
    model = untrained(replace(MADE, task=task, shape=replace(SHAPE, reads="raw")))
    x, _ = uniform_points(9, 7, 1, np.random.default_rng(0))
    q = x[:, :3]
    assert torch.equal(model(x, q)[:, 1], model(x, q + 1e-9 * (q == x[:, 2:3]))[:, 1])
    assert model.queries[1][0].in_features == 1 + 7 + 1
    y = np.concatenate([x[:, :1] - 0.1, x[:, 1:]], 1)
    assert y.shape == x.shape


def test_what_is_drawn_is_the_theorys_law():
    """Means and spreads of the hard distribution, drawn by two programs; nearest by definition."""
    x, q, near = Search(7, 3, "hard", "final", paths=2).sets(4000, 2, generator())
    y, r = hard_points(4000, 3, 2, np.random.default_rng(0))
    mine = x[..., 0].sort(-1).values.double()
    error = 5 * np.hypot(mine.std(0).numpy(), y.std(0)) / np.sqrt(4000)
    assert (abs(mine.mean(0).numpy() - y.mean(0)) < error).all()
    assert torch.equal(near, nearest_point(x, q))
    assert np.array_equal(
        x[..., 0].argsort(-1).argsort(-1).gather(1, near), nearest(mine, q[..., 0])
    )
    off = abs(q[..., 0] - x[..., 0].gather(1, near)).mean()
    assert abs(float(off) - abs(r - np.take_along_axis(y, nearest(y, r), 1)).mean()) < 0.05
    x, q, _ = Search(7, 3, "targets").sets(5, 2, generator())
    assert (x[:, None, :, 0] == q).any(-1).all()


def test_a_sample_follows_the_chances():
    chances, u = torch.tensor([0.2, 0.0, 0.5, 0.3]), torch.linspace(0.0005, 0.9995, 1000)
    drawn = sample(chances.expand(1000, 4), u)
    assert np.bincount(drawn, minlength=4).tolist() == [200, 0, 500, 300]
    assert sample(torch.tensor([0.5, 0.5 - 1e-6]), torch.tensor(1.0)) == 1


@pytest.mark.parametrize("made", [MADE, FINAL], ids=["each", "final"])
def test_the_loss_is_what_the_objective_says(made):
    """Query by query, path by path."""
    task = made.task
    model = untrained(made).double().requires_grad_(False)
    x, q, nearest_ones, chance, done = task.draw(made, 6, generator(), step=4)
    assert torch.equal(done, torch.full((6,), 0.4))
    x, q, chance = x.double(), q.double(), chance.double()
    total = 0.0
    for i in range(6):
        s = model.scores(x[i])
        P, order = neural_sort(s, 1.0), s.argsort()
        for j, query in enumerate(q[i]):
            near = int((x[i] - query).abs().argmin())
            target = order.tolist().index(near)
            paths = [
                walk(model, task, x[i][order], query, target, P[:, near], chance[i, j + k * 4])
                for k in range(task.paths)
            ]
            total += objective(task, paths)
    wanted = total / (6 * 4 * task.paths)
    assert float(task.loss(model, x, q, nearest_ones, chance, done)) == pytest.approx(
        wanted, rel=1e-6
    )


def walk(model, task, cells, query, target, column, chance):
    """A path: the losses, log probabilities, entropies, and the reward."""
    search, at, found = model.lookups(query[None], cells), None, False
    losses, logs, entropies, reward = [], [], [], 1.0
    for i in range(task.lookups):
        pi = (next(search) if at is None else search.send(torch.tensor([at])))[0].softmax(-1)
        if not found:
            laid = float(pi @ column) + 1e-9
            losses.append((i, -float(pi[target].log()) - np.log(laid)))
        if i == task.lookups - 1 and not found:
            reward = float(pi[target])
        u, proportion = float(chance[i]), 0.2 * 0.6 if task.objective == "each" else 1.0
        drawn = int(np.searchsorted(np.cumsum(pi.numpy()), u / proportion))
        at = drawn if u < proportion else int(pi.argmax())
        logs.append(float(pi[at].log()))
        entropies.append(float(-(pi * pi.log()).sum()))
        found = found or at == target
    return losses, logs[:-1], entropies[:-1], reward


def objective(task, paths):
    if task.objective == "each":
        return sum(loss for losses, *_ in paths for _, loss in losses)
    bonus, total = 0.02 * (1 - 0.4 / 0.6), 0.0
    for k, (losses, logs, entropies, reward) in enumerate(paths):
        others = np.mean([path[3] for i, path in enumerate(paths) if i != k])
        last = sum(loss for i, loss in losses if i == task.lookups - 1)
        total += last - (reward - others) * sum(logs) - bonus * sum(entropies)
    return total


def test_training_and_measuring(tmp_path):
    model = load(train(MADE, tmp_path))
    first, _, compared = MADE.task.evaluate(model, 300, 0)
    assert "300 sets" in first
    shown = np.array(re.findall(r"\d+\.\d", compared), dtype=float)
    assert shown[:3].tolist() == [16.7, 58.3, 100.0]  # of binary search; of interpolation search
    proportions = shown[3:] / 100
    x, q = uniform_points(20_000, 5, 1, np.random.default_rng(0))  # sets of their own
    wide = accuracy_by_lookup(looked_at(interpolation_search(-1, 1), x, q, 3), nearest(x, q))
    assert all(
        abs(a - b) < 5 * (a * (1 - a) / 300) ** 0.5 for a, b in zip(wide, proportions, strict=True)
    )
    x, q, nearest_ones = MADE.task.sets(300, 1, generator())
    right, proportion = measured(model, x, q, nearest_ones)
    near = (x[..., 0] - q[..., 0]).abs().argmin(-1)
    shown = model(x[..., 0], q[..., 0])[:, 0]
    assert torch.equal(right[:, -1].bool(), (shown == near[:, None]).any(-1))
    assert 0 < proportion < 1


@pytest.mark.parametrize(
    "made",
    [
        replace(MADE, task=Search(5, 2, queries=3, d=2), shape=replace(SHAPE, reads="fourier")),
        replace(MADE, shape=replace(SHAPE, sort="soft")),
    ],
    ids=["plane", "soft"],
)
def test_what_is_lowered_reaches_both_networks(made):
    model = untrained(made)
    batch = made.task.draw(made, 6, generator(), step=0)
    made.task.loss(model, *batch).backward()
    assert all(
        bool((W.grad != 0).any()) for W in (model.data.embed.W_E, model.queries[0][0].weight)
    )
    lines = list(made.task.evaluate(model, 20, 0))
    assert len(lines) == (2 if made.task.d == 2 else 3)
    assert ("kd-tree" if made.task.d == 2 else "binary search") in lines[-1]


@pytest.mark.parametrize("made", PRESETS["search"].values(), ids=lambda made: made.task.law)
def test_every_preset_is_built_and_recorded(made):
    assert Configuration.from_json(made.to_json()) == made
    sizes = [sum(W.numel() for W in untrained(made).queries.parameters())]
    N, M, width = made.task.points + made.task.extra, made.task.lookups, made.shape.hidden
    asked, more = made.shape.rows(made.task.form(made.shape).interface)
    norms = 4 * M * width * made.shape.query_norm
    rows = sum(asked + i * more for i in range(M)) + M * (2 + width)
    assert sizes == [width * rows + M * (width + 1) * N + norms]


def test_names_frozen_networks_and_the_plane():
    assert name_of("search", "hard-15", preset("search", "hard-15")) == "search-hard-15-seed0"
    frozen = untrained(preset("search", "frozen-16"))
    assert not any(W.requires_grad for W in frozen.data.parameters())
    plane = untrained(replace(MADE, task=Search(5, 2, d=2)))
    points = np.random.default_rng(0).normal(size=(3, 5, 2))
    assert plane(points, points[:, :2]).shape == (3, 2, 2)


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: untrained(MADE)(np.zeros((2, 4)), np.zeros((2, 1))), "points"),
        (lambda: untrained(MADE)(np.ones((2, 5, 2)), np.ones((2, 1, 2))), "points"),
        (lambda: untrained(MADE)(np.eye(5), np.zeros((2, 1))), "points"),
        (lambda: untrained(MADE)(np.ones(5), np.zeros(1)), "points"),
        (lambda: untrained(MADE)([np.nan, 1, 2, 3, 4], [0.0]), "points"),
        (lambda: untrained(MADE)(0.0, [0.0]), "points"),
        (lambda: untrained(MADE)([0.0, 1, 2, 3, 4]), "points queries"),
        (lambda: Search(5, 0), "lookups"),
        (lambda: Search(0, 2), "points"),
        (lambda: Search(5, 2, "round"), "law"),
        (lambda: Search(5, 2, objective="last"), "objective"),
        (lambda: Search(5, 2, objective="final"), "paths"),
        (lambda: Search(5, 2, paths=4), "paths"),
        (lambda: Search(5, 2, "hard"), "points"),
        (lambda: Search(7, 2, "targets", d=2), "d"),
        (lambda: Search(7, 2, "hard", d=2, compares=True), "d"),
        (lambda: Search(7, 2, "sphere"), "d"),
        (lambda: Search(7, 2, "images", d=64), "d"),
        (lambda: Search(101, 2, "images", d=128), "points"),
        (lambda: replace(SHAPE, reads="words"), "reads"),
        (lambda: replace(SHAPE, hidden=0), "hidden"),
        (lambda: replace(preset("hop"), shape=SHAPE), "shape"),
        (lambda: preset("search", "small"), "size"),
    ],
)
def test_refusals(call, parameter):
    with rejects(*parameter.split()):
        call()


@pytest.mark.slow
def test_comparisons_learn_binary_search(tmp_path):
    """`compare-7` trained anew: its tree, cell by cell."""
    from theory.structures import depths
    from verify.structures.trained.lookups import finds, measure, tree_of

    model = load(train(preset("search", "compare-7"), tmp_path))
    x, _ = uniform_points(200, 7, 1, np.random.default_rng(0))
    found = measure(model, x, x[:, 3])
    assert finds(tree_of(model, found.descends), 7) == depths(7).tolist()
