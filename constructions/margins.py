"""What a construction declares of its heads and MLPs: gaps between scores, and what is made exact.

A head has a `Margin`, the gap by which the right token's score exceeds all others in every prompt
(`block.margins`); an MLP `Restores` registers (`block.restores`).  What softmax attention does to
such a construction follows from them and the weights, in `softmax.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

MOST_EXPONENT = 700.0  # e^700 is still a float64


@dataclass(frozen=True)
class Margin:
    """A head's smallest score gap between the attended tokens and all others, over all prompts.

    `graded` says that at most 4m tokens lie at least m, and less than m + 1, gaps below, for m ≥ 1;
    `ties` that several tokens may share the largest score, and hardmax its weight among them.
    """

    gap: float
    graded: bool = True
    ties: bool = False

    def leak(self, sharpness: float, score_error: float, others: int) -> float:
        """A bound on the softmax weight of all tokens that hardmax does not attend to."""
        q = math.exp(-sharpness * self.gap)
        crowd = others * q
        if self.graded and q < 1:
            crowd = min(crowd, 4 * q / (1 - q) ** 2)
        exponent = 2 * score_error * sharpness
        return min(1.0, crowd * math.exp(exponent)) if exponent < MOST_EXPONENT else 1.0

    def unevenness(self, sharpness: float, score_error: float) -> float:
        """A bound on Σ |weight − equal weight| over the tokens that share the largest score.

        Scores that are off by at most σ change each of their shares by a factor in e^{±2βσ}.
        """
        exponent = 2 * score_error * sharpness
        return min(2.0, math.expm1(min(exponent, MOST_EXPONENT))) if self.ties else 0.0


@dataclass(frozen=True)
class Restores:
    """After the MLP of a layer the registers `into` are exact, if before it each register named in
    `within` was off by at most the number there (0: it has to be exact)."""

    into: tuple[str, ...]
    within: Mapping[str, float]


def share_of_a_quarter(k: int) -> float:
    """How far each of k values may be off, a quarter in all: 1/(4k) in multiples of 2^−20."""
    return 2**18 // k / 2**20


def sharpening(amplification: float) -> float:
    """A power of two c with 16·amplification·e^{−c} ≤ 1/4.

    Scores of an early layer are multiplied by c, which costs no bit of precision: at β ≥ 1 their
    leak then moves the scores of a later layer, which multiply it by `amplification`, by less than
    a quarter of their gap.  So the sharpness needed does not grow with n, but the weights do: c is
    less than 2·ln(64·amplification), Θ(log n) where the amplification is a power of n, and scores
    of Θ(n) gaps stand in the weights besides (`score_sizes`).
    """
    return 2.0 ** math.ceil(math.log2(math.log(64 * amplification)))
