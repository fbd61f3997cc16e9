"""The functions of single heads: the previous token, the average so far, a skip-gram.

Shape glossary: `…` leading dimensions, `T` positions, `V` the size of the vocabulary.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import (
    Count,
    OneSequence,
    Reals,
    Tokens,
    VocabularySequence,
    VocabularyTokens,
    Within,
    checked,
)
from theory.machine import fits_in_memory
from theory.retrieval.ranks import Few

ScoreTable: TypeAlias = Annotated[Any, Reals("V V")]
"""Finite scores, one row and one column per token."""


@checked
def previous_token(tokens: Tokens) -> np.ndarray:
    """The token at the previous position, for every position (…, T), and −1 at position 0.

    This is the output of a previous-token head [Elhage2021]. The tokens are (…, T), integers ≥ 0.
    """
    result = np.full_like(tokens, -1)
    result[..., 1:] = tokens[..., :-1]
    return result


@checked
def previous_token_by_definition(tokens: OneSequence) -> list[int]:
    """The previous token at all positions of one sequence, and −1 at position 0."""
    row = tokens.tolist()
    return [row[i - 1] if i >= 1 else -1 for i in range(len(row))]


def _counts(tokens: np.ndarray, vocabulary_size: int) -> np.ndarray:
    """The number of occurrences of each symbol at or before each position (…, T, V)."""
    cells = tokens.size * vocabulary_size
    fits_in_memory("the counts of all symbols", 40 * cells, "give fewer symbols or tokens")
    return np.cumsum(tokens[..., None] == np.arange(vocabulary_size), axis=-2, dtype=np.int64)


@checked
def token_frequencies(tokens: VocabularyTokens, vocabulary_size: Count) -> np.ndarray:
    """The relative frequencies (…, T, V) of the symbols among the tokens up to each position.

    The tokens are (…, T), integers from 0 to V − 1, where V = `vocabulary_size`. The frequency of
    symbol v at position i is #{ j ≤ i : tokens[j] = v } / (i + 1). So the result is the running
    average of one-hot tokens, which a head with W_Q = W_K = 0 computes. Every entry is the float64
    nearest to the exact fraction. Raises `ValueError` if the counts do not fit into memory.
    """
    return _counts(tokens, vocabulary_size) / np.arange(1, tokens.shape[-1] + 1)[:, None]


@checked
def token_frequencies_by_definition(
    tokens: VocabularySequence, vocabulary_size: Few
) -> list[list[Fraction]]:
    """The relative frequencies of the symbols up to each position of one sequence, as fractions.

    The frequency of symbol v at position i is #{ j ≤ i : tokens[j] = v } / (i + 1). The result
    equals that of `token_frequencies`, in rational arithmetic.
    """
    row = tokens.tolist()
    return [
        [Fraction(row[: i + 1].count(v), i + 1) for v in range(vocabulary_size)]
        for i in range(len(row))
    ]


@checked
def skip_gram(tokens: Annotated[Tokens, Within(below="V")], table: ScoreTable) -> np.ndarray:
    r"""The frequencies (…, T, V) of the symbols to which a skip-gram head attends.

    The score of key token w for query token v is table[v, w]. At position i, the head attends by
    average-hard attention: uniformly to the positions j ≤ i with the largest score table[tokens[i],
    tokens[j]]. The result at i contains the relative frequencies of the symbols at these positions
    j. For example, if table["\right", "\left"] is large and all other scores are 0, "\right"
    attends to "\left" at any distance [Elhage2021]. Softmax attention tends to average-hard
    attention as all scores are multiplied by a factor that tends to infinity.

    The tokens are (…, T), integers from 0 to V − 1; the table is (V, V), with finite entries,
    which are read as float64.
    """
    counts = _counts(tokens, len(table))
    scores = np.where(counts > 0, table[tokens], -np.inf)
    attended = np.where(scores == scores.max(axis=-1, keepdims=True), counts, 0)
    return attended / attended.sum(axis=-1, keepdims=True)


@checked
def skip_gram_by_definition(
    tokens: Annotated[OneSequence, Within(below="V")], table: ScoreTable
) -> list[list[Fraction]]:
    """The frequencies of the symbols to which a skip-gram head attends, for one sequence.

    The score of key token w for query token v is table[v, w]. At position i, the head attends
    uniformly to the positions j ≤ i with the largest score. The result at i is the list of the
    relative frequencies of the symbols at these positions, in rational arithmetic. It equals the
    result of `skip_gram`. The entries of the table are read as float64.
    """
    scores, row = table.tolist(), tokens.tolist()
    result = []
    for i, query in enumerate(row):
        largest = max(scores[query][row[j]] for j in range(i + 1))
        seen = [row[j] for j in range(i + 1) if scores[query][row[j]] == largest]
        result.append([Fraction(seen.count(v), len(seen)) for v in range(len(scores))])
    return result
