"""Half-spaces: Boolean functions whose two values a hyperplane separates."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from scipy.optimize import linprog

from theory.kinds import checked
from theory.sensitivity.walsh_hadamard import BooleanFunction, letters
from theory.sequences import all_sequences


@checked
def is_linear_threshold(values: Annotated[Any, BooleanFunction(most=10)]) -> bool:
    """Whether f(x)(⟨w, x⟩ + b) ≥ 1 for all x in {±1}^d, d ≤ 10, has a solution: by linear
    programming."""
    words = 2.0 * all_sequences(letters(values), 2) - 1
    signed = values[:, None] * np.column_stack([words, np.ones(len(words))])
    found = linprog(np.zeros(signed.shape[1]), -signed, -np.ones(len(words)), bounds=(None, None))
    return bool(found.status == 0)
