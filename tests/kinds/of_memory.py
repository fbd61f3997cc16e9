"""Kinds in memory: parameters without any, examples of classes, calls that work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# Packages whose functions have no kinds yet: whoever has declared them takes the name out.
MIGRATING: set[str] = set()

# "theory.memory.function", or "theory.memory.function:parameter": why it has no kind.
WITHOUT: dict[str, str] = {
    "constructions.memory.retrieve:patterns": "tensors keep their dtype and device",
    "constructions.memory.retrieve:queries": "tensors keep their dtype and device",
}

# Of each class that parameters are of, by its name: makes one.
EXAMPLES: dict[str, Callable[[], Any]] = {}

# Arguments of a call that works, where the examples of the kinds make none; the others stay theirs.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "constructions.memory.retrieve": {"patterns": np.eye(2), "queries": np.eye(2)},
    "theory.memory.mixture": {"patterns": np.ones((3, 2))},
    "theory.memory.retrieval_overlap": {"load": 0.1},
    "theory.memory.update_rounding": {"eps": 2.0**-52},
}
