"""The interpreter: values by definition, exact numbers, errors, and programs of other classes."""

from __future__ import annotations

import enum
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from refusals import rejects

from theory.programs.foreign import program_of
from theory.programs.interpreter import NoValue, evaluate, trace
from theory.programs.language import (
    Aggregate,
    Expression,
    Full,
    Length,
    LinearSequenceMap,
    Map,
    Select,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SelectorWidth,
    SequenceMap,
    SOp,
    expressions,
    indices,
    length,
    tokens,
)
from theory.programs.library import at, detect_pattern, everywhere, pair_balance, shuffle_dyck

EQUAL = Select(tokens, tokens, "==")


def test_primitives():
    assert evaluate(tokens, "abb") == ["a", "b", "b"]
    assert evaluate(indices, "abb") == [0, 1, 2]
    assert evaluate(length, "abb") == [3, 3, 3]
    assert evaluate(length, "abb", causal=True) == [1, 2, 3]
    assert evaluate(Full("c"), "abb") == ["c", "c", "c"]
    assert evaluate(EQUAL, "aba") == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    assert evaluate(EQUAL, "aba", causal=True) == [[1, 0, 0], [0, 1, 0], [1, 0, 1]]
    assert evaluate(~EQUAL, "aba", causal=True) == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("predicate", "wanted"),
    [
        ("==", [0, 1, 0]),
        ("!=", [1, 0, 1]),
        ("<", [1, 0, 0]),
        ("<=", [1, 1, 0]),
        (">", [0, 0, 1]),
        (">=", [0, 1, 1]),
        ("true", [1, 1, 1]),
        ("false", [0, 0, 0]),
        (lambda key, query: key + query == 3, [0, 0, 1]),
    ],
)
def test_predicates_have_the_key_on_the_left(predicate, wanted):
    assert evaluate(Select(indices, indices, predicate), "abc")[1] == wanted


@pytest.mark.parametrize(
    ("sop", "wanted"),
    [
        (tokens + 1, [2, 3, 5]),
        (1 + tokens, [2, 3, 5]),
        (tokens - indices, [1, 1, 2]),
        (5 - tokens, [4, 3, 1]),
        (tokens * tokens, [1, 4, 16]),
        (2 * tokens, [2, 4, 8]),
        (tokens / 3, [Fraction(1, 3), Fraction(2, 3), Fraction(4, 3)]),
        (4 / tokens, [4, 2, 1]),
        (tokens / tokens, [1, 1, 1]),
        (tokens % 3, [1, 2, 1]),
        (5 % tokens, [0, 1, 1]),
        (tokens // 2, [0, 1, 2]),
        (5 // tokens, [5, 2, 1]),
        (tokens**2, [1, 4, 16]),
        (2**tokens, [2, 4, 16]),
        (-tokens, [-1, -2, -4]),
        (abs(tokens - 3), [2, 1, 1]),
        (tokens == 2, [0, 1, 0]),
        (tokens != 2, [1, 0, 1]),
        (tokens < 2, [1, 0, 0]),
        (tokens <= 2, [1, 1, 0]),
        (tokens > 2, [0, 0, 1]),
        (tokens >= 2, [0, 1, 1]),
        (tokens < 3, [1, 1, 0]),
        ((tokens > 1) & (tokens < 4), [0, 1, 0]),
        ((tokens == 1) | (indices == 2), [1, 0, 1]),
        (True & (tokens == 1), [1, 0, 0]),
        (False | (tokens == 1), [1, 0, 0]),
        (~(tokens == 1), [0, 1, 1]),
        (LinearSequenceMap(tokens, indices, 0.5, -1), [Fraction(1, 2), 0, 0]),
        (Map(lambda x: x / 4, tokens), [Fraction(1, 4), Fraction(1, 2), 1]),
        (SequenceMap(max, tokens, indices), [1, 2, 4]),
    ],
)
def test_operators(sop, wanted):
    assert evaluate(sop, [1, 2, 4]) == wanted


def test_means_and_widths():
    prefix = Select(indices, indices, "<=")
    assert evaluate(Aggregate(prefix, tokens), [1, 2, 4]) == [1, Fraction(3, 2), Fraction(7, 3)]
    assert evaluate(SelectorWidth(prefix), "abc") == [1, 2, 3]
    before = Select(indices, indices, "<")
    assert evaluate(Aggregate(before, tokens), [5, 5, 5]) == [None, 5, 5]
    assert evaluate(Aggregate(before, tokens, 9), "xxy") == [9, "x", "x"]
    assert evaluate(SelectorWidth(prefix & ~EQUAL), "aba") == [0, 1, 1]
    assert evaluate(SelectorWidth(before | EQUAL), "aba") == [2, 2, 3]


def test_none_is_handed_on_and_never_selected():
    shifted = Aggregate(Select(indices, indices - 1, "=="), tokens)
    assert evaluate(shifted + 1, [1, 2]) == [None, 2]
    assert evaluate(shifted - tokens, [1, 2]) == [None, -1]
    assert evaluate(Select(shifted, shifted, "=="), [1, 1]) == [[0, 0], [0, 1]]
    assert evaluate(Select(shifted, tokens, "!="), [1, 2]) == [[0, 0], [0, 1]]
    assert evaluate(Select(shifted, shifted, "true"), [1, 2]) == [[1, 1], [1, 1]]


def test_floats_are_the_rationals_that_they_represent():
    assert evaluate(tokens * 3, [0.1]) == [3 * Fraction(0.1)]
    assert evaluate(tokens, [np.float64(0.5), np.int64(3)]) == [Fraction(1, 2), 3]
    assert isinstance(evaluate(tokens, [2.0])[0], int)
    entries = Map(lambda token: np.int64(token + 1), tokens)
    mean = Aggregate(Select(tokens, tokens, "true"), entries)
    assert evaluate(mean, [1, 2]) == [Fraction(5, 2)] * 2
    assert evaluate(tokens == 2, torch.tensor([2, 3])) == [True, False]


def test_patterns_and_pairs_may_be_texts():
    for program, same in (
        (detect_pattern("ba"), detect_pattern(["b", "a"])),
        (shuffle_dyck(["()"]), shuffle_dyck([("(", ")")])),
    ):
        assert evaluate(program, "aba()") == evaluate(same, "aba()")


@pytest.mark.parametrize(
    ("program", "sequence", "words"),
    [
        (Map(lambda x: 1 / x, indices).named("inverse"), "ab", ("inverse", "ZeroDivisionError")),
        (SequenceMap(lambda x, y: x[y], tokens, indices), "ab", ("sequence_map", "IndexError")),
        (Aggregate(Select(tokens, tokens, "true"), tokens), "ab", ("aggregate", "'a'", "'b'")),
        (Select(tokens, indices, "<"), "ab", ("select", "TypeError")),
        (Map(lambda x: math.nan, tokens), "ab", ("map", "nan")),
        (Map(lambda x: [x], tokens), "ab", ("map", "hashable")),
        (Map(lambda x: tokens, tokens), "ab", ("map", "tokens")),
    ],
)
def test_sequences_without_a_value(program, sequence, words):
    with rejects(*words, error=NoValue):
        evaluate(program, sequence)


@pytest.mark.parametrize("sequence", [[], "", [None], [1, math.inf], [math.nan], [[1]], 3, None])
def test_sequences_that_are_none(sequence):
    with rejects():
        evaluate(tokens, sequence)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Map(3, tokens),
        lambda: Map(abs, EQUAL),
        lambda: Map(tokens, tokens),
        lambda: SequenceMap(max, tokens, 3),
        lambda: SequenceMap(None, tokens, tokens),
        lambda: LinearSequenceMap(tokens, tokens, "a", 1),
        lambda: LinearSequenceMap(tokens, tokens, 1, math.inf),
        lambda: LinearSequenceMap(tokens, EQUAL, 1, 1),
        lambda: Aggregate(tokens, tokens),
        lambda: Aggregate(EQUAL, EQUAL),
        lambda: Aggregate(EQUAL, tokens, math.nan),
        lambda: SelectorWidth(tokens),
        lambda: Select(tokens, 3, "=="),
        lambda: Select(3, tokens, "=="),
        lambda: Select(tokens, tokens, "="),
        lambda: Select(tokens, tokens, None),
        lambda: EQUAL & tokens,
        lambda: EQUAL | 3,
        lambda: tokens == EQUAL,
        lambda: tokens + EQUAL,
        lambda: SelectorNot(tokens),
        lambda: Full([1]),
        lambda: Full(math.nan),
        lambda: tokens.named(""),
        lambda: tokens.named(3),
        lambda: tokens.named("two\nlines"),
        lambda: bool(tokens == 1),
        lambda: bool(EQUAL),
        lambda: 1 if tokens else 2,
        lambda: tokens == None,  # noqa: E711
        lambda: None + tokens,
        lambda: tokens == TOKENS,
        lambda: Full(tokens),
        lambda: Aggregate(EQUAL, tokens, tokens + 1),
        lambda: Aggregate(EQUAL, tokens, torch.zeros(2)),
        lambda: at(3),
        lambda: everywhere(EQUAL),
        lambda: detect_pattern(""),
        lambda: detect_pattern(5),
        lambda: detect_pattern(["a", None]),
        lambda: pair_balance("(", "("),
        lambda: shuffle_dyck("()"),
        lambda: shuffle_dyck([]),
        lambda: shuffle_dyck([("(",)]),
        lambda: shuffle_dyck([5]),
        lambda: shuffle_dyck([{"(", ")"}]),
        lambda: SequenceMap(tokens, tokens, tokens),
        lambda: shuffle_dyck([("(", "(")]),
        lambda: SOp(name=1),
        lambda: Selector(name=[]),
        lambda: Full(1, name=1.0),
        lambda: Length(name=b"ab"),
        lambda: Map(abs, tokens, name=None),
        lambda: Full(Decimal("sNaN")),
    ],
)
def test_expressions_that_are_none(build, unchecked):
    with rejects():
        build()


def test_expressions_are_listed_once_after_their_parts():
    program = SelectorWidth(EQUAL & ~EQUAL) + tokens
    listed = expressions(program)
    place = {id(each): i for i, each in enumerate(listed)}
    assert place[id(program)] == len(listed) - 1
    assert len(place) == len(listed) == 6
    assert all(place[id(part)] < place[id(each)] for each in listed for part in each.parts)


def test_expressions_that_contain_themselves():
    inner = Map(abs, tokens)
    program = Map(abs, inner)
    object.__setattr__(inner, "inner", program)
    with rejects("itself"):
        expressions(program)


def test_programs_of_many_maps():
    program = tokens
    for _ in range(3000):
        program = program + 1
    assert evaluate(program, [0]) == [3000]


def test_the_trace_has_all_values_under_their_names():
    count = SelectorWidth(EQUAL).named("count")
    values = trace(count * 2, "aab")
    assert {str(each): row for each, row in values.items() if each.name == "count"} == {
        "count": [2, 2, 1]
    }


class Comparison(enum.Enum):
    LEQ = "<="
    TRUE = "True"


def other(kind, **attributes):
    """An object whose class is derived from one with this name."""
    base = type(kind, (), {})
    return type(f"My{kind}", (base,), {})() if not attributes else _with(base, attributes)


def _with(kind, attributes):
    made = kind()
    vars(made).update(attributes)
    return made


TOKENS, INDICES = other("TokensType"), other("IndicesType")
PREFIX = other("Select", keys=INDICES, queries=INDICES, predicate=Comparison.LEQ)


@pytest.mark.parametrize(
    ("foreign", "own"),
    [
        (TOKENS, tokens),
        (other("LengthType"), length),
        (other("Map", f=lambda x: x + 1, inner=INDICES), indices + 1),
        (other("Full", fill=2), Full(2)),
        (other("SequenceMap", f=max, fst=TOKENS, snd=INDICES), SequenceMap(max, tokens, indices)),
        (
            other("LinearSequenceMap", f=None, fst=TOKENS, snd=INDICES, fst_fac=2, snd_fac=-1),
            LinearSequenceMap(tokens, indices, 2, -1),
        ),
        (
            other("Aggregate", selector=PREFIX, sop=TOKENS, default=None),
            Aggregate(Select(indices, indices, "<="), tokens),
        ),
        (
            other("SelectorWidth", selector=other("SelectorNot", inner=PREFIX)),
            SelectorWidth(~Select(indices, indices, "<=")),
        ),
        (
            other("SelectorAnd", fst=PREFIX, snd=PREFIX),
            SelectorAnd(*[Select(indices, indices, "<=")] * 2),
        ),
        (
            other(
                "SelectorOr",
                fst=PREFIX,
                snd=other("Select", keys=TOKENS, queries=TOKENS, predicate=Comparison.TRUE),
            ),
            SelectorOr(Select(indices, indices, "<="), Select(tokens, tokens, "true")),
        ),
        (
            other("Select", keys=TOKENS, queries=INDICES, predicate=lambda k, q: k > q),
            Select(tokens, indices, ">"),
        ),
    ],
)
def test_programs_of_other_classes(foreign, own):
    for sequence in ([3], [1, 0, 2], [2, 2, 0, 1]):
        assert evaluate(program_of(foreign), sequence) == evaluate(own, sequence)
        assert evaluate(foreign, sequence) == evaluate(own, sequence)


def test_functions_that_return_programs_are_named():
    with rejects("everywhere"):
        program_of(everywhere)


def test_names_of_other_classes_are_kept_and_shared_parts_stay_shared():
    count = other("SelectorWidth", selector=PREFIX, name="count")
    made = program_of(other("SequenceMap", f=max, fst=count, snd=count))
    assert made.fst is made.snd
    assert str(made.fst) == "count"
    assert program_of(made) is made


CYCLE = other("Map", f=abs, inner=None)
CYCLE.inner = other("SequenceMap", f=max, fst=CYCLE, snd=TOKENS)


@pytest.mark.parametrize(
    "foreign",
    [
        None,
        3,
        SimpleNamespace(f=abs, inner=TOKENS),
        other("Map", f=abs),
        other("Map", f=abs, inner=3),
        other("Map", f=3, inner=TOKENS),
        other("Aggregate", selector=TOKENS, sop=TOKENS, default=None),
        other("ConstantSOp", value=[1]),
        CYCLE,
    ],
)
def test_objects_that_are_no_programs(foreign, unchecked):
    with rejects():
        program_of(foreign)


def test_powers_of_at_most_a_million_bits():
    assert evaluate(tokens**10**9, [0, 1, -1]) == [0, 1, 1]
    assert evaluate(2**tokens, [2**19, -2, 0]) == [2**2**19, Fraction(1, 4), 1]
    for power in (tokens**10**9, tokens ** -(10**9), 3**tokens**20, Fraction(1, 2) ** tokens**20):
        with rejects("exponent"):
            evaluate(power, [3])


@pytest.mark.parametrize("empty", [Expression, SOp, Selector])
def test_expressions_without_values_are_refused(empty):
    with rejects("values"):
        empty()


@pytest.mark.parametrize(
    "program",
    [
        indices + 1,
        2 ** (10 - indices) / 3,
        (indices < 3) & (tokens == "a") | ~(indices >= 2),
        *(Aggregate(Select(indices, indices, name), indices) for name in ("true", "false", "<=")),
    ],
    ids=str,
)
def test_programs_of_operators_are_pickled(program):
    again = pickle.loads(pickle.dumps(program))
    assert evaluate(again, "abca") == evaluate(program, "abca")
