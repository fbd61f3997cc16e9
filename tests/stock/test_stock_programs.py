"""Compiled programs in an encoder: layers without heads, and causal heads beside others."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions.programs import compiled
from constructions.stock import to_encoder
from constructions.stock.softened import beside
from theory.kinds import InputError
from theory.programs import Aggregate, Select, SOp, evaluate, indices, length, tokens
from theory.programs.library import brackets, counts, order, patterns, positions

# program, vocabulary, the masks of the model
PROGRAMS: dict[str, tuple[SOp, str, set[str]]] = {
    "reverse": (positions.reverse(), "abc", {"full"}),
    "sort": (order.sort(), "abc", {"full", "strictly causal"}),
    "first_occurrence": (counts.first_occurrence(), "abc", {"strictly causal"}),
    "shuffle_dyck": (brackets.shuffle_dyck([("(", ")"), ("[", "]")]), "()[]", {"full", "causal"}),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_values_are_those_of_the_program(name):
    program, vocabulary, masks = PROGRAMS[name]
    model = compiled(program, vocabulary, 4)
    assert {mask for attn in model.attentions for mask in attn.masks} == masks
    stock = to_encoder(model)
    assert stock.causal == ("full" not in masks)
    for n in (1, 2, 4):
        rows = [*map(list, product(vocabulary, repeat=n))]
        assert stock(rows) == [evaluate(program, row) for row in rows]
        off = (stock.logits(rows) - model.logits(rows)).abs().max()
        assert float(off) <= stock.bound() < model.interface.margin / 2


ROUNDED: dict[str, tuple[SOp, Any]] = {
    "runs": (patterns.runs(), "ab"),
    "distinct": (counts.distinct(), "abc"),
    "mean of the length": (Aggregate(Select(indices, length, "!="), length), "ab"),
    "mean over smaller": (Aggregate(Select(tokens, indices, "<="), length), [0, 1, 2]),
    "running_sum": (counts.running_sum(3), [0, 1, 2]),
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", ROUNDED)
def test_registers_that_an_mlp_restores_have_the_rounding_of_its_sums(name, dtype):
    """Their errors exceeded bounds that only counted those of the other registers."""
    program, vocabulary = ROUNDED[name]
    model = compiled(program, vocabulary, 3)
    assert any(block.restores for block in model.blocks)
    try:
        stock = to_encoder(model, dtype=dtype)
    except InputError:  # no bound is small enough
        assert dtype == torch.float32
        return
    rows = torch.tensor([*product(range(len(vocabulary)), repeat=3)])
    off = float((stock.logits(rows).double() - model.logits(rows)).abs().max())
    assert off <= stock.bound()
    if off > 1e-13:
        with rejects("error"):
            to_encoder(model, error=off / 2, dtype=dtype)


def test_a_program_without_layers():
    stock = to_encoder(compiled(tokens, "ab", 4))
    assert stock([*"aba"]) == [*"aba"]
    assert len(list(stock.streams([*"aba"]))) == 1


def test_masks_by_scores_give_a_weight_of_zero():
    """A causal head beside others: in the translation no token attends to a later one."""
    model = compiled(order.sort(), "abc", 6)
    soft = to_encoder(model).plan.soft
    tokens = np.random.default_rng(0).integers(3, size=(20, 6))
    block = model.blocks[0].attn
    pattern = soft.blocks[0].attn.pattern(next(soft.streams(tokens)), 0)
    for h, mask in enumerate(block.masks):
        if mask == "strictly causal":
            seen = np.triu(np.ones((7, 7)))
            seen[0, 0] = 0  # the first token attends to itself
            assert not (pattern[:, h].numpy() * seen).any()
    assert "strictly causal" in block.masks


@pytest.mark.parametrize(("program", "vocabulary"), [(order.sort(), "abc"), (tokens, "ab")])
def test_constant_registers_of_a_softened_model_have_their_largest_norm(program, vocabulary):
    """All registers but those of the model before: at most 1 for each place, and 2."""
    model = compiled(program, vocabulary, 6)
    soft = to_encoder(model).plan.soft
    names = {*soft.stream} - {*model.stream}
    columns = [column for name in names for column in range(soft.d_model)[soft.stream[name]]]
    drawn = np.random.default_rng(1).integers(len(vocabulary), size=(20, 6))
    found = max(float((H[..., columns] ** 2).sum(-1).max()) for H in soft.streams(drawn))
    assert found <= beside(model, model.interface.context)
