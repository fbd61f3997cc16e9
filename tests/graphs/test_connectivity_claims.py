"""The claims `connectivity` and `connectivity-wall`: their findings, faults, and pictures."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.image import imread

from constructions.graphs import tripling
from theory.checks import InputError
from theory.graphs import Channels, clique, connected, cycles, kronecker, path
from verify.claim import Run
from verify.finding import Verdict
from verify.graphs import wall
from verify.graphs.connectivity import (
    FEW,
    as_tested,
    compared,
    connectivity,
    paths,
    registers,
)
from verify.graphs.running import difference, evidence_of, exactly, over_q
from verify.graphs.wall import (
    apart,
    channels,
    cliques,
    closed_bands,
    connectivity_wall,
    cutting,
    far,
    regular,
    smallest_subgraph,
    sound,
)
from verify.selftest.tensor_mutations import FAULTS

SMALL = {"nodes": 5, "layers": 1, "samples": 2}
WALL = {"nodes": 11, "samples": 1}


def test_connectivity_holds():
    findings = list(connectivity.findings(Run(quick=True), **SMALL))
    assert all(each.verdict is Verdict.HOLDS for each in findings), findings
    assert {each.evidence for each in findings} == {"exact", "identity", "float"}
    bits = {each.id: each.measured for each in findings}["tripling/paths"]
    assert [row[-1] for row in bits.values()] == [4, 13, 41]


def test_the_wall_stands():
    findings = list(connectivity_wall.findings(Run(quick=True), **WALL))
    assert all(each.verdict is Verdict.HOLDS for each in findings), findings
    sums = {each.id: each.measured for each in findings}["row-sums"]
    assert sums == {"m = 4": [[11], [12]], "m = 5": [[17], [17]]}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("claim", "options"), [(connectivity, SMALL), (connectivity_wall, WALL)])
def test_faults_are_seen(fault, claim, options):
    run = Run(quick=True, fault=FAULTS[fault])
    assert claim.verdict(run, **options) is Verdict.FAILS


def test_options_are_checked():
    with pytest.raises(InputError, match="nodes is 1: give a number at least 2"):
        next(connectivity.findings(Run(), nodes=1))
    with pytest.raises(InputError, match="nodes is 10: give a number at least 11"):
        next(connectivity_wall.findings(Run(), nodes=10))
    for claim, options, says in (
        (connectivity, {"nodes": 41}, "2 layers and 41 nodes: give at most 4 and 40"),
        (connectivity, {"layers": 5}, "5 layers and 12 nodes: give at most 4 and 40"),
        (connectivity_wall, {"nodes": 25}, "nodes is 25: give at most 24"),
    ):
        with pytest.raises(InputError, match=says):
            next(claim.findings(Run(), **options))


@pytest.mark.slow
@pytest.mark.parametrize(("claim", "options"), [(connectivity, SMALL), (connectivity_wall, WALL)])
def test_pictures(claim, options, tmp_path):
    where = tmp_path / "picture.png"
    list(claim.findings(Run(quick=True, plot=where), **options))
    assert imread(where).std() > 0.05


def test_subgraphs_are_smallest():
    W, out = [np.eye(12, dtype=int)], np.tile(np.eye(6, dtype=int), (4, 1))
    least = smallest_subgraph(path(6), (W, out), 0, 3)
    assert connected(least)[0].tolist() == [1, 1, 1, 1, 0, 0]


def test_signed_weights_of_four_nodes_differ():
    run = Run()
    found = [apart(run, 4, 1, cutting(run, 4, 1)) for _ in range(10)]
    assert any(found)
    assert not all(found)
    W = kronecker(Channels(np.diag([0, -2]), np.diag([3, 0])), 10)
    said = np.zeros((4, 1), dtype=int)
    said[2] = 1
    assert apart(run, 5, 1, ([W], kronecker(Channels(said, said), 10))) is None


@pytest.mark.parametrize("finding", [cliques, regular, closed_bands])
def test_weights_that_say_nothing_decide_nothing(finding, monkeypatch):
    def nothing(run, n, layers, *_):
        n = 2 * n if finding is closed_bands else n
        W, out = channels(Run(), n, layers, 0, 1)
        return [0 * each for each in W], 0 * out

    monkeypatch.setattr(wall, "channels", nothing)
    monkeypatch.setattr(wall, "CONTROLS", 3)
    monkeypatch.setattr(wall, "cutting", lambda run, m, layers: nothing(run, m, layers))
    options = (11, 1) if finding is cliques else (1,)
    found = finding(Run(quick=True), *options)
    verdicts = {each.verdict for each in (found if finding is cliques else [found])}
    assert verdicts == {Verdict.UNDECIDED}


def test_weights_that_know_names_are_ahead_of_two_cliques(monkeypatch):
    """Output_ij = j + 1: a far pair is ahead of the least pair across, of which it says more."""

    def named(run, n, layers, *_):
        W, out = channels(Run(), n, layers, 0, 1)
        said = 0 * out
        said[:n] = np.arange(1, n + 1)
        return [0 * each for each in W], said

    monkeypatch.setattr(wall, "channels", named)
    assert {each.verdict for each in cliques(Run(quick=True), 11, 1)} == {Verdict.FAILS}


def test_who_sees_far_and_is_sound_is_noticed(monkeypatch):
    monkeypatch.setattr(wall, "says_too_much", lambda *_: False)
    assert sound(Run(quick=True), 1).verdict is Verdict.FAILS


def test_paths_below_at_and_above_capacity_are_run():
    sizes = []
    tested = as_tested(Run(), "tripling")

    def build(n, layers):
        sizes.append((layers, n - 1))
        return tested.build(n, layers)

    assert paths(replace(tested, build=build)).verdict is Verdict.HOLDS
    assert sizes == [(L, 3**L + more) for L in (1, 2, 3) for more in (-1, 0, 1)]


def test_far_pairs_are_those_beyond_and_those_apart():
    assert far(path(5), 1).sum() == 2
    assert far(path(4), 1).sum() == 0
    assert far(cycles(3, 3), 1).sum() == 18


def test_registers_that_are_not_stated_are_missed():
    model = deepcopy(tripling(5, 2))
    assert registers(model, path(5)[None], 3).verdict is Verdict.HOLDS
    model.stages = model.stages[:-1]
    assert registers(model, path(5)[None], 3).verdict is Verdict.FAILS


def test_what_float64_rounds_is_run_over_q():
    from constructions import tripling

    A = path(10)
    assert evidence_of(tripling(10, 3), A) == "exact"
    deep = tripling(10, 4)
    assert evidence_of(deep, A) == "float"
    # 52 bits are held, and a division by n could follow a product that has more.
    assert 2**52 < tripling(4, 3).logits(clique(4)).max() < 2**53
    assert evidence_of(tripling(4, 3), clique(4)) == "float"
    assert (exactly(deep, A[None])[0] == over_q(deep, A)).all()
    tested, many = as_tested(Run(), "tripling"), np.stack([A] * (FEW + 1))
    for layers, of in ((3, "all outputs"), (4, f"outputs of {FEW} over Q")):
        found = compared("large", "", tested, layers, many)
        assert found.verdict is Verdict.HOLDS
        assert found.words.startswith(of)
    wrong = replace(tested, outputs=lambda layers, A: tested.outputs(layers, A) * (A != 1))
    assert compared("large", "", wrong, 4, many).verdict is Verdict.FAILS
    assert difference(A, A, A) is None
    assert "nodes 0, 0 of the graph on 3 nodes with edges [(0, 1)" in difference(
        np.zeros((3, 3)), cycles(3), cycles(3)
    )
