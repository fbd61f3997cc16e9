"""Rounds of messages to slots, as layers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.computation import pram
from theory.computation import Program, message_round, transpose, tree_sum
from theory.computation.message_passing import block_sums
from verify.computation.pram import differences


@settings(max_examples=15)
@given(st.integers(1, 20), st.integers(2, 5), st.integers(0, 99))
def test_a_tree_adds_all_numbers(N, s, seed):
    x = np.random.default_rng(seed).integers(0, 8, (2, N))
    program = tree_sum(N, s, 7)
    model = pram(program)
    assert (model(x).numpy() == block_sums(x, s**model.n_layers)).all()
    assert (model(x)[:, 0].numpy() == x.sum(1)).all()
    assert [*differences(model, program, [x])] == []
    assert model.n_heads == (s if N > 1 else 0)


@settings(max_examples=15)
@given(st.integers(1, 4), st.integers(0, 99))
def test_a_matrix_is_transposed_in_one_round(s, seed):
    M = np.random.default_rng(seed).integers(0, 10, (s, s))
    program = transpose(s, 9)
    *_, last = program.run(*M.T)
    assert np.array([last[name] for name in program.inputs]).tolist() == M.tolist()
    model = pram(program)
    assert (model.n_layers, model.n_heads) == (1, s * s)
    assert [*differences(model, program, [*M.T])] == []


def test_messages_to_one_slot_add_up_and_those_to_nobody_are_lost():
    step = message_round({"x": "here", "y": "there"}, ("x", "y"))
    places = {"here": (3, 3), "there": (3, 1)}  # slot 1 of machine 1, and nobody
    program = Program("mine", 2, ("x", "y"), "y", (step,), initial=places, most=20)
    *_, last = program.run([5, 4], [2, 9])
    assert last["y"].tolist() == [4 + 2, 0]  # the less of 5 and 4, and 2
    assert last["x"].tolist() == [0, 0]
    assert [*differences(pram(program), program, [np.array([5, 4]), np.array([2, 9])])] == []


def test_blocks_by_hand():
    assert block_sums([1, 2, 3, 4, 5], 2).tolist() == [3, 7, 5, 0, 0]


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: message_round({}, ("x",)), "messages 0 words 1"),
        (lambda: message_round({"x": "to"}, ()), "messages 1 words 0"),
        (lambda: block_sums([1], 0), "width"),
        (lambda: pram(tree_sum(4, 2))([99, 0, 0, 0]), "x 99"),
    ],
)
def test_what_cannot_be_sent_is_rejected(call, names):
    with rejects(*names.split()):
        call()
