"""Random graphs as tensors: their distribution, and their connected pairs against a search."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from constructions.graphs.random_graphs import _edges, connected, random_graphs
from theory.graphs import all_graphs, as_adjacency, distances_by_definition, path


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def by_definition(A):
    return np.stack([distances_by_definition(graph) >= 0 for graph in A])


def test_probabilities_of_all_graphs_of_three_nodes():
    """Edges are three independent coins, within five standard errors; consecutive graphs are
    independent."""
    count, p = 20_000, 0.3
    A = random_graphs(count, 3, p, generator())
    edges = A[:, [0, 0, 1], [1, 2, 2]].long()
    kind = (edges * torch.tensor([1, 2, 4])).sum(-1)
    chance = np.array([p**k * (1 - p) ** (3 - k) for k in (0, 1, 1, 2, 1, 2, 2, 3)])
    pairs = np.bincount(8 * kind[:-1] + kind[1:], minlength=64).reshape(8, 8) / (count - 1)
    for found, wanted in ((pairs.sum(1), chance), (pairs, np.outer(chance, chance))):
        assert (abs(found - wanted) < 5 * np.sqrt(wanted * (1 - wanted) / (count - 1))).all()


def test_coins_of_several_rounds():
    """For six fair coins five numbers are drawn, and more only if these do not suffice."""
    count, draws = 1200, generator(3)
    kinds = [int((1 << _edges(6, 0.5, draws)).sum()) for _ in range(count)]
    shares = np.bincount(kinds, minlength=64) / count
    assert (abs(shares - 1 / 64) < 5 * np.sqrt(1 / 64 / count)).all()


@pytest.mark.parametrize("p", [0.01, 0.5, 0.97])
def test_probability_of_every_edge(p):
    count, n = 4000, 6
    A = as_adjacency(random_graphs(count, n, p, generator(1)).numpy(), n)
    i, j = np.triu_indices(n, 1)
    assert (abs(A[:, i, j].mean(0) - p) < 5 * np.sqrt(p * (1 - p) / count)).all()


def test_probabilities_near_0_and_1():
    assert torch.equal(random_graphs(3, 5, 1e-300, generator())[0], torch.eye(5).bool())
    assert random_graphs(3, 5, 1 - 2**-53, generator()).all()
    assert random_graphs(3, 1, 0.5, generator()).all()
    same = [random_graphs(9, 7, 0.3, seed) for seed in (generator(2), 2, 3)]
    assert torch.equal(same[0], same[1])
    assert not torch.equal(same[0], same[2])


def test_all_small_graphs_are_connected_as_a_search_finds():
    for n in range(1, 5):
        A = all_graphs(n)
        assert (connected(torch.as_tensor(A)).numpy() == by_definition(A)).all()


@given(st.integers(1, 12), st.integers(1, 140), st.integers(0, 2**32))
def test_any_number_of_graphs_of_any_size(n, count, seed):
    A = random_graphs(count, n, 1.2 / (n + 1), generator(seed))
    assert (connected(A)[-3:].numpy() == by_definition(A[-3:].numpy())).all()
    assert torch.equal(connected(A)[0], connected(A[:1])[0])


@pytest.mark.parametrize("n", [2, 3, 8, 63, 64, 65])
def test_the_longest_path_is_connected_in_any_order(n):
    order = np.random.default_rng(n).permutation(n)
    line = path(n)
    line[1, 0] = line[0, 1] = 0  # all but node 0
    for A in (line, line[order][:, order]):
        R = connected(torch.as_tensor(A))
        alone = np.flatnonzero(A.sum(0) == 1)[0]
        assert R.sum() == 1 + (n - 1) ** 2
        assert R[alone].sum() == 1


def test_shapes_and_kinds_of_numbers():
    A = random_graphs(6, 5, 0.3, generator())
    R = connected(A)
    assert R.dtype == torch.bool
    for kind in (torch.float64, torch.int64, torch.uint8):
        assert torch.equal(connected(A.view(2, 3, 5, 5).to(kind)), R.view(2, 3, 5, 5))
    assert torch.equal(connected(A[2]), R[2])
    assert torch.equal(connected(A.mT), R)


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: connected(torch.ones(2, 3)), "A"),
        (lambda: connected(torch.eye(2) * 2), "A"),
    ],
)
def test_rejected_graphs(call, names):
    with rejects(*names.split()):
        call()
