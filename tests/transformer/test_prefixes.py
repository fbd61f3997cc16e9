"""Outputs on all sequences from shared prefixes: those of whole sequences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from attentions import NORMALISE, an_attention, integers
from refusals import rejects
from small_models import MODELS, PUBLIC

from constructions import prefixes
from constructions.blocks import MLP, Block, Embed, LayerNorm, PosEmbed, Unembed, UnitNorm
from constructions.prefixes import (
    PrefixOutputs,
    all_prefixes,
    answers_at_every_prefix,
    slots_of,
    streams_after,
)
from constructions.retrieval import hop, in_context_ngram, induction_heads
from constructions.stream import Stream
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.sequences import all_sequences

MASKS = ["causal", "strictly causal", "diagonal", ("causal", "strictly causal", "diagonal")]
EXACT = [induction_heads(3, 5), hop(4, 3, 5), hop(2, 2, 7), in_context_ngram(3, 5, 2)]


def random_model(seed, normalise, mask, *, prefix=(3,), norms=True):
    rng = np.random.default_rng(seed)
    D, V, T = 4, 3, 5
    heads = 2 if isinstance(mask, str) else len(mask)
    blocks = []
    for layer in range(3):
        attn = None if layer == 1 else an_attention(rng, normalise, mask, heads)
        shapes = (D, 6), (6,), (6, D), (D,)
        mlp = MLP(*(integers(rng, *shape) for shape in shapes)) if layer else None
        ln = LayerNorm(D).double() if norms and layer == 2 else None
        blocks.append(Block(attn, mlp, norm=UnitNorm() if norms else None, ln1=ln))
    rows = V + len(prefix)
    return Transformer(
        Embed(integers(rng, rows, D) + 0.5),
        blocks,
        Unembed(integers(rng, D, V)),
        pos_embed=PosEmbed(integers(rng, T + len(prefix), D)),
        interface=Tokens(V, T, prefix=prefix),
        stream=Stream(x=D),
        name="random heads",
        source="tests",
    )


def by_rows(model, slots):
    """The outputs at the last tokens of all sequences, by runs on whole sequences."""
    for t in range(1, len(slots) + 1):
        rows = np.array([*itertools.product(*slots[:t])])
        yield rows, model.logits(rows)


@pytest.mark.parametrize("model", EXACT, ids=lambda model: model.name)
@pytest.mark.parametrize(("at_once", "few"), [(4, 1), (2**12, 9), (2**12, 2**12)])
def test_exact_outputs_are_the_very_outputs_of_whole_sequences(model, at_once, few, monkeypatch):
    monkeypatch.setattr(prefixes, "AT_ONCE", at_once)
    monkeypatch.setattr(prefixes, "FEW", few)
    of = model.interface
    slots = [range(of.vocabulary_size)] * of.max_length
    found = PrefixOutputs(model, slots)
    for table, (rows, whole) in zip(found.tables, by_rows(model, slots), strict=True):
        assert torch.equal(table, whole[:, -1])
        assert torch.equal(found(rows), whole)


@pytest.mark.parametrize("normalise", NORMALISE)
@pytest.mark.parametrize("mask", MASKS, ids=str)
def test_random_models(normalise, mask, monkeypatch):
    monkeypatch.setattr(prefixes, "AT_ONCE", 7)
    monkeypatch.setattr(prefixes, "FEW", 6)
    slots = [range(3), range(1, 3), range(2, 3), range(3)]
    for seed, ahead in enumerate([(), (3,), (4, 3)]):
        model = random_model(seed, normalise, mask, prefix=ahead)
        found = PrefixOutputs(model, slots)
        for table, (rows, whole) in zip(found.tables, by_rows(model, slots), strict=True):
            assert torch.allclose(table, whole[:, -1], rtol=1e-12, atol=1e-12)
            assert torch.allclose(found(rows[::-1]), whole.flip(0), rtol=1e-12, atol=1e-12)


def test_blocks_are_bounded_and_complete(monkeypatch):
    monkeypatch.setattr(prefixes, "AT_ONCE", 10)
    monkeypatch.setattr(prefixes, "FEW", 9)
    blocks = [block.tokens for block in all_prefixes(EXACT[0], [range(3)] * 5)]
    assert max(map(len, blocks)) <= 10
    for t in range(1, 6):
        together = torch.cat([each for each in blocks if each.shape[1] == t])
        assert together.tolist() == all_sequences(t, 3).tolist()


@pytest.mark.parametrize("normalise", NORMALISE)
def test_streams_after_a_prefix(normalise):
    model = random_model(5, normalise, ("causal", "strictly causal", "diagonal"), prefix=())
    rows = all_sequences(4, 3)
    tokens, following = torch.from_numpy(rows[::3, :3]), torch.from_numpy(rows[:, 3]).view(-1, 3)
    wanted = model.streams(rows)
    for each, whole in zip(streams_after(model, tokens, following), wanted, strict=True):
        found = each.expand(len(tokens), -1, -1).flatten(0, 1)
        assert torch.allclose(found, whole[:, -1], rtol=1e-12, atol=1e-12)


def test_all_small_models_over_tokens():
    checked = 0
    for name, (arguments, inputs) in MODELS.items():
        model = PUBLIC[name](*arguments)
        if answers_at_every_prefix(model):
            rows = np.array(inputs[0])
            slots = [range(column.min(), column.max() + 1) for column in rows.T]
            found, whole = PrefixOutputs(model, slots)(rows), model.logits(rows)
            assert torch.allclose(found, whole, rtol=1e-12, atol=1e-12), name
            checked += 1
    assert checked > 10


def test_slots_of_all_sequences():
    rows = np.array([*itertools.product(range(3), range(1, 3), [4])])
    assert slots_of(rows) == slots_of(rows[::-1]) == [range(3), range(1, 3), range(4, 5)]
    assert slots_of(rows[1:]) is None
    assert slots_of(rows[[0, 1, 2, 3, 4, 4]]) is None
    assert slots_of(np.array([[0, 0], [0, 2]])) is None


def test_what_prefixes_do_not_determine():
    full = random_model(0, "softmax", "full", norms=False)
    assert not answers_at_every_prefix(full)
    with rejects("causal"):
        PrefixOutputs(full, [range(3)])
    with rejects("6"):
        PrefixOutputs(EXACT[0], [range(3)] * 6)
    with rejects("3"):
        PrefixOutputs(EXACT[0], [range(4)] * 2)
