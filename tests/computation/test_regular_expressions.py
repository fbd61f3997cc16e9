"""Regular expressions beside Python's `re`, and languages beside each other."""

from __future__ import annotations

import re
import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from theory.computation import Language, Semiautomaton, cyclic, regular_expression
from theory.sequences import all_sequences

SHORT = ["".join(word) for n in range(1, 6) for word in product("ab", repeat=n)]


def members(of: Language) -> list[bool]:
    found = (of.contains_prefixes(all_sequences(n, 2))[:, -1].tolist() for n in range(1, 6))
    return [each for words in found for each in words]


def matches(text: str) -> list[bool]:
    return [re.fullmatch(text, word) is not None for word in SHORT]


plain = st.recursive(
    st.sampled_from(["a", "b", ".", "()"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"({'|'.join(pair)})"),
        st.tuples(inner, st.sampled_from("*+?")).map(lambda pair: f"({pair[0]}){pair[1]}"),
    ),
    max_leaves=8,
)


@given(plain)
def test_words_are_those_that_re_matches(text):
    assert members(regular_expression(text, "ab")) == matches(text)


@given(plain, plain)
def test_complements_and_intersections(one, other):
    def found(text):
        return np.array(members(regular_expression(text, "ab")))

    r, s = np.array(matches(one)), np.array(matches(other))
    assert (found(f"~({one})") == ~r).all()
    assert (found(f"({one})&({other})") == (r & s)).all()
    assert (found(f"({one})&~({other})|~.*") == (r & ~s)).all()


@given(plain, plain)
def test_equal_languages_have_one_automaton(one, other):
    r, s = (regular_expression(text, "ab") for text in (one, other))
    word = r.differs(s)
    empty = [q.automaton.start in q.accepting for q in (r, s)]
    same = r.automaton.transitions == s.automaton.transitions and r.accepting == s.accepting
    assert same == (word is None and empty[0] == empty[1])
    if word is not None:
        assert (re.fullmatch(one, word) is None) != (re.fullmatch(other, word) is None)
    assert r.differs(regular_expression(f"({one})|({one})", "ab")) is None


@pytest.mark.parametrize(
    ("text", "states"),
    [("(ab)+", 4), (".*aa.*", 3), ("(aa)*", 3), (".*a..", 8), ("~.*", 1), ("a b", 4), ("~a&~b", 3)],
)
def test_automata_are_the_least(text, states):
    assert regular_expression(text, "ab").automaton.n_states == states


def test_symbols_are_those_that_are_named():
    assert regular_expression("ba|c").alphabet == "abc"
    assert regular_expression("b.", "xyb").alphabet == "xyb"
    assert regular_expression("a0").alphabet == "0a"


def test_a_shortest_word_tells_languages_apart():
    one, other = regular_expression("(ab)*"), regular_expression("(ab)*|ababb")
    assert one.differs(other) == "ababb"
    with rejects("ab", "a"):
        one.differs(regular_expression("a"))


def test_one_word_has_one_truth_value():
    language = regular_expression("(ab)*")
    assert [language.contains(word) for word in ("", "ab", "aba", "abab", [0, 1], [1])] == [
        *(True, True, False, True, True, False)
    ]
    assert language.contains("ab") is True
    with rejects("word", "c"):
        language.contains("abc")
    with rejects("word", "2"):
        language.contains([0, 2])
    for no_word in (5, [[0, 1]], [[0], [1, 0]], [0.0], ["a"]):
        with rejects("word"):
            language.contains(no_word)


def test_a_language_of_ones_own():
    even = Language(cyclic(2), frozenset([0]), "ab")
    assert even.contains_prefixes([[1, 0, 1], [0, 1, 0]]).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert even.differs(regular_expression("a*(ba*ba*)*")) is None
    doubled = Semiautomaton(((0, 1, 2, 3), (1, 2, 3, 0)))
    assert Language(doubled, frozenset([0, 2]), "ab").minimal().automaton == Semiautomaton(
        ((0, 1), (1, 0))
    )


@pytest.mark.parametrize(
    ("text", "symbols", "names"),
    [
        ("(a", "ab", "character 3"),
        ("a)", "ab", "character 2"),
        ("a||b", "ab", "character 3"),
        ("*a", "ab", "character 1"),
        ("a c", "ab", "character 3"),
        ("a&", "ab", "character 3"),
        ("~", "ab", "character 2"),
        ("(", None, "character 2"),
        ("a\n(", "ab", "character 4"),
        ("", "ab", "expression"),
        ("  ", "ab", "expression"),
        ("..", None, "symbols"),
        ("a" * 201, "ab", "201 200"),
        ("(" * 60 + "a" + ")" * 60, "ab", "character 51"),
        ("~" * 60 + "a", "ab", "character 51"),
    ],
)
def test_what_is_no_expression_is_refused(text, symbols, names):
    with rejects(*names.split()):
        regular_expression(text, symbols)


def test_an_automaton_that_explodes_is_refused(monkeypatch):
    monkeypatch.setattr(sys.modules["theory.computation.languages"], "MOST_STATES", 100)
    with rejects("100"):
        regular_expression(".*a.......", "ab")


def test_long_expressions_do_not_overflow():
    for text in ("a" * 200, "a?" * 100, "(a|b)" * 40, "a" + "*" * 199, "a" + "+" * 199):
        regular_expression(text, "ab")


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: Language(cyclic(2), frozenset([0]), "a"), "symbols"),
        (lambda: Language(cyclic(2), frozenset([2]), "ab"), "accepting 2"),
    ],
)
def test_what_is_no_language_is_refused(make, names):
    with rejects(*names.split()):
        make()


def test_words_and_languages_of_another_kind_are_refused():
    even = regular_expression("a*(ba*ba*)*")
    for word in ([2], [-1], "ab", None):
        with rejects("word"):
            even.spelled(word)
    with rejects("other"):
        even.differs("ab")
