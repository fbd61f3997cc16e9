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
from theory.waiting import Pace


@checked
def ngram_counts(tokens: VocabularyTokens, vocabulary_size: Count, order: Count) -> np.ndarray:
    """The numbers of times (…, T, V) that each symbol has followed the current context, int64.

    The context at position i consists of the last order − 1 tokens, tokens[i−order+2], …,
    tokens[i]. The count at position i for symbol v is the number of positions j, order − 1 ≤ j ≤ i,
    with tokens[j] = v and tokens[j−order+1], …, tokens[j−1] equal to the context. The count is zero
    for i < order − 2, because the context is then incomplete. For order 1 the context is empty, and
    the symbols in tokens[0], …, tokens[i] are counted. A statistical induction head outputs these
    counts divided by their sum [Edelman2024].

    The tokens are (…, T), integers from 0 to V − 1, where V = `vocabulary_size`. Raises
    `ValueError` if the O(T·V) counts per sequence do not fit into memory.
    """
    cells = (tokens.size + 1) * vocabulary_size
    fits_in_memory("the counts of all symbols", 28 * cells, "give fewer symbols or tokens")
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
    """The numbers of times that each symbol has followed the current context, for one sequence.

    The context at a position consists of the last order − 1 tokens, including the token at the
    position. Symbols are integers below `vocabulary_size`. The result equals that of `ngram_counts`
    and is computed directly from the definition.
    """
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
    """The smoothed n-gram predictions of the next token, at every position (…, T, V), float64.

    The prediction for a symbol is (count + alpha)/(total + alpha·V) (add-alpha smoothing,
    alpha ≥ 0). Here count is the number of times that the symbol has followed the current context
    of order − 1 tokens, and total is the sum of the counts over the V = `vocabulary_size` symbols.
    `ngram_counts` defines the counts. For alpha > 0 the result is the Bayes predictor if, for each
    context, the probabilities of the next token are drawn from the Dirichlet distribution with all
    parameters equal to alpha [Edelman2024, Nichani2024]. With alpha = 0 and total = 0, all V
    entries of the position are 0, which means that there is no prediction.

    Raises `ValueError` if the O(T·V) counts per sequence do not fit into memory, or if alpha·V
    overflows float64.
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
    """The smoothed n-gram predictions of the next token for one sequence, in rational arithmetic.

    The result equals that of `ngram`: the list of (count + alpha)/(total + alpha·V) over the V =
    `vocabulary_size` symbols, for each position. Here, count is the number of times that the symbol
    has followed the current context of order − 1 tokens, and total is the sum of the counts.
    """
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
        for v in set(seen):  # the factors of all other symbols are 1
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
    """The Bayes prediction of each next token of a Markov chain with a Dirichlet prior.

    For every context of order − 1 tokens, the probabilities of the next token are drawn
    independently from the Dirichlet distribution with all parameters equal to alpha. Let P be the
    marginal likelihood of a sequence. The prediction at position i for symbol v is P(tokens[0..i],
    v)/P(tokens[0..i]), computed in rational arithmetic for one sequence. For i < order − 2 the
    context is incomplete, and the prediction is the prior mean 1/V, where V = `vocabulary_size`. By
    a theorem the result equals that of `ngram_by_definition` with the same alpha; the computation
    does not use this theorem.  More than a minute is announced on standard error.
    """
    row = tokens.tolist()
    predictions = []
    pace = Pace("dirichlet_predictor_by_definition", len(row) * vocabulary_size)
    for i in range(len(row)):
        if i < order - 2:
            predictions.append([Fraction(1, vocabulary_size)] * vocabulary_size)
            continue
        past = row[: i + 1]
        evidence = _marginal_likelihood(past, vocabulary_size, order, alpha)
        predictions.append([])
        for v in range(vocabulary_size):
            likelihood = _marginal_likelihood([*past, v], vocabulary_size, order, alpha)
            predictions[-1].append(likelihood / evidence)
            pace.done(1)
    return predictions
