"""Kinds in sensitivity: parameters without any, examples of classes, calls that work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Packages whose functions have no kinds yet: whoever has declared them takes the name out.
MIGRATING = {"theory.sensitivity", "constructions.sensitivity"}

# "theory.sensitivity.function", or "theory.sensitivity.function:parameter": why it has no kind.
WITHOUT: dict[str, str] = {}

# Of each class that parameters are of, by its name: makes one.
EXAMPLES: dict[str, Callable[[], Any]] = {}

# Arguments of a call that works, where the examples of the kinds make none; the others stay theirs.
ARGUMENTS: dict[str, dict[str, Any]] = {}
