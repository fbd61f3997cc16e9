"""Layer invariants of heads that average."""

from __future__ import annotations

import numpy as np


def per_token(sums: np.ndarray, front: int = 1) -> np.ndarray:
    """The means (…, T, 1) of the values at each token and the tokens before it.

    A causal head that is built by `constructions.tokens.average` outputs these means. `sums` (…, T)
    are the sums of the values at each token and the tokens before it. They are divided by the
    number of these tokens, which includes `front` tokens in front of the sequence.
    """
    N = front + np.arange(1, sums.shape[-1] + 1)
    return (sums / N)[..., None]


def inverse(tokens: np.ndarray) -> np.ndarray:
    """The array (…, T, 1) of 1/N for each token, where N is the number of tokens up to this token.

    `tokens` has shape (…, T). N counts the token itself, the tokens before it and one token in
    front of the sequence, such as BOS.
    """
    return per_token(np.ones(tokens.shape))
