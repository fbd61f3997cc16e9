"""Models whose sensitivity is known: right on all words, exact, refused otherwise."""

from copy import deepcopy
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions import conjunction, junta, subset_parity
from theory import sensitivity as s
from theory.sequences import all_sequences


@st.composite
def places(draw, most=6):
    d = draw(st.integers(1, most))
    size = draw(st.integers(1, d))
    return d, draw(st.permutations(range(d)))[:size]


def mean_influence(model, d):
    return s.mean_influence(1 - 2 * model(all_sequences(d, 2))[:, 0].numpy())


@settings(max_examples=25)
@given(places())
def test_parities_and_conjunctions_are_right_on_all_words(place):
    d, positions = place
    words = all_sequences(d, 2)
    assert (
        subset_parity(d, positions)(words)[:, 0].numpy() == s.subset_parity(words, positions)
    ).all()
    assert (conjunction(d, positions)(words)[:, 0].numpy() == s.conjunction(words, positions)).all()


@settings(max_examples=25)
@given(places(5), st.randoms(use_true_random=False))
def test_juntas_are_their_tables(place, random):
    d, positions = place
    table = [random.randrange(2) for _ in range(2 ** len(positions))]
    words = all_sequences(d, 2)
    found = junta(d, positions, table)(words)[:, 0].numpy()
    assert (found == s.junta(words, positions, table)).all()


@pytest.mark.slow
def test_fourteen_bits_on_the_tensors():
    assert mean_influence(subset_parity(14, range(0, 14, 2)), 14) == Fraction(1, 2)
    assert mean_influence(conjunction(14, range(14)), 14) == Fraction(2, 2**14)


def test_half_precision_and_softmax_keep_all_answers():
    words = all_sequences(6, 2)
    for model in (
        subset_parity(6, [0, 2, 5]),
        conjunction(6, [1, 3]),
        junta(6, [0, 5], [0, 1, 1, 1]),
    ):
        healthy = model(words)
        assert torch.equal(model.sharpened(model.least_sharpness() * 1.01)(words), healthy)
        assert torch.equal(deepcopy(model).half()(words), healthy)


def test_sizes_of_the_mlps():
    assert subset_parity(4, [3]).blocks[0].mlp is None
    assert len(junta(4, [1, 2], [0, 1, 1, 0]).blocks[0].mlp.b_in) == 4


def test_positions_are_distinct_and_tables_have_their_size():
    for build in (subset_parity, conjunction):
        with rejects("positions"):
            build(4, [1, 1])
    with rejects("positions"):
        junta(4, [1, 1], [0, 1, 1, 0])
    with rejects("table"):
        junta(4, [2], [0, 1, 1, 0])


def test_a_table_beyond_memory_is_refused(monkeypatch):
    from theory import machine

    monkeypatch.setattr(machine, "available_memory", lambda: 2**18)
    with rejects("neurons"):
        junta(12, range(12), np.zeros(2**12, dtype=np.int8))


def test_words_of_another_length_are_refused():
    with rejects("4"):
        subset_parity(4, [0])([0, 1, 0])
