"""The part of a gradient that depends on the parity to be learned, without a chain of thought.

Let χ_S be the parity (the product) of the bits ±1 in S, f_θ a model of words of d bits, and
L_S = ½E(f − χ_S)² its loss over all words.  Then

    ∇L_S = E f∇f − E χ_S∇f,

where only the second part depends on S.  It is the Fourier coefficient of ∇f at S.  By Parseval,
Σ_S ‖E χ_S ∇f‖² = E‖∇f‖² over all sets S.  So the mean of ‖E χ_S ∇f‖² over the C(d, k) sets of size
k is at most E‖∇f‖²/C(d, k) (`mean_signal_bound`).  This bounds gradients, not learning: linear
algebra over GF(2) finds S from slightly more than d examples (`bits_by_elimination`).

**With a chain of thought** this fraction of E‖∇f‖² is large.  A node attends to m tokens x_j, by
softmax of the scores w, and predicts φ(z) = 4z² − 1 for z = Σ_j softmax(w)_j x_j (`one_step` of
`theory.language.one_gradient_step`).  At w = 0, ∂φ(z)/∂w_j = 8z(x_j − z)/m, so that for the product
y of the two children

    E y∂φ/∂w_j = (8/m)([j a child]/m − 2/m²),       E‖∇φ‖² = (64/m)(E z² − E z⁴) ≤ 64/m².

The squares of E y∂φ/∂w_j sum to (64/m⁴)(2 − 4/m), which is at least the fraction (2 − 4/m)/m² of
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
    """The signal 4^d ‖E χ_S ∇f‖² for every set S of bits, from the gradients ∇f on all words.

    f is a model of words of d bits, ∇ is the gradient with respect to the parameters of f, χ_S is
    the parity ±1 of the bits in S, and E is the mean over all words.  `gradients` (2^d, parameters)
    has a row ∇f for each word, and the result (2^d,) has an entry for each S.  Rows and entries are
    in the order of `theory.sequences.all_sequences`.  The results are integers if the gradients
    are.  Raises `ValueError` unless the number of words is a power of two from 2 to 2^14, and for
    integers whose results could exceed int64.
    """
    d = len(gradients).bit_length() - 1
    if len(gradients) != 2**d or not 1 <= d <= MOST:
        raise InputError(
            f"gradients have shape {gradients.shape}: "
            f"give an array of shape (2^d, parameters) with d from 1 to {MOST}"
        )
    if gradients.dtype.kind == "i":
        most = (abs(gradients.astype(float)).sum(axis=0) ** 2).sum()  # reached if all are positive
        if most >= 2.0**63:
            raise InputError(
                f"gradients are integers, and a result can be {most:.3g}: give smaller integers, "
                "whose results are below 2^63, or give floats"
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
    """The upper bound 1/C(d, k) on the mean relative signal ‖E χ_S ∇f‖²/E‖∇f‖² of a parity.

    The mean is over all sets S of k of d bits, and χ_S is the parity of the bits in S.  f is a
    differentiable model of words of d bits, ∇ is the gradient with respect to the parameters of f,
    and E is the mean over all words.  C(d, k) is a binomial coefficient.
    """
    return Fraction(1, math.comb(d, k))


@checked
def least_step_signal(m: CountFrom2) -> Fraction:
    """The lower bound (2 − 4/m)/m² on the relative signal ‖E y∇φ‖²/E‖∇φ‖² at a node of a tree.

    The node belongs to a binary tree over bits ±1, in which each node is the product of its two
    children.  It attends to m ≥ 2 tokens with the softmax of its scores, and predicts φ = 4z² − 1
    for the mean z of these tokens.  The target y is the product of the two children of the node.  ∇
    is the gradient with respect to the attention scores, at scores 0, and E is the mean over all
    words.
    """
    return (2 - Fraction(4, m)) / m**2


@checked
def bits_by_elimination(
    words: Annotated[Any, Integers("n d", Within(least=0, most=1))],
    parities: Annotated[Any, Integers("n", Within(least=0, most=1))],
) -> list[int] | None:
    """The set of bits whose parity on each word is as given, found by elimination over GF(2).

    `words` (n, d) has n words of d bits, and `parities` (n,) has the given parity for each word.
    The result is the list of the positions of the bits.

    Returns None if the words do not determine the set of bits.  Raises `ValueError` if no set of
    bits has these parities.
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
        raise InputError(
            "the labels `parities` are not the parities of any one set of bits: give words and "
            "their parities "
            "on one set of bits"
        )
    if len(pivots) < d:
        return None
    return [place for place, row in zip(pivots, rows, strict=False) if row >> d & 1]


def _packed(bits: Sequence[int]) -> int:
    return sum(bit << place for place, bit in enumerate(bits))
