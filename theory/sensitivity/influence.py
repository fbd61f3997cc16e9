"""Influences of single bits on a Boolean function, by counting and by its spectrum.

    Inf_i(f) = P(f(x) ≠ f(x^{⊕i})) = Σ_{S ∋ i} f̂(S)²            x uniform
    I(f)     = Σ_i Inf_i(f) = Σ_S |S| f̂(S)²                     total influence
    Sens(f)  = I(f)/d                                           the average of [Vasudeva2024]
    s(f)     = max_x #{ i : f(x) ≠ f(x^{⊕i}) }                  maximum sensitivity

    Var f ≤ I(f) ≤ deg f ≤ s(f)²

Proof.  Var f = Σ_{S ≠ ∅} f̂(S)² and I(f) = Σ |S| f̂(S)²; the first two inequalities hold as
1 ≤ |S| ≤ deg f wherever f̂(S) ≠ 0, S ≠ ∅, and Σ f̂(S)² = 1.  The last is [Huang2019].             ∎

It is about the maximum s: no function of the average bounds the degree, as the average of a
conjunction of all d bits is 2^{1−d} at degree d.  Values are those of `walsh_hadamard.py`, and all
results are exact.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from theory.kinds import checked
from theory.sensitivity.walsh_hadamard import Values, letters, walsh_hadamard


@checked
def sensitive_bits(values: Values) -> np.ndarray:
    """#{ i : f(x) ≠ f(x^{⊕i}) } for all words x, (2^d,) int64."""
    return _flips(values).sum(axis=0)


def _flips(table: np.ndarray) -> np.ndarray:
    """Whether f(x) ≠ f(x^{⊕i}), (d, 2^d)."""
    d, words = letters(table), np.arange(table.size)
    return np.array([table != table[words ^ 1 << d - 1 - i] for i in range(d)])


@checked
def influences(values: Values) -> list[Fraction]:
    """Inf_1, …, Inf_d, by counting the words at which a flipped bit changes f."""
    flips = _flips(values)
    return [Fraction(count, flips.shape[1]) for count in flips.sum(axis=1).tolist()]


@checked
def influences_by_spectrum(values: Values) -> list[Fraction]:
    """Inf_1, …, Inf_d, as Σ_{S ∋ i} f̂(S)²."""
    spectrum = walsh_hadamard(values)
    d, sets, squares = letters(spectrum), np.arange(spectrum.size), spectrum**2
    sums = (squares[sets >> d - 1 - i & 1 == 1].sum() for i in range(d))
    return [Fraction(int(total), 4**d) for total in sums]


@checked
def total_influence(values: Values) -> Fraction:
    """I(f), the mean number of bits to which f is sensitive."""
    return sum(influences(values), start=Fraction(0))


@checked
def mean_influence(values: Values) -> Fraction:
    """Sens(f) = I(f)/d: the probability that a random flip changes f [Vasudeva2024]."""
    each = influences(values)
    return sum(each, start=Fraction(0)) / len(each)


@checked
def max_sensitivity(values: Values) -> int:
    """s(f)."""
    return int(sensitive_bits(values).max())


@checked
def variance(values: Values) -> Fraction:
    """1 − (E f)²."""
    return 1 - Fraction(int(values.sum()), values.size) ** 2
