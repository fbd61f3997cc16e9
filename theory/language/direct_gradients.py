"""The part of a gradient that depends on the parity to be learned, without a chain of thought.

For a model f_θ of d bits and the loss ½E(f − χ_S)² over all words,

    ∇L_S = E f∇f − E χ_S∇f,

where only the second part depends on S: it is the Fourier coefficient of ∇f at S.  By Parseval
Σ_S ‖E χ_S ∇f‖² = E‖∇f‖² over all sets S, so the mean of ‖E χ_S ∇f‖² over the C(d, k) sets of size
k is at most E‖∇f‖²/C(d, k) (`mean_signal_bound`).  This bounds gradients, not learning: linear
algebra over GF(2) finds S from slightly more than d examples (`bits_by_elimination`).

**With a chain of thought** the same fraction is large.  At a node that attends to m tokens
(`one_step`, φ = 4z² − 1, at w = 0) ∂φ(z)/∂w_j = 8z(x_j − z)/m, so that for the product y of the
two children

    E y∂φ/∂w_j = (8/m)([j a child]/m − 2/m²),       E‖∇φ‖² = (64/m)(E z² − E z⁴) ≤ 64/m²,

and the squares of the first sum to (64/m⁴)(2 − 4/m): at least the fraction (2 − 4/m)/m² of
E‖∇φ‖² (`least_step_signal`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from theory.kinds import Count, CountFrom2, InputError, Integers, Numbers, Steps, Within, checked

MOST = 14  # bits of a cube on which gradients are transformed
MOST_BITS = 10**5  # largest number of bits whose sets are counted


@checked
def signals(gradients: Annotated[Any, Numbers("words parameters")]) -> np.ndarray:
    """The signals 4^d ‖E χ_S ∇f‖² for every set S, (2^d,), from the gradients ∇f on all words.

    `gradients` has shape (2^d, parameters).  Words and sets are in the order of
    `theory.sequences.all_sequences`.  If the gradients are integers, so are the results.
    Raises `ValueError` unless the number of words is a power of two from 2 to 2^14.
    """
    d = len(gradients).bit_length() - 1
    if len(gradients) != 2**d or not 1 <= d <= MOST:
        raise InputError(
            f"gradients have shape {gradients.shape}: give (2^d, parameters), d from 1 to {MOST}"
        )
    spectrum = gradients
    for _ in range(d):
        even, odd = spectrum[::2], spectrum[1::2]
        spectrum = np.concatenate([even + odd, even - odd])
    return np.asarray((spectrum**2).sum(axis=1))


@checked
def mean_signal_bound(
    d: Annotated[Count, Within(most=MOST_BITS)], k: Annotated[Steps, Within(most="d")]
) -> Fraction:
    """The bound 1/C(d, k) on the mean of ‖E χ_S ∇f‖²/E‖∇f‖² over all S of size k."""
    return Fraction(1, math.comb(d, k))


@checked
def least_step_signal(m: CountFrom2) -> Fraction:
    """The minimum (2 − 4/m)/m² of ‖E y∇φ‖²/E‖∇φ‖² at a node that attends to m ≥ 2 tokens.

    A node attends at least to its two children.
    """
    return (2 - Fraction(4, m)) / m**2


@checked
def bits_by_elimination(
    words: Annotated[Any, Integers("n d", Within(least=0, most=1))],
    parities: Annotated[Any, Integers("n", Within(least=0, most=1))],
) -> list[int] | None:
    """The set S whose parities on words (n, d) are `parities` (n,), by elimination over GF(2).

    Returns None if the examples do not determine S, and raises `ValueError` if no S satisfies them.
    """
    x, y = words, parities
    d = x.shape[1]
    rows = [_packed([*row, value]) for row, value in zip(x.tolist(), y.tolist(), strict=True)]
    pivots: list[int] = []
    for place in range(d):
        bit = 1 << place
        pivot = next((i for i in range(len(pivots), len(rows)) if rows[i] & bit), None)
        if pivot is None:
            continue
        at = len(pivots)
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows = [row ^ rows[at] if row & bit and i != at else row for i, row in enumerate(rows)]
        pivots.append(place)
    if any(rows[len(pivots) :]):
        raise InputError("parities do not agree with any set of bits: give examples of one parity")
    if len(pivots) < d:
        return None
    return [place for place, row in zip(pivots, rows, strict=False) if row >> d & 1]


def _packed(bits: Sequence[int]) -> int:
    return sum(bit << place for place, bit in enumerate(bits))
