"""The model of a statement, built by its `build` field: `python -m verify build NAME`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

import constructions
import constructions.computation
import theory.computation
from constructions.transformer import Transformer
from theory.kinds import InputError
from theory.programs.library.examples import PROGRAMS
from verify.ledger.theorems import TOPICS, Theorem

# Some constructions are exported by their topic only.
MODULES = [vars(constructions)[topic] for topic in TOPICS if topic in vars(constructions)]
CONSTRUCTIONS = {name: getattr(module, name) for module in MODULES for name in module.__all__}
PACKAGES = theory.computation, constructions, constructions.computation
NAMES = CONSTRUCTIONS | {name: getattr(each, name) for each in PACKAGES for name in each.__all__}
NAMES |= {"np": np, "PROGRAMS": PROGRAMS}


def built(entry: Theorem, **parameters: int) -> Transformer:
    """Returns the model of a statement at these parameters.

    Parameters that are not given have the largest tested value. Raises ValueError for a statement
    without a model, for an unknown parameter, and for parameters that the construction rejects.
    """
    if not entry.build:
        raise InputError(
            f"{entry.name} has no model: choose a statement that has a model, or see "
            f"`verify show {entry.name}`"
        )
    for name in parameters:
        if name not in entry.over:
            # An argument of the construction, such as vocabulary_size=V, is given by its symbol.
            symbol = re.search(rf"\b{re.escape(name)}=(\w+)", entry.build)
            known = [symbol[1]] if symbol and symbol[1] in entry.over else list(entry.over)
            raise InputError(
                f"{entry.build} has no parameter '{name}': give "
                f"{' or '.join(f'--at {each}={entry.over[each][-1]}' for each in known)}"
            )
    values = {name: tested[-1] for name, tested in entry.over.items()} | parameters
    theirs = vars(import_module(entry.package)) if entry.package else {}
    model: Transformer = eval(entry.build, {**NAMES, **theirs, **values})
    return model


def parameters_of(words: Sequence[str]) -> dict[str, int]:
    """Returns the values of parameters by name, from texts such as "d=3".

    Raises ValueError for a text of another form and for a name that occurs twice.
    """
    found: dict[str, int] = {}
    for word in words:
        name, _, value = word.partition("=")
        if not name or not value.removeprefix("-").isdecimal() or len(value) > 18:
            raise InputError(
                f"--at is {word}: give a parameter and an integer of at most 18 digits, such as k=5"
            )
        if name in found:
            raise InputError(f"--at gives the parameter {name} twice: give each parameter once")
        found[name] = int(value)
    return found


def statement(entry: Theorem) -> Mapping[str, Any]:
    """Returns the statement about a model, as JSON for the model's sidecar."""
    return {
        "name": entry.name,
        "kind": entry.kind,
        "statement": entry.statement,
        "source": entry.source,
        "claim": entry.command,
        "sizes": {what: formula.text for what, formula in entry.sizes.items()},
    }
