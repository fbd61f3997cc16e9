"""What a gradient says of a parity that is learned without steps: almost nothing, on average.

For a model f_θ of d bits and the loss ½E(f − χ_S)² over all words,

    ∇L_S = E f∇f − E χ_S∇f,

of which only the second part knows S: the Fourier coefficient of ∇f at S.  By Parseval these are
Σ_S ‖E χ_S ∇f‖² = E‖∇f‖² over all sets, so over the C(d, k) sets of size k the mean of their squares
is at most E‖∇f‖²/C(d, k) (`mean_signal_bound`).  It says that gradients hardly move, not that
nothing learns: linear algebra over GF(2) finds S from little more than d examples
(`letters_by_elimination`).

**With steps** the same share is large.  At a node that sees m tokens (`one_step`, φ = 4z² − 1, at
w = 0) ∂φ(z)/∂w_j = 8z(x_j − z)/m, so that, y the product of the two children,

    E y∂φ/∂w_j = (8/m)([j a child]/m − 2/m²),       E‖∇φ‖² = (64/m)(E z² − E z⁴) ≤ 64/m²,

and the squares of the first add up to (64/m⁴)(2 − 4/m): a share (2 − 4/m)/m² at least
(`least_step_signal`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError

MOST = 14  # bits of a cube on which gradients are transformed
MOST_LETTERS = 10**5  # of which sets are counted


def signals(gradients: ArrayLike) -> np.ndarray:
    """4^d ‖E χ_S ∇f‖² for every S, (2^d,), of gradients (2^d, parameters) on all words, in the
    order of `theory.sequences.all_sequences`; in integers if they are.

    Raises `ValueError` for a number of words that is no power of two from 2 to 2^14.
    """
    given = checks.array_of("gradients", gradients)
    array = given if given.dtype.kind in "iu" else checks.real("gradients", gradients)
    d = len(array).bit_length() - 1 if array.ndim == 2 else 0
    if array.ndim != 2 or len(array) != 2**d or not 1 <= d <= MOST:
        raise InputError(
            f"gradients have shape {array.shape}: give (2^d, parameters), d from 1 to {MOST}"
        )
    checks.finite("gradients", bool(np.isfinite(array).all()))
    spectrum = array
    for _ in range(d):
        even, odd = spectrum[::2], spectrum[1::2]
        spectrum = np.concatenate([even + odd, even - odd])
    return np.asarray((spectrum**2).sum(axis=1))


def mean_signal_bound(d: int, k: int) -> Fraction:
    """1/C(d, k): what of E‖∇f‖² an average k-parity can have in the gradient, squared.

    Raises `ValueError` unless 0 ≤ k ≤ d, 1 ≤ d ≤ 10^5.
    """
    d, k = checks.dimension("d", d, MOST_LETTERS), checks.step_count("k", k)
    if k > d:
        raise InputError(f"k is {k} and d is {d}: give k at most d")
    return Fraction(1, math.comb(d, k))


def least_step_signal(m: int) -> Fraction:
    """(2 − 4/m)/m²: what of E‖∇φ‖² a step on m tokens has in the gradient at least, squared.

    Raises `ValueError` unless m ≥ 2.
    """
    if (m := checks.dimension("m", m)) < 2:
        raise InputError(f"m is {m}: a node sees its two children at least")
    return (2 - Fraction(4, m)) / m**2


def letters_by_elimination(words: ArrayLike, parities: ArrayLike) -> list[int] | None:
    """The set S of letters of which `parities` (n,) are those of words (n, d), by elimination over
    GF(2), or None where the examples leave it open.

    Raises `ValueError` for entries other than 0 and 1, and for examples that no S explains.
    """
    x = checks.tokens("words", words, 2)
    y = np.array(checks.one_sequence("parities", parities, 2))
    if x.ndim != 2 or len(x) != len(y):
        raise InputError(f"words have shape {x.shape} for {len(y)} parities: give (n, d) and (n,)")
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
