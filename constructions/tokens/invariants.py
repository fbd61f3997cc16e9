"""Layer invariants of heads that average."""

from __future__ import annotations

import numpy as np


def per_token(sums: np.ndarray, front: int = 1) -> np.ndarray:
    """The output of the head `average`, (…, T, 1): `sums` divided by the number of tokens seen.

    `sums` (…, T) are prefix sums of the values. The number of tokens seen includes `front` tokens
    in front of the sequence.
    """
    N = front + np.arange(1, sums.shape[-1] + 1)
    return (sums / N)[..., None]


def inverse(tokens: np.ndarray) -> np.ndarray:
    """1/N for each token, (…, T, 1), where N is the number of tokens that the token sees.

    `tokens` has shape (…, T). N counts the token itself, the tokens before it and one token in
    front of the sequence.
    """
    return per_token(np.ones(tokens.shape))
