"""The first symbol of a word, and the margins of two transformers that output it.

As in `parity.py`, signed logits are those of the right answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from theory.kinds import Bits, Count, checked


@checked
def first_symbol(words: Bits) -> np.ndarray:
    """x₁ of words (…, n) of 0 and 1, (…, 1)."""
    return np.asarray(words[..., :1])


def least_signed_first(q: Any) -> Any:
    """1 − 2q: what softmax attention with scores −βj, q = e^{−β} ≤ ½, finds of the symbol ±1 at
    position 1 is at least that much on its side, whatever the others and however many.

    They have weights q^m, m = 1 … n − 1, and a token of symbol 0 another one, at most qⁿ: so it is
    at least (1 − Σ_{m≥1} q^m) / Σ_{m≥0} q^m, the sums over all m.
    """
    return 1 - 2 * q


@checked
def bounded_first_logit(n: Count, e: Any) -> Any:
    """½ e/(e + n): the signed logit of [ChiangCholak2022], whose scores are c at position 1 and 0
    at n others, e = e^c; the value ±½ is carried from position 1 alone.
    """
    return e / (2 * (e + n))
