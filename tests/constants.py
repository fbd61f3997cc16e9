"""The numbers that the modules name: thresholds, limits, sizes of samples, defaults.

These are the constants of modules, the limits of parameters (`Within`), the defaults of public
functions, and the numbers with which claims compare.  A threshold is chosen before the data, and a
limit or a default is part of what a function promises, so all are in `constants.txt`, with which
`tests/design/test_constants.py` compares the sources.  After a change on purpose,
`python tests/constants.py` writes them again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT, FILE = Path(__file__).parent.parent, Path(__file__).with_name("constants.txt")
NUMBERS = (
    *(ast.Constant, ast.Tuple, ast.UnaryOp, ast.USub, ast.BinOp, ast.operator, ast.Load),
    *(ast.Dict, ast.List),
)


def constants() -> list[str]:
    """All of these numbers, by file and in the order of the source."""
    found = []
    for package in ("theory", "constructions", "verify"):
        for file in sorted((ROOT / package).rglob("*.py")):
            path, module = file.relative_to(ROOT), ast.parse(file.read_text(encoding="utf-8"))
            found += [f"{path.as_posix()}: {text}" for text in _of_module(module)]
            found += [f"{path.as_posix()}: {text}" for text in _of_functions(module)]
            if package == "verify" and "picture" not in file.stem:
                found += [f"{path.as_posix()}: {text}" for text in _thresholds(module)]
    return found


def _of_module(module: ast.Module) -> Iterator[str]:
    for each in module.body:
        if isinstance(each, ast.Assign) and _named(each) and _numeric(each.value):
            yield ast.unparse(each)


def _of_functions(module: ast.Module) -> Iterator[str]:
    """The limits and defaults of parameters and of the options of claims."""
    for each in ast.walk(module):
        name = ast.unparse(each.func) if isinstance(each, ast.Call) else ""
        if isinstance(each, ast.Call) and name == "Within":
            yield ast.unparse(each)
        elif isinstance(each, ast.Call) and name == "option" and each.keywords:
            yield f"option({', '.join(map(ast.unparse, each.keywords))})"
        elif isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
            names = [arg.arg for arg in (*each.args.posonlyargs, *each.args.args)]
            defaults = zip(reversed(names), reversed(each.args.defaults), strict=False)
            by_name = zip(
                (arg.arg for arg in each.args.kwonlyargs), each.args.kw_defaults, strict=True
            )
            pairs = [*reversed([*defaults]), *by_name]
            given = [f"{name}={ast.unparse(of)}" for name, of in pairs if of is not None]
            if given:
                yield f"{each.name}({', '.join(given)})"


def _thresholds(module: ast.Module) -> Iterator[str]:
    """Comparisons with a number that is no integer, and arguments by name that are one."""
    for each in ast.walk(module):
        if isinstance(each, ast.Compare | ast.keyword) and any(
            isinstance(getattr(part, "value", None), float) for part in ast.walk(each)
        ):
            yield ast.unparse(each)


def _named(assignment: ast.Assign) -> bool:
    names = [n.id for t in assignment.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return all(name.isupper() for name in names)


def _numeric(value: ast.expr) -> bool:
    parts = [*ast.walk(value)]
    kinds = all(isinstance(part, NUMBERS) for part in parts)
    return kinds and any(type(getattr(part, "value", None)) in (int, float) for part in parts)


if __name__ == "__main__":
    FILE.write_text("".join(f"{line}\n" for line in constants()), encoding="utf-8")
