"""Connected components: labels by a search, by a union of sets, by the program, by layers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.computation import connected_components
from theory.computation import components, least_labels, shuffled_path
from theory.computation.components import as_inputs, enough_steps, settled_after
from theory.computation.edge_lists import families

GRAPHS = st.integers(1, 7).flatmap(
    lambda n: st.tuples(
        st.just(n), st.lists(st.tuples(st.integers(1, n), st.integers(1, n)), max_size=9)
    )
)


def by_union(n: int, edges: list[tuple[int, int]]) -> list[int]:
    sets = {v: {v} for v in range(1, n + 1)}
    for u, v in edges:
        joined = sets[u] | sets[v]
        sets |= dict.fromkeys(joined, joined)
    return [min(sets[v]) for v in range(1, n + 1)]


@settings(max_examples=15)
@given(GRAPHS)
def test_labels_are_the_least_of_a_component(graph):
    n, edges = graph
    wanted = by_union(n, edges)
    assert least_labels(edges, n).tolist() == wanted
    assert connected_components(n, 9)(edges).tolist() == wanted
    pairs = np.array(edges, dtype=int).reshape(-1, 2)
    assert connected_components(n, 9)(pairs[::-1, ::-1]).tolist() == wanted
    for overlapped in (True, False):
        program = components(n, 9, overlapped=overlapped)
        *_, last = program.run(*as_inputs(pairs, n))
        assert last["p"][:n].tolist() == wanted


@pytest.mark.parametrize("n", [2, 3, 8, 9])
def test_families_have_the_components_of_their_names(n):
    one = ("shuffled paths", "path 1 n 2 n−1 …", "sorted path", "star")
    wanted = dict.fromkeys(one, 1) | {"two cycles": 2, "loops": n, "no edge": n}
    found = families(n, 2, 0)
    for name, count in (wanted | {"one edge n times": n - 1}).items():
        for edges in found[name]:
            assert len(set(by_union(n, edges.tolist()))) == count, name


@settings(max_examples=40)
@given(GRAPHS)
def test_labels_stay_in_the_component_and_never_grow(graph):
    n, edges = graph
    pairs = np.array(edges, dtype=int).reshape(-1, 2)
    right, before = least_labels(pairs, n), np.arange(1, n + 1)
    for held in components(n, 9).run(*as_inputs(pairs, n)):
        labels = held["p"][:n]
        assert (labels <= before).all()
        assert (right[labels - 1] == right).all()
        # Settled exactly when no edge has two labels.
        alike = (labels[pairs[:, 0] - 1] == labels[pairs[:, 1] - 1]).all()
        assert alike == (labels == right).all()
        before = labels
    assert settled_after(pairs, n) <= enough_steps(n)


@pytest.mark.parametrize("n", [2, 17, 40])
def test_shuffled_paths(n):
    paths = np.stack([shuffled_path(n, seed) for seed in range(5)])
    assert (connected_components(n, n - 1)(paths) == 1).all()


def test_an_answer_that_is_not_there_yet_is_never_given():
    path = shuffled_path(30, 0)
    steps = settled_after(path, 30)
    assert (connected_components(30, 29, steps)(path) == 1).all()
    with rejects("58"):
        connected_components(30, 29, steps - 1)(path)


def test_graphs_without_edges_and_without_layers():
    assert connected_components(3, 0)([]).tolist() == [1, 2, 3]
    assert connected_components(1, 2)([[1, 1]]).tolist() == [1]
    assert connected_components(3, 1, 0)([[2, 2]]).tolist() == [1, 2, 3]
    assert connected_components(3, 4)(np.zeros((5, 0, 2), dtype=int)).shape == (5, 3)
    assert connected_components(3, 4)(torch.tensor([[3, 2]])).tolist() == [1, 2, 2]


def test_sizes():
    model = connected_components(6, 8)
    size = model.n_layers, model.n_heads, model.d_model, len(model.blocks[0].mlp.b_in)
    assert size == (10, 3, 18, 18)
    assert model.blocks[0] is model.blocks[9]


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: connected_components(3, 1)([[1, 2], [2, 3]]), "edges 2 1"),
        (lambda: connected_components(3, 3)([[1, 4]]), "edges 4 3"),
        (lambda: connected_components(3, 3)([[0, 1]]), "edges 0"),
        (lambda: connected_components(3, 3)([[1.0, 2.0]]), "edges float64"),
        (lambda: connected_components(3, 3)([[True, True]]), "edges bool"),
        (lambda: connected_components(3, 3)([1, 2]), "edges"),
        (lambda: connected_components(3, 3)([[1, 2, 3]]), "edges"),
        (lambda: connected_components(3, 3)([[1], [1, 2]]), "edges"),
        (lambda: connected_components(3, 3)([[1, 2]], 3), "2 edges"),
        (lambda: components(3, 3, 3, overlapped=False), "steps"),
    ],
)
def test_what_is_no_graph_is_refused(call, names):
    with rejects(*names.split()):
        call()
