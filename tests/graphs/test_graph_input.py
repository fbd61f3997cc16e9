"""What functions and models on graphs do not take: a line each, and nothing that never ends."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from refusals import rejects
from torch import Generator

from constructions.graphs import disentangled, search, tripling
from constructions.graphs.graph import Graph
from constructions.trained.tasks.connectivity import Connectivity
from theory.graphs import (
    Channels,
    all_graphs,
    as_adjacency,
    beyond,
    capacity,
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
    ("call", "names"),
    [
        (lambda: capacity(10**9), "layers"),
        (lambda: capacity(HUGE), "layers"),
        (lambda: beyond(path(3), 10**9), "layers"),
        (lambda: walk_counts(path(3), 10**9), "k"),
        (lambda: walks_from(path(3), HUGE), "k"),
        (lambda: walks(path(3), 10**9), "k"),
        (lambda: relabelled(path(2), [False, True]), "order"),
        (lambda: read_edges(None), "path"),
        (lambda: read_edges("nowhere.json"), "nowhere.json"),
        (lambda: side_by_side(), "graphs"),
        (lambda: side_by_side(np.ones((2, 3))), "A"),
        (lambda: side_by_side(all_graphs(2)), "graphs"),
        (lambda: kronecker(Channels(ONE, ONE), "3"), "n"),
        (lambda: kronecker(Channels(ONE, ONE), -1), "n"),
        (lambda: kronecker(Channels(ONE, np.ones((1, 2))), 2), "A B"),
        (lambda: kronecker(3, 2), "channels"),
        (lambda: kronecker((ONE,), 2), "channels"),
        (lambda: kronecker(Channels(ONE, [["a"]]), 2), "B"),
        (lambda: kronecker(Channels(ONE * np.nan, ONE), 2), "A"),
        (lambda: kronecker(Channels(ONE, ONE), 10**7), "nodes"),
        (lambda: two_channels([[Fraction(1), "a"], [1, 1]], 2), "W"),
        (lambda: disentangled_features(path(2), None), "weights"),
        (lambda: disentangled_features(path(2), [np.full((4, 4), 0.5, dtype=object)]), "weights"),
        (lambda: of_graph(None, path(2)), "polynomial"),
        (lambda: of_graph([1, 0.5], path(2)), "polynomial"),
        (lambda: erdos_renyi(1, 3, 0.5, "x"), "seed"),
        (lambda: erdos_renyi(1, 3, [0.5], 0), "p"),
        (lambda: as_adjacency(None), "A"),
        (lambda: as_adjacency([["1"]]), "A"),
        (lambda: as_adjacency(path(3), "x"), "n"),
        (lambda: tripling(3, 10**7), "layers"),
        (lambda: search(3).generate(search(3).interface.prompt([[0, 1]], 0), 10**9), "3 steps"),
        (lambda: erdos_renyi(1, 3, 0.5, 1.5), "seed"),
        (lambda: erdos_renyi(1, 3, 0.5, None), "seed"),
        (lambda: erdos_renyi(1, 3, 0.5, -1), "seed"),
        (lambda: FOUND(None), "tokens"),
        (lambda: FOUND([[1, -1], [2, -1]]), "tokens"),
        (lambda: FOUND([1.5, -1]), "tokens"),
        (lambda: FOUND([77, -1]), "tokens"),
        (lambda: Graph(3, threshold=float("nan")), "threshold"),
        (lambda: Graph(3, threshold="a"), "threshold"),
        (lambda: Graph(3, margin=0), "margin"),
        (lambda: Graph(3, margin=float("inf")), "margin"),
        (lambda: disentangled(2, 1, bias=[1.0]), "bias"),
        (lambda: Connectivity(10**6, 0.2).drawn(1, Generator()), "graphs"),
        (lambda: Connectivity(8, 0.2).drawn(-1, Generator()), "count"),
        (lambda: [*Connectivity(8, 0.2).evaluate(None, -1, 0)], "prompts"),
        (lambda: [*Connectivity(8, 0.2).evaluate(None, 0, 0)], "prompts"),
        (lambda: [*Connectivity(8, 0.2).evaluate(None, 5, -1)], "seed"),
    ],
)
def test_what_is_refused(call, names):
    with rejects(*names.split()):
        call()


def test_what_is_taken():
    assert (from_edges(np.zeros((0, 2)), 3) == np.eye(3)).all()
    assert FOUND([1, -1, 2]) == [1]
    assert FOUND([]) == []
    assert Graph(3, threshold=1).threshold == 1.0
    assert capacity(10_000).bit_length() == 15850
