"""The theorem on register programs, against sums over the examples."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import fmpq, fmpq_mat, fmpq_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.regression import NoFormula
from theory.regression.register_programs import (
    Polynomials,
    RegisterHead,
    RegisterLayer,
    RegisterProgram,
)

NAMES = {"u": "vector", "v": "vector", "s": "scalar", "r": "scalar"}


NUMBERS = st.sampled_from([Fraction(-2), Fraction(-1), Fraction(1, 2), Fraction(1), Fraction(3)])


def pairs(more: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    kinds = {**NAMES, **dict.fromkeys(more, "scalar")}
    return [(a, b) for a, b in product(kinds, kinds) if kinds[a] == kinds[b]]


MAPS = st.dictionaries(
    st.sampled_from([pair for pair in pairs(("1",)) if pair[1] != "1"]), NUMBERS, max_size=2
)


HEADS = st.tuples(
    st.dictionaries(st.sampled_from(pairs(("1",))), NUMBERS, min_size=1, max_size=2),
    st.dictionaries(st.sampled_from(pairs()), NUMBERS, min_size=1, max_size=2),
)


LAYERS = st.lists(st.tuples(st.lists(HEADS, max_size=2), MAPS, MAPS), min_size=1, max_size=3)


def program_of(layers: list) -> RegisterProgram:
    embedding = {("x", "u"): Fraction(1), ("x", "v"): Fraction(2), ("y", "s"): Fraction(1)}
    made = (
        RegisterLayer(tuple(RegisterHead(*head) for head in heads), own, mlp)
        for heads, own, mlp in layers
    )
    return RegisterProgram(NAMES, embedding, tuple(made), {"r": Fraction(1)}, n=3)


def by_definition(program: RegisterProgram, X: list, y: list, token: int) -> dict[str, list]:
    """The registers of a token (the last is the query), number by number, over Q."""
    n, tokens = len(X) - 1, len(X)
    state = [
        {
            name: [Fraction(0)] * (len(X[0]) if kind == "vector" else 1)
            for name, kind in NAMES.items()
        }
        for _ in range(tokens)
    ]

    def plus(a: list, c: Fraction, b: list) -> list:
        return [u + c * v for u, v in zip(a, b, strict=True)]

    for t in range(tokens):
        for (column, name), c in program.embedding.items():
            state[t][name] = plus(state[t][name], c, X[t] if column == "x" else [y[t]])
    for layer in program.layers:
        after = [dict(each) for each in state]
        for t in range(tokens):
            read = {**state[t], "1": [1]}
            for (source, target), c in (layer.own or {}).items():
                after[t][target] = plus(after[t][target], c, read[source])
            for head, i in product(layer.heads, range(n)):
                asked, given = read, {**state[i], "1": [1]}
                score = sum(
                    c * sum(a * b for a, b in zip(asked[query], given[key], strict=True))
                    for (query, key), c in head.scores.items()
                )
                for (source, target), c in head.values.items():
                    after[t][target] = plus(after[t][target], score * c, state[i][source])
        state = [dict(each) for each in after]
        for t in range(tokens):
            for (source, target), c in (layer.mlp or {}).items():
                state[t][target] = plus(state[t][target], c, {**after[t], "1": [1]}[source])
    return state[token]


@settings(max_examples=200)
@given(layers=LAYERS, seed=st.integers(0, 10**6))
def test_a_program_computes_its_formulas_on_examples(layers, seed):
    """The theorem itself: every register of every token, against sums over the examples."""
    program = program_of(layers)
    try:
        *_, contents = program.contents(Polynomials())
    except NoFormula:
        return
    rng = np.random.default_rng(seed)
    X = [[Fraction(int(v)) for v in row] for row in rng.integers(-3, 4, (4, 2))]
    y = [Fraction(int(v)) for v in rng.integers(-3, 4, 3)] + [Fraction(0)]
    as_matrix = fmpq_mat([[fmpq(v.numerator) for v in row] for row in X[:-1]])
    gram = as_matrix.transpose() * as_matrix
    b = as_matrix.transpose() * fmpq_mat([[fmpq(v.numerator)] for v in y[:-1]])

    def at(p: fmpq_poly) -> fmpq_mat:
        result = fmpq_mat(2, 2)
        for c in reversed(p.coeffs()):
            result = result * gram + c * fmpq_mat([[1, 0], [0, 1]])
        return result

    for token in (1, 3):
        x = fmpq_mat([[fmpq(v.numerator)] for v in X[token]])
        held = by_definition(program, X, y, token)
        for name, content in contents.items():
            if NAMES[name] == "vector":
                value = fmpq_mat(2, 1)
                for part, p in content.items():
                    value = value + at(p) * (x if part == "x" else b)
                found = [value[0, 0], value[1, 0]]
            else:
                number = fmpq(0)
                for part, p in content.items():
                    factor = {"y": fmpq(y[token].numerator), "1": fmpq(1)}.get(part)
                    number += (x.transpose() * at(p) * b)[0, 0] if factor is None else p[0] * factor
                found = [number]
            assert [Fraction(int(v.p), int(v.q)) for v in found] == held[name], name


ONE_OF_S = ([], {("1", "r"): Fraction(1)}, {})  # r = 1


B_IN_V = ([({("1", "s"): Fraction(1)}, {("u", "v"): Fraction(1)})], {("v", "v"): Fraction(-1)}, {})


ONE_AND_Y_IN_R = ([], {("1", "r"): Fraction(1), ("s", "r"): Fraction(1)}, {})


XB_IN_R = ([({("u", "u"): Fraction(1)}, {("s", "r"): Fraction(1)})], {}, {})


def heads(score: tuple[str, str], value: tuple[str, str]) -> tuple[list, dict, dict]:
    return [({score: Fraction(1)}, {value: Fraction(1)})], {}, {}


@pytest.mark.parametrize(
    ("layers", "reason"),
    [
        ([heads(("1", "1"), ("u", "v"))], "Σ x_i"),
        ([ONE_OF_S, heads(("u", "u"), ("r", "s"))], "Σ x_i"),
        ([ONE_OF_S, heads(("1", "s"), ("r", "s"))], "Σ y_i over"),
        ([heads(("1", "1"), ("s", "r"))], "Σ y_i over"),
        ([heads(("1", "s"), ("s", "r"))], "Σ y_i² over"),
        ([B_IN_V, heads(("1", "s"), ("v", "u"))], "Σ y_i over"),
        ([XB_IN_R, heads(("1", "s"), ("r", "r"))], "bᵀ q(S) b"),
        ([B_IN_V, heads(("v", "u"), ("s", "r"))], "bᵀ q(S) b"),
        ([B_IN_V, heads(("v", "v"), ("u", "u"))], "bᵀ q(S) b"),
        ([heads(("s", "s"), ("u", "v"))], "second factor"),
        ([XB_IN_R, heads(("r", "r"), ("u", "u"))], "second factor"),
        ([ONE_AND_Y_IN_R, heads(("r", "s"), ("u", "v"))], "second factor"),
        ([ONE_OF_S], "constant"),
    ],
)
def test_sums_that_are_no_functions_of_the_moments_are_refused(layers, reason):
    """Each with one head on registers u = x, s = y, and r = 1, v = b or r = xᵀb."""
    with pytest.raises(NoFormula, match=re.escape(reason)):
        program_of(layers).prediction(Polynomials())


def test_a_constant_multiplies_the_factor_of_a_scalar_key():
    """The score 3·⟨1, xᵀb⟩ of an example, with the value x, adds 3 S b."""
    head = {("1", "r"): Fraction(3)}, {("u", "u"): Fraction(1)}
    *_, last = program_of([XB_IN_R, ([head], {}, {})]).contents(Polynomials())
    assert last["u"] == {"x": 1, "b": fmpq_poly([0, 3])}


def test_the_number_of_examples_is_needed_where_it_is_added():
    layers = [ONE_OF_S, heads(("1", "1"), ("r", "r"))]
    *_, last = program_of(layers).contents(Polynomials())
    assert last["r"] == {"1": 1 + 3}
    with pytest.raises(NoFormula, match="number of examples"):
        [*replace(program_of(layers), n=None).contents(Polynomials())]


def test_many_random_programs_have_formulas_and_many_have_none():
    """So that the property above is no statement about nothing."""
    outcomes = {True: 0, False: 0}

    @settings(max_examples=200)
    @given(LAYERS)
    def count(layers: list) -> None:
        try:
            *_, last = program_of(layers).contents(Polynomials())
            outcomes[any(p.degree() > 0 for c in last.values() for p in c.values())] += 1
        except NoFormula:
            outcomes[False] += 1

    count()
    assert min(outcomes.values()) >= 20


def test_a_register_that_is_still_zero_asks_for_nothing():
    """Also where keys are b: all scores are 0, so nothing is added."""
    gathers = ([({("1", "s"): Fraction(1)}, {("u", "v"): Fraction(1)})], {}, {})
    asks = ([({("w", "v"): Fraction(1)}, {("u", "u"): Fraction(1)})], {}, {})
    program = replace(program_of([gathers, asks]), kinds={**NAMES, "w": "vector"})
    _, gathered, last = program.contents(Polynomials())
    assert "b" in last["v"]
    assert last == gathered
