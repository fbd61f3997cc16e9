"""Noise sensitivity of a Boolean function under independent flips of all bits [ODonnell2014].

    Stab_ρ(f) = Σ_k ρ^k W_k                        W_k the Fourier weight of degree k
    NS_δ(f)   = P(f(x) ≠ f(y)) = ½(1 − Stab_{1−2δ}(f)) ≤ δ·I(f)

x is uniform, and y is x with every bit flipped independently with probability δ.

The equality: E χ_S(x) χ_S(y) = Π_{i ∈ S} E (−1)^{x_i + y_i} = (1 − 2δ)^{|S|}, and 0 for two
different sets, so that E f(x) f(y) = Stab_{1−2δ}(f); and f is ±1.  The bound: (1 − 2δ)^k ≥ 1 − 2δk,
which for δ ≤ ½ is Bernoulli's, for k ≤ 1 an equality, and for δ ≥ ½, k ≥ 2 follows from
(1 − 2δ)^k ≥ −1 ≥ 1 − 2δk; then use Σ_k W_k = 1 and Σ_k k W_k = I(f).  If δ or ρ is
a Fraction, so is the result.

Closed forms: a parity of k bits changes if an odd number of them is flipped; a conjunction of k
bits if all are 1 before or after, but not both; a multiplexer if the address is unchanged and the
addressed bit flipped, or another bit is addressed and differs; a majority with i > d/2 ones if a
ones and b zeros are flipped and fewer than d/2 ones remain, or with ones and zeros exchanged.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, expm1, log1p
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import (
    Count,
    Exact,
    ExactProbability,
    InputError,
    Probability,
    SignedUnit,
    Within,
    checked,
)
from theory.sensitivity.walsh_hadamard import (
    FewValues,
    Values,
    fourier_weights,
    n_bits,
    set_sizes,
)

NoiseRate: TypeAlias = ExactProbability | Probability
"""A probability from 0 to 1: a Fraction if exact, otherwise a float."""
Correlation: TypeAlias = Annotated[Exact, Within(least=-1, most=1)] | SignedUnit
"""A number from −1 to 1: a Fraction if exact, otherwise a float."""
FewBits: TypeAlias = Annotated[Count, Within(most=1000)]
"""A number of bits, at most 1000."""
Voters: TypeAlias = Annotated[Count, Within(most=63)]
"""A number of bits, at most 63: the sum has d³/4 terms."""


def changed(rate: Any, k: int) -> Any:
    """1 − (1 − rate)^k for a rate from 0 to 2: exact for a Fraction, without cancellation else."""
    if isinstance(rate, Fraction) or rate > 0.5:
        return 1 - (1 - rate) ** k
    return -expm1(k * log1p(-rate))


@checked
def noise_stability(values: Values, rho: Correlation) -> Any:
    """The noise stability E f(x) f(y) of a Boolean function f at the correlation `rho`.

    `values` (2^d,) contains f(x) for all words x of d bits in lexicographic order; f is read as a
    function with values ±1. In the mean E, x is a uniform word, and each bit of y is the bit of x,
    flipped independently with probability (1 − rho)/2, where −1 ≤ rho ≤ 1. The result is a Fraction
    if `rho` is a Fraction.
    """
    return sum(rho**k * weight for k, weight in enumerate(fourier_weights(values)))


@checked
def noise_sensitivity(values: Values, delta: NoiseRate) -> Any:
    """The noise sensitivity of a Boolean function f: the probability that f(x) ≠ f(y).

    Here x is a uniform word, and y is the word x with every bit flipped independently with
    probability `delta`. `values` (2^d,) contains f(x) for all words x of d bits in lexicographic
    order. The result is a Fraction if `delta` is a Fraction.
    """
    weights = fourier_weights(values)
    return sum(changed(2 * delta, k) * weight for k, weight in enumerate(weights)) / 2


@checked
def noise_sensitivity_by_definition(values: FewValues, delta: NoiseRate) -> Any:
    """The noise sensitivity of a Boolean function f, as a sum over all 4^d pairs of words.

    The noise sensitivity is the probability that f(x) ≠ f(y), where x is a uniform word of d ≤ 14
    bits, and y is the word x with every bit flipped independently with probability `delta`.
    `values` (2^d,) contains f(x) for all words x in lexicographic order.
    """
    d, words = n_bits(values), np.arange(values.size)
    apart, total = set_sizes(d), 0 * delta
    by_distance = np.zeros(d + 1, dtype=np.int64)
    for x in words:
        np.add.at(by_distance, apart[words ^ x], values[x] != values)
    for m, pairs in enumerate(by_distance.tolist()):
        total += Fraction(pairs, values.size) * delta**m * (1 - delta) ** (d - m)
    return total


@checked
def parity_noise_sensitivity(k: FewBits, delta: NoiseRate) -> Any:
    """The noise sensitivity (1 − (1 − 2δ)^k)/2 of a parity of k bits, for δ = `delta`.

    The noise sensitivity is the probability that the value changes if every bit of a uniform word
    is flipped independently with probability δ.
    """
    return changed(2 * delta, k) / 2


@checked
def conjunction_noise_sensitivity(k: FewBits, delta: NoiseRate) -> Any:
    """The noise sensitivity 2^{1−k}(1 − (1 − δ)^k) of a conjunction of k bits, for δ = `delta`.

    The noise sensitivity is the probability that the value changes if every bit of a uniform word
    is flipped independently with probability δ.
    """
    return Fraction(2, 2**k) * changed(delta, k)


@checked
def multiplexer_noise_sensitivity(address: FewBits, delta: NoiseRate) -> Any:
    """The noise sensitivity of a multiplexer with a = `address` address bits.

    A multiplexer maps a word of a address bits and 2^a data bits to the data bit that the address
    bits select. The noise sensitivity is the probability that the value changes if every bit of a
    uniform word is flipped independently with probability δ = `delta`. It is (1 − δ)^a δ + (1 − (1
    − δ)^a)/2.
    """
    return (1 - delta) ** address * delta + changed(delta, address) / 2


@checked
def majority_noise_sensitivity(d: Voters, delta: NoiseRate) -> Any:
    """The noise sensitivity of the majority of d bits, for odd d.

    The noise sensitivity is the probability that the value changes if every bit of a uniform word
    is flipped independently with probability δ = `delta`. By symmetry, it is twice the probability
    that the value changes from 1 to 0. Let i be the number of ones of the word, a the number of
    ones that are flipped, and b the number of zeros that are flipped. Then the noise sensitivity
    is 2^{1−d} Σ binom(d, i)·P(Bin(i, δ) = a)·P(Bin(d − i, δ) = b), where Bin(n, δ) is a binomial
    random variable. The sum is over all i, a and b with 2(i − a + b) < d < 2i. Raises `ValueError`
    for an even d.
    """
    if d % 2 == 0:
        raise InputError(f"d is {d}, and an even number of bits may tie: give an odd number d")

    def flipped(n: int, k: int) -> Any:
        return comb(n, k) * delta**k * (1 - delta) ** (n - k)

    total = sum(
        comb(d, i) * flipped(i, a) * flipped(d - i, b)
        for i in range((d + 1) // 2, d + 1)
        for a in range(i + 1)
        for b in range(d - i + 1)
        if 2 * (i - a + b) < d
    )
    return Fraction(2, 2**d) * total
