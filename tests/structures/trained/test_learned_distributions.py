"""Distributions sampled in torch, and the claims on networks on images, clouds and trees."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from constructions.trained import preset, untrained
from constructions.trained.configuration import Configuration
from constructions.trained.lookup import LookupShape
from constructions.trained.tasks import distributions
from constructions.trained.tasks.search import Search
from theory.structures import (
    binary_search,
    hard_cloud,
    interpolation_search,
    looked_at,
    nearest_in_cloud,
    zipf,
)
from verify.claim import Run
from verify.finding import Verdict
from verify.structures.trained import (
    learned_clouds,
    learned_digits,
    learned_tree,
)
from verify.structures.trained.lookups import Proportion, measure
from verify.structures.trained.lookups_picture import by_lookup
from verify.structures.trained.planted import Planted

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS
GREY = torch.arange(10.0)[:, None].expand(10, 64) / 9  # an image of each digit, all of one grey


@pytest.fixture
def grey(monkeypatch):
    """Images that are all of one grey, three of each digit."""
    three = GREY.repeat_interleave(3, 0), 3 * torch.arange(10), torch.full((10,), 3)
    monkeypatch.setattr(distributions, "_by_digit", lambda held_out: three)


def drawn(count, N, m, d):
    return distributions.Sampler(count, N, m, d, torch.Generator().manual_seed(0))


def test_unequal_queries():
    w = distributions.frequencies(15)
    assert np.array_equal(np.sort(w)[::-1], zipf(15, 1.2))
    x, q, near = distributions.zipf_targets(drawn(4000, 15, 3, 1))
    rank = x[..., 0].argsort(-1).argsort(-1).gather(1, near)
    assert torch.equal(x.gather(1, near[..., None]), q)
    proportion = np.bincount(rank.flatten().numpy(), minlength=15) / rank.numel()
    assert (abs(proportion - w) < 5 * np.sqrt(w / rank.numel())).all()
    made = preset("search", "zipf-15")
    *_, beside = made.task.evaluate(untrained(made), 50, 0)
    assert beside.endswith(f" {np.sort(w)[-7:].sum():.1%}")


def test_the_sphere():
    x, q, near = distributions.sphere(drawn(50, 8, 2, 30))
    assert torch.allclose(x.norm(dim=-1), torch.ones(50, 8), atol=1e-5)
    with_all = (x[:, :, None] * q[:, None]).sum(-1)
    assert (abs(with_all - 0.8) < 1e-5).any(1).all()
    assert np.array_equal(nearest_in_cloud(x.double().numpy(), q.double().numpy()), near)


def test_the_hard_plane():
    """As many queries are beside their point as by the other program; every axis by itself."""
    x, q, near = distributions.hard(drawn(3000, 15, 1, 2))
    y, r = hard_cloud(3000, 4, 2, 1, np.random.default_rng(0))
    off = (q - x.gather(1, near[..., None].expand(q.shape))).norm(dim=-1).mean()
    other = np.take_along_axis(y, nearest_in_cloud(y, r)[..., None], 1)
    assert abs(float(off) - np.linalg.norm(r - other, axis=-1).mean()) < 0.08
    assert abs(np.log(float(x.std()) / y.std())) < 0.1
    ranks = x.argsort(1).argsort(1).double()
    assert abs(np.corrcoef(ranks[..., 0].flatten(), ranks[..., 1].flatten())[0, 1]) < 0.02


@pytest.mark.usefixtures("grey")
def test_numbers_are_shown_by_images():
    x, q, near = distributions.images(drawn(40, 16, 3, 128))
    assert (x.shape, q.shape, near.shape) == ((40, 16, 128), (40, 3, 128), (40, 3))
    number = 10 * x[..., 0] + x[..., 64]
    assert all(len(row.unique()) == 16 for row in number)
    number, asked = 9 * number, 9 * (10 * q[..., 0] + q[..., 64])
    assert asked.min() < 10 < 90 < asked.max()
    off = (number[:, None] - asked[..., None]).round()
    assert torch.equal(off.abs().amin(-1), off.gather(-1, near[..., None])[..., 0].abs())
    shown = distributions.number_images(torch.tensor([37]), drawn(1, 1, 1, 1))[0]
    assert torch.allclose(9 * shown, torch.tensor([3.0] * 64 + [7.0] * 64))


@pytest.mark.usefixtures("grey")
def test_what_is_lowered_reaches_the_reader():
    shape = LookupShape(1, 2, 8, 8, 8, reads="images")
    task = Search(5, 2, "images", queries=3, d=128)
    made = Configuration(task, shape, steps=10, learning_rate=1e-3, batch_size=6)
    model = untrained(made)
    batch = task.draw(made, 6, torch.Generator().manual_seed(0), step=0)
    task.loss(model, *batch).backward()
    assert bool((model.reader[0].weight.grad != 0).any())
    assert model.numbers(batch[0]).shape == (6, 5, 1)
    assert model(batch[0], batch[1]).shape == (6, 3, 2)
    assert len(list(task.evaluate(model, 20, 0))) == 2


class Reads:
    """Interpolation search of numbers that are read off grey images, or of their negatives."""

    like = torch.zeros(1, dtype=torch.float32)

    def __init__(self, sign=1):
        self.sign = sign

    def numbers(self, x):
        return self.sign * (90 * x[..., :1] + 9 * x[..., 64:65]).round()

    def order(self, x):
        return self.numbers(x)[..., 0].argsort(-1)

    def __call__(self, x, q):
        at = abs(self.numbers(x)[..., 0]).argsort(-1)
        cells = abs(self.numbers(x)[..., 0]).gather(-1, at).numpy().astype(float)
        asked = abs(self.numbers(q)[..., 0]).numpy().astype(float)
        found = looked_at(interpolation_search(-1, 100), cells, asked, 4)
        return at[:, None].expand(*found.shape[:2], 16).gather(-1, torch.from_numpy(found))


def of_digits(run, model, sets, shown):
    found = learned_digits.found_by(model, sets)
    return learned_digits.of_digits(run, model, found, sets, shown)


def of_tree(run, model, found, weights):
    levels = learned_tree.levels_of(model, found.descends)
    return learned_tree.of_tree(run, levels, found, weights)


def verdicts(findings):
    return {each.id: each.verdict for each in findings}


@pytest.mark.usefixtures("grey")
@pytest.mark.parametrize("sign", [1, -1])
def test_who_reads_numbers_is_recognised(sign):
    run = Run(seed=0)
    sets = learned_digits.pictures(run, 1000)
    assert (np.diff(sets.numbers) > 0).all()
    shown = learned_digits.images(run, learned_digits.LABELS)
    model = Reads(sign)
    said = verdicts(of_digits(run, model, sets, shown))
    assert set(said.values()) == {HOLDS}
    assert set(verdicts(learned_digits.control(model, sets, shown)).values()) == {FAILS}


@pytest.mark.usefixtures("grey")
def test_who_reads_the_units_alone_is_seen():
    run = Run(seed=0)
    sets = learned_digits.pictures(run, 500)
    shown = learned_digits.images(run, learned_digits.LABELS)
    model = Reads()
    model.numbers = lambda x: 9 * x[..., 64:65] + 1e-3 * x[..., :1]
    said = verdicts(of_digits(run, model, sets, shown))
    wrong = "number", "rotated", "sorted", "next", "ahead", "found"
    assert {id for id, each in said.items() if each is FAILS} == {*wrong}


@pytest.mark.usefixtures("grey")
def test_a_rotated_order_is_recognised():
    run = Run(seed=0)
    sets = learned_digits.pictures(run, 500)
    shown = learned_digits.images(run, learned_digits.LABELS)
    model = Reads()
    model.numbers = lambda x: ((90 * x[..., :1] + 9 * x[..., 64:65]).round() - 41) % 100
    ranks = learned_digits.correlations(model, shown, learned_digits.LABELS)
    assert ranks.shape == (100, 20)
    assert np.allclose(ranks[41], 1)
    by_hand = spearmanr((np.arange(100) - 41) % 100, np.arange(100)).statistic
    assert np.allclose(ranks[0], by_hand)
    found = learned_digits.found_by(model, sets)
    assert (learned_digits.nexts(found) == 1).all()
    assert found.in_order.mean() < 0.5
    below = (sets.numbers < 41).sum(1)
    assert np.array_equal(found.place[:, 0], (16 - below) % 16)


def test_clouds_are_judged():
    """By the strategies they are set beside."""
    run = Run(seed=0)
    sets = learned_clouds.sphere_sets(run, 1500)
    hashed, centred = learned_clouds.by_simhash(run, sets), learned_clouds.by_k_means(run, sets)
    assert [proportion.value for proportion in hashed] == pytest.approx(
        [0.12, 0.24, 0.34, 0.41], abs=0.04
    )
    said = verdicts(learned_clouds.on_sphere(centred, hashed, centred))
    assert (said["blind"], said["k-means"]) == (HOLDS, Verdict.UNDECIDED)
    best = [Proportion(1200 + i, 1500) for i in range(4)]
    assert set(verdicts(learned_clouds.on_sphere(best, hashed, centred)).values()) == {HOLDS}
    blind = [Proportion(20 * (i + 1), 1500) for i in range(4)]
    assert set(verdicts(learned_clouds.on_sphere(blind, hashed, centred)).values()) == {FAILS}
    tree = learned_clouds.by_kd_tree(learned_clouds.plane_sets(run, 1500))
    assert [proportion.value for proportion in tree] == pytest.approx(
        [1 / 15, 3 / 15, 7 / 15], abs=0.05
    )
    assert learned_clouds.on_plane(best[:3], tree).verdict is HOLDS
    assert learned_clouds.on_plane(tree, tree).verdict is Verdict.UNDECIDED
    assert learned_clouds.less(blind, hashed, "SimHash").verdict is HOLDS
    assert learned_clouds.less(best, hashed, "SimHash").verdict is FAILS


class Tree(Planted):
    """Looks at the seven heaviest points of fifteen, as the perfect tree over them."""

    def __init__(self, weights):
        super().__init__(self.search, 3, n=15)
        self.heavy = np.sort(np.argsort(-weights)[:7])

    def search(self, q, N):
        lo, hi = np.zeros(q.shape, dtype=int), np.full(q.shape, 7)
        while True:
            middle = np.minimum((lo + hi) // 2, 6)
            right = (yield self.heavy[middle]) < q
            lo, hi = np.where(right, middle + 1, lo), np.where(right, hi, middle)

    def lookups(self, queries, cells):
        lo, hi = 0, 7
        while True:
            middle = (lo + hi) // 2
            at = yield torch.eye(15)[self.heavy[min(middle, 6)], None, None]
            right = bool((queries - cells[:, at[0]]).sum() > 0)
            lo, hi = (middle + 1, hi) if right else (lo, middle)


def test_the_best_tree_is_recognised():
    run, w = Run(seed=0), learned_tree.frequencies()
    sets = learned_tree.queried_sets(run, 1000)
    assert sets[1].shape == (1000,)
    model = Tree(w)
    found = measure(model, *sets)
    said = {each.id: each for each in of_tree(run, model, found, w)}
    assert {each.verdict for each in said.values()} == {HOLDS}
    assert said["best"].measured == pytest.approx(np.sort(w)[-7:].sum())
    assert all(a <= b for a, b in pairwise(said["bound"].measured.values()))
    assert learned_tree.control(model, w).verdict is FAILS


def test_binary_search_is_not_the_best_tree():
    run, w = Run(seed=0), learned_tree.frequencies()
    model = Planted(binary_search, 3, n=15)
    found = measure(model, *learned_tree.queried_sets(run, 500))
    said = verdicts(of_tree(run, model, found, w))
    assert [id for id, each in said.items() if each is FAILS] == ["treap", "best", "found"]
    assert learned_tree.control(model, w).verdict is HOLDS


def test_a_panel_shows_what_it_is_given():
    """In per cent, with intervals."""
    panel = Figure().subplots()
    by_lookup(panel, {"measured": [Proportion(3, 10), Proportion(7, 10)]}, {"known": [0.25, 1.0]})
    measured, known = panel.containers[0], panel.lines[-1]
    assert measured.get_label() == "measured"
    assert np.allclose(measured.lines[0].get_ydata(), [30, 70])
    low, high = 100 * np.array([Proportion(3, 10).interval, Proportion(7, 10).interval]).T
    assert np.allclose(np.array(measured.lines[2][0].get_segments())[:, :, 1].T, [low, high])
    assert np.allclose(known.get_ydata(), [25, 100])
