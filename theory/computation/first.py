"""The first symbol of a word, and the margins of two transformers that output it.

Signed logits are as in `parity.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from theory.kinds import Bits, Count, checked


@checked
def first_symbol(words: Bits) -> np.ndarray:
    """The first bit x₁ of words (…, n): (…, 1)."""
    return np.asarray(words[..., :1])


def least_signed_first(q: Any) -> Any:
    """A lower bound on the signed logit of the first symbol, by softmax attention: 1 − 2q.

    The score of position j is −βj, q = e^{−β} ≤ ½, and the value is ±1, with the sign of the
    symbol.  Relative to the first symbol the others have weights q^m, m = 1 … n − 1, and the token
    with value 0 has weight at most qⁿ.  So the signed logit is at least
    (1 − Σ_{m≥1} q^m) / Σ_{m≥0} q^m, with infinite sums, for all words of all lengths.
    """
    return 1 - 2 * q


@checked
def bounded_first_logit(n: Count, e: Any) -> Any:
    """The signed logit ½ e/(e + n) of the model of [ChiangCholak2022], e = e^c.

    The scores are c at position 1 and 0 at n other positions; the value is ±½ at position 1 and 0
    elsewhere.
    """
    return e / (2 * (e + n))
