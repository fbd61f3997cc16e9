"""Limits of parameters of graphs: the last value is accepted, and the next one is refused."""

from functools import partial

import numpy as np
import pytest
from graphs_by_definition import line
from limits import limited
from refusals import rejects

from constructions.graphs.random_graphs import random_graphs
from theory import graphs as g
from theory import waiting
from theory.graphs.adjacency import check_adjacency


@pytest.mark.parametrize(
    ("function", "name", "last"),
    [
        (g.all_graphs, "n_nodes", 6),
        (g.capacity, "n_layers", 10_000),
        (g.beyond, "n_layers", 10_000),
        (g.lean_squaring_sharpness, "n_layers", 10_000),
        *((f, "n_layers", 7) for f in (g.tripling_polynomial, g.gram_polynomial)),
        (g.disentangled_polynomial, "n_layers", 7),
        (g.two_channels_by_definition, "n_nodes", 7),
        (g.jumps, "r", 10_000),
        (g.walks, "k", 10_000),
        (g.walks_from, "k", 10_000),
    ],
)
def test_limits(function, name, last):
    limited(function, name, None, last)


@pytest.mark.parametrize("shape", [(), (3,), (0, 0), (2, 3), (2, 0, 0)])
def test_matrices_of_graphs_are_square(shape):
    check_adjacency(np.ones((1, 1)))
    with rejects("A"):
        check_adjacency(np.ones(shape))


def test_further_limits():
    one = np.ones((1, 1), dtype=int)
    assert g.walks(one, 10_000) == g.walks_with_jumps(one, [10_000])[0, 0] == 1
    with rejects("lengths"):
        g.walks_with_jumps(one, [])
    with rejects("lengths"):
        g.walks_with_jumps(one, [10_001])
    with rejects("A", "8"):
        g.labellings(line(9))
    for function in (g.two_chain, g.two_clique, g.squaring_sharpness, partial(g.jumps, r=1)):
        assert np.all(function(2) >= 0)
        with rejects("n_nodes"):
            function(1)
    for function, outside in ((g.erdos_renyi, (-1e-9, 1.000001)), (random_graphs, (0.0, 1.0))):
        for p in outside:
            with rejects("p"):
                function(1, 3, p, 0)
    assert g.cycles(3).all()
    with rejects("size"):
        g.cycles(3, 2)


def test_distances_announce_more_than_a_minute(monkeypatch, capsys):
    g.distances(g.path(4))
    monkeypatch.setattr(waiting, "MEASURED", 0.0)
    g.distances(g.path(4))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(waiting, "LONG", 0.0)
    g.distances(g.path(4))
    (told,) = capsys.readouterr().err.splitlines()
    assert "n = 4" in told
