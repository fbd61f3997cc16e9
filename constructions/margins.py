"""Proved properties of heads and MLPs: score gaps, and registers that are made exact again.

A head has a `Margin`, a lower bound on its score gap over all prompts (`block.margins`); an MLP
`Restores` registers (`block.restores`).  From these and the weights, `softmax.py` bounds the error
of softmax attention.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

MOST_EXPONENT = 700.0  # e^700 does not overflow float64


@dataclass(frozen=True)
class Margin:
    """A head's smallest score gap between the attended tokens and all others, over all prompts.

    `graded` states that for each m ≥ 1 at most 4m tokens have a score that is at least m·gap and
    less than (m + 1)·gap below the largest score. `ties` states that several tokens may have the
    largest score; hardmax then averages the values of these tokens.
    """

    gap: float
    graded: bool = True
    ties: bool = False

    def leak(self, sharpness: float, score_error: float, others: int) -> float:
        """An upper bound on the total softmax weight of tokens to which hardmax does not attend.

        It is x/(1 + x) with x = e^{2βσ}·min(others·q, 4q/(1 − q)²) and q = e^{−β·gap}, where σ is
        `score_error`.  Here x bounds the sum of the exponentials of these tokens' scores, divided
        by the exponential of the largest score; 4q/(1 − q)² holds for graded scores.

        `sharpness` is β, each score has an error of at most `score_error`, and `others` is the
        number of tokens to which hardmax does not attend.
        """
        q = math.exp(-sharpness * self.gap)
        crowd = others * q
        if self.graded and q < 1:
            crowd = min(crowd, 4 * q / (1 - q) ** 2)
        exponent = 2 * score_error * sharpness
        if exponent >= MOST_EXPONENT:
            return 1.0
        ratio = crowd * math.exp(exponent)
        return ratio / (1 + ratio) if ratio < math.inf else 1.0

    def tie_imbalance(self, sharpness: float, score_error: float) -> float:
        """An upper bound on Σ |softmax weight − uniform weight| over the tokens of largest score.

        With β = `sharpness`, score errors of at most σ = `score_error` multiply each of these
        weights by a factor between e^{−2βσ} and e^{2βσ}.
        """
        exponent = 2 * score_error * sharpness
        return min(2.0, math.expm1(min(exponent, MOST_EXPONENT))) if self.ties else 0.0


@dataclass(frozen=True)
class Restores:
    """The property of a layer that its MLP makes the registers `into` exact again.

    The condition is that, before the MLP, the error of each register in `within` is at most the
    number that `within` gives for this register. The number 0 means that the register is exact.
    """

    into: tuple[str, ...]
    within: Mapping[str, float]


def fraction_of_a_quarter(k: int) -> float:
    """The error allowed in each of k values: 1/(4k), rounded down to a multiple of 2^−20."""
    return 2**18 // k / 2**20


def sharpening(amplification: float) -> float:
    """The smallest power of two c with 16·amplification·e^{−c} ≤ 1/4.

    Scores of an early layer are multiplied by c, which costs no bit of precision.  At β ≥ 1 the
    leak of these scores, multiplied by `amplification` in a later layer, then changes the scores of
    the later layer by less than a quarter of the score gap of that layer.  So the sharpness needed
    does not grow with the number n of tokens, but the weights do: c is less than
    2·ln(64·amplification), which is Θ(log n) if the amplification is a power of n. The largest
    scores are Θ(n) times the gap between scores (`score_sizes`).
    """
    return 2.0 ** math.ceil(math.log2(math.log(64 * amplification)))
