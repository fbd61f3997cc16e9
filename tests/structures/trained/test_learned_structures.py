"""The claims on learned layouts, extra cells and sketches, tested on algorithms."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from theory.structures import kd_order, mean_errors, nearest_in_cloud, table_of
from verify.claim import Run
from verify.finding import Verdict
from verify.structures.trained import learned_digits, learned_layout, learned_sketch, learned_space
from verify.structures.trained.lookups import Measured, Proportion, measure, shown

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS


class Table:
    """A table of buckets for 16 points in the place of a network: extra cells hold the point next
    to their middle, and the second lookup is at the point nearest to what is held."""

    like = torch.zeros(1, dtype=torch.float64)

    def layout(self, points):
        x = points[..., 0].sort(-1).values
        named = torch.from_numpy(table_of(x.numpy(), learned_space.T, -1.0, 1.0))
        return points[..., 0], x.gather(-1, named)[..., None]

    def order(self, points):
        return self.layout(points)[0].argsort(-1)

    def __call__(self, points, queries):
        held = self.layout(points[..., None])[1][..., 0]
        first = ((queries + 1) / 2 * learned_space.T).long().clamp(max=learned_space.T - 1)
        second = (points[:, None, :] - held.gather(-1, first)[..., None]).abs().argmin(-1)
        return torch.stack([learned_space.N + first, second], -1)


def test_a_table_is_recognised():
    points, queries = learned_space.uniform_sets(Run(seed=1), 3000)
    model = Table()
    found = measure(model, points, queries)
    said = {each.id: each.verdict for each in learned_space.of_hints(model, found, points, queries)}
    assert said == {"near": HOLDS, "bits": HOLDS, "names": HOLDS, "used": HOLDS}
    assert abs(found.by_lookup[-1].value - 0.884) < 0.02
    beside = learned_space.by_interpolation(points, queries)
    control = learned_space.control(model, beside, points, queries)
    assert {each.verdict for each in control} == {FAILS}


def test_cells_that_hold_nothing_are_seen():
    points, queries = learned_space.uniform_sets(Run(seed=1), 500)
    model = learned_space.changed(Table(), lambda held: 0 * held)
    found = measure(model, points, queries)
    said = {each.id: each.verdict for each in learned_space.of_hints(model, found, points, queries)}
    assert said == {"near": FAILS, "bits": FAILS, "names": FAILS, "used": Verdict.UNDECIDED}
    held = learned_space.contents(model, points)
    assert held.shape == (500, learned_space.T)
    assert not held.any()


def test_contents_are_those_of_another_set():
    held = torch.arange(6.0).reshape(3, 2)
    assert learned_space.of_another(held)[1].tolist() == [0.0, 1.0]
    assert learned_space.rounded(torch.tensor(0.3)) == 38 / 128


def test_layouts_are_judged():
    """The kd-tree's order explains the coordinates; a random one does not."""
    run = Run(seed=0)
    x, q = learned_layout.plane_sets(run, 1000)
    fixed = learned_layout.by_kd_tree(x, q)
    assert np.array_equal(fixed.nearest, nearest_in_cloud(x, q[:, None])[:, 0])
    assert np.array_equal(np.take_along_axis(fixed.place, kd_order(x), 1)[0], np.arange(32))
    assert 0.8 < learned_layout.explained(x, fixed.place).mean < 0.85
    rows = [Proportion(100 * i, 1000) for i in range(1, 6)]
    said = {each.id: each for each in learned_layout.of_plane(fixed, fixed, rows, x)}
    assert said["ahead"].verdict is Verdict.UNDECIDED  # of itself
    assert said["rows"].verdict is said["position"].verdict is HOLDS
    assert learned_layout.permuted(run, x).verdict is HOLDS
    at_random = Measured(0 * fixed.shown, fixed.nearest, run.rng.permuted(fixed.place, axis=1))
    said = {each.id: each for each in learned_layout.of_plane(at_random, fixed, rows, x)}
    assert {each.verdict for each in said.values()} == {FAILS}
    control = learned_layout.control(at_random, fixed, x)
    assert {each.verdict for each in control} == {HOLDS}


def test_variance_is_explained_by_definition():
    x = np.array([[[0.0], [2.0]], [[1.0], [3.0]]] * 20)
    place = np.tile([0, 1], (40, 1))
    assert learned_layout.explained(x, place).mean == pytest.approx(1 - 0.25 / 1.25)


def test_points_of_the_plane_are_given_whole():
    class Nearest:
        like = torch.zeros(1, dtype=torch.float64)

        def order(self, points):
            return points[..., 0].argsort(-1)

        def __call__(self, points, queries):
            far = (points[:, None] - queries[:, :, None]).square().sum(-1)
            return far.argmin(-1, keepdim=True)

    x, q = learned_layout.plane_sets(Run(), 300)
    assert measure(Nearest(), x, q).found.all()
    assert np.array_equal(shown(Nearest(), x, q)[:, 0], nearest_in_cloud(x, q[:, None])[:, 0])


def sketch(writes, reads):
    def answer(streams, asked):
        hits = (writes[streams][:, None, :] == reads[asked][..., None]).sum(-1)
        return torch.from_numpy(hits)

    logits = [torch.from_numpy(np.eye(learned_sketch.CELLS)[each]) for each in (writes, reads)]

    class Planted(SimpleNamespace):
        __call__ = staticmethod(answer)

    return Planted(writes=lambda: logits[0], reading=lambda: logits[1])


def test_balanced_cells_are_recognised():
    run = Run(seed=0)
    law, streams, counts = learned_sketch.drawn(run, 600)
    assert (counts.sum(1) == learned_sketch.STREAM).all()
    fixed = learned_sketch.known(run, law, streams, counts)
    even = np.arange(learned_sketch.V) % learned_sketch.CELLS
    one = 0 * even
    wanted = {
        "ahead": (HOLDS, FAILS),
        "best": (HOLDS, HOLDS),
        "behind": (HOLDS, HOLDS),
        "reads": (HOLDS, FAILS),
        "cells": (HOLDS, FAILS),
    }
    for i, model in enumerate((sketch(even, even), sketch(one, even))):
        own = mean_errors(law, counts, learned_sketch.answers(model, streams))
        said = {each.id: each.verdict for each in learned_sketch.of_sketch(model, own, fixed)}
        assert {id: said[id] for id in wanted} == {id: each[i] for id, each in wanted.items()}
    assert {each.verdict for each in learned_sketch.control(model, own)} == {HOLDS}


def test_the_rotation_with_the_largest_mean_correlation_counts():
    signed = np.array([[0.1, 0.1, 0.1, 0.1], [-0.9, -0.8, -0.7, -0.6], [-0.9, 0.9, -0.9, 0.9]])
    assert learned_digits._largest(signed).mean == pytest.approx(0.75)
