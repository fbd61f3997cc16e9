"""Sensitivity over tokens: the convention is a part of the number.

f maps T independent uniform tokens of V symbols to finitely many values, given on all sequences in
the order of `theory.sequences.all_sequences(T, V)`.  At position i

    redrawn   P(f(x) ≠ f(x^{i→u})),  u uniform, x_i itself allowed
    forced    the same given u ≠ x_i:  V/(V − 1) times as much

and Sens is the mean over positions.  For V = 2, forced, it is that of Boolean functions.  With the
one-hot value e_f and its Efron–Stein parts e^{=S} [ODonnell2014],

    Sens, redrawn = (1/T) Σ_S |S| ‖e^{=S}‖²
    P(f changes when each token is redrawn with probability δ) = 1 − Σ_S (1 − δ)^{|S|} ‖e^{=S}‖²
                                                               ≤ δ·T·Sens, redrawn

The first: given x_{−i}, the token x_i and its replacement are independent and identically
distributed, so that P(f(x) = f(x^{i→u})) = E‖E[e_f | x_{−i}]‖² = Σ_{S ∌ i} ‖e^{=S}‖², and a change
has the probability Σ_{S ∋ i} ‖e^{=S}‖².  The second: with y as x, each token redrawn with
probability δ, the values agree with probability E⟨e_f(x), e_f(y)⟩ = Σ_S (1 − δ)^{|S|} ‖e^{=S}‖², as
given x, e^{=S}(y) is (1 − δ)^{|S|} e^{=S}(x) in expectation.  The bound as 1 − (1 − δ)^k ≤ δk and
Σ_S ‖e^{=S}‖² = 1.  It is one of a hybrid argument: tokens must be independent, and replacements
distributed as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import Count, CountFrom2, InputError, Integers, checked
from theory.sensitivity.noise import Chance

WORK = 2**27  # numbers that are gone through: of all sequences for all sets, or all pairs


@dataclass(frozen=True)
class _Answers(Integers):
    """Integers, or truth values.  Read as int64."""

    @property
    def wrong(self) -> tuple[Any, ...]:
        wrong = super().wrong
        return tuple(each for each in wrong if getattr(each, "dtype", None) != np.dtype(bool))

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        return super()._entries(name, array.astype(np.int64) if array.dtype == bool else array)


Answers: TypeAlias = Annotated[Any, _Answers("V^T")]
"""Answers on all sequences, integers or truth values, shape (V^T,)."""
Symbols: TypeAlias = CountFrom2
"""V ≥ 2 symbols, so that a token has another one to change to."""


def _table(answers: np.ndarray, V: int) -> np.ndarray:
    """Answers (V^T,) as an array of T axes of V entries, numbered from 0."""
    T = 0
    while answers.size > V**T:
        T += 1
    if T < 1 or answers.size != V**T:
        raise InputError(
            f"answers have shape {answers.shape}: give those on all {V}^T sequences, T ≥ 1"
        )
    _, numbered = np.unique(answers, return_inverse=True)
    return numbered.reshape((V,) * T)


@checked
def redrawn_profile(answers: Answers, vocabulary_size: Symbols) -> list[Fraction]:
    """P(f(x) ≠ f(x^{i→u})) for each position, by counting all pairs of sequences that differ in i.

    Raises `ValueError` unless there are V^T answers, T ≥ 1, as all functions here do.
    """
    V, table = vocabulary_size, _table(answers, vocabulary_size)
    profile = []
    for axis in range(table.ndim):
        lines = np.moveaxis(table, axis, 0)
        changed = sum(int((lines != lines[u]).sum()) for u in range(V))
        profile.append(Fraction(changed, V * table.size))
    return profile


@checked
def forced_profile(answers: Answers, vocabulary_size: Symbols) -> list[Fraction]:
    """P(f(x) ≠ f(x^{i→u}) | u ≠ x_i) for each position."""
    V = vocabulary_size
    return [Fraction(V, V - 1) * each for each in redrawn_profile(answers, V)]


@checked
def forced_profile_by_definition(
    function: Callable[[tuple[int, ...]], int], vocabulary_size: Symbols, length: Count
) -> list[Fraction]:
    """`forced_profile` of a function of sequences of T = `length` tokens, sequence by sequence."""
    V, T = vocabulary_size, length
    if T * V ** min(T + 1, 64) > WORK:
        raise InputError(f"{V} symbols and {T} tokens have more than {WORK} pairs: give fewer")
    answers = {row: function(row) for row in product(range(V), repeat=T)}
    changed = [0] * T
    for row, answer in answers.items():
        for i, u in product(range(T), range(V)):
            changed[i] += answers[(*row[:i], u, *row[i + 1 :])] != answer
    return [Fraction(count, V**T * (V - 1)) for count in changed]


@checked
def efron_stein_weights(answers: Answers, vocabulary_size: Symbols) -> list[Fraction]:
    """Σ_{|S| = k} ‖e^{=S}‖², k = 0 … T; together 1.

    E‖E[e_f | x_J]‖² = Σ_{S ⊆ J} ‖e^{=S}‖², so that with M_j their sum over |J| = j it is
    Σ_j (−1)^{k−j} C(T − j, k − j) M_j.
    """
    table = _table(answers, vocabulary_size)
    V, T, n_answers = table.shape[0], table.ndim, int(table.max()) + 1
    if n_answers * table.size * 2**T > WORK:
        raise InputError(
            f"{V}^{T} sequences, {n_answers} answers and 2^{T} sets are more than {WORK}: give "
            "fewer tokens"
        )
    means = [Fraction(0)] * (T + 1)
    for kept, counts in _sums(np.eye(n_answers, dtype=np.int64)[table], T):
        squares = int((counts**2).sum())
        means[kept] += Fraction(squares, V**kept * V ** (2 * (T - kept)))
    return [
        sum(
            ((-1) ** (k - j) * comb(T - j, k - j) * means[j] for j in range(k + 1)),
            start=Fraction(0),
        )
        for k in range(T + 1)
    ]


def _sums(one_hot: np.ndarray, T: int) -> Iterator[tuple[int, np.ndarray]]:
    """For all sets J of positions |J| and the array summed over all other positions."""
    for kept in product((False, True), repeat=T):
        others = tuple(axis for axis, stays in enumerate(kept) if not stays)
        yield sum(kept), one_hot.sum(axis=others)


@checked
def change_when_redrawn(answers: Answers, vocabulary_size: Symbols, delta: Chance) -> Any:
    """P(f changes when each token is redrawn with probability δ)."""
    weights = efron_stein_weights(answers, vocabulary_size)
    return 1 - sum((1 - delta) ** k * weight for k, weight in enumerate(weights))


@checked
def change_when_redrawn_by_definition(
    answers: Answers, vocabulary_size: Symbols, delta: Chance
) -> Any:
    """`change_when_redrawn`, summed over all pairs of sequences."""
    table = _table(answers, vocabulary_size)
    V, T = table.shape[0], table.ndim
    if table.size**2 > WORK:
        raise InputError(f"{V}^{T} sequences have more than {WORK} pairs: give fewer tokens")
    sequences, flat = np.argwhere(np.ones_like(table)), table.ravel()
    by_distance = np.zeros(T + 1, dtype=np.int64)
    for x, answer in zip(sequences, flat, strict=True):
        np.add.at(by_distance, (sequences != x).sum(axis=1), flat != answer)
    other, own = delta * Fraction(1, V), 1 - delta + delta * Fraction(1, V)
    return sum(
        Fraction(pairs, table.size) * other**m * own ** (T - m)
        for m, pairs in enumerate(by_distance.tolist())
    )


@checked
def hybrid_bound(answers: Answers, vocabulary_size: Symbols, delta: Chance) -> Any:
    """δ·T·Sens, redrawn."""
    return delta * sum(redrawn_profile(answers, vocabulary_size), start=Fraction(0))
