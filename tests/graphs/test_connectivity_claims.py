"""The parts of the claims `connectivity` and `connectivity-wall`, and sizes that they reject."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions.graphs import tripling
from theory.graphs import (
    Channels,
    clique,
    connected,
    cycles,
    kronecker,
    minimal_subgraph,
    path,
)
from verify.claim import Run
from verify.finding import Verdict, equal
from verify.graphs import connectivity_wall as wall
from verify.graphs.connectivity import (
    FEW,
    compared,
    paths,
    registers,
    statements_of,
)
from verify.graphs.connectivity_wall import (
    apart,
    channels,
    cliques,
    cutting,
    if_seen,
)
from verify.graphs.exact_outputs import differences, evidence_of, exactly, over_q
from verify.ledger.claims import installed

STATEMENTS = TRIPLED, *_ = statements_of(Run())


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("connectivity", {"n_nodes": 2, "n_layers": 1, "samples": 1}),
        ("graph-search", {"n_nodes": 2, "samples": 1}),
        ("squaring", {"n_nodes": 2, "samples": 1}),
    ],
)
def test_claims_hold_at_the_least_sizes(name, options):
    claim = installed()[name].load()
    assert claim.verdict(Run(quick=True), **{**claim.defaults, **options}) is Verdict.HOLDS


def test_subgraphs_are_minimal():
    W, out = [np.eye(12, dtype=int)], np.tile(np.eye(6, dtype=int), (4, 1))
    least = minimal_subgraph(path(6), W, out, 0, 3)
    assert connected(least)[0].tolist() == [1, 1, 1, 1, 0, 0]
    out = np.tile(np.eye(12, dtype=int), (4, 1))  # of 66 edges, one to three are left
    assert minimal_subgraph(clique(12), [None], out, 0, 11).sum() - 12 <= 2 * 3


def test_signed_weights_of_four_nodes_differ():
    run = Run()
    found = [any(apart(run, 4, 1, cutting(run, 4, 1))) for _ in range(10)]
    assert any(found)
    assert not all(found)
    W = kronecker(Channels(np.diag([0, -2]), np.diag([3, 0])), 10)
    said = np.zeros((4, 1), dtype=int)
    said[2] = 1
    assert not any(apart(run, 5, 1, ([W], kronecker(Channels(said, said), 10))))


def test_weights_that_are_not_negative_have_negative_identity_channels():
    drawn = [channels(Run(seed=seed), 6, 1, 0, 2) for seed in range(8)]
    assert all((each >= 0).all() for W, out in drawn for each in (*W, out))
    assert any(wall.below_zero(weights, 6) for weights in drawn)
    plain = kronecker(Channels(np.eye(2, dtype=int), np.eye(2, dtype=int)), 6)
    assert not wall.below_zero(([plain], plain), 6)


def test_a_finding_that_cannot_fail_is_undecided():
    for seen, failing, wanted in (
        (False, None, Verdict.UNDECIDED),
        (True, None, Verdict.HOLDS),
        (False, "this", Verdict.FAILS),
    ):
        assert if_seen(seen, equal("id", "name", failing)).verdict is wanted


def test_weights_outside_two_channels_exceed_two_cliques(monkeypatch):
    """Output_ij = j + 1: a far pair has a larger output than the least pair between cliques."""

    def named(run, n, layers, *_):
        W, out = channels(Run(), n, layers, 0, 1)
        said = 0 * out
        said[:n] = np.arange(1, n + 1)
        return [0 * each for each in W], said

    monkeypatch.setattr(wall, "channels", named)
    assert {each.verdict for each in cliques(Run(quick=True), 11, 1)} == {Verdict.FAILS}


def test_paths_below_at_and_above_capacity_are_run():
    sizes = []

    def build(n, layers):
        sizes.append((layers, n - 1))
        return tripling(n, layers)

    assert paths(replace(TRIPLED, build=build)).verdict is Verdict.HOLDS
    assert sizes == [(L, 3**L + more) for L in (1, 2, 3) for more in (-1, 0, 1)]


def test_missing_invariants_fail():
    for statement in STATEMENTS:
        case = statement.at(5, 2)
        assert registers(case, path(5)[None]).verdict is Verdict.HOLDS
        case.model.stages = case.model.stages[:-1]
        assert registers(case, path(5)[None]).verdict is Verdict.FAILS


def test_runs_over_q_where_float64_rounds():
    A = path(10)
    assert evidence_of(tripling(10, 3), A) == "exact"
    deep = tripling(10, 4)
    assert evidence_of(deep, A) == "float"
    # 52 bits are held, and a division by n could follow a product that has more.
    assert 2**52 < tripling(4, 3).logits(clique(4)).max() < 2**53
    assert evidence_of(tripling(4, 3), clique(4)) == "float"
    assert (exactly(deep, A[None])[0] == over_q(deep, A)).all()
    assert (exactly(deep, A) >= exactly(tripling(10, 3), A)).all()
    assert registers(TRIPLED.at(24, 4), path(24)[None]).verdict is Verdict.HOLDS
    many = np.stack([A] * (FEW + 1))
    for layers, some in ((3, False), (4, True)):
        found = compared("large", "", TRIPLED.at(10, layers), many)
        assert registers(TRIPLED.at(10, layers), many).verdict is Verdict.HOLDS
        assert found.verdict is Verdict.HOLDS
        assert (str(FEW) in found.words.split()) == some
    wrong = replace(TRIPLED, outputs=lambda A, layers: TRIPLED.outputs(A, layers) * (A != 1))
    assert compared("large", "", wrong.at(10, 4), many).verdict is Verdict.FAILS
    assert not [*differences(A, A, A)]
    said, *_ = differences(np.zeros((3, 3)), cycles(3), cycles(3))
    assert "0, 0" in said
    assert "(0, 1)" in said


def test_a_subgraph_needs_a_positive_output():
    with rejects("A"):
        minimal_subgraph(np.eye(2), [], np.eye(4, 2, dtype=int), 0, 1)


def test_outputs_that_are_no_integers_are_not_cut_off():
    """Outputs of a wrong model, half of what they should be, in the stated kind of arithmetic."""
    model, A = tripling(4, 1), np.ones((1, 4, 4), dtype=int)
    right = exactly(model, A)
    with torch.no_grad():
        model.unembed.W_U *= 0.5
    assert evidence_of(model, A) == "exact"
    assert (2 * exactly(model, A) == right).all()
    assert [*differences(exactly(model, A), right, A)]
