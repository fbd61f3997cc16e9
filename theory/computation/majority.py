"""Whether a word has more ones than zeros."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError


def majority(words: ArrayLike) -> np.ndarray:
    """[more ones than zeros among x₁ … x_i], 0 or 1, for each letter of words (…, n), (…, n).

    Raises `ValueError` for letters other than 0 and 1, and for an empty word.
    """
    letters = checks.tokens("words", words, 2)
    return (np.cumsum(2 * letters - 1, axis=-1) > 0).astype(np.int64)


def signed_mean(n: int, k: int) -> Fraction:
    """|2z − 1|/(n + 1), z = 2k − n: the signed logit 2(z − ½)/N of a mean over N = n + 1 tokens.

    Raises `ValueError` unless n ≥ 1 and 0 ≤ k ≤ n.
    """
    n, k = checks.dimension("n", n), checks.step_count("k", k)
    if k > n:
        raise InputError(f"k is {k} and n is {n}: no word has more ones than letters")
    return Fraction(abs(2 * (2 * k - n) - 1), n + 1)
