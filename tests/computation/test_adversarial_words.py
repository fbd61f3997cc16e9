"""Words on which automata go wrong if anything does, on the models' own tensors."""

from itertools import product

import numpy as np
import pytest

from constructions.computation import gridworld_walk, semiautomaton, shortcut
from theory.computation import Semiautomaton, cyclic_with_reset, gridworld, holonomy

SWAP = (1, 0, 3, 2)
TWO_CLASSES = Semiautomaton((SWAP, (0, 1, 0, 0), (2, 2, 2, 3)), "two classes with a group each")
ONE_WAY = Semiautomaton((SWAP, (0, 1, 0, 0), (2, 3, 2, 2)), "a pair moved to another one")
LENGTHS = 1, 7, 8, 9, 15, 16, 17


def models(automaton, T):
    yield semiautomaton(automaton, T)
    yield semiautomaton(automaton, T, form="robust")
    yield shortcut(automaton, T)
    yield shortcut(automaton, T, form="robust")


def test_the_automata_are_what_they_are_called():
    two, one_way = holonomy(TWO_CLASSES), holonomy(ONE_WAY)
    pairs = frozenset([0, 1]), frozenset([2, 3])
    for of in (two, one_way):
        classes = [of.of[pair] for pair in pairs]
        assert classes[0] is not classes[1]
        assert {len(each.group) for each in classes} == {2}
    assert len({two.height(pair) for pair in pairs}) == 1  # neither is below the other
    assert one_way.height(pairs[0]) == one_way.height(pairs[1]) + 1


@pytest.mark.parametrize("T", LENGTHS)
def test_a_reset_first_last_and_never(T):
    automaton = cyclic_with_reset(3)
    reset = next(a for a, row in enumerate(automaton.transitions) if len({*row}) == 1)
    other = 1 - reset
    words = np.full((4, T), other)
    words[0, 0] = words[1, -1] = reset
    words[3] = reset
    for model in models(automaton, T):
        assert (model(words).numpy() == automaton.run(words)).all(), model.name


@pytest.mark.parametrize("T", LENGTHS)
def test_identities_only(T):
    automaton = Semiautomaton(((1, 2, 0), (0, 1, 2)), start=2)
    words = np.ones((T + 1, T), dtype=int)
    for k in range(T + 1):  # k symbols count, the first ones
        words[k, :k] = 0
    for model in models(automaton, T):
        assert (model(words).numpy() == automaton.run(words)).all(), model.name


@pytest.mark.parametrize("automaton", [TWO_CLASSES, ONE_WAY], ids=str)
def test_group_symbols_between_resets_of_two_classes(automaton):
    short = np.array([*product(range(3), repeat=5)])
    # Runs of the group's symbol, of every length up to 4, between resets to one pair and the other.
    gaps = np.array([*product(range(5), repeat=3)])
    long = np.zeros((len(gaps), 16), dtype=int)
    for row, (a, b, c) in zip(long, gaps, strict=True):
        row[[a, a + b + 1, a + b + c + 2]] = 1, 2, 1
    for words in (short, long):
        for model in models(automaton, words.shape[1]):
            assert (model(words).numpy() == automaton.run(words)).all(), model.name


@pytest.mark.parametrize("S", [1, 2, 4])
def test_a_walk_that_stays_at_a_wall(S):
    T = 6 * S + 3
    rows = [[0] * T, [1] * T, [0] * (T - S) + [1] * S, [1] * (T - S) + [0] * S]
    rows += [([0] * (2 * S) + [1] * (2 * S)) * 2, ([0, 1] * T), ([1] * (3 * S) + [0] * (3 * S))]
    words = np.array([(row * 3)[:T] for row in rows])
    for start in (0, S):
        automaton = Semiautomaton(gridworld(S).transitions, start=start)
        model = gridworld_walk(S, T, start=start)
        assert (model(words).numpy() == automaton.run(words)).all()
