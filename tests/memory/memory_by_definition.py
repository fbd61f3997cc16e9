"""Definitions and cases that the range tests of memory share."""

import numpy as np


def signs(*shape, seed=0):
    return 2 * np.random.default_rng([seed, *shape]).integers(2, size=shape) - 1


def steps(W, b, s, most):
    """States of synchronous updates, one after another."""
    states = [s]
    for _ in range(most):
        h = W @ states[-1] + b
        states.append(np.where(h == 0, states[-1], np.sign(h)))
    return states
