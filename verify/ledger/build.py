"""The model of a statement, built as the ledger says: `python -m verify build NAME`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

import constructions
import constructions.computation
import theory.computation
from constructions.transformer import Transformer
from theory.kinds import InputError
from verify.ledger.theorems import TOPICS, Theorem

# Some constructions are exported by their topic only.
MODULES = [vars(constructions)[topic] for topic in TOPICS if topic in vars(constructions)]
CONSTRUCTIONS = {name: getattr(module, name) for module in MODULES for name in module.__all__}
PACKAGES = theory.computation, constructions, constructions.computation
NAMES = CONSTRUCTIONS | {name: getattr(each, name) for each in PACKAGES for name in each.__all__}
NAMES |= {"np": np}


def built(entry: Theorem, **parameters: int) -> Transformer:
    """The model of a statement at these parameters, and of the others at the largest at which the
    ledger has it tested.

    Raises ValueError for a statement without a model, a parameter that it does not have, and as
    the construction does.
    """
    if not entry.build:
        raise InputError(f"{entry.name} builds no model: `verify show {entry.name}` says what is")
    for name in parameters:
        if name not in entry.over:
            raise InputError(f"{entry.build} has no '{name}': choose of {', '.join(entry.over)}")
    values = {name: tested[-1] for name, tested in entry.over.items()} | parameters
    theirs = vars(import_module(entry.package)) if entry.package else {}
    model: Transformer = eval(entry.build, {**NAMES, **theirs, **values})
    return model


def parameters_of(words: Sequence[str]) -> dict[str, int]:
    """d=3, k=5 as numbers; ValueError for what is not NAME=WHOLE NUMBER, or is said twice."""
    found: dict[str, int] = {}
    for word in words:
        name, _, value = word.partition("=")
        if not name or not value.removeprefix("-").isdecimal() or len(value) > 18:
            raise InputError(f"--at {word}: write a parameter and a whole number, such as k=5")
        if name in found:
            raise InputError(f"--at gives {name} twice: give it once")
        found[name] = int(value)
    return found


def statement(entry: Theorem) -> Mapping[str, Any]:
    """What the ledger says of a model, for its sidecar."""
    return {
        "name": entry.name,
        "kind": entry.kind,
        "statement": entry.statement,
        "source": entry.source,
        "claim": entry.command,
        "sizes": {what: formula.text for what, formula in entry.sizes.items()},
    }
