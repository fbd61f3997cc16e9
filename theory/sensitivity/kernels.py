"""Weak spectral bias: eigenvalues of inner-product kernels on the cube, degree by degree.

K(x, y) = Φ(⟨x, y⟩/d) on {±1}^d, Φ(t) = Σ_m c_m t^m, Σ_m |c_m| < ∞, so that the series
converges on [−1, 1].  Its eigenfunctions are the χ_S, and

    μ_k = E Φ(Σx/d) χ_S(x),      |S| = k,  x uniform.

Lemma.  If all c_m ≥ 0, then μ_k ≥ μ_{k+2} ≥ 0 for 0 ≤ k ≤ d − 2.

Proof.  Let T be the shift t ↦ t − 2/d.  Words with j bits −1 have Σx/d = 1 − 2j/d, so

(1)  μ_k = 2^{−d} (I − T)^k (I + T)^{d−k} Φ(1),

a factor I − T for each bit in S and I + T for the others.  As (I + T)² − (I − T)² = 4T,

(2)  μ_k − μ_{k+2} = 2^{−(d−2)} (I − T)^k (I + T)^{d−2−k} TΦ(1).

(3)  TΦ(1 − 2j/d) = Φ(1 − 2(j + 1)/d) = Φ((d − 2)/d · (1 − 2j/(d − 2))): by (1) the right side is
     the eigenvalue of degree k of Φ((d − 2)t/d) on the cube of d − 2 bits, whose coefficients
     c_m((d − 2)/d)^m are nonnegative, too (for d = 2 it is Φ(0)).
(4)  Eigenvalues are nonnegative: the eigenvalue of t^m is d^{−m} times the number of walks of m
     steps on the cube from ∅ to S, as E x_{i₁}⋯x_{i_m} χ_S is 1 if every bit of S occurs an odd
     number of times and every other bit an even number of times, and 0 otherwise.             ∎

The inequality μ_k ≥ μ_{k+1} is false in general: for Φ(t) = t² and d ≥ 2, μ_1 = 0 < μ_2.

All results are exact for rational coefficients.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import comb
from typing import Annotated, TypeAlias

import numpy as np

from theory.kinds import Count, Exact, Finite, Steps, Within, checked
from theory.sequences import all_sequences

MOST_EXACT = 300  # largest dimension of a cube whose eigenvalues are computed by shifts
MOST = 16  # largest dimension of a cube that is enumerated
MOST_STEPS = 1000  # largest number of steps of a walk

CubeBits: TypeAlias = Annotated[Count, Within(most=MOST_EXACT)]
"""The dimension d of a cube, at most 300: fractions have d binary digits."""
Exponent: TypeAlias = Annotated[Steps, Within(most=MOST_EXACT)]
"""An exponent, at most 300."""
Coefficients: TypeAlias = Iterable[Exact | Finite]
"""c_0, c_1, …; floats are converted to fractions exactly."""


@checked
def by_minus_ones(d: CubeBits, k: Annotated[Steps, Within(most="d")]) -> list[int]:
    """The sums of a character of degree k over the words with j entries −1, for j = 0 … d.

    The words x are in {±1}^d, and the character is χ_S(x) = Π_{i ∈ S} x_i for a set S of k bits.
    The sum for j is Σ_i (−1)^i binom(k, i)·binom(d − k, j − i), and does not depend on the choice
    of S.
    """
    return [
        sum((-1) ** i * comb(k, i) * comb(d - k, j - i) for i in range(min(j, k) + 1))
        for j in range(d + 1)
    ]


@checked
def shift_polynomial(minus: Exponent, plus: Exponent) -> list[int]:
    """The coefficients of the polynomial (1 − z)^minus (1 + z)^plus in z, by increasing degree."""
    coefficients = [1]
    for sign in [-1] * minus + [1] * plus:
        shifted = [0, *coefficients]
        coefficients = [a + sign * b for a, b in zip([*coefficients, 0], shifted, strict=True)]
    return coefficients


@checked
def power_series(coefficients: Coefficients, t: Exact | Finite) -> Fraction:
    """The value Σ_m c_m t^m at t of the polynomial with `coefficients` c_0, c_1, …, as a fraction.

    Floats are converted to fractions exactly.
    """
    total, at = Fraction(0), Fraction(t)
    for c in reversed(list(coefficients)):
        total = total * at + Fraction(c)
    return total


@checked
def eigenvalues(coefficients: Coefficients, d: CubeBits) -> list[Fraction]:
    """The eigenvalues μ_0, …, μ_d of the kernel Φ(⟨x, y⟩/d) on {±1}^d, by degree.

    x and y are words in {±1}^d, and the polynomial Φ(t) = Σ_m c_m t^m has the given `coefficients`
    c_m. μ_k is the eigenvalue of the characters χ_S(x) = Π_{i ∈ S} x_i for sets S of k bits, with
    respect to the uniform distribution of words. Let T be the operator that replaces Φ(t) by
    Φ(t − 2/d), and I the identity. Then μ_k is the value of 2^{−d} (I − T)^k (I + T)^{d−k} Φ at
    t = 1.
    """
    values = [power_series(coefficients, Fraction(d - 2 * j, d)) for j in range(d + 1)]
    return [
        sum((a * v for a, v in zip(shift_polynomial(k, d - k), values, strict=True)), Fraction(0))
        / 2**d
        for k in range(d + 1)
    ]


@checked
def eigenvalues_by_definition(
    coefficients: Coefficients, d: Annotated[Count, Within(most=MOST)]
) -> list[Fraction]:
    """The eigenvalues μ_0, …, μ_d of the kernel Φ(⟨x, y⟩/d) on {±1}^d, as means over all words.

    The polynomial Φ(t) = Σ_m c_m t^m has the given `coefficients` c_m. μ_k is the mean of Φ(Σ_i
    x_i/d)·χ_S(x) over all words x in {±1}^d, where χ_S(x) = Π_{i ∈ S} x_i for a set S of k bits.
    All 2^d words are enumerated, so d is at most 16.
    """
    cube = 1 - 2 * all_sequences(d, 2)
    kernel = [power_series(coefficients, Fraction(total, d)) for total in cube.sum(1).tolist()]
    found = []
    for k in range(d + 1):
        chi = np.prod(cube[:, :k], axis=1).tolist()
        found.append(sum((v * s for v, s in zip(kernel, chi, strict=True)), Fraction(0)) / 2**d)
    return found


@checked
def walks(d: CubeBits, steps: Annotated[Steps, Within(most=MOST_STEPS)]) -> list[int]:
    """The numbers of walks on a d-dimensional cube from ∅ to a given set of size k, for k = 0 … d.

    The vertices of the cube are the subsets of a set of d elements. Each of the `steps` steps of a
    walk adds or removes one element. The number a_m(k) of walks of m steps satisfies
    a_m(k) = k·a_{m−1}(k − 1) + (d − k)·a_{m−1}(k + 1). The reason is that the last step either adds
    one of the k elements of the given set, or removes one of the d − k other elements.
    """
    counts = [1] + [0] * d
    for _ in range(steps):
        padded = [0, *counts, 0]
        counts = [k * padded[k] + (d - k) * padded[k + 2] for k in range(d + 1)]
    return counts


@checked
def on_two_fewer_bits(
    coefficients: Coefficients, d: Annotated[Count, Within(least=3)]
) -> list[Fraction]:
    """The coefficients c_m((d − 2)/d)^m of the polynomial Φ((d − 2)t/d) in t.

    The polynomial Φ(t) = Σ_m c_m t^m has the given `coefficients` c_m, and d is at least 3. For
    words x and y of d − 2 bits ±1, the new polynomial at t = ⟨x, y⟩/(d − 2) is Φ(⟨x, y⟩/d).
    """
    shrunk = Fraction(d - 2, d)
    return [Fraction(c) * shrunk**m for m, c in enumerate(coefficients)]
