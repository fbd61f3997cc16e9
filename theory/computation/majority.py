"""Whether a word has more ones than zeros."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np

from theory.kinds import Bits, Count, Steps, Within, checked


@checked
def majority(words: Bits) -> np.ndarray:
    """[more ones than zeros among x₁ … x_i], 0 or 1, for each symbol of words (…, n), (…, n)."""
    return (np.cumsum(2 * words - 1, axis=-1) > 0).astype(np.int64)


@checked
def signed_mean(n: Count, k: Annotated[Steps, Within(most="n")]) -> Fraction:
    """|2z − 1|/(n + 1), z = 2k − n: the signed logit 2(z − ½)/N of a mean over N = n + 1 tokens,
    of a word of n letters, k of them ones."""
    return Fraction(abs(2 * (2 * k - n) - 1), n + 1)
