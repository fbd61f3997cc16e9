"""Semiautomata, benchmark automata, and tables from files."""

from __future__ import annotations

import json
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.computation import semiautomaton
from theory.computation import (
    A4,
    A5,
    BENCHMARK_AUTOMATA,
    D4,
    Q8,
    S3,
    S4,
    Semiautomaton,
    all_maps,
    benchmark_automaton,
    bounded_dyck,
    cascade,
    cyclic,
    gridworld,
    holonomy,
    monoid,
    random_semiautomaton,
    read_automaton,
)
from theory.computation import product as side_by_side
from theory.computation.permutations import (
    cyclic_factors,
    derived_series,
    generated,
    inverse,
    powers,
)
from theory.computation.semiautomata import identity, then


def by_hand(automaton: Semiautomaton, word: list[int]) -> list[int]:
    state, states = automaton.start, []
    for symbol in word:
        state = automaton.transitions[symbol][state]
        states.append(state)
    return states


@pytest.mark.parametrize("name", BENCHMARK_AUTOMATA)
def test_a_run_goes_from_state_to_state(name):
    automaton = benchmark_automaton(name)
    words = np.random.default_rng(1).integers(automaton.n_symbols, size=(3, 12))
    assert automaton.run(words).tolist() == [by_hand(automaton, row) for row in words.tolist()]
    last = [automaton.map_of(row)[automaton.start] for row in words.tolist()]
    assert automaton.run(words)[:, -1].tolist() == last


@pytest.mark.parametrize(
    ("automaton", "order"), [(S3, 6), (D4, 8), (A4, 12), (Q8, 8), (S4, 24), (A5, 60)], ids=str
)
def test_groups_have_their_orders(automaton, order):
    group = generated(automaton.transitions, automaton.n_states)
    assert len(group) == order
    assert all(then(p, inverse(p)) == identity(automaton.n_states) for p in group)


def test_q8_is_the_quaternion_group():
    # Non-abelian, of order 8, with one element of order 2: of these only Q8.
    group = generated(Q8.transitions, 8)
    one = identity(8)
    assert sum(then(p, p) == one and p != one for p in group) == 1
    assert any(then(p, q) != then(q, p) for p in group for q in group)


def test_all_maps_are_generated():
    for n in (2, 3, 4):
        symbols = all_maps(n).transitions
        found, left = {identity(n)}, [identity(n)]
        while left:
            p = left.pop()
            new = {then(p, a) for a in symbols} - found
            found, left = found | new, [*left, *new]
        assert found == set(product(range(n), repeat=n))


@pytest.mark.parametrize("automaton", [S3, D4, A4, Q8, S4, A5], ids=str)
def test_derived_series_against_sympy(automaton):
    from sympy.combinatorics import Permutation, PermutationGroup

    group = PermutationGroup([Permutation(list(p)) for p in automaton.transitions])
    ours = derived_series(generated(automaton.transitions, automaton.n_states))
    assert [len(each) for each in ours] == [each.order() for each in group.derived_series()]
    assert (len(ours[-1]) == 1) == group.is_solvable


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_cosets_have_one_name(seed):
    rng = np.random.default_rng(seed)
    points = int(rng.integers(2, 6))
    pool = list(permutations(range(points)))
    generators = [pool[i] for i in rng.integers(len(pool), size=2)]
    series = derived_series(generated(generators, points))
    for group, below in pairwise(series):
        factors = cyclic_factors(group, below)
        cosets = [coset for _, coset in powers(factors, below)]
        assert len(cosets) == len(set(cosets)) == len(group) // len(below)


def test_dyck_counts_brackets():
    automaton = bounded_dyck(2)
    assert automaton.run([0, 0, 1, 1, 0, 1]).tolist() == [1, 2, 1, 0, 1, 0]
    assert automaton.run([0, 0, 0, 1]).tolist() == [1, 2, 3, 3]  # too deep
    assert automaton.run([1, 0]).tolist() == [3, 3]  # below 0


def test_walls_stop():
    assert gridworld(2).run([1, 1, 1, 0, 0, 0, 1]).tolist() == [1, 2, 2, 1, 0, 0, 1]


@pytest.mark.usefixtures("unchecked")
def test_side_by_side_is_both():
    both = side_by_side(cyclic(2), cyclic(3))
    words = np.random.default_rng(0).integers(2, size=(4, 9))
    assert (both.run(words) == 3 * cyclic(2).run(words) + cyclic(3).run(words)).all()
    with rejects("automata", "2", "3"):
        side_by_side(cyclic(2), all_maps(3))
    with rejects("automata"):
        side_by_side(S3, 5)
    with rejects("automata", str(2 * 7**8)):
        side_by_side(*[cyclic(7)] * 8)
    assert side_by_side(*[cyclic(2)] * 18).n_states == 2**18


def test_a_product_has_any_number_of_factors():
    A, B, one = random_semiautomaton(5, 2, 1), cyclic(3), Semiautomaton(((0,), (0,)))
    words = np.random.default_rng(0).integers(2, size=(4, 90))
    for factors in ([A, B], [one] * 40 + [A] + [one] * 30 + [B] + [one] * 300):
        both = side_by_side(*factors)
        assert (both.n_states, both.start) == (15, 0)
        assert (both.run(words) == 3 * A.run(words) + B.run(words)).all()


def test_reachable_states_come_in_order():
    automaton = Semiautomaton(((0, 0, 1), (1, 0, 2)), start=2)
    assert automaton.reachable() == [2, 1, 0]
    assert Semiautomaton(((0, 0, 1), (1, 0, 2))).reachable() == [0, 1]


def test_random_automata_repeat():
    assert random_semiautomaton(4, 3, 7) == random_semiautomaton(4, 3, 7)
    assert random_semiautomaton(4, 3, 7) != random_semiautomaton(4, 3, 8)


@pytest.mark.parametrize(
    ("transitions", "start", "names"),
    [
        ((), 0, "transitions"),
        (((),), 0, "transitions"),
        (((0, 1), (0,)), 0, "transitions 1 2"),
        (((0, 1), (0, 2)), 0, "transitions 2 1"),
        (((0, 1),), 2, "start 2 1"),
    ],
)
def test_what_is_no_automaton_is_refused(transitions, start, names):
    with rejects(*names.split()):
        Semiautomaton(transitions, start=start)


def test_what_is_no_word_is_refused():
    for words in ([0, 2], []):
        with rejects("words"):
            cyclic(2).run(words)


@pytest.mark.parametrize("word", [[-1], [0, 2], ["x"], "a", None])
def test_only_words_have_maps(word, unchecked):
    with rejects():
        cyclic(2).map_of(word)


def test_an_automaton_from_a_file(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text("[[1, 0], [0, 1]]", encoding="utf-8")
    assert read_automaton(path) == Semiautomaton(((1, 0), (0, 1)), "mine")
    path.write_text(json.dumps({"transitions": [[1, 0]], "start": 1, "name": "flip"}))
    assert read_automaton(path) == Semiautomaton(((1, 0),), "flip", 1)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{", "JSON"),
        ("[" * 100_000, "JSON"),
        ('{"transitions": [[0, 0]], "transitions": [[1, 0]]}', "transitions"),
        ('{"transitions": [[0]], "name": 5}', "name 5"),
        ('{"transitions": [[0]], "name": "a\\nholds"}', "name 60"),
        ('{"transitions": [[0]], "name": "%s"}' % ("a" * 61), "name 60"),
        ("{}", "transitions"),
        ('{"transitions": [[0]], "sart": 0}', "sart"),
        ("5", "transitions"),
        ('{"transitions": {"a": [0]}}', "transitions"),
        ("[[0, 5]]", "transitions 5 1"),
        ("[0, 1]", "transitions"),
        ('{"transitions": [[0]], "start": "0"}', "start"),
        (f"[[1{'0' * 5000}]]", "mine.json"),
    ],
)
def test_what_is_no_automaton_in_a_file_is_refused(tmp_path, text, names):
    path = tmp_path / "mine.json"
    path.write_text(text, encoding="utf-8")
    with rejects(*names.split()):
        read_automaton(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with rejects("none.json"):
        read_automaton(tmp_path / "none.json")


def test_an_automaton_is_given_by_its_name_or_as_such():
    for function in (cascade, monoid, holonomy):
        assert function("S3").automaton == S3 == function(S3).automaton
    model = semiautomaton("S3", 4)
    assert model.name == semiautomaton(S3, 4).name == "semiautomaton(automaton=S3, max_length=4)"
    for wrong in ("S33", [[0, 1]]):
        with rejects("automaton", "parity"):
            cascade(wrong)
