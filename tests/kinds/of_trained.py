"""Kinds in trained: parameters without any, examples of classes, calls that work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from constructions.trained import Configuration, shipped
from constructions.trained.tasks.hop import Hop
from constructions.trained.transformers import TransformerShape

TASK, SHAPE = Hop(2, 3), TransformerShape(1, 1, 2, 0)
NAME = shipped()[0]

# Packages whose functions have no kinds yet: whoever has declared them takes the name out.
MIGRATING: set[str] = set()

# "constructions.trained.function" or "…:parameter": why it has no kind.
WITHOUT: dict[str, str] = {}

# Of each class that parameters are of, by its name: makes one.
EXAMPLES: dict[str, Callable[[], Any]] = {
    "Task": lambda: TASK,
    "TransformerShape": lambda: SHAPE,
    "Configuration": lambda: Configuration(TASK, SHAPE, steps=1, learning_rate=0.1, batch_size=1),
}

# Arguments of a call that works, where the examples of the kinds make none; the others stay theirs.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "constructions.trained.preset": {"task": "hop"},
    "constructions.trained.load": {"name": NAME},
    "constructions.trained.configuration_of": {"name": NAME},
    "constructions.trained.log_of": {"name": NAME},
    "constructions.trained.sidecar": {"name": NAME},
}
