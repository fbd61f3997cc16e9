"""The programs of the library against their definitions in plain Python."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from library_by_definition import PROGRAMS

from theory.programs.interpreter import evaluate
from theory.programs.library import examples, order


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_compute_their_definitions(name):
    """On all sequences of at most 4 tokens, and on random longer ones."""
    program, vocabulary, definition = PROGRAMS[name]
    for n in range(1, 5):
        for x in product(vocabulary, repeat=n):
            assert evaluate(program, x) == definition([*x]), x
    rng = np.random.default_rng(0)
    for n in (7, 12, 24):
        x = [vocabulary[i] for i in rng.integers(len(vocabulary), size=n)]
        assert evaluate(program, x) == definition(x), x


def test_sort_unique():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 20):
        x = rng.permutation(100)[:n].tolist()
        assert evaluate(order.sort_unique(), x) == sorted(x)


def test_programs_have_the_names_of_their_functions():
    for name, (program, _) in examples.PROGRAMS.items():
        assert str(program) == name.partition("(")[0]
