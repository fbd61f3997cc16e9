"""How little of a gradient depends on the parity that is learned, without a chain of thought.

For a model f_θ of d bits and the loss ½E(f − χ_S)² over all words,

    ∇L_S = E f∇f − E χ_S∇f,

of which only the second part depends on S: the Fourier coefficient of ∇f at S.  By Parseval these
are Σ_S ‖E χ_S ∇f‖² = E‖∇f‖² over all sets, so over the C(d, k) sets of size k the mean of their
squares is at most E‖∇f‖²/C(d, k) (`mean_signal_bound`).  It bounds how gradients move, not
learning: linear algebra over GF(2) finds S from little more than d examples
(`letters_by_elimination`).

**With steps** the same fraction is large.  At a node that sees m tokens (`one_step`, φ = 4z² − 1,
at w = 0) ∂φ(z)/∂w_j = 8z(x_j − z)/m, so that, y the product of the two children,

    E y∂φ/∂w_j = (8/m)([j a child]/m − 2/m²),       E‖∇φ‖² = (64/m)(E z² − E z⁴) ≤ 64/m²,

and the squares of the first add up to (64/m⁴)(2 − 4/m): a fraction (2 − 4/m)/m² at least
(`least_step_signal`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from theory.kinds import Count, CountFrom2, InputError, Integers, Numbers, Steps, Within, checked

MOST = 14  # bits of a cube on which gradients are transformed
MOST_LETTERS = 10**5  # of which sets are counted


@checked
def signals(gradients: Annotated[Any, Numbers("words parameters")]) -> np.ndarray:
    """4^d ‖E χ_S ∇f‖² for every S, (2^d,), of gradients (2^d, parameters) on all words, in the
    order of `theory.sequences.all_sequences`; in integers if they are.

    Raises `ValueError` for a number of words that is no power of two from 2 to 2^14.
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
    d: Annotated[Count, Within(most=MOST_LETTERS)], k: Annotated[Steps, Within(most="d")]
) -> Fraction:
    """1/C(d, k): what of E‖∇f‖² an average k-parity can have in the gradient, squared."""
    return Fraction(1, math.comb(d, k))


@checked
def least_step_signal(m: CountFrom2) -> Fraction:
    """(2 − 4/m)/m²: what of E‖∇φ‖² a step on m ≥ 2 tokens has in the gradient at least, squared.
    A node sees its two children at least."""
    return (2 - Fraction(4, m)) / m**2


@checked
def letters_by_elimination(
    words: Annotated[Any, Integers("n d", Within(least=0, most=1))],
    parities: Annotated[Any, Integers("n", Within(least=0, most=1))],
) -> list[int] | None:
    """The set S of positions whose parities in words (n, d) are `parities` (n,), by elimination in
    GF(2), or None where the examples leave it open.

    Raises `ValueError` for examples that no S explains.
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
        raise InputError("no set of letters has these parities: give examples of one")
    if len(pivots) < d:
        return None
    return [place for place, row in zip(pivots, rows, strict=False) if row >> d & 1]


def _packed(bits: Sequence[int]) -> int:
    return sum(bit << place for place, bit in enumerate(bits))
