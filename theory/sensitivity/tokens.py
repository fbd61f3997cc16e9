"""Sensitivity over tokens, by two conventions for the change of a token.

f maps T independent uniform tokens over V symbols to finitely many values.  The values for all
sequences are in the order of `theory.sequences.all_sequences(T, V)`.  Let x^{i→u} be x with token i
replaced by u.  The influence of position i is

    redrawn   P(f(x) ≠ f(x^{i→u})),  u uniform, x_i itself allowed
    forced    P(f(x) ≠ f(x^{i→u}) | u ≠ x_i),  V/(V − 1) times as large

and Sens is the mean over positions.  For V = 2, forced, it is the Sens of Boolean functions.  Let
e_f be the one-hot vector of the value, and e^{=S} its Efron–Stein parts [ODonnell2014].  Then

    Sens, redrawn = (1/T) Σ_S |S| ‖e^{=S}‖²
    P(f changes when each token is redrawn with probability δ) = 1 − Σ_S (1 − δ)^{|S|} ‖e^{=S}‖²
                                                               ≤ δ·T·Sens, redrawn

Proof of the first: given x_{−i}, the token x_i and its replacement are independent and identically
distributed, so that P(f(x) = f(x^{i→u})) = E‖E[e_f | x_{−i}]‖² = Σ_{S ∌ i} ‖e^{=S}‖², and a change
has the probability Σ_{S ∋ i} ‖e^{=S}‖².  Proof of the second: if y is x with each token redrawn
with probability δ, the values agree with probability E⟨e_f(x), e_f(y)⟩ = Σ_S (1 − δ)^{|S|}
‖e^{=S}‖², since E[e^{=S}(y) | x] = (1 − δ)^{|S|} e^{=S}(x).  The bound follows from 1 − (1 − δ)^k ≤
δk and Σ_S ‖e^{=S}‖² = 1.  It is a hybrid argument, which requires independent tokens and
replacements of the same distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import Count, CountFrom2, InputError, Integer, Integers, checked, read
from theory.sensitivity.noise import NoiseRate, changed

WORK = 2**27  # largest number of sequences times sets, or of pairs of sequences


@dataclass(frozen=True)
class _TokenValues(Integers):
    """Integers or truth values.  Read as int64."""

    @property
    def wrong(self) -> tuple[Any, ...]:
        wrong = super().wrong
        return tuple(each for each in wrong if getattr(each, "dtype", None) != np.dtype(bool))

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        return super()._entries(name, array.astype(np.int64) if array.dtype == bool else array)


TokenValues: TypeAlias = Annotated[Any, _TokenValues("V^T")]
"""The values on all sequences, integers or truth values, shape (V^T,)."""
Symbols: TypeAlias = CountFrom2
"""The number V ≥ 2 of symbols."""


def _table(values: np.ndarray, V: int) -> np.ndarray:
    """The values (V^T,) as an array of T axes of length V, numbered from 0."""
    T = 0
    while values.size > V**T:
        T += 1
    if T < 1 or values.size != V**T:
        raise InputError(
            f"values have shape {values.shape}: give {V}^T values, one for each sequence of T ≥ 1 "
            "tokens"
        )
    _, numbered = np.unique(values, return_inverse=True)
    return numbered.reshape((V,) * T)


@checked
def redrawn_profile(values: TokenValues, vocabulary_size: Symbols) -> list[Fraction]:
    """The influence of each of T positions on f, if a token is redrawn from all V symbols.

    `values` (V^T,) contains f(x) for all sequences x of T tokens in lexicographic order, with
    V = `vocabulary_size` symbols. The influence of position i is the probability that f(x) changes
    when token i of a uniform sequence x is replaced by a uniform symbol, which may equal token i.
    It is computed by counting pairs of sequences. Raises `ValueError` if the number of values is
    not V^T for some T ≥ 1.
    """
    V, table = vocabulary_size, _table(values, vocabulary_size)
    profile = []
    for axis in range(table.ndim):
        lines = np.moveaxis(table, axis, 0)
        changed = sum(int((lines != lines[u]).sum()) for u in range(V))
        profile.append(Fraction(changed, V * table.size))
    return profile


@checked
def forced_profile(values: TokenValues, vocabulary_size: Symbols) -> list[Fraction]:
    """The influence of each of T positions on f, if a token is replaced by another symbol.

    `values` (V^T,) contains f(x) for all sequences x of T tokens in lexicographic order, with
    V = `vocabulary_size` symbols. The influence of position i is the probability that f(x) changes
    when token i of a uniform sequence x is replaced by a uniform symbol among the V − 1 symbols
    that differ from token i. Raises `ValueError` if the number of values is not V^T for some T ≥ 1.
    """
    V = vocabulary_size
    return [Fraction(V, V - 1) * each for each in redrawn_profile(values, V)]


@checked
def forced_profile_by_definition(
    function: Callable[[tuple[int, ...]], int], vocabulary_size: Symbols, length: Count
) -> list[Fraction]:
    """The influence of each position on `function`, if a token is replaced by another symbol.

    `function` maps sequences of `length` tokens to integers. The tokens are integers from 0 to V
    − 1, where V is `vocabulary_size`. The influence of position i is the probability that the value
    changes when token i of a uniform sequence is replaced by a uniform symbol among the V − 1
    symbols that differ from token i. It is computed by enumeration of all sequences and
    replacements. Raises ValueError for values that are neither integers nor bools.
    """
    V, T = vocabulary_size, length
    if T * V ** min(T + 1, 64) > WORK:
        raise InputError(
            f"vocabulary_size is {V} and length is {T}, which requires more than {WORK} "
            "evaluations: give a smaller vocabulary_size or length"
        )
    rows = product(range(V), repeat=T)
    values = {row: read(Integer | bool, "the value of function", function(row)) for row in rows}
    changed = [0] * T
    for row, value in values.items():
        for i, u in product(range(T), range(V)):
            changed[i] += values[(*row[:i], u, *row[i + 1 :])] != value
    return [Fraction(count, V**T * (V - 1)) for count in changed]


@checked
def efron_stein_weights(values: TokenValues, vocabulary_size: Symbols) -> list[Fraction]:
    """The Efron–Stein weights of a function f of T tokens, for each degree k = 0, …, T.

    `values` (V^T,) contains f(x) for all sequences x of T tokens in lexicographic order, with
    V = `vocabulary_size` symbols. Let e(x) be the one-hot vector of the value f(x) for a uniform
    sequence x. For each set S of positions, let e^{=S}(x) be the part of the Efron–Stein
    decomposition of e for S, and ‖e^{=S}‖² the mean of its squared norm. The weight of degree k is
    the sum of ‖e^{=S}‖² over the sets S of k positions. The weights sum to 1.

    The weights are computed from the conditional means of e. For a set J of positions and the
    tokens x_J at these positions, E‖E[e(x) | x_J]‖² is the sum of ‖e^{=S}‖² over the subsets S of
    J. Let M_j be the sum of E‖E[e(x) | x_J]‖² over all sets J of j positions. Then the weight of
    degree k is Σ_j (−1)^{k−j} binom(T − j, k − j)·M_j.
    """
    table = _table(values, vocabulary_size)
    V, T, n_values = table.shape[0], table.ndim, int(table.max()) + 1
    if n_values * table.size * 2**T > WORK:
        raise InputError(
            f"there are {V}^{T} sequences and {n_values} different values, which require more than "
            f"{WORK} operations: give a function of fewer tokens"
        )
    means = [Fraction(0)] * (T + 1)
    for size, counts in _sums(np.eye(n_values, dtype=np.int64)[table], T):
        squares = int((counts**2).sum())
        means[size] += Fraction(squares, V**size * V ** (2 * (T - size)))
    return [
        sum(
            ((-1) ** (k - j) * comb(T - j, k - j) * means[j] for j in range(k + 1)),
            start=Fraction(0),
        )
        for k in range(T + 1)
    ]


def _sums(one_hot: np.ndarray, T: int) -> Iterator[tuple[int, np.ndarray]]:
    """|J| and the array summed over the positions outside J, for all sets J."""
    for inside in product((False, True), repeat=T):
        others = tuple(axis for axis, stays in enumerate(inside) if not stays)
        yield sum(inside), one_hot.sum(axis=others)


@checked
def change_when_redrawn(values: TokenValues, vocabulary_size: Symbols, delta: NoiseRate) -> Any:
    """The probability that f(x) changes when each token is redrawn with probability `delta`.

    `values` (V^T,) contains f(x) for all sequences x of T tokens in lexicographic order, with
    V = `vocabulary_size` symbols. The tokens of x are independent and uniform. Each token is
    redrawn independently: it is replaced by a uniform symbol, which may equal the token. The
    probability is computed from the Efron–Stein weights of f.
    """
    weights = efron_stein_weights(values, vocabulary_size)
    return sum(changed(delta, k) * weight for k, weight in enumerate(weights))


@checked
def change_when_redrawn_by_definition(
    values: TokenValues, vocabulary_size: Symbols, delta: NoiseRate
) -> Any:
    """The probability that f(x) changes when each token is redrawn, as a sum over all pairs.

    `values` (V^T,) contains f(x) for all sequences x of T tokens in lexicographic order, with
    V = `vocabulary_size` symbols. The tokens of x are independent and uniform. With probability
    `delta`, each token is independently replaced by a uniform symbol, which may equal the token.
    The sum is over all pairs of sequences, and the result equals that of `change_when_redrawn`.
    """
    table = _table(values, vocabulary_size)
    V, T = table.shape[0], table.ndim
    if table.size**2 > WORK:
        raise InputError(
            f"there are {V}^{T} sequences, which have more than {WORK} pairs: "
            "give a function of fewer tokens"
        )
    sequences, flat = np.argwhere(np.ones_like(table)), table.ravel()
    by_distance = np.zeros(T + 1, dtype=np.int64)
    for x, value in zip(sequences, flat, strict=True):
        np.add.at(by_distance, (sequences != x).sum(axis=1), flat != value)
    other, own = delta * Fraction(1, V), 1 - delta + delta * Fraction(1, V)
    return sum(
        Fraction(pairs, table.size) * other**m * own ** (T - m)
        for m, pairs in enumerate(by_distance.tolist())
    )


@checked
def hybrid_bound(values: TokenValues, vocabulary_size: Symbols, delta: NoiseRate) -> Any:
    """An upper bound on the probability that f(x) changes when each token is redrawn.

    Each token of a uniform sequence x of T tokens is redrawn with probability `delta`. That is, it
    is replaced by a uniform symbol, which may equal the token. The bound is delta·T·Sens, where
    Sens is the probability that f(x) changes when one token, at a uniformly random position, is
    redrawn. `values` (V^T,) contains f(x) for all sequences x in lexicographic order, with
    V = `vocabulary_size` symbols.
    """
    return delta * sum(redrawn_profile(values, vocabulary_size), start=Fraction(0))
