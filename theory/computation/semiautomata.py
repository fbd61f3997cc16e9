"""Semiautomata: finitely many states, and for each symbol a map of them.

    q · a = transitions[a][q],        q · (a₁ … a_T) = (… (q · a₁) · a₂ …) · a_T

A semiautomaton has no accepting states: the question is which state a word leads to, after each of
its symbols. Shape glossary: words (…, T) of symbols 0, …, n_letters − 1; states 0, …, n_states − 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from theory import machine
from theory.json_table import json_table
from theory.kinds import Count, File, InputError, Instance, Many, Seed, Steps, Tokens, checked, read

Map = tuple[int, ...]
"""A map of the states to themselves: entry q is where q goes."""


def identity(n: int) -> Map:
    """The map of n states that leaves each where it is."""
    return tuple(range(n))


def then(first: Map, second: Map) -> Map:
    """q ↦ second(first(q)): words act from left to right."""
    return tuple(second[q] for q in first)


@checked
@dataclass(frozen=True)
class Semiautomaton:
    """transitions[a][q] is the state to which letter a leads from state q.

    `start` is the state before the first letter. Raises `ValueError` for a table without letters or
    states, for rows of different lengths, and for states that have no number in them.
    """

    transitions: tuple[tuple[Steps, ...], ...]
    name: str = "semiautomaton"
    start: Steps = 0

    def __post_init__(self) -> None:
        rows = self.transitions
        if not rows or not rows[0]:
            raise InputError(f"transitions of {self.name} have no states: give each letter some")
        for a, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise InputError(
                    f"transitions[{a}] of {self.name} has {len(row)} states and transitions[0] has "
                    f"{len(rows[0])}: give each letter a state for every state"
                )
            if max(row) >= len(row):
                raise InputError(
                    f"transitions[{a}] of {self.name} leads to state {max(row)}: give states from "
                    f"0 to {len(row) - 1}"
                )
        if self.start >= self.n_states:
            raise InputError(
                f"start is {self.start}: give a state of {self.name}, 0 to {self.n_states - 1}"
            )

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.transitions[0])

    @property
    def n_letters(self) -> int:
        """The number of letters."""
        return len(self.transitions)

    def map_of(self, word: Iterable[int]) -> Map:
        """The map of a word, the composition of those of its letters; the empty word's is id."""
        found = identity(self.n_states)
        for letter in word:
            found = then(found, self.transitions[letter])
        return found

    def run(self, words: ArrayLike) -> np.ndarray:
        """The states (…, T) after each symbol of words (…, T), from `start`.

        Raises `ValueError` for symbols that the automaton has not, and for an empty word.
        """
        letters = read(Tokens, "words", words, below=self.n_letters)
        table = np.array(self.transitions)
        state, states = np.full(letters.shape[:-1], self.start), np.empty_like(letters)
        for i in range(letters.shape[-1]):
            state = table[letters[..., i], state]
            states[..., i] = state
        return states

    def reachable(self) -> list[int]:
        """The states to which words lead from `start`, in the order of breadth-first search."""
        found = [self.start]
        for q in found:
            found += [
                r for r in dict.fromkeys(row[q] for row in self.transitions) if r not in found
            ]
        return found

    def __str__(self) -> str:
        return f"{self.name} ({self.n_states} states, {self.n_letters} letters)"


def product(*automata: Semiautomaton) -> Semiautomaton:
    """Automata side by side on one word: state (q₁, q₂, …) is number (q₁ n₂ + q₂) n₃ + ….

    Raises `ValueError` unless all have the same number of letters.
    """
    letters = {
        automaton.n_letters
        for automaton in Many(Instance(Semiautomaton)).read("automata", automata)
    }
    if len(letters) != 1:
        raise InputError(f"automata have {sorted(letters)} letters: give some of one alphabet")
    sizes = [automaton.n_states for automaton in automata]
    states = np.unravel_index(np.arange(int(np.prod(sizes))), sizes)
    rows = tuple(
        tuple(
            np.ravel_multi_index(
                [np.array(A.transitions[a])[q] for A, q in zip(automata, states, strict=True)],
                sizes,
            ).tolist()
        )
        for a in range(letters.pop())
    )
    start = int(np.ravel_multi_index([A.start for A in automata], sizes))
    return Semiautomaton(rows, " × ".join(A.name for A in automata), start)


def windows(A: Semiautomaton, words: np.ndarray, window: int) -> np.ndarray:
    """The maps of the last `window` letters up to each one, (…, T, n), letter by letter."""
    found = np.empty((*words.shape, A.n_states))
    for row in np.ndindex(words.shape[:-1]):
        for i in range(words.shape[-1]):
            letters = words[(*row, slice(max(0, i + 1 - window), i + 1))].tolist()
            found[(*row, i)] = A.map_of(letters)
    return found


def written_next(A: Semiautomaton, tokens: np.ndarray) -> np.ndarray:
    """What comes after each token of letters a and behind them states q, written as |Σ| + q
    (…, T): the next state, of the letter in its turn, and −1 at letters."""
    letters, table = A.n_letters, np.array(A.transitions)
    length = int((tokens < letters).sum(-1).max())
    states = tokens[..., length:] - letters
    following = table[tokens[..., : states.shape[-1]], states] + letters
    return np.concatenate([np.full_like(tokens[..., :length], -1), following], axis=-1)


def table_fits(n_states: int, n_letters: int) -> None:
    """Raise `ValueError` unless the memory holds the table of so many states and letters."""
    states, letters = min(n_states, 10**150), min(n_letters, 10**150)
    what = f"maps of {states:.4g} states for {letters:.4g} letters"
    machine.fits_in_memory(what, 200 * states * letters, "take fewer")


@checked
def random_semiautomaton(n_states: Count, n_letters: Count, seed: Seed) -> Semiautomaton:
    """Independent uniform maps for the letters."""
    table_fits(n_states, n_letters)
    rows = seed.integers(n_states, size=(n_letters, n_states)).tolist()
    return Semiautomaton(tuple(map(tuple, rows)), f"random({n_states}, {n_letters})")


AutomatonFile: TypeAlias = Annotated[Any, File("an automaton")]


@checked
def read_automaton(path: AutomatonFile) -> Semiautomaton:
    """An automaton from JSON: `{"transitions": [[1, 0], [0, 1]], "start": 0, "name": "mine"}`, or
    the table of transitions alone.

    Raises `ValueError` for a file that cannot be read, for what is not JSON, and for a table that
    is no automaton.
    """
    fields = json_table(path, ("transitions", "start", "name"))
    name, start = str(fields.get("name", path.stem)), fields.get("start", 0)
    return Semiautomaton(fields["transitions"], name, start)
