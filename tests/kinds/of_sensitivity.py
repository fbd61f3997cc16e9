"""Kinds in sensitivity: parameters without any, examples of classes, calls that work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from torch import nn

from theory.sensitivity import forced

# Packages whose functions have no kinds yet: whoever has declared them takes the name out.
MIGRATING: set[str] = set()

# "theory.sensitivity.function", or "theory.sensitivity.function:parameter": why it has no kind.
WITHOUT: dict[str, str] = {
    "theory.sensitivity.sensitivity:inputs": "arrays of any dtype, checked by hand",
}

# Of each class that parameters are of, by its name: makes one.
EXAMPLES: dict[str, Callable[[], Any]] = {}

# Arguments of a call that works, where the examples of the kinds make none; the others stay theirs.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "theory.sensitivity.sensitivity": {"inputs": np.eye(2, dtype=int), "change": forced(2)},
    "theory.sensitivity.majority_mean_influence": {"d": 3},
    "theory.sensitivity.majority_noise_sensitivity": {"d": 3},
    "theory.sensitivity.forced_profile_by_definition": {"function": sum},
    "theory.sensitivity.multiplexer": {"words": [0, 1, 1], "address": 1},
    "constructions.sensitivity.predictions": {"module": nn.Identity()},
    "theory.sensitivity.tabulated": {"function": lambda words: words[..., 0]},
    "theory.sensitivity.junta_table": {"k": 1},
    **{
        f"{room}.sensitivity.junta": {"positions": [0], "table": [0, 1]}
        for room in ("theory", "constructions")
    },
}
