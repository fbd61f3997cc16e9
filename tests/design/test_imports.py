"""Imports between the modules of this library have no circle and one direction.

Imports inside functions and for types alone count.  What a package re-exports is imported from the
module that defines it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("theory", "constructions", "verify")

Trees = dict[str, ast.Module]


def parsed() -> Trees:
    """Every module of the library by its dotted name."""
    files = [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]
    parts = [(file.relative_to(ROOT).with_suffix("").parts, file) for file in files]
    return {
        ".".join(p[:-1] if p[-1] == "__init__" else p): ast.parse(file.read_text(encoding="utf-8"))
        for p, file in parts
    }


def imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The module and the name of each import, wherever it stands; no name for `import module`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module, "imports are absolute"
            yield from ((node.module, alias.name) for alias in node.names)


def defined_in(module: str, name: str, trees: Trees) -> str:
    """The module of `from module import name`; of what a package re-exports, the one below it."""
    if f"{module}.{name}" in trees:
        return f"{module}.{name}"
    package = any(other.startswith(f"{module}.") for other in trees)
    for other, theirs in imports(trees[module]) if package and name else ():
        if theirs == name:
            return defined_in(other, name, trees)
    return module


def graph(trees: Trees) -> dict[str, set[str]]:
    """The modules that each module imports, ours and others'."""
    return {
        module: {defined_in(other, name, trees) for other, name in imports(tree)}
        for module, tree in trees.items()
    }


def circle(trees: Trees) -> list[str]:
    """A circle of imports, if there is one."""
    try:
        TopologicalSorter(graph(trees)).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def against_the_direction(trees: Trees) -> list[tuple[str, str]]:
    """Imports by theory of torch or of the packages above, and by constructions of verify."""
    above = {"theory": {"torch", "constructions", "verify"}, "constructions": {"verify"}}
    return [
        (module, other)
        for module, others in graph(trees).items()
        for other in others
        if other.split(".")[0] in above.get(module.split(".")[0], ())
    ]


TREES = parsed()


def test_imports_have_no_circle():
    assert circle(TREES) == []


def test_theory_imports_no_torch_and_nothing_imports_what_is_above():
    assert against_the_direction(TREES) == []


def test_nothing_but_the_entry_point_imports_the_command_line():
    found = {
        module
        for module, others in graph(TREES).items()
        if any(other.startswith("verify.cli") for other in others)
    }
    assert {module for module in found if not module.startswith("verify.cli")} == {
        "verify.__main__"
    }


@pytest.mark.parametrize(
    "line",
    [
        "from theory.b import f",
        "from theory import b",
        "import theory.b",
        "from theory import f",  # which theory/__init__.py has from theory.b
        "def g():\n    from theory.b import f",
        "if TYPE_CHECKING:\n    from theory.b import f",
    ],
)
def test_a_circle_is_found(line):
    sources = {"theory": "from theory.b import f", "theory.a": line, "theory.b": ""}
    trees = {name: ast.parse(source) for name, source in sources.items()}
    assert circle(trees) == []
    trees["theory.b"] = ast.parse("from theory.a import f")
    assert {*circle(trees)} == {"theory.a", "theory.b"}


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("theory.a", "import torch"),
        ("theory.a", "from torch.nn import Module"),
        ("theory.a", "from constructions import newton"),
        ("constructions.a", "def f():\n    from verify.claim import claim"),
    ],
)
def test_an_import_against_the_direction_is_found(module, line):
    assert against_the_direction({module: ast.parse(line)})
