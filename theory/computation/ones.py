"""Words by their number of ones: a mean over all words is a sum over n + 1 of them."""

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
    """1^k 0^{n−k} for k = 0 … n, (n + 1, n)."""
    return (np.arange(n) < np.arange(n + 1)[:, None]).astype(np.int64)


@checked
def extremes(n: Count) -> np.ndarray:
    """The words with 0, 1, n − 1 and n ones: all 2n + 2 of them up to n = 64, and beyond those with
    the odd one out at 64 places."""
    places = np.unique(np.linspace(0, n - 1, min(n, PLACES)).astype(int))
    one = np.eye(n, dtype=np.int64)[places]
    return np.concatenate([np.zeros_like(one[:1]), one, 1 - one, np.ones_like(one[:1])])


@checked
def by_ones(n: Steps, value: Callable[[int], Any]) -> Any:
    """Σ_k C(n, k) 2⁻ⁿ value(k): the mean over all 2ⁿ words of n letters of what depends on their
    number k of ones alone, for fractions and balls (floats up to n = 1000)."""
    return sum(comb(n, k) * value(k) for k in range(n + 1)) / 2**n


def bits_lost(signed: Any) -> arb:
    """The cross-entropy log₂(1 + e^{−s}) in bits of an answer with signed logit s, a ball."""
    return (-arb(signed)).exp().log1p() / arb(2).log()


def cross_entropy(n: int, signed: Callable[[int], Any]) -> arb:
    """The mean of `bits_lost` over all 2ⁿ words, signed(k) being the signed logit at k ones."""
    lost: arb = by_ones(n, lambda k: bits_lost(signed(k)))
    return lost
