"""Linear threshold functions: Boolean functions whose values a hyperplane separates."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import scipy  # its submodules are loaded when they are used

from theory.kinds import checked
from theory.sensitivity.walsh_hadamard import BooleanFunction, n_bits
from theory.sequences import all_sequences


@checked
def is_linear_threshold(values: Annotated[Any, BooleanFunction(most=10)]) -> bool:
    """Whether a Boolean function f of d ≤ 10 bits is a linear threshold function.

    `values` (2^d,) contains f(x) for all words x of d bits in lexicographic order. With values of f
    in {±1} and words x in {±1}^d, the result is true if and only if there are weights w in R^d and
    a number b with f(x)(⟨w, x⟩ + b) ≥ 1 for all words x. The existence of w and b is decided by
    linear programming.
    """
    words = 2.0 * all_sequences(n_bits(values), 2) - 1
    signed = values[:, None] * np.column_stack([words, np.ones(len(words))])
    found = scipy.optimize.linprog(
        np.zeros(signed.shape[1]), -signed, -np.ones(len(words)), bounds=(None, None)
    )
    return bool(found.status == 0)
