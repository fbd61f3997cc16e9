"""The claims on data structures: their findings, and faults that they see."""

from __future__ import annotations

import numpy as np
import pytest

from theory.checks import InputError
from verify.claim import Run
from verify.evidence.statistics import Mean
from verify.faults import FAULTS
from verify.finding import Verdict
from verify.structures.by_lookup import ahead
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
    assert {each.evidence for each in findings} == {"exact", "statistical"}
    assert {each.id.split("/")[0] for each in findings} == {
        *("sort", "binary", "interpolation", "uniform"),
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
    one, two = [Mean(50.0, 1.0)], [Mean(60.0, 1.0)]
    verdicts = [ahead("", "", a, b).verdict for a, b in ((two, one), (one, two), (one, one))]
    assert verdicts == [Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault):
    assert search.verdict(Run(quick=True, fault=FAULTS[fault]), **SMALL) is Verdict.FAILS


def test_a_query_that_asks_all_cells_is_seen():
    """Its own rank, from scores with all points: they may not say anything to it."""

    def asks(model):
        model.blocks[0].attn.b_Q[0] += 1.0
        return model

    found = [one_cell(Run(fault=asks), each) for each in both(Run(fault=asks), 2, 40)]
    assert Verdict.FAILS in {each.verdict for each in found}


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
