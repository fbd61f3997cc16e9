"""A walk between walls: weights, lemma, claim."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions import gridworld_walk
from theory.checks import InputError
from theory.computation import gridworld as automaton_of
from theory.sequences import all_sequences
from verify.claim import Run
from verify.computation.gridworld import counted, gridworld, head_states, later
from verify.evidence.gaps import gap_finding
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
    """Levels between the walls were visited later than those S + 1 away, letter by letter."""
    last, z, q = {-level: level for level in range(S + 1)}, -S, 0
    for t, letter in enumerate(word, start=S + 1):
        z, q = z + 2 * letter - 1, min(max(q + 2 * letter - 1, 0), S)
        last[z] = t
        for b in range(1, S + 1):
            assert (last.get(z - b, 0) > last.get(z - b + S + 1, 0)) == (q >= b)


def test_softmax_at_its_sharpness():
    model = gridworld_walk(2, 12)
    soft, words = model.sharpened(model.least_sharpness()), all_sequences(12, 2)[::7]
    assert (soft(words).numpy() == model(words).numpy()).all()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((0, 5), "steps is 0"),
        ((2.5, 5), "steps"),
        ((2, 0), "max_length is 0"),
        ((2, 5, 3), "start is 3: give a state, 0 to 2"),
        ((2, 5, -1), "start is -1"),
        ((True, 5), "steps"),
        ((10**9, 5), "need"),
    ],
)
def test_bad_arguments_are_refused(given, message):
    steps, length, *start = given
    with pytest.raises(InputError, match=message):
        gridworld_walk(steps, length, **({"start": start[0]} if start else {}))


def verdicts(**options):
    findings = gridworld.findings(Run(quick=True), samples=3, **options)
    return {finding.id: finding.verdict for finding in findings}


def test_the_claim_holds():
    assert {*verdicts(steps=2, length=6).values()} == {HOLDS}
    assert {*verdicts(steps=1, start=1, length=30).values()} == {HOLDS}
    with pytest.raises(InputError, match="start is 4: give a state, 0 to 3"):
        verdicts(start=4)


def test_heads_and_steps_that_are_wrong_are_noticed():
    states = list(head_states(gridworld_walk(2, 6), 2))
    for place, weights in ((0, "W_Q"), (1, "W_K"), (2, "W_K"), (4, "W_Q")):
        model = gridworld_walk(2, 6)
        at = states[place]
        getattr(model.blocks[at.layer - 1].attn, weights).data[at.head] *= 0.5
        if place == 0:
            model.blocks[0].attn.W_Q.data[0, model.stream["j"]] = 1.0
            model.blocks[0].attn.W_K.data[0, model.stream["j"]] = 1.0
        assert gap_finding("", model, at).verdict is FAILS
    model = gridworld_walk(2, 6)
    model.blocks[2].mlp.b_in.data[0] += 0.25
    assert later(model, 2).verdict is FAILS


def test_units_of_the_last_layer_that_read_or_write_more_are_noticed():
    model = gridworld_walk(2, 6)
    assert later(model, 2).verdict is HOLDS
    assert counted(model, 2).verdict is HOLDS
    model.blocks[2].mlp.W_in.data[model.stream["step"], :2] = 0.4
    assert counted(model, 2).verdict is FAILS
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
