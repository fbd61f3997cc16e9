"""Kinds in graphs: parameters without any, examples of classes, calls that work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from theory.graphs import Channels

# Packages whose functions have no kinds yet: whoever has declared them takes the name out.
MIGRATING: set[str] = set()

# "theory.graphs.function", or "theory.graphs.function:parameter": why it has no kind.
WITHOUT: dict[str, str] = {
    "theory.graphs.cycles": "any number of sizes, checked by hand",
    "theory.graphs.side_by_side": "any number of graphs, checked by hand",
}

# Of each class that parameters are of, by its name: makes one.
EXAMPLES: dict[str, Callable[[], Any]] = {"Channels": lambda: Channels(np.eye(2), np.eye(2))}

# Arguments of a call that works, where the examples of the kinds make none; the others stay theirs.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "theory.graphs.disentangled_features": {"weights": []},
    "theory.graphs.search": {"edges": [[0, 1]], "source": 0},
    "theory.graphs.reachable": {"edges": [[0, 1]], "source": 0},
    "theory.graphs.relabelled": {"order": [1, 0]},
}
