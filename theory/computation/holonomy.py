"""The holonomy decomposition of a semiautomaton: image sets, their classes, heights and tiles.

Let Q be the set of states that can be reached from the start. The image sets are the sets Q·w for
all words w, and the sets of one state. For image sets P and R, write P ≤ R if P ⊆ R·s for a word s.
Two sets are in the same class if P ≤ R and R ≤ P; words then map them onto each other as
bijections. The height of a set of one state is 0. The height of a larger set is 1 more than the
largest height of the sets below it in this order. The tiles of a set are its maximal proper subsets
among the image sets. The tiles cover the set, since sets of one state are image sets.

A state q is described by a chain Q ⊃ P₁ ⊃ P₂ ⊃ … ⊃ {q}, in which each set is a tile of the previous
set. The coordinate at height h is the place of the next tile among the tiles of the set of height
h. These tiles are numbered as in the representative of the class of the set. A symbol s maps chains
to chains, one height after the other, the greatest height first. At height h, let P be the set in
the chain before s, and P′ the set in the chain after s, so that P·s ⊆ P′. The symbol changes the
coordinate as follows:

    height(P′) < h                    there is no coordinate to set
    height(P) = h and P·s = P′        a permutation of the tiles
    otherwise                         a reset to a tile of P′ that contains P·s

The permutations at a class generate its holonomy group.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import numpy as np

from theory.computation.benchmark_automata import Automaton
from theory.computation.permutations import generated
from theory.computation.semiautomata import Map, Semiautomaton, identity, then
from theory.kinds import InputError, Steps, checked, read, shown

MOST_STATES, MOST_SETS, MOST_PERMUTATIONS = 128, 1000, 10_000

States = frozenset[int]


@dataclass(frozen=True)
class Class:
    """A class of image sets of equal height that words map onto each other.

    The first set in `sets` is the representative of the class. `tiles` are the tiles of the
    representative. For each set P of the class, `there[P]` maps the representative to P, and
    `back[P]` is the inverse map. `group` is the holonomy group, whose elements permute the tiles.
    """

    number: int
    height: int
    sets: tuple[States, ...]
    tiles: tuple[States, ...]
    there: dict[States, Map]
    back: dict[States, Map]
    group: frozenset[Map] = frozenset()

    def tile(self, P: States, place: int) -> States:
        """The tile with number `place` of the set P of the class."""
        return moved(self.tiles[place], self.there[P])

    def holding(self, P: States, part: States) -> int:
        """The number of the first tile of the set P that contains the subset `part` of P."""
        seen = moved(part, self.back[P])
        return next(i for i, tile in enumerate(self.tiles) if seen <= tile)

    def permutation(self, P: States, symbol: Map, to: States) -> Map:
        """The permutation of the tiles that a symbol induces.

        The symbol maps the set P of the class to the set `to` of the class.
        """
        around = then(then(self.there[P], symbol), self.back[to])
        return tuple(self.tiles.index(moved(tile, around)) for tile in self.tiles)


@dataclass(frozen=True)
class Holonomy:
    """The holonomy decomposition of a semiautomaton: its image sets, ordered and put into classes.

    Let Q be the set of states that can be reached from the start. The image sets are the images Q·w
    of Q under all words w, and the sets of one state. For image sets P and R, write P ≤ R if
    P ⊆ R·s for a word s. Two sets P and R are in the same class if P ≤ R and R ≤ P. The height of a
    set of one state is 0. The height of a larger set R is 1 more than the largest height of the
    sets P with P ≤ R and not R ≤ P.

    `states` is the set Q. `classes` are the classes of image sets of more than one state, the
    greatest height first. `of[P]` is the class of P, for each image set P of more than one state.
    """

    automaton: Semiautomaton
    states: States
    classes: tuple[Class, ...]
    of: dict[States, Class] = field(repr=False)

    def height(self, P: States) -> int:
        """The height of the image set P in this decomposition; the height of a single state is 0.

        An image set is a set of states Q·w, for the set Q of reachable states and a word w, or a
        set of one state. Write R ≤ P if R ⊆ P·s for a word s. The height of a set P of more than
        one state is 1 more than the largest height of the image sets R with R ≤ P and not P ≤ R.
        Raises `ValueError` for a set that is not an image set.
        """
        if isinstance(P, frozenset) and P in self.of:
            return self.of[P].height
        states = read(frozenset[Steps], "P", P, below=self.automaton.n_states)
        if len(states) == 1:
            return 0
        raise InputError(
            f"P is {shown(set(states))}: give one of the {len(self.of)} image sets of "
            f"{self.automaton.name}, or a set of one state"
        )

    @property
    def heights(self) -> range:
        """The heights of the image sets, from the height of the set of reachable states down to 1.

        An image set is a set of states Q·w, for the set Q of reachable states and a word w, or a
        set of one state. Write R ≤ P if R ⊆ P·s for a word s. The height of a set of one state is
        0. The height of a larger set P is 1 more than the largest height of the image sets R with
        R ≤ P and not P ≤ R.
        """
        return range(self.height(self.states), 0, -1)


def moved(states: States, by: Map) -> States:
    """The image of a set under a map."""
    return frozenset(by[q] for q in states)


@checked
def image_sets(automaton: Automaton) -> list[States]:
    """The image sets of a semiautomaton: images Q·w under all words w, and sets of one state.

    Here Q is the set of states that can be reached from the start. The images Q·w come first, in
    the order of breadth-first search, and the sets of one state follow.
    """
    everything = frozenset(automaton.reachable())
    return list(dict.fromkeys([*_orbit(automaton, everything), *map(_single, everything)]))


@checked
def holonomy(automaton: Automaton) -> Holonomy:
    """The holonomy decomposition of a semiautomaton: classes of image sets, with their groups.

    The image sets are the sets of states Q·w, for the set Q of reachable states and a word w, and
    the sets of one state. Two image sets are in one class if a word maps the first onto the second,
    and a word maps the second onto the first. The group of a class consists of the permutations
    that words induce on the tiles of an image set, which are its maximal proper subsets among the
    image sets. The module's docstring has all definitions.

    Raises `ValueError` if (a) there are more than 128 states, (b) there are more than 1000 image
    sets, or (c) a group has more than 10 000 permutations.
    """
    everything = frozenset(automaton.reachable())
    _few(automaton, len(everything), MOST_STATES, "states")
    sets = [P for P in image_sets(automaton) if len(P) > 1]
    orbits = {P: _orbit(automaton, P) for P in sets}
    members = _indicators(everything, sets)
    below = dict[States, list[States]]()  # all P ≤ R
    for R in sets:
        images = _indicators(everything, orbits[R])
        beyond = members @ (1 - images).T  # the numbers of states of P − R·s
        below[R] = [P for P, inside in zip(sets, (beyond == 0).any(1), strict=True) if inside]
    heights: dict[States, int] = {}
    # If P < R, fewer sets lie below P than below R, so that P comes before R.
    for R in sorted(sets, key=lambda R: len(below[R])):
        strictly = [P for P in below[R] if R not in below[P]]
        heights[R] = 1 + max((heights[P] for P in strictly), default=0)
    classes, of = list[Class](), dict[States, Class]()
    known = image_sets(automaton)
    for R in sorted(sets, key=lambda P: -heights[P]):
        if R in of:
            continue
        alike = tuple(P for P in sets if P in below[R] and R in below[P])
        alike = (R, *(P for P in alike if P != R))
        there, back = {}, {}
        for P in alike:
            there[P], back[P] = _bijections(automaton, R, P, orbits)
        found = Class(len(classes), heights[R], alike, _tiles(R, known), there, back)
        group = generated(_permutations(automaton, found), len(found.tiles), MOST_PERMUTATIONS)
        _few(automaton, len(group), MOST_PERMUTATIONS, "permutations of a set")
        found = Class(found.number, found.height, alike, found.tiles, there, back, group)
        classes.append(found)
        of |= dict.fromkeys(alike, found)
    return Holonomy(automaton, everything, tuple(classes), of)


def _few(automaton: Semiautomaton, count: int, most: int, of: str) -> None:
    if count > most:
        raise InputError(
            f"{automaton.name} has more than {most} {of}, too many to decompose: use "
            "semiautomaton(…), which has ⌈log₂ T⌉ layers for T tokens"
        )


def _indicators(states: States, sets: Collection[States]) -> np.ndarray:
    """The indicator functions (len(sets), len(states)) of sets of these states."""
    column = {q: i for i, q in enumerate(states)}
    found = np.zeros((len(sets), len(states)), dtype=np.float32)
    for row, P in zip(found, sets, strict=True):
        row[[column[q] for q in P]] = 1
    return found


def _single(q: int) -> States:
    return frozenset([q])


def _orbit(automaton: Semiautomaton, P: States) -> dict[States, Map]:
    """The sets P·w, each with the map of a shortest word that leads to the set."""
    found, left = {P: identity(automaton.n_states)}, deque([P])
    while left:
        _few(automaton, len(found), MOST_SETS, "image sets")
        R = left.popleft()
        for symbol in automaton.transitions:
            if (image := moved(R, symbol)) not in found:
                found[image] = then(found[R], symbol)
                left.append(image)
    return found


def _bijections(
    automaton: Semiautomaton, R: States, P: States, orbits: dict[States, dict[States, Map]]
) -> tuple[Map, Map]:
    """Maps of two words, R → P and P → R; the second map is the inverse of the first.

    If s leads from R to P and t from P to R, then (st)^m is the identity of R for some m, and the
    inverse of s is t(st)^{m−1}.
    """
    there, back = orbits[R][P], orbits[P][R]
    around = then(there, back)
    power, before = around, identity(automaton.n_states)
    while any(power[q] != q for q in R):
        power, before = then(power, around), then(before, around)
    return there, then(back, before)


def _tiles(R: States, sets: list[States]) -> tuple[States, ...]:
    """The maximal proper subsets of R among the sets."""
    inside = [P for P in sets if P < R]
    largest = [P for P in inside if not any(P < Q for Q in inside)]
    return tuple(sorted(largest, key=sorted))


def _permutations(automaton: Semiautomaton, of: Class) -> Iterator[Map]:
    for P in of.sets:
        for symbol in automaton.transitions:
            if (image := moved(P, symbol)) in of.there:
                yield of.permutation(P, symbol, image)
