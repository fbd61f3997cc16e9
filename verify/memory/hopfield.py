"""The claim `hopfield`: energy, cycles and capacity of the classical Hopfield network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

import numpy as np

from constructions import hebbian_attention, hopfield_update
from theory.memory.hopfield import hebb, hebb_fields, synchronous_update
from theory.memory.patterns import flipped, mixture, random_patterns
from theory.memory.small_networks import SmallNetwork, all_states, random_networks
from verify.claim import Run, claim, option
from verify.evidence.invariants import wrong_over_q
from verify.evidence.size import size
from verify.finding import Finding, labelled, no_counterexample
from verify.memory import hopfield_dynamics as dynamics
from verify.memory.hopfield_capacity import capacity_findings
from verify.memory.probabilities import mostly


@claim(
    picture="verify.memory.capacity_picture:draw_hopfield",
    faults_seen=[{"d": 24, "samples": 4}],
)
def hopfield(
    run: Run,
    *,
    d: Annotated[
        int, option("number of neurons of the measured networks", min=1, max=10**4)
    ] = 1000,
    samples: Annotated[
        int, option("number of networks measured at each load", min=1, max=10**4)
    ] = 200,
) -> Iterator[Finding]:
    """In Hopfield networks, flips lower the energy by 2|h|, synchronous cycles have length 1 or 2,
    and the critical load of the mean-field theory is α_c = 0.13790556….

    A neuron is ±1, and its field h is the weighted sum of the other neurons, plus the bias. An
    update sets the neuron to the sign of its field; a neuron with the field 0 is unchanged. Weights
    are symmetric with zero diagonal. A flip is an update that changes the value of one neuron.
    Synchronous updates of all neurons end in a cycle of 1 or 2 states. Energies and cycles are
    checked over all states of small integer networks and in long runs of large networks. A
    transformer with one layer per synchronous update computes the updates by MLPs, or by linear
    attention to the patterns.

    Let P random patterns of ±1 be stored in d neurons under Hebb's rule, let d → ∞, and let c < 1
    be fixed. A given pattern is a fixed point with probability → 1 if P ≤ c·d/(2 ln d), and all
    patterns are fixed points with probability → 1 if P ≤ c·d/(4 ln d). The load is α = P/d. The
    replica-symmetric mean-field equations of [AGS1985] have solutions near a pattern up to the load
    α_c. It is not proved that these equations describe the network.
    """
    small = list(random_networks(run.rng, 4 if run.quick else 5, 2 if run.quick else 6))
    yield from dynamics.energies(run, small)
    yield from dynamics.zero_fields(small)
    yield from dynamics.cycles(small)
    yield from labelled("transformer", _transformers(run, small))
    yield dynamics.mirror_images(run)
    yield _mixtures(run, max(d, 100))
    yield from capacity_findings(run, d, -(-samples // 5) if run.quick else samples)
    run.draw(min(max(d, 50), 300), run.rng)


def _transformers(run: Run, networks: list[SmallNetwork]) -> Iterator[Finding]:
    """One layer per step computes the updates, by weights and by attention.

    This is checked over Q for all states, and in float64.
    """
    tried = networks[:: 3 if run.quick else 2]
    name = "model with the weights in its MLPs, over Q, against two updates s ← sgn(W s + b)"
    words = f"equal for all {sum(len(net.states) for net in tried)} states of small networks"
    yield no_counterexample("weights", name, _by_weights(run, tried), words=words)
    sizes = ((1, 3), (2, 3), (2, 4), (3, 4)) if run.quick else ((1, 4), (2, 4), (3, 4), (4, 5))
    name = "model with linear attention, over Q, against two updates s ← sgn(Σ_μ ξ^μ⟨ξ^μ, s⟩ − P s)"
    words = f"equal for all {sum(2**d for _, d in sizes)} states of small networks"
    yield no_counterexample("attention", name, _by_attention(run, sizes), words=words)
    d, P = (60, 8) if run.quick else (200, 30)
    xi = random_patterns(P, d, run.rng)
    s = np.concatenate([flipped(xi, d // 5, run.rng), random_patterns(20, d, run.rng)])
    wanted = _twice(hebb(xi), s)
    by_weights = run.build(hopfield_update, hebb(xi), None, 2)
    by_attention = run.build(hebbian_attention, xi, 2)
    wrong = (m.name for m in (by_weights, by_attention) if (m(s).numpy() != wanted).any())
    name = f"both models in float64 against two updates, {P} patterns of {d} neurons"
    words = f"equal for {len(s)} states, as every sum is an integer below 2^53"
    yield no_counterexample("float", name, wrong, words=words)
    yield from labelled("weights", [size(by_weights, "hopfield-update", d=d, k=2)])
    yield from labelled("attention", [size(by_attention, "hebbian-attention", d=d, k=2)])


def _by_weights(run: Run, networks: list[SmallNetwork]) -> Iterator[str]:
    for net in networks:
        scale = 2.0 ** float(run.rng.integers(-30, 10))  # weights need not be integers
        model = run.build(hopfield_update, net.weights * scale, net.bias * scale, 2)
        yield from wrong_over_q(model, _twice(net.weights, net.states, net.bias), net.states)


def _by_attention(run: Run, sizes: Iterable[tuple[int, int]]) -> Iterator[str]:
    for P, d in sizes:
        xi, s = random_patterns(P, d, run.rng), all_states(d)
        yield from wrong_over_q(run.build(hebbian_attention, xi, 2), _twice(hebb(xi), s), s)


def _twice(w: np.ndarray, s: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
    return synchronous_update(w, synchronous_update(w, s, b), b)


def _mixtures(run: Run, d: int) -> Finding:
    """The mixture sgn(ξ¹ + ξ² + ξ³) is a fixed point in networks of 3 patterns."""
    drawn = (random_patterns(3, d, run.rng) for _ in range(20))
    fixed = sum(bool((hebb_fields(xi, mixture(xi)) * mixture(xi) >= 0).all()) for xi in drawn)
    name = f"bitwise majority of the patterns, in networks of {d} neurons with 3 patterns"
    words = "majorities are fixed points"
    return mostly("mixtures", name, fixed, 20, 0.5, words=words)
