"""Dense associative memories with polynomial or exponential energies, computed in the log domain.

The patterns are ξ^μ and the interaction is F(x) = xⁿ [KrotovHopfield2016] or eˣ [Demircigil2017]:

    E(s) = −Σ_μ F(⟨ξ^μ, s⟩)      s_i ← sgn D_i,  D_i = Σ_μ [F(ξ_i^μ + u_μ) − F(−ξ_i^μ + u_μ)]

where u_μ = Σ_{j≠i} ξ_j^μ s_j. D_i is the energy at s_i = −1 minus the energy at s_i = +1, so a flip
lowers E by exactly |D_i|. If D_i = 0, s_i is unchanged. As there are finitely many states,
asynchronous updates end after finitely many flips. For n = 2, D_i = 4h_i with the field h_i of the
classical network under Hebb's rule.

F can overflow (for example e^d in float32, for d ≥ 89), but the sign of D_i is computed without F.
As ξ = ±1, D_i = Σ_μ ξ_i^μ G(u_μ) with G(u) = F(u + 1) − F(u − 1). This is a sum of
terms ± e^{l(u_μ)}, l = ln|G|, from which the largest term is factored out. If rounding leaves the
sign undecided, the sign is computed exactly: for xⁿ in integers, and for eˣ as the sign of a sum
Σ_k c_k eᵏ with integers c_k. Since e is transcendental, this sum is 0 only if all c_k are 0;
otherwise sufficiently many digits decide its sign. Every sign returned is exact.

Shape glossary: `…` leading dimensions of states, `N` patterns, `d` neurons.
"""

from __future__ import annotations

import decimal
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import numpy as np

from theory.kinds import Count, Steps, Within, checked
from theory.memory.hopfield import Relaxation, orders
from theory.memory.kinds import OneState, Order, Patterns, States
from theory.memory.patterns import inner_products

Power: TypeAlias = Annotated[Count, Within(least=2, most=10_000)]
"""The n of xⁿ."""
Degree: TypeAlias = Power | Literal["exp"]
EPS = 2.0**-53


@checked
def dense_energy(patterns: Patterns, s: States, degree: Power) -> np.ndarray:
    """The energy E(s) = −Σ_μ ⟨ξ^μ, s⟩ⁿ (…) of a dense associative memory, as exact integers.

    The patterns ξ^μ are the rows of `patterns` (N, d), the states s are (…, d), both with entries
    ±1, and n = `degree` ≥ 2. The energies are Python integers.
    """
    d = patterns.shape[1]
    powers = np.array([x**degree for x in range(-d, d + 1)], dtype=object)
    x = inner_products(s, patterns)
    return np.asarray(-powers[x + d].sum(axis=-1), dtype=object)


@checked
def exponential_log_energy(patterns: Patterns, s: States) -> np.ndarray:
    """The logarithm ln(−E(s)) (…) for the energy E(s) = −Σ_μ exp⟨ξ^μ, s⟩ of the exponential memory.

    The patterns ξ^μ are the rows of `patterns` (N, d), and the states s are (…, d), both with
    entries ±1.
    """
    x = inner_products(s, patterns)
    largest = x.max(axis=-1, keepdims=True)
    with np.errstate(under="ignore"):
        return np.asarray(largest[..., 0] + np.log(np.exp(x - largest).sum(axis=-1)))


@checked
def dense_preferred(patterns: Patterns, s: States, degree: Degree) -> np.ndarray:
    """For each neuron, the value ±1 (…, d) that gives the lower energy, or 0 for an exact tie.

    A dense associative memory with patterns ξ^μ has the energy E(s) = −Σ_μ ⟨ξ^μ, s⟩ⁿ for a `degree`
    n ≥ 2, or E(s) = −Σ_μ exp⟨ξ^μ, s⟩ for the `degree` "exp". For neuron i the result is the sign of
    E(s with s_i = −1) − E(s with s_i = +1). The patterns are the rows of `patterns` (N, d), and the
    states s are (…, d).
    """
    interaction, x = _interaction(degree, *patterns.shape), inner_products(s, patterns)
    wanted = np.empty_like(s)
    for i, bits in enumerate(patterns.T):
        wanted[..., i] = interaction.preferred(x - s[..., i, None] * bits, bits)
    return wanted


@checked
def dense_synchronous_update(patterns: Patterns, s: States, degree: Degree) -> np.ndarray:
    """The states (…, d) of a dense associative memory after one update of all neurons at once.

    The initial states are s (…, d), and the patterns ξ^μ are the rows of `patterns` (N, d). The
    energy is E(s) = −Σ_μ ⟨ξ^μ, s⟩ⁿ for a `degree` n ≥ 2, or E(s) = −Σ_μ exp⟨ξ^μ, s⟩ for the
    `degree` "exp". Each neuron takes the value ±1 that gives the lower energy if the other neurons
    are unchanged. In a tie, the neuron is unchanged.
    """
    wanted = dense_preferred(patterns, s, degree)
    return np.where(wanted == 0, s, wanted)


@checked
def dense_update(
    patterns: Patterns, s: States, degree: Degree, order: Order, *, sweeps: Steps = 1000
) -> Relaxation:
    """The final states of a dense associative memory, updated asynchronously until no neuron flips.

    The initial states are s (…, d), and the patterns ξ^μ are the rows of `patterns` (N, d). The
    energy is E(s) = −Σ_μ ⟨ξ^μ, s⟩ⁿ for a `degree` n ≥ 2, or E(s) = −Σ_μ exp⟨ξ^μ, s⟩ for the
    `degree` "exp". Neurons are updated one at a time, to the value ±1 with the lower energy, and a
    sweep updates all d neurons. If `order` is a permutation of 0, …, d − 1, every sweep uses this
    permutation. If `order` is a seed or a Generator, a permutation is drawn for each sweep. All
    states use the same permutation. At most `sweeps` sweeps are made. Every flip lowers the energy,
    and the sign of the energy difference is computed exactly, so the updates terminate. A sweep
    takes time O(Nd) per state. The result is a `Relaxation`, which also contains the numbers of
    flips and sweeps.

    Raises `ValueError` for an order that is not a permutation.
    """
    N, d = patterns.shape
    sequence, interaction = orders(order, d), _interaction(degree, N, d)
    rows, columns = s.reshape(-1, d).copy(), patterns.T.copy()
    x = inner_products(rows, patterns)
    flips, made = np.zeros((2, len(rows)), dtype=np.int64)
    converged = np.zeros(len(rows), dtype=bool)
    for _ in range(sweeps):
        running = np.flatnonzero(~converged)
        if not len(running):
            break
        now, overlaps = rows[running], x[running]
        changed = np.zeros(len(running), dtype=np.int64)
        for i in next(sequence):
            u = overlaps - now[:, i, None] * columns[i]
            flip = interaction.preferred(u, columns[i]) == -now[:, i]
            now[flip, i] *= -1
            overlaps[flip] = u[flip] + now[flip, i, None] * columns[i]
            changed += flip
        rows[running], x[running] = now, overlaps
        flips[running] += changed
        made[running] += 1
        converged[running] = changed == 0
    shape = s.shape[:-1]
    return Relaxation(
        rows.reshape(s.shape),
        flips.reshape(shape),
        made.reshape(shape),
        converged.reshape(shape),
    )


@checked
def dense_preferred_by_definition(patterns: Patterns, s: OneState, degree: Power) -> list[int]:
    """For each neuron, the value ±1 that gives the lower energy, or 0 for a tie, for one state.

    The state is s (d,). The energy is E(s) = −Σ_μ ⟨ξ^μ, s⟩ⁿ, where the patterns ξ^μ are the rows of
    `patterns` (N, d) and n = `degree` ≥ 2. The two energies are computed by this definition, in
    integers.
    """
    xi, state, wanted = patterns.tolist(), s.tolist(), []
    for i in range(len(state)):
        difference = 0
        for row in xi:
            u = sum(row[j] * state[j] for j in range(len(row)) if j != i)
            difference += (u + row[i]) ** degree - (u - row[i]) ** degree
        wanted.append((difference > 0) - (difference < 0))
    return wanted


@dataclass(frozen=True)
class _Interaction:
    """Tables of ln|G|, sgn G and, for xⁿ, the integer G; the index of u is u + d − 1, |u| < d.

    For eˣ, G(u) = (e − 1/e) eᵘ; the common factor is omitted, and `exact` is None. If `small` is
    true, sums of N values of G are exact in float64. `term_error` bounds the relative error of a
    term e^{l − max l}.
    """

    log: np.ndarray
    sign: np.ndarray
    exact: np.ndarray | None
    small: bool
    term_error: float

    def preferred(self, u: np.ndarray, bits: np.ndarray) -> np.ndarray:
        """sgn Σ_μ ξ_μ G(u_μ) (…), 0 for an exact tie, from u (…, N) and the bits ξ (N,)."""
        place = u + len(self.log) // 2
        if self.small:
            return np.array(np.sign(self.sign[place] @ bits), dtype=np.int64)
        log = self.log[place]
        largest = log.max(axis=-1, keepdims=True)
        largest[largest == -np.inf] = 0.0  # all terms are 0; for an even degree G(0) = 0
        with np.errstate(under="ignore"):
            terms = np.exp(log - largest)
        total, size = (self.sign[place] * terms) @ bits, terms.sum(axis=-1)
        wanted = np.array(np.sign(total), dtype=np.int64)
        error = (self.term_error + (u.shape[-1] + 2) * EPS) * size
        for row in map(tuple, np.argwhere((np.abs(total) <= error) & (size > 0))):
            wanted[row] = self._exactly(place[row], u[row], bits)
        return wanted

    def _exactly(self, place: np.ndarray, u: np.ndarray, bits: np.ndarray) -> int:
        if self.exact is not None:
            total = int(self.exact[place] @ bits.astype(object))
            return (total > 0) - (total < 0)
        counts: Counter[int] = Counter()
        for k, bit in zip(u.tolist(), bits.tolist(), strict=True):
            counts[k] += bit
        return sign_of_exponential_sum(counts)


def sign_of_exponential_sum(counts: Mapping[int, int]) -> int:
    """The exact sign of Σ_k c_k eᵏ, where `counts` maps integers k to integers c_k.

    Euler's number e is transcendental, so the sum is 0 only if every c_k is 0. Otherwise the sum
    is computed with enough decimals to ensure that rounding cannot change its sign. Each power eᵏ,
    each product and each partial sum has a rounding error of at most half a unit in the last
    place, because Python's exp of decimals is correctly rounded.
    """
    terms = {k: c for k, c in counts.items() if c}
    if not terms:
        return 0
    digits = 30
    while True:
        with decimal.localcontext(prec=digits, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX):
            largest, total, size = max(terms), decimal.Decimal(0), decimal.Decimal(0)
            for k, c in terms.items():
                term = decimal.Decimal(k - largest).exp() * c
                total, size = total + term, size + abs(term)
            if abs(total) > size * (len(terms) + 4) * decimal.Decimal(10) ** (1 - digits):
                return 1 if total > 0 else -1
        digits *= 2


def _interaction(degree: Degree, N: int, d: int) -> _Interaction:
    if degree == "exp":
        log = np.arange(1.0 - d, d)
        # Differences of logarithms are integers; exp is accurate to a few units in the last place.
        return _Interaction(log, np.ones_like(log), None, False, 8 * EPS)
    exact = [(u + 1) ** degree - (u - 1) ** degree for u in range(1 - d, d)]
    table = np.array(exact, dtype=object)
    if N * max(map(abs, exact)) <= 2**53:
        whole = table.astype(np.float64)
        return _Interaction(whole, whole, table, True, 0.0)
    log = np.array([math.log(abs(value)) if value else -math.inf for value in exact])
    sign = np.array([float((value > 0) - (value < 0)) for value in exact])
    # G is 0 or |G| ≥ 2, so l > 0 for G ≠ 0; each l is accurate to 4 units in the last place.
    return _Interaction(log, sign, table, False, (10 * float(log.max()) + 8) * EPS)
