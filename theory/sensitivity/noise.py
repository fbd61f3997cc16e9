"""What independent flips of all letters do to a Boolean function [ODonnell2014].

    Stab_ρ(f) = Σ_k ρ^k W_k                        W_k the Fourier weight of degree k
    NS_δ(f)   = P(f(x) ≠ f(y)) = ½(1 − Stab_{1−2δ}(f)) ≤ δ·I(f)

x is uniform, and y is x with every letter flipped with probability δ.

The equality: E χ_S(x) χ_S(y) = Π_{i ∈ S} E (−1)^{x_i + y_i} = (1 − 2δ)^{|S|}, and 0 for two
different sets, so that E f(x) f(y) = Stab_{1−2δ}(f); and f is ±1.  The bound: (1 − 2δ)^k ≥ 1 − 2δk,
which for δ ≤ ½ is Bernoulli's, for k ≤ 1 an equality, and for δ ≥ ½, k ≥ 2 follows from
(1 − 2δ)^k ≥ −1 ≥ 1 − 2δk; then Σ_k W_k = 1 and Σ_k k W_k = I(f).  Fractions give fractions.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import Exact, Finite, Probability, Within, checked
from theory.sensitivity.walsh_hadamard import (
    FewValues,
    Values,
    fourier_weights,
    letters,
    set_sizes,
)

Chance: TypeAlias = Annotated[Exact, Within(least=0, most=1)] | Probability
"""A number from 0 to 1: a Fraction where it is exact, else a float."""
Correlation: TypeAlias = (
    Annotated[Exact, Within(least=-1, most=1)] | Annotated[Finite, Within(least=-1, most=1)]
)
"""A number from −1 to 1: a Fraction where it is exact, else a float."""


@checked
def noise_stability(values: Values, rho: Correlation) -> Any:
    """Stab_ρ(f), the correlation E f(x) f(y) for ρ in [−1, 1]."""
    return sum(rho**k * weight for k, weight in enumerate(fourier_weights(values)))


@checked
def noise_sensitivity(values: Values, delta: Chance) -> Any:
    """NS_δ(f)."""
    return (1 - noise_stability(values, 1 - 2 * delta)) / 2


@checked
def noise_sensitivity_by_definition(values: FewValues, delta: Chance) -> Any:
    """`noise_sensitivity`, summed over all pairs of words, in 4^d steps; so d is at most 14."""
    d, words = letters(values), np.arange(values.size)
    apart, total = set_sizes(d), 0 * delta
    by_distance = np.zeros(d + 1, dtype=np.int64)
    for x in words:
        np.add.at(by_distance, apart[words ^ x], values[x] != values)
    for m, pairs in enumerate(by_distance.tolist()):
        total += Fraction(pairs, values.size) * delta**m * (1 - delta) ** (d - m)
    return total
