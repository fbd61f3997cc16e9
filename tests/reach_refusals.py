"""The refusals that the tests do not reach (`make reach`).

A plugin, for `pytest -p reach_refusals` with `tests` on the path.  It rewrites every `if` of the
three packages whose body raises, and prints, for those that were imported,

    never refused       no test made the condition true
    always, never       an operand of `and` or `or` that was true (false) whenever it was evaluated
    not evaluated       an operand before which the others always decided
    equality not seen   a comparison that no test made with equal sides, so that `<` may be `≤`

A refusal without such a line can still be untested.  What tests do in processes of their own is not
seen, nor are chains such as `a < f(b) < c`, whose middle is computed.  Whether limits of
annotations (`Within`) are moved is noticed by `constants.txt`.
"""

from __future__ import annotations

import ast
import builtins
import operator
import sys
from collections.abc import Iterator
from copy import deepcopy
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import Any

import annotations
import numpy as np
import pytest

OPERATORS = {"Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge}
PLACES = dict[str, set[str]]
refusals, operands, comparisons = PLACES(), PLACES(), PLACES()


def truth(of: PLACES, place: str, value: Any) -> Any:
    """The value, whose truth is noted: the `if` or operator around it needs it anyway."""
    of[place].add(str(bool(value)))
    return value


def compared(place: str, name: str, left: Any, right: Any) -> Any:
    """The comparison, with a note if any entries are equal."""
    comparisons[place].add("compared")
    if "equal" not in comparisons[place] and np.any(np.asarray(left == right)):
        comparisons[place].add("equal")
    return OPERATORS[name](left, right)


class Condition(ast.NodeTransformer):
    """Notes the operands and the comparisons of a condition, outside functions within it."""

    def __init__(self, file: str) -> None:
        self.file, self.line = file, 0

    def noted(self, of: PLACES, name: str, node: ast.expr, text: str) -> ast.expr:
        of.setdefault(place := f"{self.file}:{self.line}: {text}", set())
        return _call("__truth__", ast.Name(name, ast.Load()), ast.Constant(place), node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.BoolOp:
        texts = [ast.unparse(each) for each in node.values]
        self.generic_visit(node)
        values = zip(node.values, texts, strict=True)
        node.values = [self.noted(operands, "__operands__", *each) for each in values]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        middles = node.comparators[:-1]
        if any(not isinstance(each, ast.Name | ast.Attribute | ast.Constant) for each in middles):
            return node  # the middle of a chain would be evaluated twice
        lefts = [node.left, *middles]
        single = [
            self._comparison(ast.Compare(left, [operator], [right]))
            for left, operator, right in zip(lefts, node.ops, node.comparators, strict=True)
        ]
        return single[0] if len(single) == 1 else ast.BoolOp(ast.And(), single)

    def _comparison(self, node: ast.Compare) -> ast.expr:
        text, kind = ast.unparse(node), type(node.ops[0]).__name__
        node = deepcopy(node)  # the middle of a chain is in two of its comparisons
        self.generic_visit(node)
        if kind not in OPERATORS:
            return node
        comparisons.setdefault(place := f"{self.file}:{self.line}: {text}", set())
        sides = node.left, node.comparators[0]
        return _call("__compared__", ast.Constant(place), ast.Constant(kind), *sides)


class Refusals(ast.NodeTransformer):
    def __init__(self, file: str) -> None:
        self.condition = Condition(file)

    def visit_If(self, node: ast.If) -> ast.If:
        self.generic_visit(node)
        if any(isinstance(each, ast.Raise) for each in node.body):
            text, self.condition.line = ast.unparse(node.test), node.lineno
            test = self.condition.visit(node.test)
            node.test = self.condition.noted(refusals, "__refusals__", test, text)
        return node


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [*arguments], [])


class Noting(SourceFileLoader):
    """Loads a module with its refusals noted, past the cache of compiled modules."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        name = fullname.replace(".", "/")
        tree = Refusals(name).visit(ast.parse(self.get_data(path), path))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


def missed() -> Iterator[str]:
    yield from (f"never refused: {at}" for at, seen in refusals.items() if "True" not in seen)
    lines = {line_of(at) for at, seen in refusals.items() if seen}
    for at, seen in operands.items():
        if line_of(at) in lines and seen != {"True", "False"}:
            word = "not evaluated" if not seen else "always" if "True" in seen else "never"
            yield f"{word}: {at}"
    for at, seen in comparisons.items():
        if line_of(at) in lines and "equal" not in seen:
            yield f"equality not seen: {at}"


def line_of(place: str) -> str:
    return place.partition(": ")[0]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in sorted(missed()):
        terminalreporter.write_line(line)


vars(builtins).update(
    __truth__=truth,
    __compared__=compared,
    __refusals__=refusals,
    __operands__=operands,
)
sys.meta_path.insert(0, annotations.Finder(("theory", "constructions", "verify"), Noting))
