"""Kinds in retrieval: parameters without any, examples of classes, calls that work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theory.retrieval import DEFAULT, Fact

# Packages whose functions have no kinds yet: whoever has declared them takes the name out.
MIGRATING: set[str] = set()

# "theory.retrieval.function", or "theory.retrieval.function:parameter": why it has no kind.
WITHOUT: dict[str, str] = {}

# Of each class that parameters are of, by its name: makes one.
EXAMPLES: dict[str, Callable[[], Any]] = {
    "Fact": lambda: Fact("John", "mother", "Helen"),
    "Lexicon": lambda: DEFAULT,
}

# Arguments of a call that works, where the examples of the kinds make none; the others stay theirs.
ARGUMENTS: dict[str, dict[str, Any]] = {}
