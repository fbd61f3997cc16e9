"""The claim `scratchpad`: semiautomata in one layer, with the states as a chain of thought."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from constructions.computation import scratchpad as construction
from constructions.transformer import Transformer
from theory.computation import Semiautomaton
from theory.computation.semiautomata import written_next
from theory.kinds import InputError
from theory.sequences import all_sequences
from verify.claim import Run, claim
from verify.computation.decoding import decoded, softened
from verify.computation.options import Automaton, File, Length, Regex, Samples, States, chosen
from verify.evidence.gaps import States as HeadStates
from verify.evidence.gaps import at_positions, gap_finding, looking_up
from verify.evidence.restoring import leak_bound, makes, sharpness_at_two_lengths
from verify.evidence.sequences import equal_over_q, families_of, margin_kept, registers_hold
from verify.evidence.size import size, units
from verify.evidence.statement import OverTokens
from verify.finding import Finding, labelled

NAMES = "A5", "all-maps-4"
MOST_RULES = 2000  # pairs of a state and a symbol, each with a hidden neuron
MOST_WORDS = 10**4  # the largest number of words of one length of which all are decoded


@claim(
    faults_seen=[{"states": 2, "length": 3, "samples": 4}],
)
def scratchpad(
    run: Run,
    *,
    automaton: Automaton = None,
    file: File = None,
    regex: Regex = None,
    states: States = 4,
    length: Length = 20,
    samples: Samples = 50,
) -> Iterator[Finding]:
    """For every semiautomaton and T, one layer of one head decodes the states after 1 … T symbols
    as a chain of thought of T tokens.

    For states Q and symbols Σ, the width is |Q| + |Σ| + 2, and the MLP has |Q||Σ| ReLUs. These
    sizes do not depend on T.  Semiautomata whose group is not solvable, such as A5, are included.
    An inverse temperature that does not depend on T suffices for softmax, since decoded tokens have
    no error.
    """
    automata = chosen(run, automaton, file, NAMES, states, regex)
    for A in automata:
        if A.n_states * A.n_symbols > MOST_RULES:
            raise InputError(
                f"{A.name} has {A.n_states} states and {A.n_symbols} symbols: give an automaton of "
                f"at most {MOST_RULES} pairs of a state and a symbol"
            )
    for A in automata:
        statement = writes(run, A)
        model = statement.at(0, length).model
        yield gap_finding(A.name, model, head_states(model))
        yield from labelled(A.name, _found(run, A, statement, model, samples))


def _found(
    run: Run, A: Semiautomaton, statement: OverTokens, model: Transformer, samples: int
) -> Iterator[Finding]:
    length = model.interface.word_length
    yield size(
        model, "scratchpad", f", {units(model)[0]} hidden neurons", n=A.n_states, m=A.n_symbols
    )
    longest = max(T for T in range(1, length + 1) if A.n_symbols**T <= _most(run))
    short = [statement.at(0, T).model for T in range(1, longest + 1)]
    yield decoded(
        "all-words",
        f"decoded states, on all words of at most {longest} symbols",
        [runs(m, A, all_sequences(m.interface.word_length, A.n_symbols)) for m in short],
    )
    words = np.concatenate([*families_of(run, A.n_symbols, length, samples).values()])
    yield decoded(
        "long",
        f"decoded states, on random and adversarial words of {length} symbols",
        [runs(model, A, words)],
    )
    q, x = np.divmod(np.arange(A.n_states * A.n_symbols), A.n_symbols)
    eye, to = np.eye(A.n_states), np.array(A.transitions)[x, q]
    before = {"state": eye[q], "symbol": np.eye(A.n_symbols)[x]}
    yield makes(
        "table",
        "the MLP maps every state to the next state, for every symbol",
        model,
        {1: (before, {"state": eye[to]})},
    )
    rows = histories(run, model, A, words[:8])
    yield margin_kept(statement, [(model, rows)])
    yield equal_over_q(statement, model, rows[:4], f"({length} symbols, then arbitrary states)")
    yield registers_hold(statement, model, rows, f"({length} symbols, then arbitrary states)")
    few = statement.at(0, min(length, 4)).model
    row = histories(run, few, A, words[:2, : few.interface.word_length])
    yield from softened(model, *runs(model, A, words[:8])[1:], few, row)
    c = touched(A)
    yield sharpness_at_two_lengths(
        "softmax/sharpness",
        lambda T: statement.at(0, T).model,
        length,
        leak_bound(0.499 / (4 * c)),
        f"ln(16c/0.499 + 2), where at most c = {c} neurons change a state",
    )


def writes(run: Run, A: Semiautomaton) -> OverTokens:
    """The statement that `scratchpad` computes the next state at states, and ⊥ at symbols."""
    return OverTokens(
        A.name, lambda _, T: run.build(construction, A, T), lambda tokens: written_next(A, tokens)
    )


def runs(
    model: Transformer, A: Semiautomaton, words: np.ndarray
) -> tuple[Transformer, np.ndarray, np.ndarray]:
    """The model, the prompts for words, and the tokens of the states that it must decode."""
    return model, model.interface.prompt(words), A.run(words) + A.n_symbols


def histories(run: Run, model: Transformer, A: Semiautomaton, words: np.ndarray) -> np.ndarray:
    """Words followed by random states, which need not be the states after the words' symbols."""
    states = run.rng.integers(A.n_states, size=words.shape) + A.n_symbols
    return np.concatenate([words, states], axis=-1)


def head_states(model: Transformer) -> HeadStates:
    """The possible queries and keys of the head, for the finding on its score gap.

    The head at position t looks up position t − T, where T is the length of words, or position 0 if
    t − T is negative.
    """
    queries = at_positions(model, "j")
    wanted = np.maximum(np.arange(len(queries["j"])) - model.interface.word_length, 0)
    return looking_up(model, 1, queries, wanted, line=("j", "square"))


def touched(A: Semiautomaton) -> int:
    """The largest number of hidden neurons that write to one state's coordinate; at least 1."""
    moved = [(q, to) for row in A.transitions for q, to in enumerate(row) if q != to]
    return max([sum(state in pair for pair in moved) for state in range(A.n_states)] + [1])


def _most(run: Run) -> int:
    return 100 if run.quick else MOST_WORDS
