"""Automata with a state written after each symbol."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.computation import scratchpad
from theory.computation import (
    A5,
    BENCHMARK_AUTOMATA,
    S3,
    NotSolvable,
    Semiautomaton,
    benchmark_automaton,
    cyclic,
    random_semiautomaton,
)
from theory.sequences import all_sequences
from verify.claim import Run
from verify.computation.scratchpad import scratchpad as claim


def states(model, words):
    interface = model.interface
    said = model.generate(interface.prompt(words), np.shape(words)[-1])
    return interface.states(said.numpy())


@pytest.mark.parametrize("name", BENCHMARK_AUTOMATA)
def test_every_short_word(name):
    A = benchmark_automaton(name)
    for T in (1, 2, 5):
        model, words = scratchpad(A, T), all_sequences(T, A.n_symbols)
        assert (states(model, words) == A.run(words)).all()
    n, symbols = A.n_states, A.n_symbols
    assert (model.n_layers, model.n_heads, model.d_model) == (1, 1, n + symbols + 2)
    assert len(model.blocks[0].mlp.b_in) == n * symbols


def test_an_automaton_with_too_many_rules_is_rejected_before_the_first_finding(tmp_path):
    path = tmp_path / "wide.json"
    path.write_text(json.dumps([[0, 1]] * 1001))
    with rejects("1001"):
        next(claim.findings(Run(), file=path))


@settings(max_examples=20)
@given(
    n=st.integers(1, 7), symbols=st.integers(1, 4), T=st.integers(1, 40), seed=st.integers(0, 10**6)
)
def test_random_automata_from_any_start(n, symbols, T, seed):
    drawn = random_semiautomaton(n, symbols, seed)
    A = Semiautomaton(drawn.transitions, "mine", seed % n)
    words = np.random.default_rng(seed).integers(symbols, size=(2, 3, T))
    assert (states(scratchpad(A, T), words) == A.run(words)).all()


def test_a5_on_long_words_where_no_shortcut_is():
    from constructions.computation import shortcut

    with pytest.raises(NotSolvable):
        shortcut(A5, 20)
    words = np.random.default_rng(0).integers(2, size=(4, 400))
    assert (states(scratchpad(A5, 400), words) == A5.run(words)).all()


def test_any_state_that_stands_there_goes_on():
    """One state, right or wrong, and the symbol: no more is read; symbols have no answer."""
    model = scratchpad(S3, 3)
    for q in range(3):
        for wrong in range(3):
            said = model([0, 1, 1, 2 + q, 2 + wrong]).tolist()
            assert said == [-1, -1, -1, 2 + S3.transitions[0][q], 2 + S3.transitions[1][wrong]]


def test_softmax_decodes_the_same_at_a_sharpness_that_no_length_changes():
    short, long = scratchpad(A5, 10), scratchpad(A5, 300)
    assert long.least_sharpness() == short.least_sharpness() < 5
    words = np.random.default_rng(1).integers(2, size=(3, 300))
    soft = scratchpad(A5, 300, sharpness=5.0)
    assert (states(soft, words) == A5.run(words)).all()


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: scratchpad(cyclic(10**5), 3), "GiB"),
        (lambda: scratchpad(A5, 3, sharpness=0.5), "sharpness"),
        (lambda: scratchpad(A5, 3).interface.states("ab"), "tokens"),
        (lambda: scratchpad(A5, 3).interface.states([99]), "tokens"),
        (lambda: scratchpad(A5, 3).interface.states([2, 1]), "token 1 2 6"),
        (lambda: scratchpad(A5, 3).interface.states([1, 2]), "token 1 2 6"),
        (lambda: scratchpad(A5, 3).interface.states([[1, 2], [2, 2]]), "token 1 2 6"),
        (lambda: scratchpad(A5, 3).interface.prompt([0, 1]), "2 3"),
        (lambda: scratchpad(A5, 3).interface.prompt([0, 1, 2]), "words"),
        (lambda: scratchpad(A5, 2)([0, 2]), "token 2 1"),
        (lambda: scratchpad(A5, 2)([0, 1, 1]), "token 1 3 6"),
        (lambda: scratchpad(A5, 2).generate([0, 1, 2], 3), "3 5 4 2"),
    ],
)
def test_what_it_does_not_take_is_refused(call, names):
    with rejects(*names.split()):
        call()
