"""The model that a page shows: that of a statement, small enough to be looked at."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from importlib import import_module
from itertools import product

from constructions.transformer import Transformer
from verify.building import ROOMS, built
from verify.theorems import Theorem

MOST = 700  # weights that are not 0, of a model on a page


def model_of(entry: Theorem, at: Mapping[str, int]) -> tuple[Transformer, dict[str, int]] | None:
    """The largest of the models of a statement, among those that the ledger has tested, with at
    most `MOST` weights that are not 0, and its parameters; some of these may be given.

    None for a statement without a model.  Raises ValueError as `built` does.
    """
    if not entry.build:
        return None
    tested = [[at[name]] if name in at else values for name, values in entry.over.items()]
    sizes = sorted(product(*map(enumerate, tested)), key=lambda each: -sum(i for i, _ in each))
    for size in sizes:
        values = {name: value for name, (_, value) in zip(entry.over, size, strict=True)}
        model = built(entry, **{**values, **at})
        if weights(model) <= MOST:
            break
    return model, values


def weights(model: Transformer) -> int:
    """How many of its weights are not 0."""
    return sum(int(each.count_nonzero()) for each in model.parameters())


def code(entry: Theorem, values: Mapping[str, int]) -> str:
    """How a statement's model is imported and built."""
    used = {node.id for node in ast.walk(ast.parse(entry.build)) if isinstance(node, ast.Name)}
    homes: dict[str, Iterable[str]] = {room.__name__: room.__all__ for room in reversed(ROOMS)}
    if entry.package:
        homes = {entry.package: vars(import_module(entry.package)), **homes}
    lines = ["import numpy as np", ""] if "np" in used else []
    for home, known in homes.items():
        names = sorted(used & set(known))
        used -= set(names)
        lines += [f"from {home} import {', '.join(names)}"] * bool(names)
    given = [f"{name} = {value}" for name, value in values.items()]
    return "\n".join([*lines, "", *given, f"model = {entry.build}", "print(model)"])
