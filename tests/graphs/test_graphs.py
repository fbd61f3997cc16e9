"""Graphs: distances by two methods, walks, families, and rejected arguments."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from theory import machine
from theory.graphs import (
    all_graphs,
    as_adjacency,
    beyond,
    capacity,
    clique,
    components,
    connected,
    cycles,
    diameter,
    disentangled_features,
    disentangled_polynomial,
    distances,
    distances_by_definition,
    erdos_renyi,
    from_edges,
    gram_polynomial,
    jumps,
    labellings,
    least_layers,
    path,
    polynomial_of_graph,
    relabelled,
    side_by_side,
    tripling_polynomial,
    two_chain,
    two_clique,
    walks,
    walks_from,
    walks_with_jumps,
    within,
)

GRAPHS = st.builds(
    lambda n, p, seed: erdos_renyi(1, n, p, seed)[0],
    st.integers(1, 9),
    st.floats(0, 1),
    st.integers(0, 999),
)


@settings(max_examples=30)
@given(GRAPHS)
def test_distances_by_products_are_those_of_a_search(A):
    apart = distances(A)
    assert (apart == distances_by_definition(A)).all()
    assert ((apart >= 0) == connected(A)).all()
    assert diameter(A) == apart.max()
    for k in range(len(A)):
        assert (within(A, k) == (np.linalg.matrix_power(A, k) > 0)).all()
    least = [min(np.flatnonzero(row >= 0)) for row in apart]
    assert components(A).tolist() == least


@settings(max_examples=20)
@given(GRAPHS, st.integers(0, 12))
def test_walks_are_powers(A, k):
    power = np.linalg.matrix_power(A.astype(object), k) if k else np.eye(len(A), dtype=object)
    assert (walks_from(A, k) == power.sum(1)).all()
    assert walks(A, k) == power.sum()


@settings(max_examples=20)
@given(GRAPHS, st.lists(st.integers(0, 4), min_size=1, max_size=4))
def test_walks_with_jumps_are_words_in_two_matrices(A, lengths):
    n, word = len(A), np.eye(len(A), dtype=object)
    for place, k in enumerate(lengths):
        jump = np.ones((n, n), dtype=object) - np.eye(n, dtype=object) if place else np.eye(n)
        word = word @ jump @ np.linalg.matrix_power(A, k).astype(object)
    assert (walks_with_jumps(A, lengths) == word).all()
    assert (walks_with_jumps(np.stack([A, A]), lengths)[1] == word).all()


def test_one_node_has_no_jumps():
    with rejects("n_nodes", "1"):
        jumps(1, 2)


@pytest.mark.parametrize("n", [2, 5])
def test_jumps_lead_to_other_nodes(n):
    for r in range(5):
        counts = walks_with_jumps(np.eye(n, dtype=int), [0] * (r + 1))
        assert (counts[~np.eye(n, dtype=bool)] == jumps(n, r)).all()


def test_regular_graphs_have_equally_many_walks_with_jumps_between_far_pairs():
    A, a = cycles(12), 3
    for word in ([1, 2], [0, 3, 1], [2, 0, 0, 1]):
        far = ~within(A, sum(word))
        limit = a ** sum(word) * jumps(12, len(word) - 1)
        assert {*walks_with_jumps(A, word)[far]} == {limit}


@settings(max_examples=20)
@given(GRAPHS, st.randoms())
def test_distances_are_equivariant(A, random):
    order = random.sample(range(len(A)), len(A))
    moved = relabelled(A, order)
    assert (distances(moved) == distances(A)[np.ix_(order, order)]).all()
    assert beyond(moved, 0).sum() == beyond(A, 0).sum()


def test_many_graphs_at_once():
    A = all_graphs(4).reshape(8, 8, 4, 4)
    assert distances(A).shape == (8, 8, 4, 4)
    assert diameter(A).shape == walks(A, 3).shape == (8, 8)
    assert (distances(A[3, 5]) == distances(A)[3, 5]).all()
    assert (walks_from(A, 5)[2, 7] == walks_from(A[2, 7], 5)).all()
    # Connected labelled graphs on 4 nodes.
    assert connected(A).all(axis=(-1, -2)).sum() == 38


def test_families():
    assert diameter(path(7)) == 6
    assert diameter(two_chain(9)) == 4
    assert diameter(two_clique(9)) == diameter(clique(2)) == 1
    assert diameter(cycles(5, 8)) == 4
    assert components(two_clique(5)).tolist() == [0, 0, 2, 2, 2]
    assert components(two_chain(2)).tolist() == [0, 1]
    assert (side_by_side(path(2), path(1)) == from_edges([[1, 0]], 3)).all()
    for none in ([], np.zeros((0, 2))):
        assert (from_edges(none, 2) == np.eye(2)).all()
    assert (erdos_renyi(2, 5, 1, 0) == clique(5)).all()
    assert (erdos_renyi(2, 5, 0, 0) == np.eye(5)).all()


def test_labellings_are_complete():
    """8!/(2·2·2) of 2Chain, 8!/(4!·4!·2) of 2Clique; each with the edges of the family."""
    for family, count, degrees in (
        (two_chain, 5040, [2, 2, 2, 2, 3, 3, 3, 3]),
        (two_clique, 35, [4] * 8),
    ):
        graphs = labellings(family(8))
        assert graphs.shape == (count, 8, 8)
        assert len(np.unique(graphs, axis=0)) == count
        assert (np.sort(graphs.sum(-1), axis=-1) == degrees).all()
        assert (connected(graphs).sum((-1, -2)) == 32).all()


def test_capacity():
    assert [capacity(layers) for layers in range(4)] == [1, 3, 9, 27]
    assert capacity(10_000).bit_length() == 15850
    assert [least_layers(d) for d in (0, 1, 2, 3, 4, 9, 10, 27, 28)] == [0, 0, 1, 1, 2, 2, 3, 3, 4]
    assert beyond(path(5), 1).sum() == 2
    assert not beyond(two_clique(4), 0).any()  # unconnected pairs are not counted
    huge = walks(path(28), 400)  # an integer that float64 does not represent
    assert huge > 2**400
    assert isinstance(int(huge), int)


def test_polynomials_by_hand():
    assert tripling_polynomial(0) == [0, 1]
    assert tripling_polynomial(1) == [0, 1, 0, 1]
    assert gram_polynomial(1) == [2, 0, 4, 0, 3, 0, 1]
    assert disentangled_polynomial(1) == [2, 2, 1, 1]
    A = path(4).astype(object)
    assert (
        polynomial_of_graph([1, 0, 2, 5], path(4)) == np.eye(4) + 2 * A @ A + 5 * A @ A @ A
    ).all()
    h = disentangled_features(path(5), [np.eye(10, dtype=int), np.eye(20, dtype=int)])
    sums = h.reshape(5, 8, 5).sum(1)
    assert (sums == polynomial_of_graph(disentangled_polynomial(2), path(5))).all()
    assert (h @ h.T == polynomial_of_graph(gram_polynomial(2), path(5))).all()


def test_tensors_are_graphs_too():
    assert (as_adjacency(torch.tensor(path(3))) == path(3)).all()
    assert as_adjacency(path(3).astype(bool)).dtype == np.int64
    assert as_adjacency(path(3) * 1.0, 3).dtype == np.int64


EYE = np.eye(3, dtype=int)


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: as_adjacency(EYE, 4), "A n_nodes"),
        (lambda: relabelled(EYE, [0, 1, 1]), "order"),
        (lambda: labellings(path(9)), "A 9 8"),
        (lambda: cycles(), "cycle"),
        (lambda: cycles(4, 2), "cycle 2"),
        (lambda: cycles(4, True), "cycle"),
        (lambda: side_by_side(), "graphs"),
        (lambda: side_by_side(all_graphs(2)), "graphs"),
        (lambda: disentangled_features(EYE, [EYE]), "weights[0]"),
        (lambda: disentangled_features(EYE, [np.eye(6)]), "weights[0]"),
        (
            lambda: disentangled_features(EYE[:1, :1], [np.full((2, 2), 0.5, dtype=object)]),
            "weights[0]",
        ),
    ],
)
def test_rejected_graphs(call, names):
    with rejects(*names.split()):
        call()


def test_cycles_beyond_memory_are_rejected(monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 2**30)
    with rejects("nodes"):
        cycles(10**9)
