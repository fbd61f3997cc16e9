"""Compiled programs in an encoder: layers without heads, and causal heads beside others."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from constructions.programs import compiled
from constructions.stock import to_encoder
from constructions.stock.softened import beside
from theory.programs import SOp, evaluate, tokens
from theory.programs.library import brackets, counts, order, positions

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
