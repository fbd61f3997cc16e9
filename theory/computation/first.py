"""The first symbol of a word, and the margins of two transformers that output it.

A signed logit is the difference of the two logits with the sign of the right answer: the difference
is positive if the output is right.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from theory.kinds import Bits, Count, checked


@checked
def first_symbol(words: Bits) -> np.ndarray:
    """The first bit x₁ of words: the input has shape (…, n) and the output has shape (…, 1)."""
    return np.asarray(words[..., :1])


def least_signed_first(q: Any) -> Any:
    """The lower bound 1 − 2q on the signed logit of a softmax head that outputs the first symbol.

    A signed logit is positive if the output is right.  The score of position j is −βj, where β is
    the inverse temperature, and q = e^{−β} ≤ ½. The value is 1 for symbol 1, −1 for symbol 0, and 0
    for the token CLS. In a word of n symbols the weights relative to the weight of the first symbol
    are q^m, m = 1 … n − 1, for the other symbols, and at most qⁿ for CLS. So the signed logit is at
    least (1 − Σ_{m≥1} q^m) / Σ_{m≥0} q^m = 1 − 2q, with infinite sums, for all words of all
    lengths.
    """
    return 1 - 2 * q


@checked
def bounded_first_logit(n: Count, e: Any) -> Any:
    """The signed logit ½ e/(e + n) of the model of [ChiangCholak2022] that outputs the first bit.

    The score is c at position 1 and 0 at n other positions, and the parameter e is exp(c).  The
    value is ½ or −½ at position 1 and 0 elsewhere.  A signed logit is positive if the output is
    right.
    """
    return e / (2 * (e + n))
