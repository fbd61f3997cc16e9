"""Whether a word has more ones than zeros."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np

from theory.kinds import Bits, Count, Steps, Within, checked


@checked
def majority(words: Bits) -> np.ndarray:
    """The majority of each prefix of words of bits: 1 for more ones than zeros, and 0 otherwise.

    The words and the result have shape (…, n). Entry i of the result belongs to the first i bits.
    """
    return (np.cumsum(2 * words - 1, axis=-1) > 0).astype(np.int64)


@checked
def signed_mean(n: Count, k: Annotated[Steps, Within(most="n")]) -> Fraction:
    """The signed logit |2z − 1|/(n + 1), z = 2k − n, of the majority of n bits with k ones.

    The logit is twice the mean (z − ½)/N over N = n + 1 tokens.  A signed logit is the logit with
    the sign of the right answer, so it is positive if the output is right.
    """
    return Fraction(abs(2 * (2 * k - n) - 1), n + 1)
