"""A Generator that is passed as a seed goes on from call to call, and a seed begins anew."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from public import arguments, public

from constructions.graphs.random_graphs import random_graphs
from theory.kinds import Maybe, Random, kinds_of

DRAWS = {
    name: (it, parameter)
    for name, it in public().items()
    for parameter, kind in (kinds_of(it) or {}).items()
    if isinstance(kind.kind if isinstance(kind, Maybe) else kind, Random)
}
NOTHING_DRAWN = {"theory.memory.flipped", "theory.sensitivity.sensitivity"}
"""Functions that draw nothing at the examples of their kinds."""


@pytest.mark.parametrize("name", sorted(DRAWS.keys() - NOTHING_DRAWN))
def test_a_function_advances_a_generator_of_numpy(name):
    it, parameter = DRAWS[name]
    generator, given = np.random.default_rng(5), arguments(name, it)
    before = generator.bit_generator.state
    it(**given | {parameter: generator})
    assert generator.bit_generator.state != before


def test_random_graphs_advance_a_generator_of_torch():
    generator = torch.Generator().manual_seed(3)
    first, second = (random_graphs(2, 9, 0.3, generator) for _ in range(2))
    assert (first != second).any()
    again = random_graphs(2, 9, 0.3, torch.Generator().manual_seed(3))
    assert (again == first).all()
    assert (random_graphs(2, 9, 0.3, 3) == first).all()
