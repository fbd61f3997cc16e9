"""The task of induction heads: the token after the latest earlier occurrence of the current token.

Positions count from 0, and a match is the position *after* the earlier occurrence. So the current
position itself is a match if its token equals the previous token.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from theory.kinds import OneSequence, Tokens, checked
from theory.retrieval.ngram import ngram_counts
from theory.retrieval.ranks import ranks
from theory.waiting import Pace

Match: TypeAlias = Literal["latest", "first", "mean"]
"""The match that determines the answer: the latest, the first, or the majority of all matches."""

NoMatch: TypeAlias = Literal["bottom", "self"]
"""The answer if there is no match: ⊥, written −1, or the current token."""


def _neighbours(tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The latest and the first earlier position of each token (…, T), −1 if there is none."""
    # A stable sort lists the positions of each symbol in their order.
    order = np.argsort(tokens, axis=-1, kind="stable")
    ascending = np.take_along_axis(tokens, order, axis=-1)
    again = np.zeros(tokens.shape, dtype=bool)
    again[..., 1:] = ascending[..., 1:] == ascending[..., :-1]
    start = np.maximum.accumulate(np.where(again, 0, np.arange(tokens.shape[-1])), axis=-1)
    latest, first = np.full_like(tokens, -1), np.full_like(tokens, -1)
    before = np.where(again, np.roll(order, 1, axis=-1), -1)
    np.put_along_axis(latest, order, before, axis=-1)
    beginning = np.where(again, np.take_along_axis(order, start, axis=-1), -1)
    np.put_along_axis(first, order, beginning, axis=-1)
    return latest, first


@checked
def find(tokens: Tokens) -> np.ndarray:
    """The positions (…, T) after the latest earlier occurrence of the token at each position.

    The tokens are (…, T), integers ≥ 0. The result at position i is find(i) = max{ 1 ≤ j ≤ i :
    tokens[j−1] = tokens[i] }, and −1 if the set is empty. Here j is the position after an
    occurrence. [Sanford2024] denotes this function by find¹, counts positions from 1, and writes ⊥
    for the empty set. The time is O(T log T) per sequence.
    """
    latest, _ = _neighbours(tokens)
    return np.where(latest < 0, -1, latest + 1)


@checked
def find_by_definition(tokens: OneSequence) -> list[int]:
    """The positions after the latest earlier occurrence of each token, for one sequence.

    The result at position i is the largest j, 1 ≤ j ≤ i, with tokens[j−1] = tokens[i], and −1 if
    there is none. It equals the result of `find` and is computed by this definition in time O(T²)
    for T tokens.  A computation of more than a minute is announced on standard error.
    """
    row, found = tokens.tolist(), list[int]()
    pace = Pace("find_by_definition", len(row) * (len(row) + 1) / 2)
    for i in range(len(row)):
        found.append(max((j for j in range(1, i + 1) if row[j - 1] == row[i]), default=-1))
        pace.done(i + 1)
    return found


@checked
def induction(tokens: Tokens, match: Match = "latest", no_match: NoMatch = "bottom") -> np.ndarray:
    """The token after an earlier occurrence of the current token, at every position, (…, T).

    The task is that of induction heads [Elhage2021, Olsson2022]. The tokens are (…, T),
    integers ≥ 0. Let J(i) = { 1 ≤ j ≤ i : tokens[j−1] = tokens[i] } for a position i: the positions
    after an earlier occurrence of the token at i. If J(i) is not empty, the answer at i depends on
    `match`:
        "latest"  tokens[max J(i)],  as in [Sanford2024];
        "first"   tokens[min J(i)];
        "mean"    the most frequent of the tokens[j], j ∈ J(i), and in a tie the smallest: the mode
                  of the distribution of a statistical induction head [Edelman2024].
    If J(i) is empty, the answer depends on `no_match`: −1 for "bottom", or tokens[i] for "self".
    "mean" takes O(T²) memory per sequence; "latest" and "first" take O(T).
    """
    latest, first = _neighbours(tokens)
    if match == "mean":
        rank = ranks(tokens)
        symbols = np.zeros_like(tokens)
        np.put_along_axis(symbols, rank, tokens, axis=-1)
        # argmax returns the first maximum, and ranks are in the order of the tokens.
        likeliest = ngram_counts(rank, tokens.shape[-1], 2).argmax(axis=-1)
        answer = np.take_along_axis(symbols, likeliest, axis=-1)
    else:
        # Without a match, the token at position 0 is read, but not used.
        position = (latest if match == "latest" else first) + 1
        answer = np.take_along_axis(tokens, position, axis=-1)
    return np.where(latest < 0, -1 if no_match == "bottom" else tokens, answer)


@checked
def induction_by_definition(
    tokens: OneSequence, match: Match = "latest", no_match: NoMatch = "bottom"
) -> list[int]:
    """The token after an earlier occurrence of the current token, at each position of one sequence.

    The result equals that of `induction`, with the same meaning of `match` and `no_match`. It is
    computed directly from the definition.
    """
    row = tokens.tolist()
    answers = []
    for i, token in enumerate(row):
        followers = [row[j] for j in range(1, i + 1) if row[j - 1] == token]
        if not followers:
            answers.append(-1 if no_match == "bottom" else token)
        elif match == "mean":
            answers.append(max(sorted(set(followers)), key=followers.count))
        else:
            answers.append(followers[-1 if match == "latest" else 0])
    return answers
