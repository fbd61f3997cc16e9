"""Kinds in stock: parameters without any, examples of classes, calls that work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from constructions import previous_token
from constructions.stock import Gadgets

# Packages whose functions have no kinds yet: whoever has declared them takes the name out.
MIGRATING: set[str] = set()

# "constructions.stock.function" or "…:parameter": why it has no kind.
WITHOUT: dict[str, str] = {}

# Of each class that parameters are of, by its name: makes one.
EXAMPLES: dict[str, Callable[[], Any]] = {
    "Model": lambda: previous_token(2, 3),
    "Transformer": lambda: previous_token(2, 3),
    "Gadgets": lambda: Gadgets(1, 0.5, 2, 1.0, 1.0),
    "dtype": lambda: torch.float64,
}

# Arguments of a call that works, where the examples of the kinds make none; the others stay theirs.
ARGUMENTS: dict[str, dict[str, Any]] = {}
