"""Common heads of constructions over tokens: averages, counts, places on a line, and writes.

Positions are on a line: a `line` is a pair of linear reads (j, j²).  T is the largest position, and
N = j + 1 or, if strictly causal, j is the number of tokens that a token sees.

    average      attends uniformly to all tokens that the mask admits
    counted      attends to position k, where k of the N tokens seen are marked: k/N becomes k
    placed       attends to position a, where a is read from a register
    latest       attends to the latest marked token
    written      attends to the write of largest order at place a, or to BOS if there is none

Scores are integers, or integers divided by N if fractions k/N are read; each function states its
score gap.
"""

from __future__ import annotations

import numpy as np

from constructions.assembly import Head, LinearReads
from constructions.attention import Mask
from constructions.margins import Margin
from constructions.stream import LinearRead, one

Into = str | tuple[str, ...]
Pair = tuple[LinearRead, LinearRead]


def average(value: LinearReads, into: Into, mask: Mask | None = None) -> Head:
    """A head that outputs the mean of the values of all N tokens to which the mask gives access.

    All scores are 0, so the weights are uniform for softmax attention at any inverse temperature.
    For a value that is 1 at k of these tokens and 0 at the others, the mean is k/N. For a value
    that is 1 at BOS only, the mean is 1/N.

    `value` reads the value of a token, and the output is added to the register `into` of the
    residual stream.
    """
    constant = 0 * one
    margin = Margin(np.inf, ties=True)
    return Head(constant, constant, value, into, margin=margin, mask=mask)


def counted(
    fraction: LinearRead,
    inverse: LinearRead,
    line: Pair,
    value: LinearReads,
    into: Into,
    T: int,
    mask: Mask | None = None,
) -> Head:
    """A head that outputs the value at position k, where `fraction` = k/N and `inverse` = 1/N.

    T is the largest position. N ≤ T + 1 is the number of tokens to which the querying token may
    attend, and the token at position k < N must be one of them. At position j, `line` reads j and
    j². The score at position j,

        (T + 1)(2·fraction·j − inverse·j²) = (T + 1)/N · (k² − (k − j)²),

    is largest at j = k. It exceeds all other scores by at least (T + 1)/N ≥ 1. So a function of k
    that is stored at position k, such as k² or the remainder of k modulo a constant, is read
    without a division.
    """
    c = float(T + 1)
    query = (2 * c * fraction, -c * inverse)
    return Head(query, line, value, into, margin=Margin(1.0), mask=mask)


def placed(place: LinearRead, line: Pair, value: LinearReads, into: Into) -> Head:
    """A head that outputs the value at position a, where `place` reads the integer a.

    `line` reads j and j² at position j. The score 2a·j − j² = a² − (a − j)² is largest at j = a,
    and exceeds all other scores by at least 1. For a < 0 the head outputs the value at position 0,
    whose score also exceeds all others by at least 1.
    """
    return Head((2.0 * place, -one), line, value, into, margin=Margin(1.0))


def latest(
    flag: LinearRead,
    j: LinearRead,
    value: LinearReads,
    into: Into,
    T: int,
) -> Head:
    """A head that outputs the value at the latest token for which `flag` reads 1.

    At each token `flag` reads 0 or 1, and `j` reads the position j ≤ T, where T is the largest
    position. The score of a token is (T + 2)·flag + j. The largest score exceeds all others by at
    least 1.

    If `flag` reads 0 at all tokens, the output is the value at the last token to which the
    querying token may attend. To prevent this, set the flag of BOS to 1, or make the value at the
    last token 0.
    """
    query, key = one, (T + 2.0) * flag + j
    return Head(query, key, value, into, margin=Margin(1.0))


def written(
    place: Pair,
    at: Pair,
    order: LinearRead,
    bos: LinearRead,
    value: LinearReads,
    into: Into,
    most: int,
    mask: Mask | None = None,
    *,
    ties: bool = False,
) -> Head:
    """A head that outputs the value of largest order among the values written to a given place.

    Every token except BOS has two integers, a place c and an order with |order| ≤ most. It writes
    its value to the place c. At this token `value` reads the value, `at` reads (c, c²) and `order`
    reads the order. At the token for which the head computes an output, `place` reads (a, a²),
    where a is the place that is looked up. If no token writes to a, the output is the value of BOS.
    Different tokens have different orders; if `ties` is true, tokens of equal order are allowed,
    and have equal values. `bos` reads 1 at BOS and 0 elsewhere. At BOS, `at` and `order` are 0.
    With M = 2·most + 2, the score

        M(2a·c − c²) + order + (M a² − M/2)·bos

    equals M a² + order if c = a, equals M a² − M/2 at BOS, and is at most M a² + most − M at all
    other tokens. So the largest score exceeds all others by at least 1. If the order is the
    position, the head selects the latest value; if the order is −value, the head selects the
    smallest value.
    """
    M = 2.0 * most + 2
    (a, square), (c, other) = place, at
    query = (2 * M * a, -M * one, one, M * square - M / 2 * one)
    margin = Margin(1.0, graded=not ties, ties=ties)
    return Head(query, (c, other, order, bos), value, into, margin=margin, mask=mask)
