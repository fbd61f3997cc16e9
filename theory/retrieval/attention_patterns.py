"""What single heads compute: the previous token, the average so far, a skip-gram.

Shape glossary: `…` leading dimensions, `T` positions, `V` the size of the vocabulary.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError


def previous_token(tokens: ArrayLike) -> np.ndarray:
    """tokens[i−1] at position i (…, T), and −1 at position 0 [Elhage2021].

    tokens (…, T), integers ≥ 0. Raises `ValueError` for other tokens and for an empty sequence.
    """
    tokens = checks.tokens("tokens", tokens)
    result = np.full_like(tokens, -1)
    result[..., 1:] = tokens[..., :-1]
    return result


def previous_token_by_definition(tokens: ArrayLike) -> list[int]:
    """`previous_token` of one sequence (T,), as its formula says."""
    row = checks.one_sequence("tokens", tokens)
    return [row[i - 1] if i >= 1 else -1 for i in range(len(row))]


def _counts(tokens: np.ndarray, vocabulary_size: int) -> np.ndarray:
    """How often each symbol stands at or before each position (…, T, V)."""
    return np.cumsum(tokens[..., None] == np.arange(vocabulary_size), axis=-2, dtype=np.int64)


def token_frequencies(tokens: ArrayLike, vocabulary_size: int) -> np.ndarray:
    """#{ j ≤ i : tokens[j] = v } / (i + 1), (…, T, V): the average so far of the one-hot tokens.

    What a head with W_Q = W_K = 0 computes. tokens (…, T), integers from 0 to V − 1. Every entry is
    the float64 nearest to the fraction.

    Raises `ValueError` for tokens outside the vocabulary, for an empty sequence, and unless
    vocabulary_size ≥ 1.
    """
    tokens = checks.tokens("tokens", tokens, vocabulary_size)
    return _counts(tokens, vocabulary_size) / np.arange(1, tokens.shape[-1] + 1)[:, None]


def token_frequencies_by_definition(
    tokens: ArrayLike, vocabulary_size: int
) -> list[list[Fraction]]:
    """`token_frequencies` of one sequence (T,), in rational arithmetic."""
    row = checks.one_sequence("tokens", tokens, vocabulary_size)
    return [
        [Fraction(row[: i + 1].count(v), i + 1) for v in range(vocabulary_size)]
        for i in range(len(row))
    ]


def score_table(table: ArrayLike) -> np.ndarray:
    """`table` (V, V) as a float64 array with finite entries; else `ValueError`."""
    array = checks.real("table", table)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] < 1:
        raise InputError(f"table has shape {array.shape}: give one row and one column per token")
    checks.finite("table", bool(np.isfinite(array).all()))
    return array


def skip_gram(tokens: ArrayLike, table: ArrayLike) -> np.ndarray:
    r"""The tokens that a head attends to, with the score table[query token, key token], (…, T, V).

    At position i hard attention averages over { j ≤ i : table[tokens[i], tokens[j]] is the largest
    of all j ≤ i }; the result is the share of each symbol v among the tokens there. With a large
    table["\right", "\left"] and zeros elsewhere, "\right" looks back for "\left", over any
    distance [Elhage2021]. Softmax attention tends to this as its scores are scaled up.

    tokens (…, T), integers from 0 to V − 1; table (V, V), finite.

    Raises `ValueError` for tokens outside the vocabulary, for an empty sequence, and for a table
    that is not square or not finite.
    """
    table = score_table(table)
    tokens = checks.tokens("tokens", tokens, len(table))
    counts = _counts(tokens, len(table))
    scores = np.where(counts > 0, table[tokens], -np.inf)
    attended = np.where(scores == scores.max(axis=-1, keepdims=True), counts, 0)
    return attended / attended.sum(axis=-1, keepdims=True)


def skip_gram_by_definition(tokens: ArrayLike, table: ArrayLike) -> list[list[Fraction]]:
    """`skip_gram` of one sequence (T,), in rational arithmetic."""
    scores = score_table(table).tolist()
    row = checks.one_sequence("tokens", tokens, len(scores))
    result = []
    for i, query in enumerate(row):
        largest = max(scores[query][row[j]] for j in range(i + 1))
        seen = [row[j] for j in range(i + 1) if scores[query][row[j]] == largest]
        result.append([Fraction(seen.count(v), len(seen)) for v in range(len(scores))])
    return result
