"""The numbers that the modules name: thresholds, limits, sizes of samples.

A threshold is chosen before the data, and a limit is part of what a function promises, so both are
in `constants.txt`, with which `tests/design/test_constants.py` compares the sources.  After a
change on purpose, `python tests/constants.py` writes them again.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT, FILE = Path(__file__).parent.parent, Path(__file__).with_name("constants.txt")
NUMBERS = (
    *(ast.Constant, ast.Tuple, ast.UnaryOp, ast.USub, ast.BinOp, ast.operator, ast.Load),
    *(ast.Dict, ast.List),
)


def constants() -> list[str]:
    """All module-level assignments of numbers to names in upper case, by file."""
    return [
        f"{file.relative_to(ROOT).as_posix()}: {ast.unparse(each)}"
        for package in ("theory", "constructions", "verify")
        for file in sorted((ROOT / package).rglob("*.py"))
        for each in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(each, ast.Assign) and _named(each) and _numeric(each.value)
    ]


def _named(assignment: ast.Assign) -> bool:
    names = [n.id for t in assignment.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return all(name.isupper() for name in names)


def _numeric(value: ast.expr) -> bool:
    parts = [*ast.walk(value)]
    kinds = all(isinstance(part, NUMBERS) for part in parts)
    return kinds and any(type(getattr(part, "value", None)) in (int, float) for part in parts)


if __name__ == "__main__":
    FILE.write_text("".join(f"{line}\n" for line in constants()), encoding="utf-8")
