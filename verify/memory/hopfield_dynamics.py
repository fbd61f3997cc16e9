"""Findings of `hopfield` on updates: energies, zero fields, cycles and mirror images.

Weights, fields and energies are integers, so every comparison is exact.  The functions `_wrong…`
yield descriptions of counterexamples to the statements in their docstrings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product

import numpy as np

from theory.memory.hopfield import (
    asynchronous_update,
    asynchronous_update_by_definition,
    hebb,
    hopfield_energy,
    hopfield_fields,
    synchronous_run,
    synchronous_update,
)
from theory.memory.patterns import random_patterns
from theory.memory.small_networks import SmallNetwork, number, walk
from verify.claim import Run
from verify.finding import Finding, at_least, no_counterexample

Networks = Sequence[SmallNetwork]


def energies(run: Run, networks: Networks) -> Iterator[Finding]:
    """Findings that a flip of a neuron to the sign of the field h lowers the energy by 2|h|."""
    name = f"flips to the sign of the field h, in all states of {len(networks)} small networks"
    words = f"the energy falls by 2|h| in {sum(net.states.size for net in networks)} flips"
    yield no_counterexample("energy/flip", name, _wrong_flips(networks), words=words)
    name = "asynchronous runs of small networks, update by update"
    words = (
        "the energy falls by 2|h| at every flip, and a run has at most Σ_{i<j}|w_ij| + Σ_i|b_i| "
        "flips"
    )
    yield no_counterexample("energy/asynchronous", name, _wrong_runs(run, networks), words=words)
    d = 60 if run.quick else 200
    name = f"long asynchronous runs of {d} neurons"
    words = "the energy falls by at least 2 per flip, and all final states are stable"
    yield no_counterexample("energy/long", name, _wrong_long_runs(run, d), words=words)


def _wrong_flips(networks: Networks) -> Iterator[str]:
    """E(s) − E(s with bit i flipped) = −2 s_i h_i, for every state and every bit."""
    for net in networks:
        s, E = net.states, net.energies
        if (hopfield_energy(net.weights, s, net.bias) != E).any():
            yield f"energies: {net}"
        for i in range(len(net.bias)):
            differ = E - E[net.flipped(i)] != -2 * s[:, i] * net.fields[:, i]
            yield from (net.at(k, i) for k in np.flatnonzero(differ).tolist())


def _wrong_runs(run: Run, networks: Networks) -> Iterator[str]:
    """Runs equal those by definition: drop of E at each flip, number of flips, final state."""
    for net in networks:
        w, b = net.weights, net.bias
        order = run.rng.permutation(len(b))
        ends = asynchronous_update(w, net.states, order, b)
        allowed = np.abs(np.triu(w)).sum() + np.abs(b).sum()
        for k in range(0, len(net.states), 1 if len(b) < 4 else 3):
            path = number(asynchronous_update_by_definition(w, net.states[k], order, b)).tolist()
            flips = [(here, there) for here, there in pairwise(path) if here != there]
            lowered = all(
                net.energies[here] - net.energies[there] == 2 * abs(net.field(here, there)) > 0
                for here, there in flips
            )
            as_fast = (ends.flips[k], number(ends.states[k])) == (len(flips), path[-1])
            if not (lowered and as_fast and ends.converged[k] and len(flips) <= allowed):
                yield f"{net.at(k)}, order {order}"


def _wrong_long_runs(run: Run, d: int) -> Iterator[str]:
    for size in (1, 1000):
        upper = np.triu(run.rng.integers(-size, size + 1, (d, d)), 1)
        w, b = upper + upper.T, run.rng.integers(-size, size + 1, d)
        s = random_patterns(5, d, run.rng)
        ends = asynchronous_update(w, s, run.rng, b)
        drop = hopfield_energy(w, s, b) - hopfield_energy(w, ends.states, b)
        stable = (ends.states * hopfield_fields(w, ends.states, b) >= 0).all()
        if not (stable and ends.converged.all() and (drop >= 2 * ends.flips).all()):
            yield f"weights up to {size}: E falls by {drop.tolist()} in {ends.flips.tolist()}"


def zero_fields(networks: Networks) -> Iterator[Finding]:
    """Findings on two other rules for a neuron with field 0: the value +1, and a flip."""
    ones = [SmallNetwork(1 - np.eye(d, dtype=int), np.zeros(d, dtype=int)) for d in (2, 3)]
    tried = (*ones, *networks)
    zeros = [(net, k, i) for net in tried for k, i in np.argwhere(net.fields == 0).tolist()]
    still = next((net.at(k, i) for net, k, i in zeros if net.states[k, i] < 0), "")
    name = "with sgn 0 = +1 a flip need not lower the energy E, so the proof by energy fails"
    wrong = () if still else ("no zero field occurs",)
    yield no_counterexample("zero-field/plus-one", name, wrong, words=f"E falls by 0 at {still}")
    yield no_counterexample(
        "zero-field/rule",
        "updates with sgn 0 = +1 against updates with weights 2W and bias 2b + 1",
        _unlike_plus_one(tried),
        words=f"equal at all states of {len(tried)} networks, so runs with sgn 0 = +1 end",
    )
    name = "runs that flip every neuron with a zero field need not end"
    words = f"field and energy are unchanged by the flip, at {len(zeros)} zero fields"
    yield no_counterexample("zero-field/turning", name, _wrong_zero_flips(zeros), words=words)


def _unlike_plus_one(networks: Networks) -> Iterator[str]:
    """The rule sgn 0 = +1 is the update by 2W and 2b + 1, whose fields are 2h + 1."""
    for net in networks:
        updated = synchronous_update(2 * net.weights, net.states, 2 * net.bias + 1)
        if (updated != np.where(net.fields < 0, -1, 1)).any():
            yield str(net)


def _wrong_zero_flips(zeros: Sequence[tuple[SmallNetwork, int, int]]) -> Iterator[str]:
    for net, k, i in zeros:
        flipped = net.flipped(i)[k]
        if net.energies[k] != net.energies[flipped] or net.fields[flipped, i] != 0:
            yield net.at(k, i)


def cycles(networks: Networks) -> Iterator[Finding]:
    """Findings on synchronous runs from all states of small networks."""
    lengths = np.concatenate([walk(net.weights, net.bias)[1] for net in networks])
    name = f"synchronous cycles from all states of {len(networks)} small networks"
    words = f"the length is 1 or 2, as by definition, and 2 from {(lengths == 2).sum()} of "
    words += f"{len(lengths)} states"
    yield no_counterexample("cycles/symmetric", name, _wrong_cycles(networks), words=words)
    falls = [(net, *_falls(net)) for net in networks]
    rising = (str(net) for net, f, strict, m in falls if (f < 0).any() or (strict[m] <= 0).any())
    name = (
        "the two-step energy of W never increases, and the two-step energy of 2W + I decreases "
        "outside cycles"
    )
    constant = sum((f[m] == 0).sum() for _, f, _, m in falls)
    words = f"no counterexample; the two-step energy of W is constant in {constant} steps outside "
    words += "cycles"
    yield no_counterexample("cycles/energy", name, rising, words=words)
    pairs = [np.array([[0, p], [q, 0]]) for p, q in product((-1, 0, 1), repeat=2)]
    rings = [np.roll(np.diag(signs), 1, axis=0) for signs in product((-1, 1), repeat=3)]
    longest = [max((walk(w)[1].max(), w.tolist()) for w in tried) for tried in (pairs, rings)]
    shortest, _ = min(longest)
    name = "longest cycles without symmetric weights, for 2 neurons and for rings of 3 neurons"
    words = ", ".join(f"length {length} at W = {w}" for length, w in longest)
    wanted = "both lengths at least 3"
    yield at_least("cycles/asymmetric", name, "exact", shortest, 3, words=words, wanted=wanted)


def _wrong_cycles(networks: Networks) -> Iterator[str]:
    for net in networks:
        steps, length, end = walk(net.weights, net.bias)
        run = synchronous_run(net.weights, net.states, net.bias)
        found = run.steps, run.period, number(run.states)
        if length.max() > 2 or not np.array_equal(found, (steps, length, end)):
            yield str(net)


def _falls(net: SmallNetwork) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The decrease of −⟨s', Ws⟩ − ⟨b, s + s'⟩ in a step; twice the decrease for W + ½I, whose
    doubled field 2h + s is never 0; and whether the state is not on its cycle."""
    s = net.states
    later = synchronous_update(net.weights, s, net.bias)
    last = synchronous_update(net.weights, later, net.bias)

    def energy(s: np.ndarray, later: np.ndarray) -> np.ndarray:
        return -np.vecdot(later, s @ net.weights) - (s + later) @ net.bias

    fall = energy(s, later) - energy(later, last)
    return fall, 2 * fall + np.vecdot(last - s, later), (last != s).any(axis=1)


def mirror_images(run: Run) -> Finding:
    """The finding that −s is a fixed point of a network without bias if s is a fixed point."""
    networks = [
        SmallNetwork(hebb(random_patterns(P, d, run.rng)), np.zeros(d, dtype=int))
        for P, d in ((1, 3), (2, 4), (3, 5), (4, 6))
    ]
    fixed_points = [(net.fields * net.states >= 0).all(axis=1) for net in networks]
    positive = [(np.where(net.fields < 0, -1, 1) == net.states).all(axis=1) for net in networks]
    # All bits of the index of s are flipped in the index of −s.
    lost = any((fixed & ~fixed[::-1]).any() for fixed in positive)
    cases = zip(networks, fixed_points, strict=True)
    wrong = (str(net) for net, fixed in cases if (fixed != fixed[::-1]).any())
    name = f"if s is a fixed point, so is −s, in {len(networks)} Hebb networks"
    words = f"true for {sum(fixed.sum() for fixed in fixed_points)} fixed points"
    words += "; with sgn 0 = +1 it is false for some fixed points" * lost
    return no_counterexample("mirror-images", name, wrong, words=words)
