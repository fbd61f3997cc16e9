"""The transformation monoid of a semiautomaton: the maps of its states that words induce.

    M = { q ↦ q·w : all words w },      where x·y means first x, then y

An element x is aperiodic if x^n = x^{n+1} for some n.  M is aperiodic if all its elements are
aperiodic.  Otherwise some word permutes several states in a cycle.

Groups in M: some power of x is an idempotent e, and x lies in a group in M iff x·e = x.  In this
case e is the identity of the group, and x permutes the states in the image of e.  M is aperiodic
iff all groups in M are trivial.

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
    """The transformation monoid of a semiautomaton: all maps of its states that words induce.

    `states` are the states that can be reached from the start, in the order of breadth-first
    search. A map is a tuple x: a word that induces x leads from states[i] to states[x[i]]. `words`
    is a dictionary from each map of the monoid to a shortest word that induces the map.
    """

    automaton: Semiautomaton
    states: tuple[int, ...]
    words: Mapping[Map, tuple[int, ...]]

    @property
    def periodic(self) -> Map | None:
        """An element of the monoid with period > 1, or None if all elements have period 1.

        The elements are the maps of states that words induce. The period of an element x is the
        smallest p ≥ 1 with x^{n+p} = x^n for all large n. If several elements have a period > 1,
        the result is one that a shortest word induces.
        """
        return next((x for x in self.words if period(x) > 1), None)

    @property
    def is_aperiodic(self) -> bool:
        """Whether every element x of the monoid satisfies x^n = x^{n+1} for some n.

        The elements are the maps of states that words induce.
        """
        return self.periodic is None

    def circle(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """A shortest word that permutes several states in a cycle, and the states of this cycle.

        The word leads from each state of the cycle to the next state, and from the last state to
        the first. The result is None if there is no such word.
        """
        if (x := self.periodic) is None:
            return None
        # After n_states steps, every state is on a cycle.
        q, around = next(r for r in power(x, len(x)) if x[r] != r), list[int]()
        while q not in around:
            around.append(q)
            q = x[q]
        return self.words[x], tuple(self.states[r] for r in around)

    def groups(self) -> dict[Map, frozenset[Map]]:
        """The maximal subgroups of the monoid; the keys of the dictionary are their identities e.

        The elements of the monoid are the maps of states that words induce, and e is one of them,
        with e·e = e. The elements of the subgroup with identity e permute the m states in the image
        of e. If these states are numbered 0, …, m − 1 in increasing order, each element of the
        subgroup is written as a permutation of these numbers.
        """
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
        """Whether all groups that are contained in the monoid are solvable.

        The elements of the monoid are the maps of states that words induce.
        """
        return all(len(derived_series(group)[-1]) == 1 for group in self.groups().values())


@checked
def monoid(automaton: Automaton, most: Count = MOST_ELEMENTS) -> Monoid:
    """The transformation monoid of a semiautomaton: all maps of its states that words induce.

    The maps are found by breadth-first search over words. Raises ValueError for more than `most`
    maps.
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
                f"the monoid of {automaton} has more than {most} elements: give an automaton with "
                "fewer states"
            )
    return Monoid(automaton, states, words)


def power(x: Map, n: int) -> Map:
    """The n-th power of a map, xⁿ: the map applied n times."""
    found = identity(len(x))
    for _ in range(n):
        found = then(found, x)
    return found


def period(x: Map) -> int:
    """The period of a map x: the smallest p ≥ 1 with x^{n+p} = x^n for all large n."""
    first = power(x, len(x))  # after len(x) steps every state is on a cycle
    again, p = then(first, x), 1
    while again != first:
        again, p = then(again, x), p + 1
    return p


def idempotent(x: Map) -> Map:
    """The idempotent power of a map x: the power e = xⁿ, n ≥ 1, with e·e = e."""
    found = x
    while then(found, found) != found:
        found = then(found, x)
    return found
