"""Functions of `verify` that count what they do while they run.

In the functions of a module that `count` has changed, each statement, each argument of a call and
each element of a comprehension is a step, and the entries of the arrays among these arguments and
elements are added up.  The loader of `annotations.py` changes the modules of claims.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch

T = TypeVar("T")
VERIFY = f"{Path(__file__).parent.parent / 'verify'}/"
APART = tuple(
    VERIFY + name for name in ("cli/", "domains/", "ledger/", "output/", "claim.py", "finding.py")
)
"""What is the same for every claim, or remembers weights that it has read; checkers of certificates
are apart too, since they go through sets, in another order each time."""
SIZES: dict[type, Callable[[Any], int]] = {
    np.ndarray: lambda array: array.size,
    torch.Tensor: torch.Tensor.numel,
    torch.nn.Parameter: torch.Tensor.numel,
}
_steps = _entries = 0


def is_counted(file: str) -> bool:
    """Whether what the functions of a file do is the work of claims."""
    return file.startswith(VERIFY) and not (file.startswith(APART) or file.endswith("checker.py"))


def start() -> None:
    """Count from zero."""
    global _steps, _entries
    _steps = _entries = 0


def counted() -> tuple[int, int]:
    """The steps and the entries since `start`."""
    return _steps, _entries


def step() -> None:
    """A statement is run."""
    global _steps
    _steps += 1


def given(value: T) -> T:
    """A value, which a function is given or a comprehension makes."""
    global _steps, _entries
    _steps += 1
    if size := SIZES.get(type(value)):
        _entries += size(value)
    return value


NAMES = {"__step__": step, "__given__": given}
"""The names that a changed module needs."""


def count(tree: ast.Module) -> None:
    """Change the functions of a module so that they count."""
    _Counting().visit(tree)
    ast.fix_missing_locations(tree)


class _Counting(ast.NodeTransformer):
    def __init__(self) -> None:
        self.within = False  # a function

    def visit(self, node: ast.AST) -> Any:
        within, new = self.within, super().visit(node)
        if not (within and isinstance(node, ast.stmt)):
            return new
        return [ast.copy_location(ast.Expr(_call("__step__")), node), new]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        within, self.within = self.within, True
        first = int(ast.get_docstring(node, clean=False) is not None)
        rest = ast.Module(node.body[first:], [])
        node.body[first:] = self.generic_visit(rest).body  # type: ignore[attr-defined]
        self.within = within
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        within, self.within = self.within, True
        node.body = _given(self.visit(node.body))
        self.within = within
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if self.within:
            node.args = [_given(each) for each in node.args]
            for each in node.keywords:
                if each.arg is not None:
                    each.value = _given(each.value)
        return node

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> ast.expr:
        self.generic_visit(node)
        if self.within:
            node.elt = _given(node.elt)
        return node

    visit_SetComp = visit_GeneratorExp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.DictComp:
        self.generic_visit(node)
        if self.within:
            node.value = _given(node.value)
        return node


def _given(value: ast.expr) -> ast.expr:
    if isinstance(value, ast.Constant | ast.Starred):
        return value
    return ast.copy_location(_call("__given__", value), value)


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [*args], [])
