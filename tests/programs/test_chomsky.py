"""The tasks of the Chomsky hierarchy: examples, definitions by other means, and conventions."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

from theory.programs.chomsky import TASKS


@pytest.mark.parametrize(
    ("name", "given", "wanted"),
    [
        ("even pairs", "a a b b b a", [0]),
        ("even pairs", "a b a b a a b", [1]),
        ("even pairs", "b", [0]),
        ("modular arithmetic", "1 + 2 · 3", [2]),
        ("modular arithmetic", "1 − 1 − 1", [4]),
        ("modular arithmetic", "0 · 1 + 4 · 3 − 2", [0]),
        ("parity check", "1 0 1 0 1 0 0", [1]),
        ("cycle navigation", "1 −1 0 −1 −1", [3]),
        ("cycle navigation", "1 1 1 −1", [2]),
        ("modular arithmetic, brackets", "( ( 4 ) − ( − 3 ) )", [2]),
        ("modular arithmetic, brackets and products", "( ( 4 − 1 ) · − 3 )", [1]),
        ("reverse string", "0 1 1 0 1 0", [0, 1, 0, 1, 1, 0]),
        ("solve equation", "( x − ( 4 ) ) = 2", [1]),
        ("solve equation", "0 0", [0]),
        ("stack manipulation", "0 1 1 0 PUSH 1 POP POP", [1, 1, 0, 2, 0, 0, 0, 0]),
        ("stack manipulation", "1 1 0 POP POP POP", [2, 0, 0, 0, 0, 0, 0]),
        ("stack manipulation", "1 POP POP PUSH 0", [0, 2, 0, 0, 0]),
        ("stack manipulation", "1", [1, 2]),
        ("binary addition", "0 0 1 + 0 1 1 0 1", [0, 1, 0, 1, 1, 2, 0, 0, 0, 0]),
        ("binary addition", "0 1", [0, 1, 2]),
        ("binary addition", "0", [0, 2]),
        ("binary multiplication", "0 0 1 · 0 1 1 0 1", [0, 0, 0, 1, 1, 0, 1, 2, 0]),
        ("binary multiplication", "1 0", [0, 2]),
        ("binary multiplication", "0", [2]),
        ("compute sqrt", "1 0 0 1 0 1", [1, 1, 0]),
        ("compute sqrt", "1 1 1", [1, 0]),
        ("duplicate string", "1 0 1", [1, 0, 1, 1, 0, 1]),
        ("missing duplicate", "0 1 1 0 0 hidden 1 0", [1]),
        ("missing duplicate", "1 0 1 1 hidden 1 padding", [0]),
        ("missing duplicate", "1", [1]),
        ("odds first", "0 0 1 1 0 1 0 1", [0, 1, 1, 1, 0, 1, 0, 0]),
        ("odds first", "1 1 0", [1, 1, 0]),
        ("bucket sort", "b a c a e", [0, 0, 1, 2, 4]),
    ],
)
def test_examples(name, given, wanted):
    task = TASKS[name]
    x, rest = [], given
    while rest:  # a token may contain a space
        token = max((t for t in task.tokens if rest.startswith(t)), key=len)
        x.append(task.tokens.index(token))
        rest = rest[len(token) :].lstrip()
    assert task.answer(x) == wanted
    assert task.shown(x) == given


def arithmetic(text: str) -> int:
    """The value of an expression, as Python computes it."""
    return eval(text.replace("−", "-").replace("·", "*").replace(" ", ""))


def number(bits: list[int]) -> int:
    return int("".join(map(str, bits)) or "0", 2)


def ended(output: list[int]) -> list[int]:
    """The symbols before the end mark; all symbols after it are 0."""
    at = output.index(2)
    assert not any(output[at + 1 :])
    return output[:at]


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 6, 10, 33, 100, 500])
@pytest.mark.parametrize("name", TASKS)
def test_answers_by_other_means(name, length):
    task, rng = TASKS[name], np.random.default_rng(length)
    sizes = {
        "duplicate string": 2 * length,
        "stack manipulation": length + 1,
        "binary addition": length + 1,
        "compute sqrt": -(-length // 2),
    }
    same = {"reverse string", "binary multiplication", "odds first", "bucket sort"}
    for _ in range(5):
        x = task.draw(length, rng)
        text, answer = task.shown(x), task.answer(x)
        assert len(x) == length - (name == "modular arithmetic" and length % 2 == 0)
        assert len(answer) == sizes.get(name, length if name in same else 1)
        assert all(0 <= symbol < task.symbols for symbol in answer)
        if name.startswith("modular"):
            assert answer == [arithmetic(text) % 5]
        elif name == "solve equation" and length > 2:
            left, right = text.replace("x", str(answer[0])).split("=")
            assert (arithmetic(left) - arithmetic(right)) % 5 == 0
        elif name in ("binary addition", "binary multiplication") and length > 2:
            parts = text.replace("·", "+").replace(" ", "").split("+")
            a, b = (int(part[::-1], 2) for part in parts)
            found = ended(answer)
            assert number(found[::-1]) == (a * b if "multi" in name else a + b)
            assert found[-1] == 1  # no leading zero
            assert min(a, b) > 0
        elif name == "compute sqrt":
            n, root = number(x), number(answer)
            assert root == isqrt(n)
            assert root**2 <= n < (root + 1) ** 2
            assert n > 0
        elif name == "missing duplicate" and length > 1:
            whole = [answer[0] if token == 2 else token for token in x if token != 3]
            assert whole[: length // 2] == whole[length // 2 :]
            assert x.count(3) == length % 2


def test_draws_are_uniform():
    """Each bit of a positive number, and each operator of an expression, in 4000 draws."""
    rng = np.random.default_rng(0)
    roots = np.array([TASKS["compute sqrt"].draw(8, rng) for _ in range(4000)])
    assert np.abs(roots.mean(0) - Fraction(128, 255)).max() < 0.04
    signs = [TASKS["modular arithmetic"].draw(9, rng)[1] for _ in range(4000)]
    assert all(abs(signs.count(sign) / 4000 - 1 / 3) < 0.04 for sign in (5, 6, 7))
