"""The claim on trained lookup networks, tested on algorithms in place of networks."""

from __future__ import annotations

import numpy as np
import pytest

from theory.structures import (
    binary_search,
    depths,
    greedy_bayes,
    interpolation_search,
    looked_at,
    next_cells,
)
from verify.claim import Run
from verify.finding import Verdict
from verify.structures.trained import learned_comparisons, learned_search
from verify.structures.trained.lookups import (
    Measured,
    Proportion,
    finds,
    measure,
    over,
    tree_of,
    under,
)
from verify.structures.trained.planted import Planted

INTERPOLATION = Planted(interpolation_search(-1, 1), 4, descends=True)
BAYES = Planted(greedy_bayes(-1, 1), 4)


def said(model):
    run = Run(seed=3)
    sets = learned_search.uniform_sets(run, 4000)
    findings = learned_search.of_uniform(run, model, measure(model, *sets), *sets)
    return {each.id: each for each in findings}


@pytest.mark.parametrize("model", [INTERPOLATION, BAYES], ids=["interpolation", "Bayes"])
def test_interpolation_is_recognised(model):
    found = said(model)
    assert {each.verdict for each in found.values()} == {Verdict.HOLDS}
    assert ("descending" in found["sorted"].words) == model.descends


def test_binary_search_is_not_taken_for_it():
    found = said(Planted(binary_search, 4))
    wrong = {id for id, each in found.items() if each.verdict is not Verdict.HOLDS}
    assert wrong == {"near", "ahead", "cells", "off"}
    assert {found[id].verdict for id in ("near", "cells")} == {Verdict.FAILS}


def test_what_finds_little_anywhere_says_nothing_off_the_distribution():
    near, off = (under(id, "", [Proportion(1, 1000)], [0.5], wanted="") for id in ("near", "off"))
    assert learned_search.decided_by(near, off).verdict is Verdict.HOLDS
    weak = over("near", "", [Proportion(1, 1000)], [0.5], wanted="")
    assert weak.verdict is Verdict.FAILS
    assert learned_search.decided_by(weak, off).verdict is Verdict.UNDECIDED
    bad = over("off", "", [Proportion(1, 1000)], [0.5], wanted="")
    assert learned_search.decided_by(weak, bad).verdict is Verdict.FAILS


def test_next_cells_are_what_algorithms_look_at():
    x, q = learned_search.uniform_sets(Run(), 500)
    for name, strategy in (
        ("binary", binary_search),
        ("interpolation", interpolation_search(-1, 1)),
    ):
        cells = looked_at(strategy, x, q[:, None], 4)[:, 0]
        assert np.array_equal(next_cells(cells, x, q, -1.0, 1.0)[name], cells)


@pytest.mark.parametrize("descends", [False, True])
def test_trees_are_read_off(descends):
    assert (
        finds(tree_of(Planted(binary_search, 3, descends=descends), descends), 7)
        == depths(7).tolist()
    )
    assert finds(tree_of(Planted(binary_search, 2), False), 7) == [0, 2, 0, 1, 0, 2, 0]


def test_comparisons_are_judged():
    x = np.sort(np.random.default_rng(0).uniform(-1, 1, (300, 7)))
    model = Planted(binary_search, 3)
    found = measure(model, x, x[:, 2])
    said = {each.id: each for each in learned_comparisons.compared(model, found, x[:50], 1.0)}
    assert {each.verdict for each in said.values()} == {Verdict.HOLDS}
    assert said["bound"].measured == {"lookup 1": 1.0, "lookup 2": 3.0, "lookup 3": 7.0}


def test_shares():
    few = Measured(np.array([[0, 2], [1, 1], [0, 0]]), np.array([2, 1, 1]), np.zeros((3, 3)))
    assert [proportion.times for proportion in few.by_lookup] == [1, 2]
    assert [proportion.of for proportion in few.at(np.zeros((3, 2), dtype=int))] == [3, 2]
    assert [proportion.times for proportion in few.at(np.zeros((3, 2), dtype=int))] == [2, 1]
    low, high = Proportion(50, 100).interval
    assert low < 0.5 < high
    nothing = [Proportion(0, 0)]
    assert over("a", "b", nothing, [0.1], wanted="").verdict is Verdict.UNDECIDED
    assert over("a", "b", [Proportion(1, 100)], [0.5], wanted="").verdict is Verdict.FAILS
    assert under("a", "b", [Proportion(99, 100)], [0.5], wanted="").verdict is Verdict.FAILS
