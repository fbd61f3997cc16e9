"""Definitions and cases that the range tests of language share."""

from fractions import Fraction as F

import numpy as np


def rng(seed=0):
    return np.random.default_rng(seed)


def law(m, seed=0, zeros=False, most=9):
    """A distribution on m outcomes with a small denominator."""
    weights = rng(seed).integers(0 if zeros else 1, most, size=m).tolist()
    weights[0] += 1
    return [F(w, sum(weights)) for w in weights]
