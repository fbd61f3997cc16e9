"""Means, over all words of n bits, of functions of the number of ones: sums of n + 1 terms."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np
from flint import arb

from theory.kinds import Count, Steps, checked

PLACES = 64


@checked
def words_by_ones(n: Steps) -> np.ndarray:
    """The words 1^k 0^{n−k} for k = 0 … n, as an array (n + 1, n)."""
    return (np.arange(n) < np.arange(n + 1)[:, None]).astype(np.int64)


@checked
def extremes(n: Count) -> np.ndarray:
    """The words of n bits with 0, 1, n − 1 or n ones: all 2n + 2 words for n ≤ 64.

    For n > 64, the single different bit takes only 64 positions.
    """
    places = np.unique(np.linspace(0, n - 1, min(n, PLACES)).astype(int))
    one = np.eye(n, dtype=np.int64)[places]
    return np.concatenate([np.zeros_like(one[:1]), one, 1 - one, np.ones_like(one[:1])])


@checked
def by_ones(n: Steps, value: Callable[[int], Any]) -> Any:
    """The mean Σ_k C(n, k) 2⁻ⁿ value(k) over all words of n bits, where k is the number of ones.

    `value` returns fractions or Arb balls, or floats if n ≤ 1000.
    """
    return sum(comb(n, k) * value(k) for k in range(n + 1)) / 2**n


def bits_lost(signed: Any) -> arb:
    """The cross-entropy log₂(1 + e^{−s}), in bits, at the signed logit s, as an Arb ball.

    A signed logit is positive if the output is right.
    """
    return (-arb(signed)).exp().log1p() / arb(2).log()


def cross_entropy(n: int, signed: Callable[[int], Any]) -> arb:
    """The mean cross-entropy in bits over all 2ⁿ words of n bits.

    At a word with k ones the signed logit is signed(k), and the cross-entropy is
    log₂(1 + e^{−signed(k)}).  A signed logit is positive if the output is right.
    """
    lost: arb = by_ones(n, lambda k: bits_lost(signed(k)))
    return lost
