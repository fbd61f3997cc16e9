"""The holonomy decomposition, and cascades of counters and flip-flops."""

from __future__ import annotations

import sys
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import check_line, rejects

from theory.computation import (
    A5,
    BENCHMARK_AUTOMATA,
    S4,
    NotSolvable,
    Semiautomaton,
    all_maps,
    cascade,
    cyclic,
    holonomy,
    image_sets,
    random_semiautomaton,
)
from theory.computation.cascade import Cascade
from theory.computation.holonomy import moved
from theory.computation.permutations import derived_series
from theory.computation.semiautomata import identity
from theory.kinds import InputError

SOLVABLE = [name for name in BENCHMARK_AUTOMATA if name not in ("A5", "all-maps-4")]
STAGES = {
    "parity": "C", "mod-3": "C", "mod-6": "C", "flip-flop": "F", "mod-3-with-reset": "CF",
    "S3": "CCC", "D4": "CC", "A4": "CCC", "Q8": "CCC", "S4": "CCCCC",
    "dyck-2": "FFF", "dyck-4": "FFFFF",
    "gridworld-3": "FF", "gridworld-4": "FFF", "gridworld-6": "FFFFF",
    "all-maps-2": "CF", "all-maps-3": "CCCFCF",
}  # fmt: skip


def kinds(of: Cascade) -> str:
    return "".join(stage.kind[0].upper() for stage in of.stages)


@pytest.mark.parametrize("name", SOLVABLE)
def test_cascades_say_the_state_for_words_of_every_length(name):
    found = cascade(name)
    assert found.disagreements() == 0
    assert kinds(found) == STAGES[name]
    compact = cascade(name, compact=True)
    assert compact.disagreements() == 0
    assert kinds(compact).replace("T", "") == STAGES[name]


def test_a_compact_cascade_has_fewer_rows():
    rows = [
        sum(len(stage.table.rows) for stage in cascade(all_maps(3), compact=compact).stages)
        for compact in (False, True)
    ]
    assert rows[1] < rows[0] / 2


def test_a_set_may_have_more_tiles_than_states():
    automaton = Semiautomaton(((1, 0, 2, 3), (1, 2, 3, 0), (0, 0, 1, 1)))
    assert max(len(of.tiles) for of in holonomy(automaton).classes) == 6
    found = cascade(automaton)  # a group of order 24 on six tiles, of permutations of four states
    assert found.disagreements() == 0


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_every_pair_of_maps_of_three_states(every):
    # All 378 pairs of symbols, up to their order, or each sixth of them.
    maps = list(product(range(3), repeat=3))
    pairs = list(combinations_with_replacement(maps, 2))
    assert len(pairs) == 378
    assert all(cascade(Semiautomaton(pair)).disagreements() == 0 for pair in pairs[::every])


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 2), st.booleans())
def test_random_automata(seed, n, symbols, compact):
    automaton = random_semiautomaton(n, symbols, seed)
    found = cascade(automaton, compact=compact)
    assert found.disagreements() == 0
    words = np.random.default_rng(seed).integers(symbols, size=(5, 20))
    assert (found.run(words) == automaton.run(words)).all()


@pytest.mark.slow
def test_the_limit_of_joint_states():
    with rejects("65536", "semiautomaton"):
        cascade(random_semiautomaton(5, 2, 2))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "seeds"), [(5, 20), (6, 12)])
def test_random_automata_of_more_states(n, seeds):
    built = 0
    for seed in range(seeds):
        try:
            found = cascade(random_semiautomaton(n, 2, seed))
        except InputError as reason:  # of 20 with 5 states two, of 12 with 6 states one
            if "joint states: use semiautomaton" not in str(reason):
                raise
            continue
        built += 1
        assert found.disagreements() == 0
    assert built >= 0.9 * seeds


def test_the_start_is_where_words_begin():
    automaton = Semiautomaton(((1, 2, 0), (0, 0, 2)), start=2)
    found = cascade(automaton)
    assert found.disagreements() == 0
    assert found.run([[0, 1]]).tolist() == automaton.run([[0, 1]]).tolist()


def test_values_are_those_before_each_symbol():
    found = cascade(cyclic(3))
    assert found.values([1, 1, 0, 1]) == [(0,), (1,), (2,), (2,)]


def test_a_wrong_table_is_noticed():
    found = cascade(S4)
    rows = dict(found.answer.rows)
    key = next(iter(rows))
    rows[key] = (rows[key] + 1) % 4
    table = type(found.answer)(found.answer.reads, rows)
    assert Cascade(S4, found.stages, table).disagreements() > 0
    del rows[key]
    assert Cascade(S4, found.stages, table).disagreements() > 0


def test_groups_that_are_not_solvable_are_named():
    for automaton, order in ((A5, 60), (all_maps(5), 120)):
        with pytest.raises(NotSolvable) as refused:
            cascade(automaton)
        assert (refused.value.order, refused.value.core) == (order, 60)
        assert len(refused.value.tiles) == 5
        check_line(str(refused.value), str(order), "60")


def test_on_at_most_four_states_all_groups_are_solvable():
    # There may be more tiles than states, but their group is a quotient of one of permutations of
    # the states, and so of one in S4.
    for seed in range(60):
        for of in holonomy(random_semiautomaton(4, 3, seed)).classes:
            assert len(of.group) <= 24
            assert len(derived_series(of.group)[-1]) == 1


@pytest.mark.slow
def test_all_maps_of_four_states():
    found = cascade(all_maps(4), compact=True)
    assert kinds(found).replace("T", "") == "CCCCCFCCCFCF"
    assert found.disagreements() == 0
    assert len(list(found.walk())) == 24 * 3 * 4 * 6 * 3 * 3 * 2 * 2


def test_what_would_explode_is_refused(monkeypatch):
    monkeypatch.setattr(sys.modules[Cascade.__module__], "MOST_STATES", 500)
    with rejects("500"):
        cascade(all_maps(4))


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 3))
def test_the_decomposition_is_what_it_says(seed, n, symbols):
    automaton = random_semiautomaton(n, symbols, seed)
    found = holonomy(automaton)
    sets = image_sets(automaton)
    assert set(found.of) == {P for P in sets if len(P) > 1}
    for of in found.classes:
        first = of.sets[0]
        assert frozenset().union(*of.tiles) == first
        assert all(tile < first and found.height(tile) < of.height for tile in of.tiles)
        for P in of.sets:
            assert moved(first, of.there[P]) == P
            around = tuple(of.back[P][of.there[P][q]] for q in range(n))
            assert all(around[q] == identity(n)[q] for q in first)
        for symbol in automaton.transitions:
            for P in of.sets:
                image = moved(P, symbol)
                assert image in sets
                # What is below or alike has no greater height.
                assert found.height(image) <= of.height
                if len(image) > 1 and found.height(image) == of.height:
                    assert image in of.there


@pytest.mark.parametrize(
    ("automaton", "names"),
    [(cyclic(129), "129 128"), (random_semiautomaton(12, 40, 3), "1000"), (all_maps(8), "10000")],
)
def test_what_takes_too_long_to_decompose_is_refused(automaton, names):
    with rejects(*names.split()):
        cascade(automaton)


def test_stages_have_values_before_each_symbol_of_a_word_only(unchecked):
    of = cascade(S4)
    assert of.values([]) == []
    assert of.values([1]) == [of.first()]
    for word in ([2], [0, -1], ["x"], "a"):
        with rejects():
            of.values(word)


@pytest.mark.parametrize(
    ("values", "symbol"), [((), 0), ((0,) * 6, 0), ((9,) * 5, 0), ((-1,) * 5, 0), ((0,) * 5, 2)]
)
def test_values_after_a_symbol_need_values_of_every_stage(values, symbol, unchecked):
    with rejects():
        cascade(S4).after(values, symbol)


@pytest.mark.parametrize("states", [[99], [-1], [], "a", [0, 1, 2]])
def test_only_image_sets_have_a_height(states, unchecked):
    of = holonomy(cyclic(5))
    assert (of.height(of.states), of.height([4])) == (1, 0)
    with rejects():
        of.height(states)


@pytest.mark.parametrize("compact", [False, True])
def test_as_many_joint_states_as_the_limit_are_accepted_and_one_more_is_not(compact, monkeypatch):
    joint = len({values for _, values in cascade(all_maps(3)).walk()})
    assert joint > 50
    monkeypatch.setattr(sys.modules[Cascade.__module__], "MOST_STATES", joint)
    assert cascade(all_maps(3), compact=compact).disagreements() == 0
    monkeypatch.setattr(sys.modules[Cascade.__module__], "MOST_STATES", joint - 1)
    with rejects(str(joint - 1)):
        cascade(all_maps(3), compact=compact)
