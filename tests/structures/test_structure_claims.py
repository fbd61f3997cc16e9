"""The claims on data structures: their findings, and faults that they see."""

from __future__ import annotations

import numpy as np
import pytest

from constructions.structures import bucket_table, kd_descent
from theory.checks import InputError
from verify.claim import Run
from verify.evidence.statistics import Mean
from verify.finding import Verdict
from verify.selftest.tensor_mutations import FAULTS
from verify.structures import extra_space as extra_space_module
from verify.structures import layouts as layouts_module
from verify.structures.by_lookup import ahead, below, beside
from verify.structures.comparison_bound import comparison_bound
from verify.structures.extra_space import extra_space
from verify.structures.hashing import hashing
from verify.structures.layouts import layouts
from verify.structures.search import both, drawn, one_cell, published, search
from verify.structures.sketches import sketches

SMALL = {"lookups": 2}


def test_search_holds():
    findings = list(search.findings(Run(quick=True), **SMALL))
    assert all(each.verdict is Verdict.HOLDS for each in findings), findings
    assert {each.evidence for each in findings} == {"exact", "float", "statistical"}
    assert {each.id.split("/")[0] for each in findings} == {
        *("sort", "binary", "interpolation", "uniform", "hard"),
    }


def test_the_bound_holds():
    findings = {each.id: each for each in comparison_bound.findings(Run(quick=True))}
    assert all(each.verdict is Verdict.HOLDS for each in findings.values()), findings
    assert findings["most"].measured["5, 2"] == 3
    assert findings["only-one"].measured == {1: [[1]], 2: [[2, 1, 2]]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "options", "ids"),
    [
        (search, SMALL, {"uniform", "hard"}),
        (layouts, {"levels": 2}, {"layout", "descent", "kd-32", "bands-32", "rows-32", "hard"}),
        (
            hashing,
            {},
            {"SimHash", "orthogonal", "orthogonal-ahead", "k-means", "k-means-ahead", "angle"},
        ),
        (extra_space, {"points": 3, "cells": 2}, {"table", "uniform", "one-cell"}),
        (sketches, {"samples": 1000}, {"count-min", "between", "error", "conservative-ahead"}),
    ],
)
def test_the_others_hold_and_draw(claim, options, ids, tmp_path):
    run = Run(quick=True, plot=tmp_path / "picture.png")
    findings = list(claim.findings(run, **{**claim.defaults, **options}))
    assert all(each.verdict is Verdict.HOLDS for each in findings), findings
    assert ids <= {each.id.split("/")[0] for each in findings}
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_who_is_ahead_is_undecided_where_errors_reach_over_0():
    one, near, two = [Mean(50.0, 1.0)], [Mean(53.0, 1.0)], [Mean(60.0, 1.0)]
    pairs = (two, one), (one, two), (one, one), (near, one), (one, near)
    verdicts = [ahead("", "", a, b).verdict for a, b in pairs]
    assert verdicts == [Verdict.HOLDS, Verdict.FAILS, *3 * [Verdict.UNDECIDED]]


@pytest.mark.parametrize(
    ("error", "drawn", "off", "verdict"),
    [
        (0.2, 0.0, 0.9, Verdict.HOLDS),
        (0.2, 0.0, 1.1, Verdict.FAILS),
        (0.2, 0.0, -1.1, Verdict.FAILS),
        (0.3, 0.4, 2.5, Verdict.HOLDS),  # √(0.3² + 0.4²) = 0.5, and what was rounded
        (0.3, 0.4, 2.6, Verdict.FAILS),
        (1.1, 0.0, 0.0, Verdict.UNDECIDED),  # too few say nothing, even on the spot
    ],
)
def test_figures_are_compared_by_the_errors_of_both(error, drawn, off, verdict):
    figures = [30.0, 40.0]
    measured = [Mean(30.0 + off, error), Mean(40.0, 0.1)]
    assert beside("", "", measured, figures, drawn).verdict is verdict


def test_a_bound_is_passed_by_more_than_errors():
    for error, over, verdict in (
        (0.2, 0.9, Verdict.HOLDS),
        (0.2, 1.1, Verdict.FAILS),
        (1.1, -20.0, Verdict.UNDECIDED),
    ):
        assert below("", "", [Mean(30.0 + over, error)], [30.0], "").verdict is verdict


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault):
    assert search.verdict(Run(quick=True, fault=FAULTS[fault]), **SMALL) is Verdict.FAILS


def test_a_query_that_asks_all_cells_is_seen():
    """Its own rank, from scores with all points: they may not say anything to it."""

    run = Run(fault=rank_of_all)
    found = [one_cell(run, each) for each in both(run, 2, 40)]
    assert Verdict.FAILS in {each.verdict for each in found}


def rank_of_all(model):
    """A head of the first layer that asks for something in queries too."""
    model.blocks[0].attn.b_Q[0] += 1.0
    return model


def test_a_descent_that_asks_all_cells_is_seen():
    healthy = kd_descent(2, 2, largest=10 * 4)
    assert layouts_module.one_cell(Run(), healthy).verdict is Verdict.HOLDS
    faulty = rank_of_all(kd_descent(2, 2, largest=10 * 4))
    assert layouts_module.one_cell(Run(), faulty).verdict is Verdict.FAILS


def test_a_table_that_is_asked_whole_is_seen():
    healthy, faulty = (bucket_table(3, 2, largest=10 * 4) for _ in range(2))
    faulty.blocks[3].attn.b_Q[0] += 1.0
    assert extra_space_module._moved(Run(), healthy).verdict is Verdict.HOLDS
    assert extra_space_module._moved(Run(), faulty).verdict is Verdict.FAILS


def test_figures_of_the_table():
    assert published("interpolation", 16) == [32.6, 71.2, 93.8, 98.9]
    (first, second) = drawn(Run(seed=1), "binary", 3, 2, 2000)
    assert abs(first.mean - 25) < 5 * first.error
    assert np.isclose(second.mean, 100)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"lookups": 1}, "lookups is 1: give a number at least 2"),
        ({"lookups": 7}, "lookups is 7: give at most 6"),
        ({"samples": 10}, "samples is 10: give a number at least 100"),
    ],
)
def test_options_are_checked(options, says):
    with pytest.raises(InputError, match=says):
        next(search.findings(Run(), **options))


@pytest.mark.parametrize(
    ("claim", "options", "says"),
    [
        (layouts, {"levels": 5}, "levels is 5: give at most 4"),
        (hashing, {"samples": 1}, "samples is 1: give a number at least 100"),
        (extra_space, {"cells": 0}, "cells is 0: give a number at least 1"),
        (extra_space, {"points": 13}, "points is 13: give at most 12"),
        (sketches, {"samples": 1}, "samples is 1: give a number at least 500"),
    ],
)
def test_options_of_the_others_are_checked(claim, options, says):
    with pytest.raises(InputError, match=says):
        next(claim.findings(Run(), **options))
