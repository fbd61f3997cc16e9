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
    "theory.graphs.disentangled_outputs:read_out": "integers of any size, checked by hand",
    "theory.graphs.smallest_subgraph:read_out": "integers of any size, checked by hand",
}

# Of each class that parameters are of, by its name: makes one.
EXAMPLES: dict[str, Callable[[], Any]] = {"Channels": lambda: Channels(np.eye(2), np.eye(2))}

# Arguments of a call that works, where the examples of the kinds make none; the others stay theirs.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "theory.graphs.disentangled_features": {"weights": []},
    "theory.graphs.disentangled_outputs": {"weights": [], "read_out": np.eye(2, dtype=int)},
    "theory.graphs.smallest_subgraph": {
        "weights": [],
        "read_out": np.eye(4, 2, dtype=int),
        "A": np.eye(2, dtype=int),
        "i": 0,
        "j": 1,
    },
    "theory.graphs.search": {"edges": [[0, 1]], "source": 0},
    "theory.graphs.reachable": {"edges": [[0, 1]], "source": 0},
    "theory.graphs.relabelled": {"order": [1, 0]},
}
