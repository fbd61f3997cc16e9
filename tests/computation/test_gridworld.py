"""A walk between walls: weights, lemma, claim."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions import gridworld_walk
from theory.computation import gridworld as automaton_of
from theory.sequences import all_sequences
from verify.claim import Run
from verify.computation.gridworld import counted, gridworld, later, walks
from verify.evidence import sequences
from verify.finding import Verdict

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS


@pytest.mark.parametrize("S", [1, 2, 3, 5])
def test_all_short_words_from_every_state(S):
    words = all_sequences(8, 2)
    for start in range(S + 1):
        model = gridworld_walk(S, 8, start=start)
        assert (model(words).numpy() == replace(automaton_of(S), start=start).run(words)).all()
        units = sum(len(b.mlp.b_in) for b in model.blocks if b.mlp)
        assert (model.n_layers, model.n_heads, model.d_model) == (3, 2 * S, S + 10)
        assert units == 2 * S + 1


@settings(max_examples=15)
@given(st.integers(1, 9), st.lists(st.tuples(st.booleans(), st.integers(1, 30)), max_size=8))
def test_long_contact_with_walls(S, moves):
    word = np.array([0, *(a for right, count in moves for a in [int(right)] * count)])
    model = gridworld_walk(S, len(word))
    assert (model(word).numpy() == automaton_of(S).run(word)).all()


@given(st.integers(1, 5), st.lists(st.integers(0, 1), min_size=1, max_size=40))
def test_the_lemma(S, word):
    """Levels between the walls were visited later than those S + 1 away, symbol by symbol."""
    last, z, q = {-level: level for level in range(S + 1)}, -S, 0
    for t, symbol in enumerate(word, start=S + 1):
        z, q = z + 2 * symbol - 1, min(max(q + 2 * symbol - 1, 0), S)
        last[z] = t
        for b in range(1, S + 1):
            assert (last.get(z - b, 0) > last.get(z - b + S + 1, 0)) == (q >= b)


def test_the_claim_from_another_start():
    run = Run(quick=True)
    assert gridworld.verdict(run, steps=1, start=1, max_length=30, samples=3) is HOLDS
    with rejects("start", "3"):
        next(gridworld.findings(run, start=4))


def test_units_of_the_last_layer_that_read_or_write_more_are_noticed():
    model = gridworld_walk(2, 6)
    assert later(model, 2).verdict is HOLDS
    assert counted(model, 2).verdict is HOLDS
    model.blocks[2].mlp.W_in.data[model.stream["step"], :2] = 0.4
    assert counted(model, 2).verdict is FAILS
    model = gridworld_walk(5, 8)
    model.blocks[2].mlp.W_in.data[model.stream["later5"]] *= 0.5
    assert later(model, 5).verdict is FAILS
    model = gridworld_walk(2, 6)
    model.blocks[2].mlp.b_out.data[model.stream["state"]] += 1
    assert counted(model, 2).verdict is FAILS
    model = gridworld_walk(2, 6)  # a kink between −1 and ¼ that is gone at both
    mlp, at = model.blocks[2].mlp, model.stream["later1"].start
    bump = torch.zeros(model.d_model, 3, dtype=torch.float64)
    bump[at] = 1.0
    added = torch.zeros(3, model.d_model, dtype=torch.float64)
    added[:, model.stream["state"]] = torch.tensor([[1.0], [-2.0], [1.0]], dtype=torch.float64)
    mlp.W_in.data = torch.cat([mlp.W_in, bump], dim=1)
    mlp.b_in.data = torch.cat([mlp.b_in, torch.tensor([0.75, 0.5, 0.25], dtype=torch.float64)])
    mlp.W_out.data = torch.cat([mlp.W_out, added])
    assert later(model, 2).verdict is FAILS


def test_the_scores_of_all_heads_and_tokens_are_limited(monkeypatch):
    """A word of 4 symbols has 7 tokens in front, and 6 heads."""
    monkeypatch.setattr(sequences, "SCORES", 2 * 6 * 11**2, raising=False)
    model, parts = gridworld_walk(3, 4, start=3), []

    def states(rows):
        parts.append(len(rows))
        return replace(automaton_of(3), start=3).run(rows)

    statement = replace(walks(Run(), 3, 3), answers=states)
    assert not list(sequences.differences(statement, model, all_sequences(4, 2)))
    assert parts == [2] * 8
