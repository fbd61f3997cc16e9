"""Semiautomata: finite sets of states, with a map of the states for each symbol.

    q · a = transitions[a][q],        q · (a₁ … a_T) = (… (q · a₁) · a₂ …) · a_T

Here q is a state and a, a₁, …, a_T are symbols. A semiautomaton has no accepting states: the task
is to compute the state after each symbol of a word. Words are arrays (…, T) of symbols
0, …, n_symbols − 1, and states are 0, …, n_states − 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from theory import machine
from theory.json_table import json_table
from theory.kinds import (
    Count,
    File,
    InputError,
    Instance,
    Many,
    Seed,
    Steps,
    Tokens,
    checked,
    read,
    shown,
)
from theory.waiting import foretold

MOST_ENTRIES = 10**6  # of the table of a product
ENTRY = 5e-7  # seconds for an entry of a table that is checked, about
Map = tuple[int, ...]
"""A map of the states to themselves: entry q is the image of q."""


def identity(n: int) -> Map:
    """The identity map of n states."""
    return tuple(range(n))


def then(first: Map, second: Map) -> Map:
    """The composition q ↦ second(first(q)) of two maps of states: `first` acts before `second`."""
    return tuple(second[q] for q in first)


@checked
@dataclass(frozen=True)
class Semiautomaton:
    """A semiautomaton: a finite automaton with a start state and without accepting states.

    transitions[a][q] is the state to which symbol a leads from state q. `start` is the state before
    the first symbol.

    Raises `ValueError` if (a) the table `transitions` has no symbols or no states, (b) its rows
    have different lengths, or (c) a state is ≥ n_states.
    """

    transitions: tuple[tuple[Steps, ...], ...]
    name: str = "semiautomaton"
    start: Steps = 0

    def __post_init__(self) -> None:
        rows = self.transitions
        if not rows or not rows[0]:
            raise InputError(f"transitions of {self.name} have no states: give at least one state")
        for a, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise InputError(
                    f"transitions[{a}] of {self.name} has {len(row)} states and transitions[0] has "
                    f"{len(rows[0])}: give rows of equal length"
                )
            if max(row) >= len(row):
                raise InputError(
                    f"transitions[{a}] of {self.name} leads to state {max(row)}: give states from "
                    f"0 to {len(row) - 1}"
                )
        if self.start >= self.n_states:
            raise InputError(f"start is {self.start}: give a state from 0 to {self.n_states - 1}")

    @property
    def n_states(self) -> int:
        """The number of states of the semiautomaton."""
        return len(self.transitions[0])

    @property
    def n_symbols(self) -> int:
        """The number of symbols that the semiautomaton reads."""
        return len(self.transitions)

    def map_of(self, word: Iterable[int]) -> Map:
        """The map of the states that a word induces, as a tuple.

        Entry q of the tuple is the state to which the word leads from state q. The empty word
        induces the identity. Raises `ValueError` if a symbol is ≥ n_symbols.
        """
        found = identity(self.n_states)
        for symbol in read(Iterable[Steps], "word", word, below=self.n_symbols):
            found = then(found, self.transitions[symbol])
        return found

    def run(self, words: ArrayLike) -> np.ndarray:
        """The states (…, T) after each symbol of words (…, T), if the automaton begins in `start`.

        Raises `ValueError` if (a) a symbol is ≥ n_symbols, or (b) the words are empty.
        """
        symbols = read(Tokens, "words", words, below=self.n_symbols)
        table = np.array(self.transitions)
        state, states = np.full(symbols.shape[:-1], self.start), np.empty_like(symbols)
        for i in range(symbols.shape[-1]):
            state = table[symbols[..., i], state]
            states[..., i] = state
        return states

    def reachable(self) -> list[int]:
        """The states that can be reached from `start`, in the order of breadth-first search."""
        found = [self.start]
        for q in found:
            found += [
                r for r in dict.fromkeys(row[q] for row in self.transitions) if r not in found
            ]
        return found

    def __str__(self) -> str:
        return f"{self.name} ({self.n_states} states, {self.n_symbols} symbols)"


def product(*automata: Semiautomaton) -> Semiautomaton:
    """The product of semiautomata: the semiautomaton in which all of them read the same word.

    The state (q₁, q₂, …) of the product, with state qᵢ of automaton i, has the number (q₁ n₂ + q₂)
    n₃ + …, where nᵢ is the number of states of automaton i. Raises `ValueError` if the automata
    have different numbers of symbols, and if the table of the product has more than 10^6 entries,
    one for each state and symbol.
    """
    symbols = {
        automaton.n_symbols
        for automaton in Many(Instance(Semiautomaton)).read("automata", automata)
    }
    if len(symbols) != 1:
        raise InputError(
            f"the numbers of symbols of the automata are {sorted(symbols)}: give automata with "
            "equal numbers of symbols"
        )
    sizes = [automaton.n_states for automaton in automata]
    if (entries := math.prod(sizes) * max(symbols)) > MOST_ENTRIES:
        raise InputError(
            f"automata have numbers of states {shown(sizes)}, and the table of their product "
            f"has {shown(entries)} entries: give automata with a product of at most {MOST_ENTRIES} "
            "entries"
        )
    places = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    numbers = np.arange(math.prod(sizes))
    states = [numbers // place % size for place, size in zip(places, sizes, strict=True)]
    rows = tuple(
        tuple(
            np.sum(
                [
                    place * np.array(A.transitions[a])[q]
                    for A, q, place in zip(automata, states, places, strict=True)
                ],
                axis=0,
            ).tolist()
        )
        for a in range(symbols.pop())
    )
    start = sum(place * A.start for A, place in zip(automata, places, strict=True))
    return Semiautomaton(rows, " × ".join(A.name for A in automata), start)


def windows(A: Semiautomaton, words: np.ndarray, window: int) -> np.ndarray:
    """The map of states that the last `window` symbols up to each position induce.

    Returns an array (…, T, n_states) for words (…, T): the image of each state at each position.
    """
    found = np.empty((*words.shape, A.n_states))
    for row in np.ndindex(words.shape[:-1]):
        for i in range(words.shape[-1]):
            symbols = words[(*row, slice(max(0, i + 1 - window), i + 1))].tolist()
            found[(*row, i)] = A.map_of(symbols)
    return found


def written_next(A: Semiautomaton, tokens: np.ndarray) -> np.ndarray:
    """The next token of a chain of thought at each of `tokens` (…, T), or −1 at the symbols.

    The tokens are the symbols of a word, followed by the states of the automaton. State q is token
    n_symbols + q. The next token after the i-th state is the image of this state under the i-th
    symbol of the word.
    """
    symbols, table = A.n_symbols, np.array(A.transitions)
    length = int((tokens < symbols).sum(-1).max())
    states = tokens[..., length:] - symbols
    following = table[tokens[..., : states.shape[-1]], states] + symbols
    return np.concatenate([np.full_like(tokens[..., :length], -1), following], axis=-1)


def table_fits(n_states: int, n_symbols: int) -> None:
    """Raises `ValueError` unless a transition table of this size fits in memory."""
    states, symbols = min(n_states, 10**150), min(n_symbols, 10**150)
    what = f"maps of {states:.4g} states for {symbols:.4g} symbols"
    machine.fits_in_memory(what, 100 * states * symbols, "give fewer states or symbols")
    foretold(what, ENTRY * states * symbols)


@checked
def random_semiautomaton(n_states: Count, n_symbols: Count, seed: Seed) -> Semiautomaton:
    """A random semiautomaton: each symbol induces an independent uniform map of the states."""
    table_fits(n_states, n_symbols)
    rows = seed.integers(n_states, size=(n_symbols, n_states)).tolist()
    return Semiautomaton(tuple(map(tuple, rows)), f"random({n_states}, {n_symbols})")


AutomatonFile: TypeAlias = Annotated[Any, File("an automaton")]


@checked
def read_automaton(path: AutomatonFile) -> Semiautomaton:
    """The semiautomaton in a JSON file.

    The file contains `{"transitions": [[1, 0], [0, 1]], "start": 0, "name": "mine"}`, or only the
    table of transitions. Entry q of row a of the table is the state to which symbol a leads from
    state q. Raises `ValueError` if (a) the file cannot be read or is not JSON, or (b) the table is
    not a semiautomaton.
    """
    fields = json_table(path, ("transitions", "start", "name"))
    name, start = str(fields.get("name", path.stem)), fields.get("start", 0)
    return Semiautomaton(fields["transitions"], name, start)
