"""Regular languages as automata with accepting states, their minimal automata and comparison.

A word leads from the start to a state.  The word is in the language iff this state is accepting.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from theory.computation.kinds import Alphabet
from theory.computation.semiautomata import Semiautomaton
from theory.kinds import InputError, OneSequence, Steps, array_of, checked, read

MOST_STATES = 2000  # the largest number of states of an automaton that is built from a text

S = TypeVar("S", bound=Hashable)


@checked
@dataclass(frozen=True)
class Language:
    """A regular language: the words that lead `automaton` from its start to a state in `accepting`.

    The symbol with number a is written as the character alphabet[a].

    Raises ValueError if (a) the alphabet and the automaton have different numbers of symbols, or
    (b) `accepting` contains a state that the automaton does not have.
    """

    automaton: Semiautomaton
    accepting: frozenset[Steps]
    alphabet: Alphabet

    def __post_init__(self) -> None:
        if len(self.alphabet) != self.automaton.n_symbols:
            raise InputError(
                f"alphabet is {self.alphabet!r}: give {self.automaton.n_symbols} symbols, "
                f"one for each symbol of {self.automaton.name}"
            )
        if stray := [q for q in self.accepting if q >= self.automaton.n_states]:
            raise InputError(
                f"accepting contains {stray[0]}: give states from 0 to "
                f"{self.automaton.n_states - 1}"
            )

    def contains(self, word: str | ArrayLike) -> bool:
        """Whether the language contains a word.

        The word is a text over `alphabet`, or an array of the numbers of its symbols. Raises
        ValueError for symbols that are not in the alphabet.
        """
        if isinstance(word, str):
            if stray := [symbol for symbol in word if symbol not in self.alphabet]:
                raise InputError(
                    f"word contains {stray[0]!r}: give a word over the alphabet {self.alphabet!r}"
                )
            word = [self.alphabet.index(symbol) for symbol in word]
        symbols = array_of("word", word)
        if symbols.shape == (0,):
            return self.automaton.start in self.accepting
        symbols = read(OneSequence, "word", symbols, below=self.automaton.n_symbols)
        return bool(self.contains_prefixes(symbols)[-1])

    def contains_prefixes(self, words: ArrayLike) -> np.ndarray:
        """Whether each prefix of words is in the language, as booleans (…, T).

        `words` (…, T) contains the numbers of the symbols. Entry i of the result belongs to the
        prefix of the word that ends with symbol i.

        Raises ValueError if (a) a symbol is not in the alphabet, or (b) the words are empty.
        """
        accepts = np.isin(np.arange(self.automaton.n_states), [*self.accepting])
        return accepts[self.automaton.run(words)]

    @checked
    def spelled(self, word: Sequence[Steps]) -> str:
        """The text of a word, which is given as the list of the numbers of its symbols.

        Raises ValueError for a number that is not that of a symbol.
        """
        if max(word, default=0) >= len(self.alphabet):
            raise InputError(
                f"word contains {max(word)}: give symbols from 0 to {len(self.alphabet) - 1}"
            )
        return "".join(self.alphabet[a] for a in word)

    def minimal(self) -> Language:
        """The same language with its minimal automaton, by Moore's partition refinement.

        The states of the minimal automaton are numbered in the order of breadth-first search. So
        two languages over the same alphabet are equal iff their minimal automata have the same
        transitions and the same accepting states.
        """
        states, rows = self.automaton.reachable(), self.automaton.transitions
        block = {q: int(q in self.accepting) for q in states}
        while True:
            seen = {q: (block[q], *(block[row[q]] for row in rows)) for q in states}
            numbers = {key: i for i, key in enumerate(dict.fromkeys(seen.values()))}
            refined = {q: numbers[seen[q]] for q in states}
            if len(numbers) == len({*block.values()}):
                break
            block = refined
        # Blocks are in the order of breadth-first search, like the states.
        firsts = {refined[q]: q for q in reversed(states)}
        table = tuple(tuple(refined[row[firsts[b]]] for b in range(len(firsts))) for row in rows)
        automaton = Semiautomaton(table, self.automaton.name)
        accepting = frozenset(refined[q] for q in states if q in self.accepting)
        return Language(automaton, accepting, self.alphabet)

    @checked
    def differs(self, other: Language) -> str | None:
        """A shortest non-empty word that is in exactly one of the two languages, or None.

        The search covers all pairs of states (one state of each automaton) to which non-empty words
        lead. So the result None means that the two languages contain the same non-empty words.

        Raises ValueError for languages over different alphabets.
        """
        if self.alphabet != other.alphabet:
            raise InputError(
                f"the alphabets are {self.alphabet!r} and {other.alphabet!r}: "
                "give languages over the same alphabet"
            )
        start = self.automaton.start, other.automaton.start
        words, left = {start: ""}, deque([start])
        while left:
            p, q = pair = left.popleft()
            for a, symbol in enumerate(self.alphabet):
                after = self.automaton.transitions[a][p], other.automaton.transitions[a][q]
                if (after[0] in self.accepting) != (after[1] in other.accepting):
                    return words[pair] + symbol
                if after not in words:
                    words[after] = words[pair] + symbol
                    left.append(after)
        return None


def explored(
    start: S,
    step: Callable[[S, str], S],
    accepts: Callable[[S], bool],
    alphabet: str,
    name: str,
) -> Language:
    """The language of the automaton whose states are reached from `start` by `step`.

    `step` maps a state and a symbol to the next state, and `accepts` decides whether a state is
    accepting.  The automaton of the result is minimal.  Raises ValueError for more than 2000
    states.
    """
    number, left, rows = {start: 0}, deque([start]), list[list[int]]()
    while left:
        state, row = left.popleft(), list[int]()
        for symbol in alphabet:
            after = step(state, symbol)
            if after not in number:
                number[after] = len(number)
                left.append(after)
            row.append(number[after])
        rows.append(row)
        if len(number) > MOST_STATES:
            raise InputError(
                f"the automaton of {name} has more than {MOST_STATES} states: give a simpler "
                "expression or formula"
            )
    table = tuple(tuple(row[a] for row in rows) for a in range(len(alphabet)))
    accepting = frozenset(i for state, i in number.items() if accepts(state))
    found = Language(Semiautomaton(table), accepting, alphabet).minimal()
    return replace(found, automaton=replace(found.automaton, name=name))
