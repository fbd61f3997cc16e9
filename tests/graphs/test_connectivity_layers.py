"""The number of layers that connectivity takes, by construction, on the same graphs."""

import numpy as np
import pytest

from theory.graphs import distances_by_definition, pointers
from verify.claim import Run
from verify.finding import Verdict
from verify.graphs.connectivity_layers import _least, machine_takes
from verify.ledger.claims import installed


@pytest.mark.parametrize("D", [2, 3, 7])
def test_alternating_tokens_are_a_path(D):
    graph = pointers(np.arange(D) % 2)
    assert (len(graph.A), graph.diameter, graph.hops) == (D + 1, D, D - 1)
    assert graph.connected.all()


def test_pointers_lead_to_where_a_token_finds_its_match():
    graph = pointers([0, 0, 1, 0, 1])
    assert graph.to.tolist() == [0, 0, 2, 0, 3, 4]  # the second token finds itself
    assert np.array_equal(graph.connected, distances_by_definition(graph.A) >= 0)
    assert graph.hops == 3


def test_the_claim_holds_with_the_stated_numbers():
    claim = installed()["connectivity-layers"].load()
    found = {f.id: f for f in claim.findings(Run(quick=True), diameter=9, samples=1)}
    assert {finding.verdict for finding in found.values()} == {Verdict.HOLDS}
    at_nine = {name: finding.measured["path, D = 9"] for name, finding in found.items()}
    assert at_nine == {"tripling": 2, "squaring": 4, "pointers": 4, "search": 10, "machine": 5}


def test_the_least_number_of_layers():
    """It may be 0, and is −1 if more than 2n layers would be needed."""
    graph = pointers([0, 1])
    assert [_least(lambda _, L, k=k: k <= L, graph) for k in (0, 1, 6, 7)] == [0, 1, 6, -1]
    assert machine_takes(graph) == 4
