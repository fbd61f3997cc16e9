"""Kinds in arithmetic: parameters without any, examples of classes, calls that work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# Packages whose functions have no kinds yet: whoever has declared them takes the name out.
MIGRATING: set[str] = set()

# "theory.arithmetic.function", or "theory.arithmetic.function:parameter": why it has no kind.
WITHOUT: dict[str, str] = {}

# Of each class that parameters are of, by its name: makes one.
EXAMPLES: dict[str, Callable[[], Any]] = {}

# Arguments of a call that works, where the examples of the kinds make none; the others stay theirs.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "theory.arithmetic.demands": {"m": 3},
    "theory.arithmetic.few_frequencies_margin": {"K": [1, 2]},
    "theory.arithmetic.bin_of": {"period": 2},
    "theory.arithmetic.peak_ratios": {"E": np.eye(6)},
    "theory.arithmetic.permutation_maxima": {"E": np.eye(6)},
    "theory.arithmetic.without_trend": {"degree": 1},
    "theory.arithmetic.without": {"confound": [0, 1]},
    "constructions.arithmetic.adder": {"alpha": 4.0, "bits": 14},
    **{
        f"theory.arithmetic.{name}": dict.fromkeys("uvw", np.eye(2, 3))
        for name in ("cubes", "frequency_shares", "mean_over_cubes", "network", "normalised_margin")
    },
}
