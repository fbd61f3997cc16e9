"""Whether a word has more ones than zeros."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np

from theory.kinds import Bits, Count, Steps, Within, checked


@checked
def majority(words: Bits) -> np.ndarray:
    """Whether x₁ … x_i has more ones than zeros, 1 or 0, after each bit of words (…, n): (…, n)."""
    return (np.cumsum(2 * words - 1, axis=-1) > 0).astype(np.int64)


@checked
def signed_mean(n: Count, k: Annotated[Steps, Within(most="n")]) -> Fraction:
    """The signed logit |2z − 1|/(n + 1), z = 2k − n, of majority for k ones among n bits.

    The logit is twice the mean (z − ½)/N over N = n + 1 tokens.
    """
    return Fraction(abs(2 * (2 * k - n) - 1), n + 1)
