"""Classical Hopfield networks: Hebb's rule, energy, asynchronous and synchronous updates.

Let the weights W be symmetric with zero diagonal. With a bias b, a state s ∈ {−1, +1}^d has

    fields  h_i = Σ_j w_ij s_j + b_i        energy  E(s) = −½ Σ_{i≠j} w_ij s_i s_j − Σ_i b_i s_i

An update sets s_i to the sign of h_i; if h_i = 0, s_i is unchanged. In asynchronous updates every
flip lowers E by exactly 2|h_i|. Synchronous updates end in a cycle of length 1 or 2. Results are
exact (int64) for integer weights, and rounded for float weights.

Proof for asynchronous updates. E contains s_i only in the term −s_i h_i, and h_i does not contain
s_i (W is symmetric with zero diagonal), so a flip to the sign of h_i changes this term from |h_i|
to −|h_i|. There are finitely many states, so the flips end [Hopfield1982].

Proof for synchronous updates. Let ε > 0 be smaller than every nonzero |h_i|. The update is
s(t + 1) = sgn g(t) with g = h + εs, and no g_i is 0. Let
L(t) = −⟨s(t), (W + εI) s(t−1)⟩ − ⟨b, s(t) + s(t−1)⟩. By the symmetry of W,
L(t + 1) − L(t) = −⟨s(t+1) − s(t−1), g(t)⟩ = −2 Σ |g_i(t)|, summed over all i with
s_i(t+1) ≠ s_i(t−1). This is negative unless s(t + 1) = s(t − 1). L has finitely many values, so
s(t + 1) = s(t − 1) eventually [Goles1981].

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
    """The final states of asynchronous updates, and the numbers of flips and sweeps.

    All attributes are arrays with one entry for each initial state. `states` (…, d) are the final
    states of the d neurons, `flips` (…) counts the bits flipped, and `sweeps` (…) counts the
    sweeps, each of which updates all d neurons once. `converged` (…) is true if the last sweep
    changed no bit. `sweeps` includes this last sweep.
    """

    states: np.ndarray
    flips: np.ndarray
    sweeps: np.ndarray
    converged: np.ndarray


@dataclass(frozen=True)
class Cycle:
    """The cycles of length 1 or 2 that synchronous updates of a Hopfield network reach.

    All attributes are arrays with one entry for each initial state. Let s(t) be the state of d
    neurons after t updates. `steps` (…) is the smallest t with s(t + 2) = s(t), and `states` (…, d)
    are the states s(t) for this t. The length `period` (…) of the cycle is 1 if s(t + 1) = s(t),
    and otherwise 2. If no cycle was found within the allowed number of updates, `period` is 0, and
    `states` contains the last state.
    """

    states: np.ndarray
    period: np.ndarray
    steps: np.ndarray


@dataclass(frozen=True)
class Network:
    """The weights and the bias of a classical network of d neurons, both int64 or both float64.

    The weights are (d, d), and the bias is (d,). Fields are computed in `dtype`, in which the sums
    are exact if weights and bias are integers.
    """

    weights: np.ndarray
    bias: np.ndarray
    dtype: type[np.float32] | type[np.float64] | type[np.int64]

    def fields(self, s: np.ndarray) -> np.ndarray:
        """The fields h = sW + b (…, d) of states s (…, d), all in the network's `dtype`.

        W are the symmetric weights, and b is the bias.
        """
        return s @ self.weights.astype(self.dtype, copy=False) + self.bias.astype(self.dtype)


@checked
def hebb(patterns: Patterns) -> np.ndarray:
    """The Hebb weights (d, d) of P patterns, w_ij = Σ_μ ξ_i^μ ξ_j^μ for i ≠ j and w_ii = 0, int64.

    The patterns ξ^μ are the rows of `patterns` (P, d), with entries ±1 [Hopfield1982]. The usual
    factor 1/d is omitted. This factor does not change the signs of the fields Σ_j w_ij s_j, and all
    weights are integers without it.

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
    """The fields h_i = Σ_j w_ij s_j (…, d) of a Hopfield network with Hebb weights, int64.

    The weights are w_ij = Σ_μ ξ_i^μ ξ_j^μ for i ≠ j and w_ii = 0, where the patterns ξ^μ are the P
    rows of `patterns` (P, d), and the states s are (…, d). The fields are computed as h = Σ_μ ξ^μ
    ⟨ξ^μ, s⟩ − P s. The term −P s accounts for the zero diagonal of the weights. The weights (d, d)
    are not computed.
    """
    P, dtype = len(patterns), exact_dtype(patterns.size)
    through = inner_products(s, patterns).astype(dtype) @ patterns.astype(dtype)
    return through.astype(np.int64) - P * s


@checked
def hopfield_fields(weights: Weights, s: States, bias: Bias | None = None) -> np.ndarray:
    """The fields h_i = Σ_j w_ij s_j + b_i (…, d) of a Hopfield network at states s (…, d).

    The weights w_ij are (d, d), and the bias b is (d,), or None for 0. Fields are int64 and exact
    if the weights and the bias are integers, else float64.

    Raises `ValueError` for weights that are not symmetric or have a nonzero diagonal, and for
    integers that are too large for int64.
    """
    network = checked_network(weights, bias)
    return network.fields(s.astype(network.dtype)).astype(network.weights.dtype)


@checked
def hopfield_energy(weights: Weights, s: States, bias: Bias | None = None) -> np.ndarray:
    """The energy E(s) = −½ Σ_{i≠j} w_ij s_i s_j − Σ_i b_i s_i (…) of states s (…, d).

    The states have entries ±1. The weights w_ij of the Hopfield network are (d, d), and the bias b
    is (d,), or None for 0. E equals −½⟨s, h + b⟩, where h is the vector of fields h_i = Σ_j w_ij
    s_j + b_i. If weights and bias are integers, E is an integer, because the sum over i ≠ j counts
    every pair twice. As the weights are symmetric with zero diagonal, s_i appears in E only in the
    term −s_i h_i, and h_i does not depend on s_i. So a flip of s_i to the sign of h_i changes this
    term from |h_i| to −|h_i|, and E falls by 2|h_i|. Since there are finitely many states,
    asynchronous updates terminate.

    Raises `ValueError` for weights that are not symmetric or have a nonzero diagonal, and for
    integers that are too large for int64.
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
    """The final states of a Hopfield network, updated asynchronously until no neuron flips.

    The initial states are s (…, d). Neurons are updated one at a time, and a sweep updates all d
    neurons. An update sets s_i to the sign of the field h_i = Σ_j w_ij s_j + b_i, with weights w_ij
    (d, d) and bias b (d,) or 0; if h_i = 0, s_i is unchanged. If `order` is a permutation of 0, …,
    d − 1, every sweep uses this permutation. If `order` is a seed or a Generator, a permutation is
    drawn for each sweep of each state. Every flip of a neuron i lowers the energy
    (`hopfield_energy`) by exactly 2|h_i| [Hopfield1982]. So for integer weights and bias there are
    at most Σ_{i<j} |w_ij| + Σ_i |b_i| flips. At most `sweeps` sweeps are made. The result is a
    `Relaxation`, which also contains the numbers of flips and sweeps, and whether the last sweep
    changed no bit.

    After a flip of s_i, d additions change the fields by −2 s_i w_i, where s_i is the value before
    the flip and w_i is row i of the weights. For float weights the fields are computed anew before
    every sweep, so rounding errors do not accumulate.

    Raises `ValueError` for weights that are not symmetric or have a nonzero diagonal, for integers
    that are too large for int64, and for an order that is not a permutation.
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
    """An endless iterator of permutations of 0 … d − 1, one for each sweep.

    Every permutation is `order`, or a random permutation if `order` is a Generator. Raises
    `ValueError` if `order` is an array that is not a permutation.
    """
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
    """All states of a Hopfield network that asynchronous updates visit from a state s (d,).

    The list contains s and the state after each update of a single neuron. An update sets s_i to
    the sign of the field h_i = Σ_j w_ij s_j + b_i, with `weights` w_ij (d, d) and `bias` b (d,) or
    0; if h_i = 0, s_i is unchanged. A sweep updates the neurons in the order of the permutation
    `order`. Sweeps are made until a sweep has no flips. Each field is computed by its definition,
    in rational arithmetic.
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
    """The states (…, d) of a Hopfield network after one update of all neurons of states s (…, d).

    Neuron i takes the sign of the field h_i = Σ_j w_ij s_j + b_i, or is unchanged if h_i = 0. The
    weights w_ij are (d, d), and the bias b is (d,), or None for 0.

    Raises `ValueError` for weights that are not symmetric or have a nonzero diagonal, and for
    integers that are too large for int64.
    """
    network = checked_network(weights, bias)
    s = s.astype(network.dtype)
    return _signs(network.fields(s), s).astype(np.int64)


@checked
def synchronous_run(
    weights: Weights, s: States, bias: Bias | None = None, *, max_steps: Steps = 1000
) -> Cycle:
    """The cycles, of length 1 or 2, that synchronous updates of a Hopfield network reach.

    The result is a `Cycle`, with one entry for each of the initial states s (…, d). An update
    changes all neurons of the state s(t) at once: s(t + 1) = sgn h with the fields h = W s(t) + b,
    where a neuron with a zero field is unchanged. W are the weights (d, d), and b is the bias (d,)
    or 0. At most `max_steps` updates are made. The two-step energy
    −⟨s(t), W s(t−1)⟩ − ⟨b, s(t) + s(t−1)⟩ never increases [Goles1981]. Before the cycle is reached,
    the two-step energy can be constant for a step if a field is 0. If W is replaced by W + εI,
    where ε > 0 is smaller than every nonzero |h_i|, the updates are the same, but the two-step
    energy decreases strictly before the cycle is reached. The reason is that no entry of h + εs is
    0. For integer weights and bias, ε = ½ suffices. A state that has reached its cycle is not
    updated further.

    Raises `ValueError` for weights that are not symmetric or have a nonzero diagonal, and for
    integers that are too large for int64.
    """
    network = checked_network(weights, bias)
    converted = network.weights.astype(network.dtype)  # converted once, not at every step
    fast = Network(converted, network.bias.astype(network.dtype), network.dtype)
    return _to_cycle(fast.fields, s, network.dtype, max_steps)


@checked
def hebb_synchronous_run(patterns: Patterns, s: States, *, max_steps: Steps = 1000) -> Cycle:
    """The cycles that synchronous updates with Hebb weights reach, as a `Cycle`.

    The result equals `synchronous_run(hebb(patterns), s)` for patterns (P, d) and initial states s
    (…, d). The fields of a state are computed by the cheaper of two methods: by 2Pd multiplications
    from the patterns, or by d² multiplications from the weights. At most `max_steps` updates are
    made.
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
    """The `Network` of the given weights (d, d) and bias (d,); without a bias, the bias is 0.

    Raises `ValueError` for weights that are not symmetric or have a nonzero diagonal.
    """
    w, b = weights, np.zeros(len(weights), dtype=np.int64) if bias is None else bias
    if not np.array_equal(w, w.T):
        i, j = np.argwhere(w != w.T)[0]
        raise InputError(
            f"weights[{i}, {j}] is {w[i, j]} but weights[{j}, {i}] is {w[j, i]}: "
            "give symmetric weights, for example W + Wᵀ"
        )
    if w.diagonal().any():
        i = int(w.diagonal().nonzero()[0][0])
        raise InputError(
            f"weights[{i}, {i}] is {w[i, i]}: a neuron must not be connected to itself; "
            "set the diagonal to 0"
        )
    # Sums of integers in float64 are exact below 2⁵³, and larger sums never round to below 2⁵³,
    # but may round to 2⁵³: the dtype is exact for the next larger float.
    with np.errstate(over="ignore"):
        sizes = np.abs(w, dtype=np.float64).sum(axis=1) + np.abs(b, dtype=np.float64)
        total = sizes.sum()
    if not total < np.inf:
        largest = ", ".join(
            f"the largest {what} is {np.abs(each, dtype=np.float64).max():.3g}"
            for what, each in (("weight", w), ("bias", b))
            if each.any()
        )
        raise InputError(
            f"sums of weights and biases overflow ({largest}): scale the weights and biases down"
        )
    if w.dtype.kind == "f" or b.dtype.kind == "f":
        return Network(w.astype(np.float64, copy=False), b.astype(np.float64), np.float64)
    if total > LARGEST:
        raise InputError(
            f"the absolute values of the integer weights and biases add up to {total:.3g}, and "
            f"int64 sums are exact only up to 2^62 = {LARGEST:.3g}: "
            "scale the weights and biases down, or give floats"
        )
    dtype = exact_dtype(float(np.nextafter(sizes.max(), np.inf)))
    return Network(w.astype(np.int64, copy=False), b.astype(np.int64), dtype)
