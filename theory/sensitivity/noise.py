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
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError
from theory.sensitivity.walsh_hadamard import (
    few_letters,
    fourier_weights,
    letters,
    set_sizes,
    truth_table,
)


def probability(name: str, value: Any) -> Any:
    """`value`, a number from 0 to 1 and no bool; else `ValueError`."""
    array = checks.real(name, value)
    if array.ndim or isinstance(value, (bool, np.bool_)) or not 0 <= array <= 1:
        raise InputError(f"{name} is {value}: give a number from 0 to 1")
    return value


def noise_stability(values: ArrayLike, rho: Any) -> Any:
    """Stab_ρ(f), the correlation E f(x) f(y) for ρ in [−1, 1].

    Raises `ValueError` as `truth_table` does, and for a ρ outside [−1, 1] or that is a bool.
    """
    array = checks.real("rho", rho)
    if array.ndim or isinstance(rho, (bool, np.bool_)) or not -1 <= array <= 1:
        raise InputError(f"rho is {rho}: give a number from −1 to 1")
    return sum(rho**k * weight for k, weight in enumerate(fourier_weights(values)))


def noise_sensitivity(values: ArrayLike, delta: Any) -> Any:
    """NS_δ(f).  Raises `ValueError` as `truth_table` does, and for a δ outside [0, 1]."""
    delta = probability("delta", delta)
    return (1 - noise_stability(values, 1 - 2 * delta)) / 2


def noise_sensitivity_by_definition(values: ArrayLike, delta: Any) -> Any:
    """`noise_sensitivity`, summed over all pairs of words, in 4^d steps; so d is at most 14."""
    delta, table = probability("delta", delta), few_letters(truth_table(values))
    d, words = letters(table), np.arange(table.size)
    apart, total = set_sizes(d), 0 * delta
    by_distance = np.zeros(d + 1, dtype=np.int64)
    for x in words:
        np.add.at(by_distance, apart[words ^ x], table[x] != table)
    for m, pairs in enumerate(by_distance.tolist()):
        total += Fraction(pairs, table.size) * delta**m * (1 - delta) ** (d - m)
    return total
