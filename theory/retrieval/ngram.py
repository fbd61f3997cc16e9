"""n-grams in context: counts of the tokens after each context, and the Bayes predictor.

Shape glossary: `…` leading dimensions, `T` positions, `V` the size of the vocabulary. `order` is
the n of "n-gram": with order 1 the context is empty, with order 2 (bigrams) it is the current
token.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Annotated

import numpy as np

from theory.kinds import (
    Count,
    Exact,
    InputError,
    NonNegative,
    VocabularySequence,
    VocabularyTokens,
    Within,
    checked,
)
from theory.machine import fits_in_memory
from theory.retrieval.ranks import Few, ranks


@checked
def ngram_counts(tokens: VocabularyTokens, vocabulary_size: Count, order: Count) -> np.ndarray:
    """The number of times that each symbol has followed the current context, (…, T, V), int64.

    The count at position i for symbol v is the number of positions j, order − 1 ≤ j ≤ i, with
    tokens[j] = v and tokens[j−order+1], …, tokens[j−1] equal to tokens[i−order+2], …, tokens[i]. It
    is zero for i < order − 2, where the context is not complete. For order 1 these are the counts
    of tokens[0], …, tokens[i]. A statistical induction head outputs these counts divided by their
    sum [Edelman2024].

    The tokens are (…, T), integers from 0 to V − 1, where V = `vocabulary_size`. The memory is
    O(T·V) per sequence; the function raises `ValueError` if less is available.
    """
    cells = (tokens.size + 1) * vocabulary_size
    fits_in_memory("the counts of all symbols", 16 * cells, "give fewer symbols or tokens")
    *leading, length = tokens.shape
    rows = tokens.reshape(prod(leading), length)
    each = np.arange(len(rows))
    counts = np.zeros((*rows.shape, vocabulary_size), dtype=np.int64)
    start = order - 1
    if start < length:
        # context[:, j − start] numbers the order − 1 tokens before position j = start, …, T.
        context = np.zeros((len(rows), length + 1), dtype=np.int64)
        for known in range(start):
            context = ranks(context[:, :-1] * vocabulary_size + rows[:, known:])
        so_far = np.zeros((len(rows), length + 1, vocabulary_size), dtype=np.int64)
        for j in range(start, length + 1):
            now = context[:, j - start]
            if j > 0:
                counts[:, j - 1] = so_far[each, now]
            if j < length:
                so_far[each, now, rows[:, j]] += 1
    return counts.reshape(*leading, length, vocabulary_size)


@checked
def ngram_counts_by_definition(
    tokens: VocabularySequence, vocabulary_size: Few, order: Count
) -> list[list[int]]:
    """`ngram_counts` of one sequence (T,): V counts for each position, by the definition."""
    row = tokens.tolist()
    counts = []
    for i in range(len(row)):
        here = [0] * vocabulary_size
        if i >= order - 2:
            context = row[i - order + 2 : i + 1]
            for j in range(order - 1, i + 1):
                if row[j - order + 1 : j] == context:
                    here[row[j]] += 1
        counts.append(here)
    return counts


@checked
def ngram(
    tokens: VocabularyTokens, vocabulary_size: Count, order: Count, alpha: NonNegative
) -> np.ndarray:
    """Add-alpha smoothed frequencies (count + alpha)/(total + alpha·V), (…, T, V), float64.

    The counts are those of `ngram_counts`, total is their sum over the V = `vocabulary_size`
    symbols, and alpha ≥ 0. For alpha > 0 this is the Bayes predictor when the rows of transition
    probabilities are drawn from Dirichlet(alpha, …, alpha) [Edelman2024, Nichani2024]. With
    alpha = 0 a row without counts (total = 0) is all zeros, which is not a distribution and stands
    for no prediction.

    Raises `ValueError` as `ngram_counts` does, and if alpha·V overflows float64.
    """
    counts = ngram_counts(tokens, vocabulary_size, order)
    prior = alpha * vocabulary_size
    if prior == np.inf:
        raise InputError(
            f"alpha is {alpha}: alpha·vocabulary_size overflows float64; give a smaller alpha"
        )
    total = counts.sum(axis=-1, keepdims=True) + prior
    return np.divide(counts + alpha, total, out=np.zeros(counts.shape), where=total > 0)


@checked
def ngram_by_definition(
    tokens: VocabularySequence,
    vocabulary_size: Few,
    order: Count,
    alpha: Annotated[Exact, Within(least=0)] | NonNegative,
) -> list[list[Fraction]]:
    """`ngram` of one sequence (T,), in rational arithmetic (a float alpha is read exactly)."""
    alpha = Fraction(alpha)
    frequencies = []
    for here in ngram_counts_by_definition(tokens, vocabulary_size, order):
        total = sum(here) + alpha * vocabulary_size
        frequencies.append([(c + alpha) / total if total else Fraction(0) for c in here])
    return frequencies


def _rising(x: Fraction, m: int) -> Fraction:
    """The rising factorial x(x+1)…(x+m−1)."""
    return prod((x + step for step in range(m)), start=Fraction(1))


def _marginal_likelihood(
    row: list[int], vocabulary_size: int, order: int, alpha: Fraction
) -> Fraction:
    """P(row[order−1:] | row[:order−1]), with the transition rows integrated out.

    For the counts c of one context, ∫ Π_v p_v^{c_v} dDirichlet(alpha, …, alpha)(p) = Π_v
    alpha^{(c_v)} / (V·alpha)^{(Σc)}, where x^{(m)} is the rising factorial. The rows of different
    contexts are independent.
    """
    followers: dict[tuple[int, ...], list[int]] = {}
    for j in range(order - 1, len(row)):
        followers.setdefault(tuple(row[j - order + 1 : j]), []).append(row[j])
    likelihood = Fraction(1)
    for seen in followers.values():
        for v in range(vocabulary_size):
            likelihood *= _rising(alpha, seen.count(v))
        likelihood /= _rising(vocabulary_size * alpha, len(seen))
    return likelihood


@checked
def dirichlet_predictor_by_definition(
    tokens: VocabularySequence,
    vocabulary_size: Few,
    order: Count,
    alpha: Annotated[Exact, Within(above=0)],
) -> list[list[Fraction]]:
    """The Bayes predictor for transition rows ~ Dirichlet(alpha, …, alpha), of one sequence (T,).

    The prediction at position i for symbol v is P(tokens[0..i], v)/P(tokens[0..i]), a ratio of two
    marginal likelihoods, each in rational arithmetic. Every context of order − 1 tokens has its own
    row. If the context is not complete (i < order − 2), the prediction is the prior mean 1/V, where
    V = `vocabulary_size`. Equality with `ngram_by_definition` at the same alpha is a theorem, which
    is not used here.
    """
    row = tokens.tolist()
    predictions = []
    for i in range(len(row)):
        if i < order - 2:
            predictions.append([Fraction(1, vocabulary_size)] * vocabulary_size)
            continue
        past = row[: i + 1]
        evidence = _marginal_likelihood(past, vocabulary_size, order, alpha)
        predictions.append(
            [
                _marginal_likelihood([*past, v], vocabulary_size, order, alpha) / evidence
                for v in range(vocabulary_size)
            ]
        )
    return predictions
