"""Edges that matter, against all interventions of the definition, one by one.

All edges are tried, also those that lead nowhere, and sequences of all lengths, also of causal
models.
"""

from itertools import product

import pytest
import torch
from by_formula import patched, written
from random_models import random_model
from small_models import MODELS, PUBLIC

from constructions import circuit


def mattering(model, edges, longest):
    """The edges with an intervention that changes an answer on at most `longest` tokens."""
    of, found = model.interface, set()
    lengths = range(of.length or of.least, longest + 1)
    slots = of.slots or [range(of.vocabulary_size)] * longest
    batches = [torch.tensor([*product(*slots[:n])]) for n in lengths]
    for edge in edges:
        span = model.stream[edge.register]
        contents = [written(model, x, edge.source)[..., span] for x in batches]
        single = torch.cat([each.flatten(0, 1) for each in contents]).unique(dim=0)
        if any(
            changes_an_answer(model, x, edge, here, single)
            for x, here in zip(batches, contents, strict=True)
        ):
            found.add(edge)
    return found


def changes_an_answer(model, x, edge, here, single):
    """Whether another content at all tokens, or one of the values `single` at one token, does."""
    span, T = model.stream[edge.register], here.shape[1]
    wholes = here.unique(dim=0)
    changes = torch.zeros(len(wholes) + T * len(single), *here.shape, dtype=here.dtype)
    changes[: len(wholes)] = wholes[:, None] - here
    for i, (t, value) in enumerate(product(range(T), single), len(wholes)):
        changes[i, :, t] = value - here[:, t]
    rows = x.repeat(len(changes), 1)
    after = patched(model, rows, edge, changes.flatten(0, 1), span)
    return bool((after != model(x).repeat(len(changes), 1)).any())


@pytest.mark.parametrize(
    ("seed", "masks"),
    [
        (0, ("causal", "strictly causal")),
        (0, ("full",)),
        *(pytest.param(s, ("full", "causal"), marks=pytest.mark.slow) for s in range(4)),
    ],
)
def test_random_models(seed, masks):
    model = random_model(seed, masks=masks)
    c = circuit(model)
    found, wanted = c.edges_that_matter(2), mattering(model, c.edges, 2)
    assert {*found.mattering} == wanted
    assert {*found.others} == {*c.edges} - wanted
    assert 0 < len(wanted) < len(c.edges)


@pytest.mark.parametrize(
    ("name", "longest"),
    [("induction_heads", 2), ("dyck", 3), ("scratchpad", 2), ("first_symbol", 2)],
)
def test_constructions(name, longest):
    model = PUBLIC[name](*MODELS[name][0])
    c = circuit(model)
    assert {*c.edges_that_matter(longest).mattering} == mattering(model, c.edges, longest)
