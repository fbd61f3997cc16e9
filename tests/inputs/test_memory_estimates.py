"""Estimates of the memory needed: not below the true peak, not far above it, exact at the limit.

The true peak is that of numpy and Python, or the size of a model's tensors if that is larger.
"""

import gc
import math
import tracemalloc

import numpy as np
import pytest
import torch
from memory_cases import CASES
from refusals import rejects

from constructions.graphs import two_cycles
from constructions.memory import hopfield_attention, modern_hopfield_update
from theory import machine

SLACK = 2**16  # of small objects
MOST = 5  # the largest ratio of an estimate and the true peak
WITHIN = {"modern_hopfield_update", "hopfield_attention"}
"""Models that are called, so that most of the memory is torch's and its peak is not known."""


class Recorded(int):
    """An amount of memory that accepts every need, and records the needs."""

    needs: list[int]

    def __lt__(self, needed: int) -> bool:  # `needed > available` calls this method
        self.needs.append(needed)
        return False


def largest_need(call, monkeypatch):
    """The largest estimate of the memory that a call needs."""
    available = Recorded()
    available.needs = []
    with monkeypatch.context() as patch:
        patch.setattr(machine, "available_memory", lambda: available)
        call()
    return max(available.needs)


def peak(call):
    """The largest amount of memory that a call has allocated at a time."""
    gc.collect()
    tracemalloc.start()
    try:
        result = call()
        found = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if isinstance(result, torch.nn.Module):
        kept = {id(each): each for each in (*result.parameters(), *result.buffers())}
        return max(found, sum(each.nbytes for each in kept.values()))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_estimates(name, monkeypatch):
    call = CASES[name]
    needed = largest_need(call, monkeypatch)
    monkeypatch.setattr(machine, "available_memory", lambda: needed)
    used = peak(call)
    assert used <= needed + SLACK
    if name not in WITHIN:
        assert needed <= MOST * used
    monkeypatch.setattr(machine, "available_memory", lambda: needed - 1)

    def refused():
        with rejects("memory"):
            call()

    assert peak(refused) <= SLACK + needed / 4


@pytest.mark.parametrize(("leading", "N", "m"), [((), 5, 1), ((), 40, 300), ((3, 2), 7, 9)])
def test_scores_of_modern_hopfield_networks(leading, N, m, monkeypatch):
    """25 bytes for each pair of a token and a pattern: three float64 and a mask."""
    X, states = np.ones((N, 2)), np.ones((*leading, m, 2))
    count = math.prod(leading)
    model, layer = modern_hopfield_update(X, 1.0), hopfield_attention(*[np.eye(2)] * 3)
    stored = np.ones((*leading, N, 2))
    calls = [
        (lambda: model(states), 25 * N * (N + count * m)),
        (lambda: layer(stored, states), 25 * count * N * (N + m)),
    ]
    for call, needed in calls:
        assert largest_need(call, monkeypatch) == needed
        with monkeypatch.context() as patch:
            patch.setattr(machine, "available_memory", lambda needed=needed: needed - 1)
            with rejects(str(N), str(m)):
                call()


def test_weights_of_two_cycles_are_refused_before_they_are_allocated(monkeypatch):
    """Four layers take 1.2 GB."""
    monkeypatch.setattr(machine, "available_memory", lambda: 1_100_000_000)

    def refused():
        with rejects("memory"):
            two_cycles(4)

    refused()  # the first call imports modules
    assert peak(refused) <= SLACK
