"""What functions and models on graphs do not take: a line each, and nothing that never ends."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from torch import Generator

from constructions.graphs import disentangled, search, tripling
from constructions.graphs.graph import Graph
from constructions.trained.tasks.connectivity import Connectivity
from theory.checks import InputError
from theory.graphs import (
    Channels,
    all_graphs,
    as_adjacency,
    beyond,
    capacity,
    cycles,
    disentangled_features,
    erdos_renyi,
    from_edges,
    kronecker,
    of_graph,
    path,
    relabelled,
    side_by_side,
    two_channels,
    walk_counts,
    walks,
    walks_from,
)
from theory.graphs.search import read_edges

ONE = np.ones((1, 1), dtype=int)
HUGE = 10**400
FOUND = search(3).interface.found


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: capacity(10**9), "layers are more than 10000"),
        (lambda: capacity(HUGE), "layers are more than 10000"),
        (lambda: beyond(path(3), 10**9), "layers are more than 10000"),
        (lambda: walk_counts(path(3), 10**9), "k is more than 10000"),
        (lambda: walks_from(path(3), HUGE), "k is more than 10000"),
        (lambda: walks(path(3), 10**9), "k is more than 10000"),
        (lambda: relabelled(path(3), [0.0, 1.0, 2.0]), "order is no permutation of 3 nodes"),
        (lambda: relabelled(path(2), [False, True]), "order is no permutation of 2 nodes"),
        (lambda: read_edges(None), "path is None: give where a file with edges is"),
        (lambda: read_edges("nowhere.json"), "cannot read nowhere.json"),
        (lambda: side_by_side(), r"graphs have shapes \[\]: give at least one"),
        (lambda: side_by_side(np.ones((2, 3))), r"A has shape \(2, 3\)"),
        (lambda: side_by_side(all_graphs(2)), r"graphs have shapes \[\(2, 2, 2\)\]"),
        (lambda: kronecker(Channels(ONE, ONE), "3"), "n is '3'"),
        (lambda: kronecker(Channels(ONE, ONE), -1), "n is -1"),
        (lambda: kronecker(Channels(ONE, np.ones((1, 2))), 2), r"A and B have shapes \(1, 1\) and"),
        (lambda: kronecker(3, 2), r"the channels are a int: give Channels\(A, B\)"),
        (lambda: kronecker((ONE,), 2), r"the channels are a tuple: give Channels\(A, B\)"),
        (lambda: kronecker(Channels(ONE, [["a"]]), 2), "B is of type text: give real numbers"),
        (lambda: kronecker(Channels(ONE * np.nan, ONE), 2), "A contains NaN"),
        (lambda: kronecker(Channels(ONE, ONE), 10**7), "weights of 1e.07 nodes need .* GiB"),
        (lambda: two_channels([[Fraction(1), "a"], [1, 1]], 2), "W is of type str: give real"),
        (lambda: disentangled_features(path(2), None), "weights are no list"),
        (
            lambda: disentangled_features(path(2), [np.full((4, 4), 0.5, dtype=object)]),
            "dtype object: give whole numbers",
        ),
        (lambda: of_graph(None, path(2)), "the polynomial is no list of integers"),
        (lambda: of_graph([1, 0.5], path(2)), "the polynomial is no list of integers"),
        (lambda: erdos_renyi(1, 3, 0.5, "x"), "seed is 'x'"),
        (lambda: erdos_renyi(1, 3, -0.1, 0), r"p is -0.1: give one probability, from 0 to 1"),
        (lambda: erdos_renyi(1, 3, float("nan"), 0), "p is nan: give one probability"),
        (lambda: erdos_renyi(1, 3, [0.5], 0), r"p is \[0.5\]: give one probability"),
        (lambda: cycles(5, 2), "a cycle of 2 nodes: give one size or more, each at least 3"),
        (lambda: cycles(), "no cycle: give one size or more"),
        (lambda: as_adjacency(None), "A is of type NoneType: give real numbers"),
        (lambda: as_adjacency([["1"]]), "A is of type text: give real numbers"),
        (lambda: as_adjacency(path(3), "x"), "n is 'x': give an integer"),
        (lambda: tripling(3, 10**7), "layers are more than 10000: take fewer"),
        (
            lambda: search(3).generate(search(3).interface.prompt([[0, 1]], 0), 10**9),
            "3 steps decode all that can be reached",
        ),
        (lambda: erdos_renyi(1, 3, 0.5, 1.5), "seed is 1.5"),
        (lambda: erdos_renyi(1, 3, 0.5, None), "seed is None"),
        (lambda: erdos_renyi(1, 3, 0.5, -1), "seed is -1"),
        (lambda: FOUND(None), r"tokens have shape \(\) and dtype object"),
        (lambda: FOUND([[1, -1], [2, -1]]), r"tokens have shape \(2, 2\)"),
        (lambda: FOUND([1.5, -1]), "dtype float64: give one sequence"),
        (lambda: FOUND([77, -1]), "tokens are not all from −1 to 2"),
        (lambda: Graph(3, threshold=float("nan")), "threshold contains NaN"),
        (lambda: Graph(3, threshold="a"), "give real numbers"),
        (lambda: Graph(3, margin=0), "margin is 0"),
        (lambda: Graph(3, margin=float("inf")), "margin is inf"),
        (lambda: disentangled(2, 1, bias=[1.0]), r"bias has shape \(1,\): give one number"),
        (lambda: Connectivity(10**6, 0.2).drawn(1, Generator()), "graphs of 1000000 nodes need"),
        (lambda: Connectivity(8, 0.2).drawn(-1, Generator()), "count is -1"),
        (lambda: [*Connectivity(8, 0.2).evaluate(None, -1, 0)], "prompts is -1"),
        (lambda: [*Connectivity(8, 0.2).evaluate(None, 0, 0)], "prompts is 0"),
        (lambda: [*Connectivity(8, 0.2).evaluate(None, 5, -1)], "seed is -1"),
    ],
)
def test_what_is_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()


def test_what_is_taken():
    assert (from_edges(np.zeros((0, 2)), 3) == np.eye(3)).all()
    assert FOUND([1, -1, 2]) == [1]
    assert FOUND([]) == []
    assert Graph(3, threshold=1).threshold == 1.0
    assert capacity(10_000).bit_length() == 15850
