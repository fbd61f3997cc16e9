"""The values at many sequences at once, against the interpreter."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from library_by_definition import PROGRAMS

from theory.programs import (
    Aggregate,
    NoValue,
    Select,
    SelectorWidth,
    SOp,
    indices,
    tokens,
    trace,
)
from theory.programs.batch import Batch

EQUAL, BEFORE = Select(tokens, tokens, "=="), Select(indices, indices, "<")
CASES = {name: (program, vocabulary) for name, (program, vocabulary, _) in PROGRAMS.items()} | {
    "negations": (SelectorWidth(~EQUAL & ~BEFORE), "ab"),
    "a disjunction": (Aggregate(~(EQUAL | BEFORE), tokens, 1), (0, 1, 3)),
    "a function of unequal sums": (
        Aggregate(~BEFORE, tokens) > 0,
        (2**62, -(2**62) + 1, Fraction(1, 10)),
    ),
    "no value at some sequences": (Aggregate(EQUAL | BEFORE, tokens), (1, 2, "x")),
    "a function of no value": (1 / (tokens - 1) + 1, (1,)),
    "a mean of no value": (Aggregate(EQUAL, 1 / (tokens - 1)), (1,)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("causal", [False, True])
def test_all_expressions_have_the_values_by_definition(name, causal):
    program, vocabulary = CASES[name]
    for n in (1, 2, 4):
        rows = np.array(list(product(range(len(vocabulary)), repeat=n)))[:: max(1, 4 ** (n - 2))]
        batch = Batch(program, vocabulary, rows, causal=causal)
        for row, (number, valid) in zip(rows, enumerate(batch.valid), strict=True):
            try:
                wanted = trace(program, [vocabulary[i] for i in row], causal=causal)
            except NoValue:
                assert not valid
                continue
            assert valid
            for each, values in wanted.items():
                of = batch.values(each) if isinstance(each, SOp) else batch.of[each]
                assert of[number].tolist() == values, each
