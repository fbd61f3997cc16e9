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
Lines = dict[str, list[tuple[str, str]]]
Graph = dict[str, set[str]]


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


def defined_in(module: str, name: str, lines: Lines) -> str:
    """The module of `from module import name`; of what a package re-exports, the one below it."""
    if f"{module}.{name}" in lines:
        return f"{module}.{name}"
    exported = next((other for other, theirs in lines.get(module, ()) if theirs == name), None)
    if not name or exported is None or not any(it.startswith(f"{module}.") for it in lines):
        return module
    return defined_in(exported, name, lines)


def graph(trees: Trees) -> Graph:
    """The modules that each module imports, ours and others'."""
    lines = {module: [*imports(tree)] for module, tree in trees.items()}
    return {
        module: {defined_in(other, name, lines) for other, name in theirs}
        for module, theirs in lines.items()
    }


def circle(graph: Graph) -> list[str]:
    """A circle of imports, if there is one."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def against_the_direction(graph: Graph) -> list[tuple[str, str]]:
    """Imports by theory of torch or of the packages above, and by constructions of verify."""
    above = {"theory": {"torch", "constructions", "verify"}, "constructions": {"verify"}}
    return [
        (module, other)
        for module, others in graph.items()
        for other in others
        if other.split(".")[0] in above.get(module.split(".")[0], ())
    ]


@pytest.fixture(scope="module")
def ours() -> Graph:
    return graph(parsed())


def test_imports_have_no_circle(ours):
    assert circle(ours) == []


def test_theory_imports_no_torch_and_nothing_imports_what_is_above(ours):
    assert against_the_direction(ours) == []


def test_nothing_but_the_entry_point_imports_the_command_line(ours):
    found = {
        module
        for module, others in ours.items()
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
    assert circle(graph(trees)) == []
    trees["theory.b"] = ast.parse("from theory.a import f")
    assert {*circle(graph(trees))} == {"theory.a", "theory.b"}


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
    assert against_the_direction(graph({module: ast.parse(line)}))
