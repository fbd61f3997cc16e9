"""The finite sets of values of s-ops, against the interpreter."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from library_by_definition import PROGRAMS
from refusals import rejects

from theory.programs import (
    Aggregate,
    Full,
    Map,
    Select,
    SelectorWidth,
    SequenceMap,
    SOp,
    evaluate,
    indices,
    length,
    tokens,
    trace,
)
from theory.programs.domains import Domains
from theory.programs.simplify import simplified
from theory.programs.values import ordered


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_values_that_occur_are_listed(name):
    program, vocabulary, _ = PROGRAMS[name]
    domains = Domains(tokens, vocabulary, 6)
    program = simplified(program, domains)
    rng = np.random.default_rng(0)
    sequences = [
        *(x for n in range(1, 4) for x in product(vocabulary, repeat=n)),
        *([vocabulary[i] for i in rng.integers(len(vocabulary), size=n)] for n in (4, 5, 6)),
    ]
    for x in sequences:
        for each, row in trace(program, x).items():
            if isinstance(each, SOp):
                assert set(row) <= set(domains.values[each]), each


@pytest.mark.parametrize(
    ("sop", "wanted"),
    [
        (tokens, ("b", "a")),
        (indices, (0, 1, 2)),
        (length, (1, 2, 3)),
        (Map(lambda i: i // 2, indices), (0, 1)),
        (indices - indices, (0,)),  # both are the same position
        (SequenceMap(lambda i, n: n - 1 - i, indices, length), (-2, -1, 0, 1, 2)),
        (Map(lambda i: 1 / (i - 1), indices), (-1, 1)),
        (SelectorWidth(Select(tokens, tokens, "==")), (1, 2, 3)),
        (SelectorWidth(Select(tokens, tokens, "!=")), (0, 1, 2, 3)),
        (SelectorWidth(Select(indices, indices - 1, "==")), (0, 1)),
        (Aggregate(Select(indices, indices - 1, "=="), indices), (0, 1, 2, None)),
        (Aggregate(Select(indices, indices, "<="), tokens == "a"),
         (0, Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), 1)),
        (Aggregate(Select(indices, indices, "<"), tokens, "c"), ("b", "a", "c")),
        (Aggregate(Select(indices, length - 1 - indices, "=="), tokens), ("b", "a")),
        (Aggregate(Select(indices, length - 1, "=="), tokens), ("b", "a")),
        (Aggregate(Select(indices, indices * 0, "=="), tokens), ("b", "a")),
        (Aggregate(Select(indices, length, "=="), tokens), ("b", "a", None)),
        (Aggregate(Select(indices, indices + 1, "=="), tokens), ("b", "a", None)),
        (Aggregate(Select(indices, length - 1, "==") | Select(tokens, indices, "=="), tokens),
         ("b", "a")),
    ],
)  # fmt: skip
def test_values_of_three_tokens(sop, wanted):
    assert Domains(sop, "ba", 3).values[sop] == wanted


LARGER = SelectorWidth(Select(tokens, tokens, ">"))
PLACE = SequenceMap(lambda token, i: (token, i), tokens, indices)


@pytest.mark.parametrize(
    ("keys", "averaged", "single"),
    [
        (LARGER, tokens, True),  # the largest tokens, which are equal
        (LARGER, indices, False),
        (SelectorWidth(Select(tokens, tokens, ">=")), tokens, False),  # the order is not strict
        (SelectorWidth(Select(tokens, tokens, "!=")), tokens, False),
        (SelectorWidth(Select(PLACE, PLACE, "<")), indices, True),
        (SelectorWidth(Select(tokens, tokens, ">") | Select(indices, indices, ">")), tokens, False),
        (
            SelectorWidth(
                Select(tokens, tokens, ">")
                | (Select(tokens, tokens, "==") & Select(indices, indices, "<"))
            ),
            indices,
            True,
        ),
    ],
)
def test_values_with_equal_ranks_are_equal(keys, averaged, single):
    mean = Aggregate(Select(keys, Full(0), "=="), averaged, 0)
    domains = Domains(mean, (0, 1, 4), 4)
    assert domains.averages(mean) is not single
    assert all(isinstance(value, int) for value in domains.values[mean]) is single
    assert Domains(mean, (0, 1, 4), 4, causal=True).averages(mean)  # ranks of prefixes may agree


IS_A = Map(int, tokens == "a")
FLAGGED, UP_TO_HERE = Select(IS_A, Full(1), "=="), Select(indices, indices, "<=")
SAME = Select(tokens, tokens, "==")
COUNT, COUNT_UP_TO_HERE = SelectorWidth(FLAGGED), SelectorWidth(UP_TO_HERE & FLAGGED)
NUMBER = SelectorWidth(UP_TO_HERE & SAME)


@pytest.mark.parametrize(
    ("selector", "causal", "single"),
    [
        (Select(COUNT, indices, "==") & FLAGGED, True, True),
        (Select(COUNT, indices, "==") & FLAGGED, False, False),
        (Select(COUNT_UP_TO_HERE, indices, "==") & FLAGGED, False, True),
        (Select(COUNT_UP_TO_HERE, indices, "<=") & FLAGGED, False, False),
        (Select(COUNT, indices, "=="), True, False),
        (Select(COUNT, COUNT, "==") & Select(IS_A, Full(0), "=="), True, False),
        (Select(COUNT, COUNT, "==") & Select(IS_A, Full(1), "!="), True, False),
        (Select(NUMBER, NUMBER, "==") & SAME, False, True),
        (Select(NUMBER, indices, "==") & Select(tokens, Full("a"), "=="), False, True),
        (Select(NUMBER, indices, "==") & Select(tokens, Full("a"), "!="), False, False),
        (Select(NUMBER, indices, "=="), False, False),
    ],
)
def test_a_number_in_a_count_up_to_here_is_one_position(selector, causal, single):
    width = SelectorWidth(selector)
    found = {w for x in product("abc", repeat=4) for w in evaluate(width, x, causal=causal)}
    assert (max(found) <= 1) is single
    values = Domains(width, "abc", 4, causal=causal).values[width]
    assert max(values) == (1 if single else 4)


@pytest.mark.parametrize(
    ("selector", "count", "wanted"),
    [
        (Select(indices, indices, "<="), indices + 1, (0, 1, 2, 3, 4)),
        (Select(indices, indices, "<"), indices, (0, 1, 2, 3)),
        (Select(tokens, tokens, "true"), length, (0, 1, 2, 3, 4)),
    ],
)
def test_sums_are_integers(selector, count, wanted):
    """A mean of bits over a known number of positions, times this number."""
    product = Aggregate(selector, Map(int, tokens == "a"), 0) * count
    assert Domains(product, "ab", 4).values[product] == wanted


def test_few_values_of_a_mean_and_positions():
    """A mean of bits is 1/2 only over an even number of positions."""
    half = Aggregate(Select(indices, indices, "<="), Map(int, tokens == "a")) == Fraction(1, 2)
    pairs = SequenceMap(lambda holds, i: (holds, i), half, indices)
    wanted = {(0, i) for i in range(4)} | {(1, 1), (1, 3)}
    assert {*Domains(pairs, "ab", 4).values[pairs]} == wanted


def test_too_many_values_are_named():
    program, vocabulary, _ = PROGRAMS["depth"]
    with rejects("pair_balance", "tokens"):
        Domains(program, vocabulary, 40)


def test_the_order_of_values():
    assert ordered(["b", None, 2, Fraction(1, 2), "a", 2]) == (Fraction(1, 2), 2, "b", "a", None)
