"""The transformation monoid of a semiautomaton: the maps of its states that words induce.

    M = { q ↦ q·w : all words w },      x·y is first x, then y

An element x is aperiodic if x^n = x^{n+1} for some n; M is aperiodic if all its elements are.
Otherwise some word permutes several states in a cycle.

The groups in M: some power of x is an idempotent e, and x lies in a group in M iff x·e = x.  Then e
is the identity of this group, and x permutes the states of the image of e.  M is aperiodic iff all
its groups are trivial.

A regular language is star-free (made of finite languages by union, concatenation and complement)
iff the monoid of its minimal automaton is aperiodic [Schutzenberger1965].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from theory.computation.benchmark_automata import Automaton
from theory.computation.permutations import derived_series
from theory.computation.semiautomata import Map, Semiautomaton, identity, then
from theory.kinds import Count, InputError, checked

MOST_ELEMENTS = 10**5


@dataclass(frozen=True)
class Monoid:
    """The transformation monoid of an automaton: the maps of all words, each with a shortest word.

    `states` are the states that can be reached, in the order of breadth-first search; the maps act
    on their indices.
    """

    automaton: Semiautomaton
    states: tuple[int, ...]
    words: Mapping[Map, tuple[int, ...]]

    @property
    def periodic(self) -> Map | None:
        """An element of period > 1, with the shortest word of these; None if there are none."""
        return next((x for x in self.words if period(x) > 1), None)

    @property
    def is_aperiodic(self) -> bool:
        """Whether every element x has x^n = x^{n+1} for some n."""
        return self.periodic is None

    def circle(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """A shortest word that permutes more than one state in a cycle, and this cycle; or None."""
        if (x := self.periodic) is None:
            return None
        # After n_states steps, every state is on a cycle.
        q, around = next(r for r in power(x, len(x)) if x[r] != r), list[int]()
        while q not in around:
            around.append(q)
            q = x[q]
        return self.words[x], tuple(self.states[r] for r in around)

    def groups(self) -> dict[Map, frozenset[Map]]:
        """The maximal subgroups, by identity e; their elements permute the image of e, in order."""
        found: dict[Map, set[Map]] = {}
        for x in self.words:
            e = idempotent(x)
            if then(x, e) == x:
                image = sorted(set(e))
                place = {q: i for i, q in enumerate(image)}
                found.setdefault(e, set()).add(tuple(place[x[q]] for q in image))
        return {e: frozenset(group) for e, group in found.items()}

    @property
    def is_solvable(self) -> bool:
        """Whether all subgroups are solvable."""
        return all(len(derived_series(group)[-1]) == 1 for group in self.groups().values())


@checked
def monoid(automaton: Automaton, most: Count = MOST_ELEMENTS) -> Monoid:
    """The transformation monoid of a semiautomaton, by breadth-first search over words.

    Raises ValueError for more than `most` elements.
    """
    states = tuple(automaton.reachable())
    number = {q: i for i, q in enumerate(states)}
    symbols = [tuple(number[row[q]] for q in states) for row in automaton.transitions]
    words: dict[Map, tuple[int, ...]] = {identity(len(states)): ()}
    left = list(words)
    for x in left:
        for a, symbol in enumerate(symbols):
            if (y := then(x, symbol)) not in words:
                words[y] = (*words[x], a)
                left.append(y)
        if len(words) > most:
            raise InputError(
                f"the monoid of {automaton} has more than {most} elements: give fewer states"
            )
    return Monoid(automaton, states, words)


def power(x: Map, n: int) -> Map:
    """The power xⁿ."""
    found = identity(len(x))
    for _ in range(n):
        found = then(found, x)
    return found


def period(x: Map) -> int:
    """The smallest p ≥ 1 with x^{n+p} = x^n for large n."""
    first = power(x, len(x))  # after len(x) steps every state is on a cycle
    again, p = then(first, x), 1
    while again != first:
        again, p = then(again, x), p + 1
    return p


def idempotent(x: Map) -> Map:
    """The power e of x with e·e = e."""
    found = x
    while then(found, found) != found:
        found = then(found, x)
    return found
