"""Simplified programs have the same values and fewer expressions."""

from __future__ import annotations

import operator
from itertools import product

import numpy as np
import pytest
from library_by_definition import PROGRAMS

from theory.programs import (
    Aggregate,
    LinearSequenceMap,
    Map,
    Select,
    SelectorWidth,
    SequenceMap,
    evaluate,
    expressions,
    indices,
    tokens,
)
from theory.programs.domains import Domains
from theory.programs.simplify import simplified

PREFIX = Select(indices, indices, "<=")
EARLIER = Select(indices, indices, "<")


def heads(program):
    return sum(isinstance(each, Aggregate | SelectorWidth) for each in expressions(program))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_the_library_keep_their_values(name):
    program, vocabulary, _ = PROGRAMS[name]
    found = simplified(program, Domains(tokens, vocabulary, 9))
    assert len(expressions(found)) <= len(expressions(program))
    assert heads(found) <= heads(program)
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 5, 9):
        x = [vocabulary[i] for i in rng.integers(len(vocabulary), size=n)]
        assert evaluate(found, x) == evaluate(program, x)


def mean(values, selector=PREFIX, default=None):
    return Aggregate(selector, values, default)


@pytest.mark.parametrize(
    ("program", "count"),
    [
        (mean(tokens) + mean(indices), 1),
        (mean(tokens) - mean(indices), 1),
        (LinearSequenceMap(mean(tokens), mean(indices), 0.5, -2), 1),
        (mean(tokens, EARLIER, 3) - mean(indices, EARLIER, 1), 1),
        (mean(tokens, EARLIER, 3) - mean(indices, EARLIER), 1),
        (mean(tokens, EARLIER) + mean(indices, PREFIX), 2),
        (SequenceMap(operator.mul, mean(tokens), mean(indices)), 2),
        (mean(tokens, EARLIER, "none") + mean(indices, EARLIER, "none"), 2),
        ((mean(tokens) - mean(indices)) + (mean(tokens) - mean(indices)), 1),
        (SequenceMap(max, SelectorWidth(PREFIX), SelectorWidth(Select(indices, indices, "<="))), 1),
    ],
)
def test_sums_of_means_are_one_mean(program, count):
    found = simplified(program, Domains(tokens, (0, 1, 5), 3))
    assert heads(found) == count
    for x in product((0, 1, 5), repeat=3):
        assert evaluate(found, x) == evaluate(program, x)


def test_equal_parts_are_one_object_and_keep_a_name():
    f = abs
    program = SequenceMap(max, Map(f, tokens).named("first"), Map(f, tokens).named("second"))
    found = simplified(program, Domains(tokens, (0, 1), 3))
    assert found.fst is found.snd
    assert found.fst.name == "first"
    twice = SequenceMap(max, tokens == 1, tokens == 1)
    assert len(expressions(simplified(twice, Domains(tokens, (0, 1), 3)))) == 4


def test_means_of_balances_have_few_values():
    """The numbers of opening and of closing brackets are averaged over the same positions."""
    program, vocabulary, _ = PROGRAMS["shuffle_dyck"]
    domains = Domains(tokens, vocabulary, 10)
    assert domains.values[simplified(program, domains)] == (0, 1)
    assert max(map(len, domains.values.values())) < 200
