"""The claim `margin-trained`: training with a norm penalty approaches the maximum margin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from constructions.trained import configuration_of, untrained
from constructions.transformer import Transformer
from theory.arithmetic.modular_margin import (
    Neurons,
    cubed_norms,
    frequency_fractions,
    largest_margin_squared,
)
from theory.arithmetic.modular_margin_balls import square_root
from verify.arithmetic.quadratic import margin_of_tensors
from verify.claim import Run, claim
from verify.domains import Ball
from verify.evidence.checkpoints import models_of
from verify.evidence.enclosure import BITS, below, interval
from verify.finding import Finding, Verdict, at_least, at_most, labelled, within

KIND = "a quadratic network trained on modular"
NEAR = 0.99  # smallest margin after training, in units of γ*
SINGLE, MIXED = 0.99, 0.75  # fraction at the largest frequency: minimum trained, maximum untrained
EVEN = 0.5  # each frequency's fraction of Σ‖θ‖³ is EVEN to 1/EVEN times the uniform one
MODULI, QUICK = (7, 11, 23), 2  # moduli, and how many of them a quick run takes


class Frequencies(NamedTuple):
    """The frequencies of the neurons of a network, weighted by the cubed norms ‖θ‖³ of the neurons.

    Let θ be the weights of a neuron.  The largest frequency of a neuron is the frequency with the
    largest part of ‖θ‖², and `single` is the weighted mean of this part divided by ‖θ‖².  For each
    k = 1, …, (p − 1)/2, `frequencies` contains the fraction of Σ‖θ‖³ that belongs to neurons whose
    largest frequency is k, divided by the uniform fraction 2/(p − 1).
    """

    single: float
    frequencies: np.ndarray


@claim()
def margin_trained(run: Run) -> Iterator[Finding]:
    """Published observation: quadratic networks with a norm penalty approach the maximum margin.

    Networks of 48, 80 and 352 neurons z ↦ z² for addition mod p = 7, 11 and 23 are trained on all
    pairs of numbers. The loss is the cross-entropy plus λΣ‖θ‖³, where the sum is over the neurons,
    θ are the weights of a neuron, and λ is the weight of the penalty. The normalised margin is the
    smallest difference between the right logit and another logit, divided by Σ‖θ‖³.  There are
    three seeds for each p, and every seed is evaluated separately.  All thresholds were written
    down before any of these networks was trained.  The ratios (normalised margin)/γ* of earlier
    trials, .978 to 1, were known. The maximum γ* is defined below.

    bound        the normalised margin is at most the maximum γ* = √(2/27)/(√p (p − 1)). This bound
                 is proved, so a larger value would be an error of the evaluation.
    ratio        the normalised margin is at least .99 γ*. Before training, the normalised margin is
                 below 0.
    single       each neuron has one frequency: the fraction of ‖θ‖² at the dominant Fourier
                 frequency of a neuron, averaged over the neurons with the averaging weights ‖θ‖³,
                 is at least .99. Before training, this average is at most .75.
    frequencies  for each of the (p − 1)/2 frequencies, the sum of ‖θ‖³ over its neurons is between
                 1/(p − 1) and 4/(p − 1) times Σ‖θ‖³.  Random neurons satisfy this condition, too,
                 so `frequencies` is informative only together with `single`. Networks of few
                 frequencies can also add, but do not satisfy the condition.
    """
    for p in MODULI[:QUICK] if run.quick else MODULI:
        found = models_of(f"modular-p{p}", KIND)
        for name, model, _ in found:
            yield from labelled(name, trained(model))
        before: Any = untrained(configuration_of(found[0].name))
        yield from labelled(f"untrained p{p}", control(before))


def trained(model: Any) -> Iterator[Finding]:
    """The findings on a trained network: margin, compared with the maximum, and frequencies."""
    built: Transformer = model.as_transformer()
    with Ball.precision(BITS):
        ratio = ratio_of(built)
        exceeds, reaches = below(ratio, arb(1)), below(arb(NEAR), ratio)
        ends = interval(ratio)
    words = f"{ends[0]:.7f}, with {built.n_heads} neurons"
    name = "(normalised margin of the tensors)/(maximum normalised margin), in ball arithmetic"
    yield Finding("bound", name, "enclosure", ends, 1, exceeds, words, "at most 1, as proved")
    yield Finding("ratio", name, "trained", ends, NEAR, reaches, words, f"at least {NEAR}")
    of_neurons = frequencies_of(model.neurons)
    yield at_least(
        "single",
        "fraction of the squared norm of a neuron at the neuron's largest frequency, mean weighted "
        "by the cubed norms of the neurons",
        "trained",
        of_neurons.single,
        SINGLE,
        words=f"{of_neurons.single:.4f}",
        wanted=f"at least {SINGLE}",
    )
    found = of_neurons.frequencies.tolist()
    yield within(
        "frequencies",
        "(fraction of the total cubed norm that belongs to the neurons of a frequency)/(uniform "
        f"fraction 1/{len(found)}), for each of {len(found)} frequencies",
        "trained",
        found,
        (EVEN, 1 / EVEN),
        words=f"from {min(found):.2f} to {max(found):.2f}",
        wanted=f"from {EVEN:g} to {1 / EVEN:g}",
    )


def control(model: Any) -> Iterator[Finding]:
    """The findings on a network before training.

    The margin is negative, and a neuron has many frequencies.
    """
    with Ball.precision(BITS):
        ratio = ratio_of(model.as_transformer())
        verdict, ends = Verdict.of(bool(ratio < 0)), interval(ratio)
    name = "(normalised margin before training)/(maximum normalised margin)"
    yield Finding("ratio", name, "trained", ends, 0, verdict, f"{ends[1]:.3f}", "below 0")
    single = frequencies_of(model.neurons).single
    yield at_most(
        "single",
        "fraction of the squared norm of a neuron at the neuron's largest frequency before "
        "training, mean weighted by the cubed norms of the neurons",
        "trained",
        single,
        MIXED,
        words=f"{single:.3f}",
        wanted=f"at most {MIXED}",
    )


def ratio_of(model: Transformer) -> arb:
    """The normalised margin of the tensors divided by the maximum normalised margin, as a ball."""
    star: arb = square_root(largest_margin_squared(model.interface.n_answers))
    ratio: arb = margin_of_tensors(model) / star
    return ratio


def frequencies_of(neurons: Neurons) -> Frequencies:
    """The `Frequencies` of the given neurons; the constant frequency 0 is excluded."""
    weights, of_frequency = cubed_norms(*neurons), frequency_fractions(*neurons)[:, 1:]
    largest, count = of_frequency.argmax(1), of_frequency.shape[1]
    parts = np.bincount(largest, weights, count) / weights.sum()
    single = float((weights * of_frequency.max(1)).sum() / weights.sum())
    return Frequencies(single, parts * count)
