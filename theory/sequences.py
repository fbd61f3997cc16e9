"""Token sequences: random, Markov and adversarial ones, and all sequences of one length.

Shape glossary: `T` = length, `V` = vocabulary size.  All functions return int64 arrays (batch, T)
with entries from 0 to V − 1.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from theory.kinds import Count, InputError, Positive, Seed, Within, checked
from theory.machine import fits_in_memory

ROWS = 8
"""The number of rows of an adversarial family if the family does not determine it."""

LARGEST = 2**27
"""The largest number of entries of a table: 1 GiB of int64 or float64."""

Vocabulary: TypeAlias = Annotated[Count, Within(most=2**63 - 1)]
"""The number of symbols; every symbol fits in int64."""


@checked
def random_sequences(
    batch: Count, length: Count, vocabulary_size: Vocabulary, seed: Seed
) -> np.ndarray:
    """Sequences (batch, length) of independent tokens, uniform over `vocabulary_size` symbols."""
    fits_in_memory("the sequences", 8 * batch * length, "give fewer or shorter sequences")
    generator: np.random.Generator = seed
    return generator.integers(vocabulary_size, size=(batch, length))


@checked
def markov_sequences(
    batch: Count,
    length: Count,
    vocabulary_size: Vocabulary,
    order: Count,
    alpha: Positive,
    seed: Seed,
) -> np.ndarray:
    """Random token sequences (batch, length), each from a new random Markov chain [Edelman2024].

    Each token depends on the order − 1 tokens before it, so `order` is the length of the n-grams
    that determine the chain. In the chain of each sequence, every context of order − 1 tokens has a
    separate distribution of the next token, drawn from the Dirichlet distribution with all
    parameters equal to alpha. The first order − 1 tokens are uniform.

    Raises `ValueError` if the batch·V^order probabilities of all chains are more than 2²⁷ numbers,
    where V is `vocabulary_size`.
    """
    # For V ≥ 2, order 28 exceeds 2^27 numbers, so no larger power is computed.
    size = batch * vocabulary_size ** min(order, 28)
    if size > LARGEST:
        raise InputError(
            "the tables of probabilities have batch·vocabulary_size^order = "
            f"{batch}·{vocabulary_size}^{order} numbers, more than 2^27: give a smaller "
            "batch, vocabulary_size or order"
        )
    needed = 16 * batch * length + 24 * size
    fits_in_memory("the sequences", needed, "give fewer or shorter sequences")
    generator: np.random.Generator = seed
    contexts = vocabulary_size ** (order - 1)
    # At 10^300, all probabilities are 1/V in float64; the sums of larger numbers overflow.
    alphas = np.full(vocabulary_size, min(alpha, 1e300))
    rows = generator.dirichlet(alphas, size=(batch, contexts))
    limits = np.cumsum(rows, axis=-1)
    # The last cumulative probability is then exactly 1, above every draw.
    limits /= limits[..., -1:]
    tokens = generator.integers(vocabulary_size, size=(batch, length))
    draws = generator.random((batch, length, 1))
    each, context = np.arange(batch), np.zeros(batch, dtype=np.int64)
    for j in range(length):
        if j >= order - 1:
            tokens[:, j] = (limits[each, context] <= draws[:, j]).sum(axis=-1)
        context = (context * vocabulary_size + tokens[:, j]) % contexts
    return tokens


@checked
def all_sequences(length: Count, vocabulary_size: Count) -> np.ndarray:
    """All V^T sequences of length T over V symbols in lexicographic order, as an array (V^T, T).

    T is `length`, and V is `vocabulary_size`. Raises `ValueError` if the array has more than 2²⁷
    entries.
    """
    # No larger power is computed, as above; for V = 1 there is one row, of any length.
    if length * vocabulary_size ** min(length, 28) > LARGEST:
        raise InputError(
            f"the {vocabulary_size}^{length} sequences of length {length} have more than "
            "2^27 entries: give a smaller length or vocabulary_size"
        )
    if vocabulary_size == 1:
        return np.zeros((1, length), dtype=np.int64)
    return np.indices((vocabulary_size,) * length).reshape(length, -1).T.astype(np.int64)


def _no_repeats(length: int, V: int, generator: np.random.Generator) -> np.ndarray:
    """Rows of pairwise different tokens (length ≤ V): no position has an answer."""
    return generator.permuted(np.tile(np.arange(V), (ROWS, 1)), axis=-1)[:, :length]


def _two_symbols(length: int, V: int, generator: np.random.Generator) -> np.ndarray:
    """Rows abab…, baba…, and random words in two symbols a and b, which differ from row to row."""
    choices = generator.integers(2, size=(ROWS, length))
    choices[0], choices[1] = np.arange(length) % 2, np.arange(1, length + 1) % 2
    return np.take_along_axis(_no_repeats(2, V, generator), choices, axis=-1)


def _match_at_the_first_position_only(
    length: int, V: int, generator: np.random.Generator
) -> np.ndarray:
    """Rows whose last token also stands at position 0, and nowhere between (length ≥ 2)."""
    query = generator.integers(V, size=(ROWS, 1))
    tokens = (query + generator.integers(1, V, size=(ROWS, length))) % V
    tokens[:, [0, -1]] = query
    return tokens


def _latest_match_just_before_the_end(
    length: int, V: int, generator: np.random.Generator
) -> np.ndarray:
    """Rows whose last token also stands at position 0 and at T − 3 or T − 2 (length ≥ 4).

    The latest match is T − 2 in rows 0, 2, …, and the last position in rows 1, 3, ….
    """
    tokens = generator.integers(V, size=(ROWS, length))
    query = tokens[:, -1]
    tokens[:, 0] = query
    tokens[::2, -3] = query[::2]
    tokens[::2, -2] = (query[::2] + generator.integers(1, V, size=ROWS // 2)) % V
    tokens[1::2, -2] = query[1::2]
    return tokens


def _codes_one_bit_apart(length: int, V: int, generator: np.random.Generator) -> np.ndarray:
    """Rows whose last token follows symbols with binary codes that differ from its code in one bit.

    The last token occurs once before in rows 0, 2, …, and never before in rows 1, 3, …. The scores
    of all positions are nearly tied.
    """
    tokens = np.empty((ROWS, length), dtype=np.int64)
    for i, row in enumerate(tokens):
        query = int(generator.integers(V))
        flipped = [query ^ (1 << bit) for bit in range((V - 1).bit_length())]
        row[:] = generator.choice([symbol for symbol in flipped if symbol < V], size=length)
        if i % 2 == 0 and length > 1:
            row[generator.integers(length - 1)] = query
        row[-1] = query
    return tokens


def _long_gaps(length: int, V: int, generator: np.random.Generator) -> np.ndarray:
    """Rows w c c … c w: a word w of m different symbols, fillers c, and w again at the end.

    There is one row for each m from 1 to 8 with m < V and 2m < T.
    """
    longest = min(ROWS, V - 1, (length - 1) // 2)
    tokens = np.empty((longest, length), dtype=np.int64)
    for m, row in enumerate(tokens, start=1):
        symbols = generator.permutation(V)
        row[:] = symbols[0]
        row[:m] = row[length - m :] = symbols[1 : m + 1]
    return tokens


@checked
def adversarial_sequences(
    length: Count, vocabulary_size: Vocabulary, seed: Seed
) -> dict[str, np.ndarray]:
    """Families of sequences that are difficult for attention: a map from names to arrays.

    Each array has the shape (sequences, T). Attention heads that look up earlier occurrences of a
    token may fail on these sequences. T is `length`, and V is `vocabulary_size`. A code of a symbol
    is its binary representation.

    "all tokens equal"                    one row for each of the first 8 symbols
    "periodic"                            one row for each period 1, …, min(V, T)
    "no repeats"                          no token occurs twice (if V ≥ T)
    "two symbols"                         two symbols, alternating or random (if V ≥ 2)
    "codes one bit apart"                 other codes differ from the last in one bit (V ≥ 2)
    "match at the first position only"    the last token also stands at position 0 (V, T ≥ 2)
    "long gaps"                           a string, fillers, the string again (V ≥ 2, T ≥ 3)
    "latest match just before the end"    the last token also stands just before (V ≥ 2, T ≥ 4)

    A family that does not exist at this length and vocabulary is left out. Raises `ValueError` for
    families that do not fit in memory.
    """
    T, V = length, vocabulary_size
    numbers = min(V, T) * T + V
    fits_in_memory("the sequences", 16 * numbers, "give shorter sequences of fewer symbols")
    generator: np.random.Generator = seed
    periods = np.arange(1, min(V, T) + 1)
    families = {
        "all tokens equal": np.repeat(np.arange(min(V, ROWS))[:, None], T, axis=1),
        "periodic": generator.permutation(V)[np.arange(T) % periods[:, None]],
    }
    makers = {
        "no repeats": (_no_repeats, V >= T),
        "two symbols": (_two_symbols, V >= 2),
        "codes one bit apart": (_codes_one_bit_apart, V >= 2),
        "match at the first position only": (_match_at_the_first_position_only, min(V, T) >= 2),
        "long gaps": (_long_gaps, V >= 2 and T >= 3),
        "latest match just before the end": (
            _latest_match_just_before_the_end,
            V >= 2 and T >= 4,
        ),
    }
    for name, (make, exists) in makers.items():
        if exists:
            families[name] = make(T, V, generator)
    return families
