"""Answers that are decoded after a working, against the definitions of the tasks."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from itertools import product
from math import isqrt

import numpy as np
import pytest
from refusals import rejects

from constructions.programs import chomsky_scratchpad, chomsky_task
from constructions.programs.scratchpads import decoded_answers
from constructions.retrieval import induction_heads
from theory.programs.chomsky import TASKS
from theory.programs.chomsky.context_free import EXPRESSION
from theory.programs.chomsky.context_sensitive import number_of
from theory.programs.chomsky.decoded import SCRATCHPADS
from theory.programs.interpreter import evaluate

MULTIPLICATION, ROOT, PRODUCTS = SCRATCHPADS


@cache
def model(name, max_length):
    return chomsky_scratchpad(name, max_length)


@cache
def expressions(length):
    """All expressions with brackets of this length."""
    digits = "01234"
    if length <= 4:
        form = ["{}", "−{}", "({})", "(−{})"][length - 1]
        return [form.format(digit) for digit in digits]
    return [
        f"({left}{operator}{right})"
        for k in range(1, length - 3)
        for left, operator, right in product(expressions(k), "+−·", expressions(length - 3 - k))
    ]


def all_inputs(name, length):
    """All inputs of this length, with zeros."""
    if name == PRODUCTS:
        return [[*map(EXPRESSION.index, text)] for text in expressions(length)]
    if name == ROOT or length <= 2:
        return [list(x) for x in product((0, 1), repeat=length)]
    return [
        [*a, 2, *b]
        for p in range(1, length - 1)
        for a in product((0, 1), repeat=p)
        for b in product((0, 1), repeat=length - 1 - p)
    ]


def decoded(name, x, max_length=8):
    """The tokens that the model decodes for an input, which are the values of the program."""
    pad = SCRATCHPADS[name]
    prompt = pad.prompt(TASKS[name], x)
    tokens = model(name, max_length).generate(prompt, pad.steps(x))
    values = evaluate(pad.program(), [*prompt, *tokens[:-1]], causal=True)
    assert tokens == values[len(x) :]
    return tokens


def test_workings():
    """Products and roots with their columns, bit by bit, and brackets with their values."""
    assert decoded(MULTIPLICATION, [1, 1, 2, 1, 1]) == [  # 3 · 3
        (1, 1, 0), (1, 1, 0), "|0",  # 0 + 3 = 3
        (1, 0, 1), (1, 0, 1), "|1",  # 1 + 3 = 4
        1, 0, 0, 1, 2,
    ]  # fmt: skip
    assert decoded(ROOT, [1, 1, 0, 1]) == [  # 13 = 3² + 4
        (1, 1, 0), (1, 0, 0), (0, 0, 0), "√1",  # 3 − 1
        (1, 1, 0), (0, 0, 0), (0, 1, 0), (1, 0, 1), "√1",  # 9 − 5
        1, 1,
    ]  # fmt: skip
    x = [EXPRESSION.index(symbol) for symbol in "((−3)·2)"]
    assert decoded(PRODUCTS, x) == [2, 4]


def test_rows_are_partial_products_and_remainders():
    rng = np.random.default_rng(0)
    for length in (3, 6, 8):
        x = TASKS[MULTIPLICATION].draw(length, rng)
        p = x.index(2)
        b = number_of(x[p + 1 :])
        tokens, total = decoded(MULTIPLICATION, x), 0
        for j in range(p):
            row = tokens[j * (length - p) :][: length - p]
            total = total // 2 + x[j] * b
            assert number_of([*(column.s for column in row[:-1]), int(row[-1] == "|1")]) == total
            assert [column.m for column in row[:-1]] == x[p + 1 :]

        x = TASKS[ROOT].draw(length, rng)
        tokens, n = decoded(ROOT, x), number_of(x[::-1])
        h = -(-length // 2)
        for k in range(h):
            row = tokens[k * (k + 7) // 2 :][: k + 4]
            known = n >> 2 * (h - 1 - k)  # the number that the pairs so far form
            before, root = isqrt(known >> 2), isqrt(known)
            assert number_of([column.r for column in row[:-1]]) == known - 4 * before**2
            assert number_of([column.t for column in row[:-1]]) == 4 * before + 1
            assert row[-1] == f"√{root - 2 * before}"


@pytest.mark.parametrize(("name", "most"), [(MULTIPLICATION, 7), (ROOT, 8), (PRODUCTS, 7)])
def test_all_short_inputs(name, most):
    for length in range(1, most + 1):
        inputs = all_inputs(name, length)
        answers = decoded_answers(model(name, 8), inputs)
        assert answers == [TASKS[name].answer(x) for x in inputs]
        decoded(name, inputs[len(inputs) // 2])


@pytest.mark.parametrize("name", SCRATCHPADS)
def test_no_input_needs_more_steps_than_stated(name):
    pad = SCRATCHPADS[name]
    needed = {n: max(map(pad.steps, all_inputs(name, n))) for n in range(3, 10)}
    assert all(count <= pad.most(n) for n, count in needed.items())
    assert [needed[n] for n in (3, 9)] == [pad.most(n) for n in (3, 9)]


@pytest.mark.parametrize("name", SCRATCHPADS)
def test_softmax(name):
    rng = np.random.default_rng(0)
    inputs = [TASKS[name].draw(8, rng) for _ in range(20)]
    soft = model(name, 8).sharpened(400.0)
    assert decoded_answers(soft, inputs) == [TASKS[name].answer(x) for x in inputs]
    with rejects("sharpness"):
        model(name, 8).sharpened(1.0)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "layers"), [(MULTIPLICATION, 4), (ROOT, 4), (PRODUCTS, 7)])
def test_the_depth_does_not_grow_with_the_length(name, layers):
    assert {model(name, length).n_layers for length in (8, 12, 20, 40)} == {layers}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "length", "count"),
    [(MULTIPLICATION, 60, 10), (ROOT, 60, 10), (PRODUCTS, 100, 200), (PRODUCTS, 500, 10)],
)
def test_long_inputs(name, length, count):
    rng = np.random.default_rng(length)
    inputs = [TASKS[name].draw(length, rng) for _ in range(count)]
    answers = decoded_answers(model(name, length), inputs)
    assert answers == [TASKS[name].answer(x) for x in inputs]


def test_wrong_names_models_and_inputs():
    with rejects("name", "chomsky_scratchpad"):
        chomsky_task(ROOT, 5)
    with rejects("name", "compute sqrt"):
        chomsky_scratchpad("bucket sort", 5)
    with rejects("model", "chomsky_scratchpad"):
        decoded_answers(induction_heads(3, 5), [[0, 1]])
    copy = deepcopy(model(ROOT, 8))
    copy.call = None
    with rejects("model"):
        decoded_answers(copy, [[0, 1]])
    with rejects("different lengths"):
        decoded_answers(model(ROOT, 8), [[0, 1], [1]])
    with rejects("max_length=9"):
        decoded_answers(model(ROOT, 8), [[1] * 9])
    for inputs in ([[-1, 0]], [[0, 2]], [[True, False]], [[1, "a"]], [1, 0], "10", [], [[]], None):
        with rejects("inputs"):
            decoded_answers(model(ROOT, 8), inputs)


def test_prompts_consist_of_texts_and_an_equality_sign():
    """The symbols 0 and 1 of answers are tokens too, but not of inputs."""
    pad = model(ROOT, 8)
    assert pad.generate("1001=", SCRATCHPADS[ROOT].steps([1, 0, 0, 1]))[-2:] == [1, 1]
    for prompt in ([1, 0, 0, 1], [1, 0, 0, 1, "="], "1001"):
        with rejects("sequence", "="):
            pad.generate(prompt, 6)
