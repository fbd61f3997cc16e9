"""The model that a page shows: the model of a statement at a small size."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from importlib import import_module
from itertools import product

from constructions.transformer import Transformer
from verify.ledger.build import MODULES, PACKAGES, built
from verify.ledger.theorems import Theorem
from verify.site.exported import runs, sample

MOST = 700  # the preferred largest number of non-zero weights of a model on a page
DRAWN = 20_000  # the largest number of non-zero weights of a model that is drawn


def model_of(entry: Theorem, at: Mapping[str, int]) -> tuple[Transformer, dict[str, int]] | None:
    """The model that the page of a statement shows, and the parameters of the model.

    Parameters in `at` are fixed. All other parameters are the largest tested parameters whose model
    has at most `MOST` nonzero weights. If no model is that small, the limit is `DRAWN`; if no model
    meets this limit, the parameters are the smallest. For a model with the answer ⊥, parameters
    with informative answers at more than half of the positions of some word are preferred.

    The result is None for a statement without a model. Raises ValueError for parameters that
    `built` rejects.
    """
    if not entry.build:
        return None
    tested = [[at[name]] if name in at else values for name, values in entry.over.items()]
    sizes = sorted(product(*map(enumerate, tested)), key=lambda each: -sum(i for i, _ in each))
    for most in (MOST, DRAWN):
        fitting = None
        for size in sizes:
            values = {name: value for name, (_, value) in zip(entry.over, size, strict=True)}
            model = built(entry, **{**values, **at})
            if weights(model) <= most:
                if _is_informative(model):
                    return model, values
                fitting = fitting or (model, values)
        if fitting:
            return fitting
    return model, values


def _is_informative(model: Transformer) -> bool:
    return not runs(model) or not model.interface.bottom or sample(model)[1] > 1 / 2


def weights(model: Transformer) -> int:
    """The number of nonzero weights of a model."""
    return sum(int(each.count_nonzero()) for each in model.parameters())


def code(entry: Theorem, values: Mapping[str, int]) -> str:
    """Returns Python code that imports and builds the model of a statement."""
    used = {node.id for node in ast.walk(ast.parse(entry.build)) if isinstance(node, ast.Name)}
    homes: dict[str, Iterable[str]] = {
        each.__name__: each.__all__ for each in [*reversed(PACKAGES), *MODULES]
    }
    homes["theory.programs.library.examples"] = ["PROGRAMS"]
    if entry.package:
        homes = {entry.package: vars(import_module(entry.package)), **homes}
    lines = ["import numpy as np", ""] if "np" in used else []
    for home, known in homes.items():
        names = sorted(used & set(known))
        used -= set(names)
        lines += [f"from {home} import {', '.join(names)}"] * bool(names)
    given = [f"{name} = {value}" for name, value in values.items()]
    return "\n".join([*lines, "", *given, f"model = {entry.build}", "print(model)"])
