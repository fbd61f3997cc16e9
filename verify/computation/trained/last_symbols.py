"""A null model that predicts the state from the last symbols, by a table fitted to other words."""

from __future__ import annotations

import numpy as np

from verify.computation.trained.attention import Words

SYMBOLS = 8


def by_last_symbols(others: Words, words: Words, outside: int) -> np.ndarray:
    """A prediction at each token: the most frequent state after the same 8 symbols in `others`.

    The 8 symbols are the last symbols up to the token. The result has shape (m, N) for m words in
    rows of N tokens.  If no word of `others` contains these 8 symbols, the prediction is the most
    frequent state in `others`.  The token `outside` counts as a symbol, and is also put before each
    row.
    """
    keys, known = (_last(each.tokens, outside) for each in (words, others))
    inside, states = others.inside, int(others.states.max()) + 1
    counts = np.zeros(((outside + 1) ** SYMBOLS, states), dtype=np.int64)
    np.add.at(counts, (known[inside], others.states[inside]), 1)
    table = np.where(counts.any(1), counts.argmax(1), counts.sum(0).argmax())
    return np.asarray(table[keys])


def _last(tokens: np.ndarray, outside: int) -> np.ndarray:
    """The last 8 symbols up to each token, as one number."""
    N = tokens.shape[1]
    padded = np.pad(tokens, ((0, 0), (SYMBOLS - 1, 0)), constant_values=outside)
    powers = [padded[:, i : i + N] * (outside + 1) ** i for i in range(SYMBOLS)]
    return np.asarray(np.sum(powers, axis=0))
