"""Influences of bits on a Boolean function, by counting and by its Fourier spectrum.

    Inf_i(f) = P(f(x) ≠ f(x^{⊕i})) = Σ_{S ∋ i} f̂(S)²            x uniform
    I(f)     = Σ_i Inf_i(f) = Σ_S |S| f̂(S)²                     total influence
    Sens(f)  = I(f)/d                                           mean influence [Vasudeva2024]
    s(f)     = max_x #{ i : f(x) ≠ f(x^{⊕i}) }                  maximum sensitivity

    Var f ≤ I(f) ≤ deg f ≤ s(f)²

Proof.  Var f = Σ_{S ≠ ∅} f̂(S)² and I(f) = Σ |S| f̂(S)²; the first two inequalities hold as
1 ≤ |S| ≤ deg f wherever f̂(S) ≠ 0, S ≠ ∅, and Σ f̂(S)² = 1.  The last is [Huang2019].             ∎

Sens does not bound the degree, since a conjunction of all d bits has Sens = 2^{1−d} and degree d.
Here x^{⊕i} is x with bit i flipped.  Values are given as in `walsh_hadamard.py`, and all results
are exact.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from theory.kinds import checked
from theory.sensitivity.walsh_hadamard import Values, n_bits, walsh_hadamard


@checked
def sensitive_bits(values: Values) -> np.ndarray:
    """The number of sensitive bits of each word, an int64 array (2^d,).

    `values` (2^d,) contains f(x) for all words x of d bits in lexicographic order, for a Boolean
    function f. A bit of a word x is sensitive if flipping this bit changes f(x). The result is in
    the same order of words.
    """
    return _flips(values).sum(axis=0)


def _flips(table: np.ndarray) -> np.ndarray:
    """[f(x) ≠ f(x^{⊕i})] for all i and x, (d, 2^d)."""
    d, words = n_bits(table), np.arange(table.size)
    return np.array([table != table[words ^ 1 << d - 1 - i] for i in range(d)])


@checked
def influences(values: Values) -> list[Fraction]:
    """The influences Inf_1, …, Inf_d of the d bits on a Boolean function f, as fractions.

    `values` (2^d,) contains f(x) for all words x of d bits in lexicographic order. Inf_i is the
    probability that a flip of bit i changes f(x), for a uniform word x. It is computed by counting
    the words x at which f changes.
    """
    flips = _flips(values)
    return [Fraction(count, flips.shape[1]) for count in flips.sum(axis=1).tolist()]


@checked
def influences_by_spectrum(values: Values) -> list[Fraction]:
    """The influences Inf_1, …, Inf_d of the d bits on f, from the Fourier coefficients of f.

    `values` (2^d,) contains f(x) for all words x of d bits in lexicographic order; f is read as a
    Boolean function with values ±1. Inf_i is the sum of f̂(S)² over the sets S of bits that contain
    bit i, where f̂(S) is the Fourier coefficient. It is also the probability that a flip of bit i
    changes f(x), for a uniform word x.
    """
    spectrum = walsh_hadamard(values)
    d, sets, squares = n_bits(spectrum), np.arange(spectrum.size), spectrum**2
    sums = (squares[sets >> d - 1 - i & 1 == 1].sum() for i in range(d))
    return [Fraction(int(total), 4**d) for total in sums]


@checked
def total_influence(values: Values) -> Fraction:
    """The total influence I(f) of a Boolean function f: the sum of the influences of the bits.

    `values` (2^d,) contains f(x) for all words x of d bits in lexicographic order. The influence of
    a bit is the probability that a flip of this bit changes f(x), for a uniform word x. I(f) equals
    the mean number of bits of a uniform word x whose flip changes f(x).
    """
    return sum(influences(values), start=Fraction(0))


@checked
def mean_influence(values: Values) -> Fraction:
    """The probability Sens(f) that the flip of a random bit changes f(x) [Vasudeva2024].

    `values` (2^d,) contains f(x) for all words x of d bits in lexicographic order. The word x and
    the flipped bit are uniform. Sens(f) is the mean over the bits of the influences, the
    probabilities that the flip of a given bit changes f(x). So Sens(f) = I(f)/d, where the
    total influence I(f) is the sum of the influences.
    """
    each = influences(values)
    return sum(each, start=Fraction(0)) / len(each)


@checked
def max_sensitivity(values: Values) -> int:
    """The maximum sensitivity s(f) of a Boolean function f: the largest number of sensitive bits.

    The maximum is over all words x, and a bit of x is sensitive if flipping this bit changes f(x).
    `values` (2^d,) contains f(x) for all words x of d bits in lexicographic order.
    """
    return int(sensitive_bits(values).max())


@checked
def variance(values: Values) -> Fraction:
    """The variance 1 − (E f)² of f(x) for a uniform word x, where f has values ±1.

    `values` (2^d,) contains f(x) for all words x of d bits in lexicographic order. E f is the mean
    of f(x).
    """
    return 1 - Fraction(int(values.sum()), values.size) ** 2
