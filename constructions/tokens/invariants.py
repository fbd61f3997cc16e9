"""Layer invariants of heads that average."""

from __future__ import annotations

import numpy as np


def per_token(sums: np.ndarray, front: int = 1) -> np.ndarray:
    """The output of `average`, (…, T, 1): prefix sums (…, T) over the number N of tokens seen.

    N counts `front` tokens in front of the sequence.
    """
    N = front + np.arange(1, sums.shape[-1] + 1)
    return (sums / N)[..., None]


def inverse(tokens: np.ndarray) -> np.ndarray:
    """1/N for each of tokens (…, T), as (…, T, 1); N counts one token in front of the sequence."""
    return per_token(np.ones(tokens.shape))
