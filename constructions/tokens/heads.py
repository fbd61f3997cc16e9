"""Heads that constructions over tokens share: averages, counts, places on a line, and writes.

Positions stand on a line: a `line` is a pair of readings (j, j²).  T is the largest position, and
N = j + 1 or j (strict) the number of tokens that a token sees.

    average      every token that is seen, equally
    counted      position k, where k of the N tokens seen are marked: shares k/N become k
    placed       position a, where a is read
    latest       the latest token that is marked
    written      of the tokens that wrote at place a, the one of largest order; BOS if there is none

Scores are whole numbers over N where shares are read, and whole numbers elsewhere; each function
says by how much the right one exceeds all others.
"""

from __future__ import annotations

import numpy as np

from constructions.assembly import Head, LinearReads
from constructions.attention import Mask
from constructions.margins import Margin
from constructions.stream import LinearRead, one

Into = str | tuple[str, ...]
Pair = tuple[LinearRead, LinearRead]


def average(carries: LinearReads, into: Into, mask: Mask | None = None) -> Head:
    """The mean of what is carried over all tokens that are seen: all scores are 0, so that softmax
    at any sharpness is exact.  Of a flag it is k/N, of BOS's flag 1/N."""
    constant = 0 * one
    margin = Margin(np.inf, ties=True)
    return Head(constant, constant, carries, into, margin=margin, mask=mask)


def counted(
    share: LinearRead,
    inverse: LinearRead,
    line: Pair,
    carries: LinearReads,
    into: Into,
    T: int,
    mask: Mask | None = None,
) -> Head:
    """From position k, where share = k/N and inverse = 1/N of the same N ≤ T + 1 tokens.

        (T + 1)(2·share·j − inverse·j²) = (T + 1)/N · (k² − (k − j)²)

    is largest at j = k, by (T + 1)/N ≥ 1.  The position must be seen: 0 ≤ k, and k is not after the
    token.  So a position's table of k (k mod m, k², …) is read without a division.
    """
    c = float(T + 1)
    asks = (2 * c * share, -c * inverse)
    return Head(asks, line, carries, into, margin=Margin(1.0), mask=mask)


def placed(
    place: LinearRead, line: Pair, carries: LinearReads, into: Into, mask: Mask | None = None
) -> Head:
    """From position a = place, a whole number: 2a·j − j² = a² − (a − j)² is largest there, by 1.

    Of a < 0 it is position 0, by at least 1.
    """
    return Head((2.0 * place, -one), line, carries, into, margin=Margin(1.0), mask=mask)


def latest(
    flag: LinearRead,
    j: LinearRead,
    carries: LinearReads,
    into: Into,
    T: int,
    mask: Mask | None = None,
) -> Head:
    """From the latest token whose flag is 1, of the flags 0 and 1: (T + 2)·flag + j, gap 1.

    Where no flag is 1, it is the last token that is seen: BOS has a flag, or nothing is carried.
    """
    asks, answers = one, (T + 2.0) * flag + j
    return Head(asks, answers, carries, into, margin=Margin(1.0), mask=mask)


def written(
    asked: Pair,
    at: Pair,
    order: LinearRead,
    bos: LinearRead,
    carries: LinearReads,
    into: Into,
    most: int,
    mask: Mask | None = None,
    *,
    ties: bool = False,
) -> Head:
    """Of the tokens that wrote at the place that is asked for, the one of largest order; BOS, at
    which `at` and `order` are 0, if nobody has.

    `asked` reads (a, a²) and `at` (c, c²), whole numbers; |order| ≤ most, whole numbers that differ
    from token to token (or `ties`: those who wrote the same carry the same).  With M = 2·most + 2

        M(2a·c − c²) + order + (M a² − M/2)·bos = M a² + {order; −M/2; at most most − M}

    at c = a, at BOS, and elsewhere: gap 1.  With order = j it is the latest write, with −value the
    least one.
    """
    M = 2.0 * most + 2
    (a, square), (c, other) = asked, at
    asks = (2 * M * a, -M * one, one, M * square - M / 2 * one)
    margin = Margin(1.0, graded=not ties, ties=ties)
    return Head(asks, (c, other, order, bos), carries, into, margin=margin, mask=mask)
