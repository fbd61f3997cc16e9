"""The test programs of Tracr: values of its tests, exact answers, and sizes below Tracr's."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from statistics import geometric_mean

import numpy as np
import pytest

from constructions.programs import compiled
from theory.programs import evaluate
from theory.programs.library.published import TRACR

# layers and weights of Tracr's models
THEIRS = {
    "frac_prevs": (2, 1_108),
    "shift_by(1)": (1, 726),
    "detect_pattern": (3, 6_558),
    "length": (1, 806),
    "reverse": (4, 19_700),
    "pair_balance": (2, 5_442),
    "shuffle_dyck, 2 pairs": (8, 246_884),
    "shuffle_dyck, 3 pairs": (9, 725_253),
    "hist": (1, 1_208),
    "sort_unique": (2, 2_826),
    "sort": (3, 17_544),
    "sort_freq": (5, 64_122),
    "count_less_freq": (2, 4_287),
}
F = Fraction
# sequences and values of its tests
TESTED = [
    ("frac_prevs", "hello", [0, 0, F(1, 3), F(1, 2), F(2, 5)]),
    ("shift_by(1)", "abcd", [None, *"abc"]),
    ("detect_pattern", "abcabc", [None, None, True, False, False, True]),
    ("length", "abc", [3, 3, 3]),
    ("reverse", "abcd", [*"dcba"]),
    ("reverse", "c", ["c"]),
    ("pair_balance", "a()b(c))", [0, F(1, 2), 0, 0, F(1, 5), F(1, 6), 0, F(-1, 8)]),
    ("shuffle_dyck, 2 pairs", "({)}", [1] * 4),
    ("shuffle_dyck, 2 pairs", "(){)}", [0] * 5),
    ("shuffle_dyck, 2 pairs", "{}(", [0] * 3),
    ("shuffle_dyck, 3 pairs", "({)[}]", [1] * 6),
    ("shuffle_dyck, 3 pairs", "{}[(]", [0] * 5),
    ("hist", "abac", [2, 1, 2, 1]),
    ("sort_unique", [2, 4, 3, 1], [1, 2, 3, 4]),
    ("sort", [2, 4, 1, 2], [1, 2, 2, 4]),
    ("sort_freq", [2, 4, 2, 1], [2, 2, 4, 1]),
    ("count_less_freq", "aaabbc", [3] * 6),
    ("count_less_freq", "aacbbc", [6] * 6),
]


@pytest.fixture(scope="module")
def models():
    return {name: compiled(*TRACR[name]) for name in TRACR}


def test_every_program_of_the_list_is_there():
    assert [*TRACR] == [*THEIRS]
    assert {name for name, _, _ in TESTED} == {*TRACR}


@pytest.mark.parametrize(("name", "sequence", "values"), TESTED)
def test_the_values_of_its_tests(models, name, sequence, values):
    assert evaluate(TRACR[name][0], [*sequence]) == values
    assert models[name](sequence) == values


@pytest.mark.parametrize("name", TRACR)
def test_answers_are_exact_at_short_and_at_random_sequences(models, name):
    program, vocabulary, n = TRACR[name]
    rng = np.random.default_rng(0)
    batches = [[*map(list, product(vocabulary, repeat=k))] for k in (1, 2, 3)]
    batches += [
        [[vocabulary[i] for i in row] for row in rng.integers(len(vocabulary), size=(50, k))]
        for k in range(4, n + 1)
    ]
    for rows in batches:
        assert models[name](rows) == [evaluate(program, row) for row in rows]


def test_no_model_has_more_layers_and_weights_are_at_most_a_third(models):
    layers = {name: (models[name].n_layers, most) for name, (most, _) in THEIRS.items()}
    assert {name: each for name, each in layers.items() if each[0] > each[1]} == {}
    ratios = [models[name].n_parameters / weights for name, (_, weights) in THEIRS.items()]
    assert geometric_mean(ratios) <= 1 / 3


def test_signs_of_independent_means_are_combined_and_not_the_means(models):
    """A table of three means of n tokens has about n⁶ rows, of their signs 8."""
    tables = models["shuffle_dyck, 3 pairs"].blocks[1].mlp
    assert len(tables.b_in) < 20
