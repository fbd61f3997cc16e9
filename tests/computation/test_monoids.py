"""Transformation monoids: aperiodic or not, and the groups in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from theory.computation import (
    A5,
    BENCHMARK_AUTOMATA,
    S3,
    NotSolvable,
    Semiautomaton,
    all_maps,
    benchmark_automaton,
    cascade,
    cyclic,
    monoid,
    random_semiautomaton,
    regular_expression,
)
from theory.computation.monoids import period, power
from theory.computation.semiautomata import identity, then

ORDERS = {
    "parity": 2, "mod-3": 3, "mod-6": 6, "flip-flop": 3, "S3": 6, "D4": 8, "A4": 12, "Q8": 8,
    "S4": 24, "A5": 60, "all-maps-2": 4, "all-maps-3": 27, "all-maps-4": 256,
}  # fmt: skip


def flip_flops_only(automaton: Semiautomaton) -> bool:
    return all(stage.kind == "flip-flop" for stage in cascade(automaton).stages)


@pytest.mark.parametrize("name", ORDERS)
def test_orders(name):
    assert len(monoid(name).words) == ORDERS[name]


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 3))
def test_a_monoid_is_what_it_says(seed, n, symbols):
    automaton = random_semiautomaton(n, symbols, seed)
    found = monoid(automaton)
    for x, word in found.words.items():
        moved = automaton.map_of(word)
        assert [moved[q] for q in found.states] == [found.states[r] for r in x]
    # Closed under symbols, and by the definition of aperiodic: x^n = x^{n+1}.
    assert {then(x, y) for x in found.words for y in found.words} <= set(found.words)
    by_definition = all(power(x, n) == power(x, n + 1) for x in found.words)
    assert found.is_aperiodic == by_definition
    assert found.is_aperiodic == flip_flops_only(automaton)


@given(st.integers(0, 10**6), st.integers(2, 4))
def test_groups_are_groups_and_trivial_iff_aperiodic(seed, n):
    found = monoid(random_semiautomaton(n, 2, seed))
    groups = found.groups()
    for e, group in groups.items():
        assert then(e, e) == e
        one = identity(len(set(e)))
        assert one in group
        assert all(any(then(p, q) == one for q in group) for p in group)
        assert all(then(p, q) in group for p in group for q in group)
    assert found.is_aperiodic == all(len(group) == 1 for group in groups.values())
    # Elements of groups are those whose powers come back to them.
    assert sum(map(len, groups.values())) == sum(power(x, period(x) + 1) == x for x in found.words)


@pytest.mark.parametrize("name", [name for name in BENCHMARK_AUTOMATA if name != "all-maps-4"])
def test_a_cascade_exists_iff_all_groups_are_solvable(name):
    automaton = benchmark_automaton(name)
    try:
        cascade(automaton)
        exists = True
    except NotSolvable:
        exists = False
    assert monoid(automaton).is_solvable == exists
    if exists:
        assert monoid(automaton).is_aperiodic == flip_flops_only(automaton)


def test_all_maps_on_five_states_are_not_solvable():
    assert not monoid(A5).is_solvable
    assert not monoid(all_maps(5)).is_solvable


@pytest.mark.parametrize(
    ("text", "word", "states"),
    [("(aa)*", "a", 2), ("(ab)*", None, 0), ("(aba*b)*", "ab", 2), ("((a|b)(a|b))*b", "a", 2),
     ("(aaa)*|b", "a", 3), (".*a.", None, 0)],
)  # fmt: skip
def test_a_word_that_leads_states_around(text, word, states):
    language = regular_expression(text)
    circle = monoid(language.automaton).circle()
    assert (circle is None) == (word is None)
    if circle is not None:
        symbols, around = circle
        assert (language.spelled([*symbols]), len(around)) == (word, states)
        q = around[0]
        for following in (*around[1:], around[0]):
            (q,) = (language.automaton.map_of(symbols)[q],)
            assert q == following


@pytest.mark.parametrize(("tail", "length"), [(0, 2), (1, 7), (4, 2), (9, 3), (30, 5)])
def test_the_states_of_a_cycle_behind_a_tail(tail, length):
    """One symbol leads through the tail to the cycle; only states of the cycle are returned."""
    n = tail + length
    word, around = monoid(Semiautomaton(((*range(1, n), tail),))).circle()
    start = around.index(tail)
    assert (word, (*around[start:], *around[:start])) == ((0,), tuple(range(tail, n)))


def test_states_that_no_word_reaches_do_not_count():
    automaton = Semiautomaton(((0, 2, 1),))
    assert monoid(automaton).is_aperiodic
    assert not monoid(Semiautomaton(((0, 2, 1),), start=1)).is_aperiodic


def test_a_monoid_that_is_too_large_is_refused():
    with rejects("5"):
        monoid(S3, most=5)
    assert len(monoid(cyclic(5), most=5).words) == 5


@pytest.mark.parametrize(("tail", "cycle"), [(39, 1), (30, 3), (60, 7)])
def test_the_period_after_a_long_tail_is_that_of_the_cycle(tail, cycle):
    n = tail + cycle
    assert period((*range(1, n), tail)) == cycle
