"""Classical Hopfield networks: Hebb's rule, energy, asynchronous and synchronous updates.

Let the weights W be symmetric with zero diagonal. With a bias b, a state s ∈ {−1, +1}^d has

    fields  h_i = Σ_j w_ij s_j + b_i        energy  E(s) = −½ Σ_{i≠j} w_ij s_i s_j − Σ_i b_i s_i

An update sets s_i to the sign of h_i; if h_i = 0, s_i is unchanged. In asynchronous updates every
flip lowers E by exactly 2|h_i|. Synchronous updates end in a cycle of length 1 or 2. Results are
exact (int64) for integer weights, and rounded for float weights.

Proof for asynchronous updates. E contains s_i only in the term −s_i h_i, and h_i does not contain
s_i (W is symmetric with zero diagonal), so a flip to the sign of h_i changes this term from |h_i|
to −|h_i|. There are finitely many states, so flips end [Hopfield1982].

Proof for synchronous updates. Let ε > 0 be smaller than every nonzero |h_i|. The update is
s(t + 1) = sgn g(t) with g = h + εs, and no g_i is 0. Let L(t) = −⟨s(t), (W + εI) s(t−1)⟩ −
⟨b, s(t) + s(t−1)⟩. By the symmetry of W, L(t + 1) − L(t) = −⟨s(t+1) − s(t−1), g(t)⟩ =
−2 Σ |g_i(t)|, summed over all i with s_i(t+1) ≠ s_i(t−1). This is negative unless
s(t + 1) = s(t − 1). L has finitely many values, so s(t + 1) = s(t − 1) eventually [Goles1981].

Shape glossary: `…` leading dimensions of states, `P` patterns, `d` neurons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, repeat

import numpy as np

from theory import machine
from theory.kinds import InputError, Steps, checked
from theory.memory.kinds import Bias, OneState, Order, Patterns, Permutation, States, Weights
from theory.memory.patterns import exact_dtype, inner_products

LARGEST = 2.0**62  # twice this fits in int64


@dataclass(frozen=True)
class Relaxation:
    """The result of asynchronous updates: final states (…, d), and the number of flips and sweeps.

    `flips` (…) and `sweeps` (…) are the numbers of flips and sweeps. If `converged` (…) is true,
    the last sweep, which is counted, changed no bit.
    """

    states: np.ndarray
    flips: np.ndarray
    sweeps: np.ndarray
    converged: np.ndarray


@dataclass(frozen=True)
class Cycle:
    """The result of synchronous updates: `steps` (…) is the smallest t with s(t + 2) = s(t).

    `states` (…, d) are the states s(t) at this t. `period` (…) is 1 if s(t + 1) = s(t), else 2. If
    no cycle was found within the steps allowed, `period` is 0 and s(t) is the last state.
    """

    states: np.ndarray
    period: np.ndarray
    steps: np.ndarray


@dataclass(frozen=True)
class Network:
    """Weights (d, d) and bias (d,), checked: both int64, or both float64.

    Fields are computed in `dtype`, which is exact for integers.
    """

    weights: np.ndarray
    bias: np.ndarray
    dtype: type[np.float32] | type[np.float64] | type[np.int64]

    def fields(self, s: np.ndarray) -> np.ndarray:
        """The fields h (…, d) in `dtype`, for states (…, d) in `dtype`; W s = s W by symmetry."""
        return s @ self.weights.astype(self.dtype, copy=False) + self.bias.astype(self.dtype)


@checked
def hebb(patterns: Patterns) -> np.ndarray:
    """Hebb's weights w_ij = Σ_μ ξ_i^μ ξ_j^μ for i ≠ j and w_ii = 0, (d, d) int64.

    The patterns (P, d) are ±1 [Hopfield1982]. The usual factor 1/d is omitted: it does not change
    the signs of the fields, and without it all weights are integers.

    Raises `ValueError` for weights that do not fit into memory.
    """
    P, d = patterns.shape
    machine.fits_in_memory(f"weights between {d} neurons", 16 * d * d, "take fewer neurons")
    xi = patterns.astype(exact_dtype(P))
    weights = (xi.T @ xi).astype(np.int64)
    np.fill_diagonal(weights, 0)
    return weights


@checked
def hebb_fields(patterns: Patterns, s: States) -> np.ndarray:
    """The fields (…, d) of `hebb(patterns)` at states s (…, d), int64.

    They are computed without d × d weights as h = Σ_μ ξ^μ ⟨ξ^μ, s⟩ − P s, where −P s accounts for
    the zero diagonal.
    """
    P, dtype = len(patterns), exact_dtype(patterns.size)
    through = inner_products(s, patterns).astype(dtype) @ patterns.astype(dtype)
    return through.astype(np.int64) - P * s


@checked
def hopfield_fields(weights: Weights, s: States, bias: Bias | None = None) -> np.ndarray:
    """The fields h_i = Σ_j w_ij s_j + b_i (…, d): weights (d, d), states (…, d), bias (d,) or 0.

    They are int64 and exact for an integer weight matrix and bias, else float64.

    Raises `ValueError` for weights that are not symmetric or have a nonzero diagonal, and for
    integers that are too large for int64.
    """
    network = checked_network(weights, bias)
    return network.fields(s.astype(network.dtype)).astype(network.weights.dtype)


@checked
def hopfield_energy(weights: Weights, s: States, bias: Bias | None = None) -> np.ndarray:
    """The energy E(s) = −½ Σ_{i≠j} w_ij s_i s_j − Σ_i b_i s_i, (…); see `hopfield_fields`.

    E = −½⟨s, h + b⟩ is an integer for integer weights, because every pair i ≠ j is counted twice.
    As W is symmetric with zero diagonal, s_i appears in E only in −s_i h_i, and h_i does not depend
    on s_i.  So a flip of s_i to the sign of h_i changes this term from |h_i| to −|h_i|, and E falls
    by 2|h_i|.  As there are finitely many states, updates terminate.
    """
    network = checked_network(weights, bias)
    h = network.fields(s.astype(network.dtype)).astype(network.weights.dtype)
    doubled = np.vecdot(s.astype(h.dtype), h + network.bias)
    return np.asarray(-(doubled // 2) if h.dtype == np.int64 else -doubled / 2)


@checked
def asynchronous_update(
    weights: Weights,
    s: States,
    order: Order,
    bias: Bias | None = None,
    *,
    sweeps: Steps = 1000,
) -> Relaxation:
    """The `Relaxation` of asynchronous updates, one neuron at a time, until a sweep has no flip.

    A sweep updates all d neurons. `order` is a permutation of 0 … d − 1, used in every sweep, or a
    seed or Generator, which draws a permutation for each sweep of each state. Every flip lowers the
    energy by exactly 2|h_i| [Hopfield1982], so with integers there are at most Σ_{i<j} |w_ij| + Σ_i
    |b_i| flips. At most `sweeps` sweeps are made (see `Relaxation.converged`).

    A flip costs d additions (h ← h − 2 s_i w_i). For float weights the fields are recomputed before
    every sweep, so rounding errors do not accumulate.

    Raises `ValueError` as `hopfield_fields` does, and for an order that is not a permutation.
    """
    network = checked_network(weights, bias)
    d = len(network.bias)
    sequence = orders(order, d)
    rows = s.reshape(-1, d).astype(network.dtype)
    whole = network.weights.dtype == np.int64
    fields = network.fields(rows)
    twice = 2 * network.weights.astype(network.dtype)
    flips, made = np.zeros((2, len(rows)), dtype=np.int64)
    converged = np.zeros(len(rows), dtype=bool)
    for row in range(len(rows)):
        while made[row] < sweeps and not converged[row]:
            if made[row] and not whole:
                fields[row] = network.fields(rows[row])
            changed = _sweep(twice, fields[row], rows[row], next(sequence))
            flips[row] += changed
            made[row] += 1
            converged[row] = changed == 0
    shape = s.shape[:-1]
    return Relaxation(
        rows.astype(np.int64).reshape(s.shape),
        flips.reshape(shape),
        made.reshape(shape),
        converged.reshape(shape),
    )


def _sweep(twice: np.ndarray, h: np.ndarray, s: np.ndarray, order: np.ndarray) -> int:
    """Update the fields h and a state s in place by one sweep; return the number of flips."""
    flips = start = 0
    while start < len(order):
        ahead = (h * s < 0)[order[start:]]
        skipped = int(ahead.argmax())
        if not ahead[skipped]:
            break
        start += skipped + 1
        i = order[start - 1]
        if s[i] > 0:
            h -= twice[i]
        else:
            h += twice[i]
        s[i] = -s[i]
        flips += 1
    return flips


def orders(order: np.random.Generator | np.ndarray, d: int) -> Iterator[np.ndarray]:
    """An endless iterator of permutations, one for each sweep."""
    if isinstance(order, np.random.Generator):
        return (order.permutation(d) for _ in count())
    if order.shape != (d,) or (np.sort(order) != range(d)).any():
        raise InputError(
            f"order is {order.tolist()!r:.60}: "
            f"give a permutation of 0 … {d - 1}, a seed or a Generator"
        )
    return repeat(order)


@checked
def asynchronous_update_by_definition(
    weights: Weights, s: OneState, order: Permutation, bias: Bias | None = None
) -> list[list[int]]:
    """The states after each single-neuron update of a state s (d,), in the order of a permutation.

    The last sweep has no flips. Each field is computed from its definition, in rationals.
    """
    network = checked_network(weights, bias)
    d = len(network.bias)
    permutation = next(orders(order, d)).tolist()
    w = [[Fraction(value) for value in row] for row in network.weights.tolist()]
    b = [Fraction(value) for value in network.bias.tolist()]
    visited = [s.tolist()]
    while len(visited) <= d or visited[-1] != visited[-1 - d]:
        for i in permutation:
            now = list(visited[-1])
            field = sum((w[i][j] * now[j] for j in range(d) if j != i), b[i])
            if field:
                now[i] = 1 if field > 0 else -1
            visited.append(now)
    return visited


@checked
def synchronous_update(weights: Weights, s: States, bias: Bias | None = None) -> np.ndarray:
    """The states after one synchronous update: sgn h_i(s) (…, d), or s_i if h_i = 0.

    Shapes and errors as in `hopfield_fields`.
    """
    network = checked_network(weights, bias)
    s = s.astype(network.dtype)
    return _signs(network.fields(s), s).astype(np.int64)


@checked
def synchronous_run(
    weights: Weights, s: States, bias: Bias | None = None, *, max_steps: Steps = 1000
) -> Cycle:
    """The `Cycle` that synchronous updates reach from each state; its length is 1 or 2.

    All neurons are updated at once. The two-step energy −⟨s(t), W s(t−1)⟩ − ⟨b, s(t) + s(t−1)⟩
    never increases [Goles1981]. Outside a cycle it can be constant for a step if a field is 0. With
    W + εI in place of W it decreases strictly, because the update is then sgn(h + εs), without zero
    fields (ε = ½ suffices for integers). States that have reached their cycle are not updated
    further.

    Raises `ValueError` as `hopfield_fields` does.
    """
    network = checked_network(weights, bias)
    converted = network.weights.astype(network.dtype)  # converted once, not at every step
    fast = Network(converted, network.bias.astype(network.dtype), network.dtype)
    return _to_cycle(fast.fields, s, network.dtype, max_steps)


@checked
def hebb_synchronous_run(patterns: Patterns, s: States, *, max_steps: Steps = 1000) -> Cycle:
    """The `Cycle` `synchronous_run(hebb(patterns), s)`, computed by the cheaper of two methods.

    A step takes 2Pd multiplications per state if it uses the patterns, and d² if it uses the
    weights.
    """
    P, d = patterns.shape
    if d <= 2 * P:
        return synchronous_run(hebb(patterns), s, max_steps=max_steps)
    dtype = exact_dtype(patterns.size)
    rows = patterns.astype(dtype)
    return _to_cycle(lambda s: (s @ rows.T) @ rows - dtype(P) * s, s, dtype, max_steps)


def _to_cycle(
    fields: Callable[[np.ndarray], np.ndarray],
    s: np.ndarray,
    dtype: type[np.float32] | type[np.float64] | type[np.int64],
    max_steps: int,
) -> Cycle:
    ends = s.reshape(-1, s.shape[-1]).copy()
    period, steps = np.zeros((2, len(ends)), dtype=np.int64)
    running, now = np.arange(len(ends)), ends.astype(dtype)
    after = _signs(fields(now), now)
    for step in range(max_steps + 1):
        for length in (1, 2):
            if length == 1:
                done = (after == now).all(axis=1)
            else:
                later = _signs(fields(after), after)
                done = (later == now).all(axis=1)
            ends[running[done]], period[running[done]] = now[done], length
            steps[running[done]] = step
            running, now, after = running[~done], now[~done], after[~done]
        if not len(running):
            break
        if step == max_steps:
            ends[running], steps[running] = now, step
            break
        now, after = after, later[~done]
    shape = s.shape[:-1]
    return Cycle(ends.reshape(s.shape), period.reshape(shape), steps.reshape(shape))


def _signs(h: np.ndarray, s: np.ndarray) -> np.ndarray:
    """sgn h, and s where h = 0."""
    signs = np.sign(h)
    zero = signs == 0
    signs[zero] = s[zero]
    return signs


def checked_network(weights: np.ndarray, bias: np.ndarray | None = None) -> Network:
    """The `Network` of weights (d, d) and a bias (d,) or 0.

    Raises `ValueError` for weights that are not symmetric or have a nonzero diagonal.
    """
    w, b = weights, np.zeros(len(weights), dtype=np.int64) if bias is None else bias
    if not np.array_equal(w, w.T):
        i, j = np.argwhere(w != w.T)[0]
        raise InputError(
            f"weights[{i}, {j}] is {w[i, j]} but weights[{j}, {i}] is {w[j, i]}: the energy "
            "requires symmetric weights; give W + Wᵀ"
        )
    if w.diagonal().any():
        i = int(w.diagonal().nonzero()[0][0])
        raise InputError(
            f"weights[{i}, {i}] is {w[i, i]}: a neuron must not be connected to itself; "
            "set the diagonal to 0"
        )
    # Sums of integers in float64 are exact below 2⁵³, and larger sums never round to below 2⁵³.
    with np.errstate(over="ignore"):
        sizes = np.abs(w, dtype=np.float64).sum(axis=1) + np.abs(b, dtype=np.float64)
        total = sizes.sum()
    if not total < np.inf:
        raise InputError(
            f"weights of size {np.abs(w).max():.3g} overflow when added: scale them down"
        )
    if w.dtype.kind == "f" or b.dtype.kind == "f":
        return Network(w.astype(np.float64, copy=False), b.astype(np.float64), np.float64)
    if total > LARGEST:
        raise InputError(
            f"the absolute values of the integer weights and biases add up to {total:.3g}, and "
            f"int64 sums are exact up to 2^62 = {LARGEST:.3g}: scale them down, or give floats"
        )
    return Network(
        w.astype(np.int64, copy=False), b.astype(np.int64), exact_dtype(float(sizes.max()))
    )
