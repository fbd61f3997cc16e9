"""Linear threshold functions: Boolean functions whose values a hyperplane separates."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from scipy.optimize import linprog

from theory.kinds import checked
from theory.sensitivity.walsh_hadamard import BooleanFunction, n_bits
from theory.sequences import all_sequences


@checked
def is_linear_threshold(values: Annotated[Any, BooleanFunction(most=10)]) -> bool:
    """Whether a Boolean function of d ≤ 10 bits is a linear threshold function.

    `values` (2^d,) is the table of a function f of d bits with values ±1. The result is true if and
    only if there are weights w in R^d and a number b with f(x)(⟨w, x⟩ + b) ≥ 1 for all words x in
    {±1}^d. The existence of w and b is decided by linear programming.
    """
    words = 2.0 * all_sequences(n_bits(values), 2) - 1
    signed = values[:, None] * np.column_stack([words, np.ones(len(words))])
    found = linprog(np.zeros(signed.shape[1]), -signed, -np.ones(len(words)), bounds=(None, None))
    return bool(found.status == 0)
