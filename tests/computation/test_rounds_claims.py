"""The claims `rounds`, `components` and `prefix-sums`."""

from __future__ import annotations

import numpy as np
import pytest

from theory.checks import InputError
from verify.claim import Run
from verify.computation.components_picture import draw
from verify.computation.connected_components import all_graphs, connected_components, graphs
from verify.computation.prefix_sums import prefix_sums
from verify.computation.rounds import all_lists, rounds
from verify.computation.steps import works_locally
from verify.finding import Verdict


@pytest.mark.parametrize(
    ("claim", "options"),
    [
        (prefix_sums, {"length": 2}),
        (prefix_sums, {"length": 9}),
        (rounds, {"length": 2, "programs": 1}),
        (rounds, {"length": 9, "programs": 3}),
        (connected_components, {"vertices": 2, "samples": 1}),
        (connected_components, {"vertices": 5, "samples": 2}),
    ],
)
def test_they_hold_at_small_sizes(claim, options):
    findings = list(claim.findings(Run(quick=True), **options))
    assert {finding.verdict for finding in findings} == {Verdict.HOLDS}
    assert len({finding.id for finding in findings}) == len(findings)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("claim", "options", "says"),
    [
        (prefix_sums, {"length": 1}, "length is 1: give a number at least 2"),
        (rounds, {"length": 1}, "length is 1: give a number at least 2"),
        (rounds, {"programs": 0}, "programs is 0: give a number at least 1"),
        (connected_components, {"vertices": 1}, "vertices is 1: give a number at least 2"),
        (connected_components, {"samples": 0}, "samples is 0: give a number at least 1"),
    ],
)
def test_bad_options_are_refused(claim, options, says):
    with pytest.raises(InputError, match=says):
        list(claim.findings(Run(quick=True), **options))


def test_all_graphs_and_lists_are_all():
    assert sum(len(rows) for rows in all_graphs(3)) == 2 * 2**6
    sets = {
        frozenset(map(tuple, np.sort(edges, axis=1).tolist()))
        for rows in all_graphs(3)
        for edges in rows
    }
    assert len(sets) == 2**6
    assert len(all_lists(3)) == 16  # (n + 1)^(n − 1) rooted forests
    assert len(all_lists(4)) == 125


@pytest.mark.parametrize("n", [2, 3, 8, 11])
def test_the_families_are_graphs_of_n_vertices(n):
    for name, edges in graphs(Run(), n, 3).items():
        assert edges.shape[1] <= n, name
        assert edges.shape[2] == 2
        assert ((edges >= 1) & (edges <= n)).all(), name


def test_a_local_step_that_is_wrong():
    from constructions.computation import connected_components as construction
    from theory.computation import components

    model, program = construction(2, 1), components(2, 1)
    assert works_locally(model, program).verdict is Verdict.HOLDS
    model.blocks[0].mlp.b_in.data[0] -= 1
    assert works_locally(model, program).verdict is Verdict.FAILS


def test_what_is_too_large_is_refused_with_its_size(tmp_path):
    from constructions.computation import connected_components as construction
    from theory.computation import components, shuffled_path

    with pytest.raises(InputError, match=r"\d+ contents of registers: take a program of fewer"):
        works_locally(construction(9, 9, 1), components(9, 9))
    with pytest.raises(InputError, match="a path of 201 vertices is too long to draw"):
        draw(tmp_path / "x.png", construction(201, 200, 1), shuffled_path(201, 0))


@pytest.mark.slow
def test_the_picture_is_drawn(tmp_path):
    target = tmp_path / "labels.png"
    for _ in connected_components.findings(Run(quick=True, plot=target), vertices=8, samples=1):
        pass
    assert target.stat().st_size > 5000
