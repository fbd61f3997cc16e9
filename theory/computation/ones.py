"""Functions of the number of ones of a word; their means over all words are sums of n + 1 terms."""

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
    """The words 1^k 0^{n−k} for k = 0 … n: (n + 1, n)."""
    return (np.arange(n) < np.arange(n + 1)[:, None]).astype(np.int64)


@checked
def extremes(n: Count) -> np.ndarray:
    """The words of n bits with 0, 1, n − 1 or n ones: all 2n + 2 words for n ≤ 64.

    For n > 64, only 64 positions of the single different bit are included.
    """
    places = np.unique(np.linspace(0, n - 1, min(n, PLACES)).astype(int))
    one = np.eye(n, dtype=np.int64)[places]
    return np.concatenate([np.zeros_like(one[:1]), one, 1 - one, np.ones_like(one[:1])])


@checked
def by_ones(n: Steps, value: Callable[[int], Any]) -> Any:
    """The mean Σ_k C(n, k) 2⁻ⁿ value(k) over all words of n bits, where k is the number of ones.

    `value` returns fractions or balls, or floats if n ≤ 1000.
    """
    return sum(comb(n, k) * value(k) for k in range(n + 1)) / 2**n


def bits_lost(signed: Any) -> arb:
    """The cross-entropy log₂(1 + e^{−s}), in bits, at the signed logit s, as a ball."""
    return (-arb(signed)).exp().log1p() / arb(2).log()


def cross_entropy(n: int, signed: Callable[[int], Any]) -> arb:
    """The mean of `bits_lost` over all 2ⁿ words, for the signed logits signed(k) at k ones."""
    lost: arb = by_ones(n, lambda k: bits_lost(signed(k)))
    return lost
