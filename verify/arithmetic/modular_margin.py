"""The claim `modular-margin`: the maximum margin of addition mod p by quadratic networks."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from math import pi, sin
from typing import Annotated, Any

import numpy as np
from flint import arb

from constructions import modular_addition
from constructions.transformer import Transformer
from theory.arithmetic.congruence import odd_modulus
from theory.arithmetic.modular_margin import (
    few_frequencies_margin,
    largest_margin_squared,
    mean_over_cubes,
    modular_neurons,
)
from theory.arithmetic.modular_margin_balls import square_root
from theory.arithmetic.neuron_means import (
    by_definition,
    by_frequencies,
    by_sums,
    field_with_root,
    transform,
)
from verify.arithmetic.pairs import Enumerated, enumerated
from verify.arithmetic.quadratic import margin_of_tensors, unlike_neurons
from verify.claim import Run, claim, option
from verify.domains import Ball, outputs, random_prime
from verify.evidence.enclosure import BITS, all_hold, below, interval
from verify.evidence.size import size
from verify.finding import (
    Finding,
    Verdict,
    as_stated,
    at_most,
    each_at_most,
    labelled,
    no_counterexample,
    rounded_up,
    within,
)

ODD, FEW = (3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25), (3, 5, 9)
# The stated relative distance of the margin of float64 tensors from γ*.  Cosines have errors of up
# to 20·2^−53: a bound on each would not give this distance, but balls enclose the margin.
NEAR = 2.0**-48
MOST_EVERY, MOST_EVERY_QUICK = 9, 5  # largest moduli for which all pairs are enclosed
MOST = 61  # largest modulus, whose 4(p − 1) heads on p² pairs take seconds
POINTS = 3
GROKKED = 113, (14, 35, 41, 42, 52)  # a modulus, and frequencies reported for a trained network


@claim(faults_seen=[{"p": 5}])
def modular_margin(
    run: Run, *, p: Annotated[int, option("an odd modulus", min=3, max=MOST)] = 25
) -> Iterator[Finding]:
    """For odd p, quadratic networks add mod p with a normalised margin ≤ √(2/27)/(√p (p − 1)).

    The logits of a quadratic network are sums over neurons with weights u, v and w: the logit of c
    for the numbers a and b is the sum of w(c)(u(a) + v(b))². The normalised margin is the smallest
    difference between the logit of a + b mod p and another logit, divided by the sum of ‖(u, v,
    w)‖³. For every odd p ≥ 3 the bound is attained by a transformer whose second layer has 4(p − 1)
    linear heads, one for each neuron. In these heads, each token attends only to itself.  For the
    numbers a and b, the logit of residue c is 2(p − 1) if c ≡ a + b mod p, and −2 otherwise.
    """
    odd_modulus(p)
    moduli = [q for q in (FEW if run.quick else ODD) if q <= p] or [p]
    moduli = [*dict.fromkeys([*moduli, p])]
    yield from labelled("bound", proof(run, moduli))
    models = {q: run.build(modular_addition, q) for q in moduli}
    yield from labelled("built", of_models(run, models))
    yield random_networks(run, moduli)
    yield few_frequencies(run)


def proof(run: Run, moduli: list[int]) -> Iterator[Finding]:
    """The findings on steps (1) to (3) of the proof: polynomial identities, and the constants."""
    prime = random_prime(run.rng)
    some = [p for p in moduli if p <= 9]
    # Degree 3 in the entries of u, v and w, at random points.
    chance = rounded_up(3 / prime)
    yield no_counterexample(
        "mean",
        "mean margin of a neuron with weights u, v and w, compared with "
        "2/((p − 1)p) Σ u_a v_b w̃_(a+b) for w̃ = w − mean of w (step 1), p = "
        f"{', '.join(map(str, some))}",
        chain.from_iterable(other_means(run, p, prime) for p in some),
        evidence="identity",
        words=f"equal at random points mod a prime, with error probability ≤ {chance:.1e}",
    )
    yield no_counterexample(
        "fourier",
        "mean margin of a neuron, compared with 2/((p − 1)p²) Σ_{k≠0} û_k v̂_k ŵ_(−k) for the "
        "Fourier transforms û, v̂ and ŵ of its weights (step 2), p = "
        f"{', '.join(map(str, some))}",
        chain.from_iterable(other_coefficients(run, p) for p in some),
        evidence="identity",
        words="equal at random points of a field with p-th roots of unity, with error probability "
        "≤ 1e-17",
    )
    yield no_counterexample(
        "constant",
        "4/((p − 1)p²)·(p/6)^(3/2), compared with the maximum margin γ* = √(2/27)/(√p (p − 1)) "
        "(step 3)",
        chain.from_iterable(map(other_constants, moduli)),
        evidence="exact",
        words=f"the squares are equal for {len(moduli)} odd p; also, k ≢ −k mod p for all k ≠ 0",
    )


def other_means(run: Run, p: int, prime: int) -> Iterator[str]:
    """The random points mod a prime at which the mean margin of a neuron differs from formula (1).

    Formula (1) is computed by `theory.arithmetic.neuron_means.by_sums`.
    """
    for _ in range(POINTS):
        u, v, w = ([int(x) for x in run.rng.integers(0, prime, p)] for _ in range(3))
        if (by_definition(u, v, w) - 2 * by_sums(u, v, w)) % prime:
            yield f"p = {p}: not at u = {u}, v = {v}, w = {w} mod {prime}"


def other_coefficients(run: Run, p: int) -> Iterator[str]:
    """The random points at which formula (1) of the mean margin differs from formula (2).

    Formula (1) is computed by `theory.arithmetic.neuron_means.by_sums`, and formula (2) by
    `by_frequencies` in the same module.  The points are in a prime field that has p-th roots of
    unity.
    """
    prime, root = field_with_root(p, run.rng)
    for _ in range(POINTS):
        u, v, w = ([int(x) for x in run.rng.integers(0, prime, p)] for _ in range(3))
        hats = [transform(x, root, prime) for x in (u, v, w)]
        if (by_sums(u, v, w) - by_frequencies(*hats)) % prime:
            yield f"p = {p}: not at u = {u}, v = {v}, w = {w} mod {prime}"


def other_constants(p: int) -> Iterator[str]:
    """The errors in the constants of step (3) of the proof, in words.

    The constant and the maximum normalised margin √(2/27)/(√p (p − 1)) must have equal squares, and
    k ≡ −k mod p must not hold for any k ≠ 0.
    """
    bound = Fraction(4, (p - 1) * p * p) ** 2 * Fraction(p, 6) ** 3
    if bound != largest_margin_squared(p):
        yield f"p = {p}: {bound}, not {largest_margin_squared(p)}"
    if any(k == -k % p for k in range(1, p)):
        yield f"p = {p}: k ≡ −k for some k ≠ 0"


def of_models(run: Run, models: dict[int, Transformer]) -> Iterator[Finding]:
    """The findings on the built models: size, predictions, and margin of the neurons."""
    p, model = max(models.items())
    yield size(model, "modular-addition", p=p)
    strange, off, bounds = list[str](), dict[str, float](), dict[str, float]()
    for q, each in models.items():
        found, farthest, differs = compared(each)
        name = f"p = {q}"
        off[name], bounds[name] = farthest, forward_bound(q)
        strange += (f"{name}: {what}" for what in differs)
    yield ahead_by_all(found, p, model.interface.margin or 0.0)
    logits_found = each_at_most(
        "all-logits",
        "largest difference between the logit of c and 2(p − 1) for c = a + b, or −2 for other c, "
        "over all pairs (a, b) and all c, p = "
        f"{listed(models)}",
        "float",
        off,
        bounds,
        words=f"{max(off.values()):.1e}",
        wanted="at most (p² + 16p)·2^−47, from the rounding of cosines and sums",
    )
    # 4p terms, each with 256 roundings of its own, and one of a partial sum of at most 16p.
    yield as_stated(
        logits_found, bounds, {f"p = {q}": 4 * q * (256 + 16 * q) * 2.0**-53 for q in models}
    )
    yield no_counterexample(
        "network",
        "layer 2, compared with a network of quadratic neurons on one-hot codes of a and b, p = "
        f"{listed(models)}",
        strange,
        words="equal in all checks: W_Q = W_K, no biases, codes of all pairs, unembedding",
    )
    verdicts, ratios, logits = list[Verdict](), dict[str, tuple[float, float]](), list[Verdict]()
    every = MOST_EVERY_QUICK if run.quick else MOST_EVERY
    with Ball.precision(BITS):
        for q, each in models.items():
            ratio = margin_of_tensors(each) / square_root(largest_margin_squared(q))
            ratios[f"p = {q}"] = interval(ratio)
            verdicts += [below(abs(ratio - 1), arb(NEAR))]
            logits += as_proved(each, every=q <= every)
    yield all_hold(
        "ratio",
        "normalised margin of the tensors divided by the maximum γ* = √(2/27)/(√p (p − 1)), p = "
        f"{listed(models)}",
        verdicts,
        words=f"1 ± {max(abs(end - 1) for ends in ratios.values() for end in ends):.1e}",
        wanted=f"1 ± {NEAR:.1e}, with cosines in float64",
    )
    yield all_hold(
        "logits",
        "logits of c in ball arithmetic, compared with 2(p − 1) at c = a + b and −2 at other c",
        logits,
        words="equal up to the rounding of cosines, on all pairs (a, b) for "
        f"p ≤ {every} and on three pairs for larger p",
    )
    margins = {q: exact_margin_squared(q) for q in models}
    yield no_counterexample(
        "exact",
        "normalised margin 2p/(4(p − 1)(3p/2)^(3/2)) of the built neurons, compared with the "
        "maximum γ* = √(2/27)/(√p (p − 1))",
        (f"p = {q}: {x}" for q, x in margins.items() if x != largest_margin_squared(q)),
        words=f"the squares are equal for p = {listed(models)}",
    )


def listed(models: dict[int, Transformer]) -> str:
    """The moduli of the models in words."""
    return ", ".join(map(str, models))


def forward_bound(p: int) -> float:
    """A bound on the rounding error of the logits of the built neurons in float64.

    The exact logit of residue c is 2(p − 1) at c = a + b mod p, and −2 elsewhere.  Let δ = 2^−53.
    An angle up to 2π has three roundings.  Therefore errors are at most 20δ for a cosine, 42δ for
    the sum u_a + v_b of two weights of a neuron, 170δ for the square of the sum, and 256δ for the
    term (u_a + v_b)²·w_c of the neuron in the logit.  A term is at most 4 in absolute value.  There
    are 4(p − 1) terms, and each partial sum, which is at most 16p, is rounded.  The bound is
    1024pδ + 4p·16pδ.
    """
    return (p * p + 16 * p) * 2.0**-47


def compared(model: Transformer) -> tuple[Enumerated, float, list[str]]:
    """The enumeration of all pairs, the largest error of a logit, and differences of the tensors.

    The differences describe, in words, how the tensors differ from a network of quadratic neurons.
    """
    p, farthest, strange = model.interface.n_answers, [0.0], [*unlike_neurons(model)]
    codes = np.eye(p)

    def compare(pairs: np.ndarray, logits: np.ndarray, streams: list[np.ndarray]) -> None:
        H, wanted = streams[-1][:, 2], 2 * (p * codes[pairs.sum(1) % p] - 1)
        # np.maximum, unlike max, propagates NaN.
        farthest[0] = float(np.maximum(farthest[0], abs(logits - wanted).max()))
        for stage in model.stages:
            if not np.array_equal(H[:, model.stream[stage.register]], stage.holds(pairs)[:, 0]):
                strange.append(f"code of {stage.register} at {pairs[0, 0]} + b")
        if not (H[:, model.stream["equals"]] == 1).all():
            strange.append(f"value read from `equals` at {pairs[0, 0]} + b")

    found = enumerated(model, lambda pairs: pairs.sum(-1) % p, seen=compare)
    return found, farthest[0], strange


def ahead_by_all(found: Enumerated, p: int, declared: float) -> Finding:
    """The finding that no prediction is wrong and that the right logit exceeds all others by 2p.

    The gap is at least the declared margin.
    """
    least = 2 * p - 2 * forward_bound(p)
    return Finding(
        "all-pairs",
        f"number of wrong predictions on all {found.pairs} pairs, and smallest gap between the "
        f"right logit and another logit, p = {p}",
        "float",
        {"wrong": found.wrong, "ahead": found.least},
        {"wrong": 0, "ahead": least},
        Verdict.of(found.wrong == 0 and found.least >= max(least, declared)),
        f"{found.wrong} wrong; the right logit exceeds all others by at least {found.least:.10g}, "
        "up to rounding",
        f"none wrong; a gap of 2p = {2 * p}, up to rounding",
        found.first,
    )


def as_proved(model: Transformer, every: bool) -> list[Verdict]:
    """The verdicts on enclosed logits, on all pairs or on three pairs.

    For numbers a and b mod p, the logit of residue c must be 2(p − 1) at c = a + b, and −2 at other
    c.
    """
    p = model.interface.n_answers
    found = []
    for a, b in np.ndindex(p, p) if every else ((0, 0), (1, p - 1), (p - 1, p - 1)):
        (row,) = outputs(model, model.prompt(np.array([a, b])), Ball()).tolist()
        for c, value in enumerate(row):
            wanted = 2 * (p - 1) if c == (a + b) % p else -2
            found.append(below(abs(value - wanted), arb(p * p * NEAR)))
    return found


def exact_margin_squared(p: int) -> Fraction:
    """The exact squared normalised margin (2p)²/(16(p − 1)²(3p/2)³) of the built neurons.

    The sum of cos(2πzd/p) over z = 1 … (p − 1)/2 is (p − 1)/2 for d = 0, and −1/2 for other
    residues d mod p.  Therefore the right logit is 2(p − 1), and all other logits are −2.  A sum of
    cos² over all residues is p/2, so the squared norm of a neuron is 3p/2.
    """
    return Fraction((2 * p) ** 2) / (16 * (p - 1) ** 2 * Fraction(3 * p, 2) ** 3)


def random_networks(run: Run, moduli: list[int]) -> Finding:
    """The finding that no random neuron has a mean margin above the bound.

    The bound is the maximum normalised margin times the cubed norm of the neuron.  Perturbations of
    optimal neurons are included.
    """
    most, count = 0.0, 0
    for p in moduli:
        best = np.stack(modular_neurons(p))
        star = float(largest_margin_squared(p)) ** 0.5
        for noise in (0.0, 0.1, 1.0, 100.0):
            drawn = best + noise * run.rng.standard_normal(best.shape)
            most = max(most, float((mean_over_cubes(*drawn) / star).max()))
            count += drawn.shape[1]
    return within(
        "neurons",
        "largest (mean margin)/(cubed norm) of a neuron, divided by the maximum normalised "
        "margin, over "
        f"{count} random and nearly optimal neurons",
        "float",
        most,
        (1 - 1e-12, 1 + 1e-12),
        words=f"{most:.10g}",
        wanted="1, which optimal neurons attain, up to rounding",
    )


def few_frequencies(run: Run) -> Finding:
    """The finding on the margin of logits with few frequencies, as in trained networks.

    For p candidates and a set K of frequencies, the margin is between 0 and |K|p/(p − 1).
    """
    p, K = GROKKED
    found = {"these": few_frequencies_margin(p, K)}
    limit: dict[str, Any] = {"these": len(K) * p / (p - 1)}
    medians = list[str]()
    for count in (3, 4, 5, 6, 8):
        draws = 40 if run.quick else 300
        sets = [
            run.rng.choice(np.arange(1, (p + 1) // 2), count, replace=False) for _ in range(draws)
        ]
        margins = [few_frequencies_margin(p, [int(k) for k in K]) for K in sets]
        found[f"{count}"], limit[f"{count}"] = max(margins), count * p / (p - 1)
        medians.append(f"{np.median(margins):.2f} for {count}")
    verdicts = [at_most("", "", "float", found[name], limit[name]).verdict for name in found]
    verdicts += [Verdict.of(value > 0) for value in found.values()]
    finding = Finding(
        "few-frequencies",
        f"margin of the logits Σ_k cos(2πk(c − s)/p) with few frequencies k ∈ K, p = {p}",
        "float",
        found,
        limit,
        Verdict.together(verdicts),
        f"{found['these']:.3f} for K = {{{', '.join(map(str, K))}}}; medians over random K: "
        f"{', '.join(medians)} frequencies",
        "above 0, and at most |K|p/(p − 1) for |K| frequencies",
    )
    stated = min(sum(2 * sin(pi * k * d / p) ** 2 for k in K) for d in range(1, p))
    return as_stated(finding, found["these"], stated)
