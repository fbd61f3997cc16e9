"""Layer invariants of heads that average."""

from __future__ import annotations

import numpy as np


def per_token(sums: np.ndarray, front: int = 1) -> np.ndarray:
    """Sums up to each token (…, T) over how many tokens these are, `front` in front of all: what
    `average` finds, (…, T, 1)."""
    N = front + np.arange(1, sums.shape[-1] + 1)
    return (sums / N)[..., None]


def inverse(tokens: np.ndarray) -> np.ndarray:
    """1/N for each of tokens (…, T), N with the one in front of all, (…, T, 1)."""
    return per_token(np.ones(tokens.shape))
