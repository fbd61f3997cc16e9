"""The claim `margin-trained`: training with short neurons comes to the largest margin."""

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
NEAR = 0.99  # of γ*: at least, trained
SINGLE, MIXED = 0.99, 0.75  # the share of the largest frequency: at least trained, at most before
EVEN = 0.5  # of its even share, at least, and twice that at most: what each frequency has
MODULI, QUICK = (7, 11, 23), 2  # and how many of them in a quick run


class Shares(NamedTuple):
    """Of all neurons, by ‖θ‖³: the mean share of the largest frequency in ‖θ‖², and the share of
    Σ‖θ‖³ of the neurons whose largest one is k = 1, …, (p − 1)/2, over the even share."""

    single: float
    frequencies: np.ndarray


@claim(source="[Morwani2023]; the models: constructions/trained/quadratic.py")
def margin_trained(run: Run) -> Iterator[Finding]:
    """Published observation: quadratic networks with a norm penalty come near the largest margin.

    48, 80 and 352 neurons, p = 7, 11 and 23, are trained on all pairs, with the entropy and λΣ‖θ‖³;
    three seeds each, each judged by itself.  All thresholds were written down before any was
    trained, with the ratios of earlier trials known (.978 to 1).

    bound        the normalised margin is at most γ*, which is proved: an excess would be a mistake.
    ratio        it is at least .99 γ*; before training it is below 0.
    single       neurons have one frequency each: the share of ‖θ‖² at its largest one, averaged
                 with the weights ‖θ‖³, is at least .99; before training at most .75.
    frequencies  each of the (p − 1)/2 has at least half and at most twice its even share of Σ‖θ‖³.
                 Random neurons have that, too, so it says something only beside `single`; networks
                 of few frequencies, which add as well, have it not.
    """
    for p in MODULI[:QUICK] if run.quick else MODULI:
        found = models_of(f"modular-p{p}", KIND)
        for name, model, _ in found:
            yield from labelled(name, trained(model))
        before: Any = untrained(configuration_of(found[0].name))
        yield from labelled(f"untrained p{p}", control(before))


def trained(model: Any) -> Iterator[Finding]:
    """The margin of the tensors beside γ*, and the frequencies of the neurons."""
    built: Transformer = model.as_transformer()
    with Ball.precision(BITS):
        ratio = ratio_of(built)
        exceeds, reaches = below(ratio, arb(1)), below(arb(NEAR), ratio)
        ends = interval(ratio)
    words = f"{ends[0]:.7f} γ*, by {built.n_heads} neurons"
    name = "normalised margin, on the tensors as two layers of heads"
    yield Finding("bound", name, "enclosure", ends, 1, exceeds, words, "at most γ*, as proved")
    yield Finding("ratio", name, "trained", ends, NEAR, reaches, words, f"at least {NEAR} γ*")
    shares = shares_of(model.neurons)
    yield at_least(
        "single",
        "one frequency in each neuron",
        "trained",
        shares.single,
        SINGLE,
        words=f"{shares.single:.4f} of ‖θ‖² at its largest frequency",
        wanted=f"at least {SINGLE}",
    )
    found = shares.frequencies.tolist()
    yield within(
        "frequencies",
        f"all {len(found)} frequencies, with a part of Σ‖θ‖³ each",
        "trained",
        found,
        (EVEN, 1 / EVEN),
        words=f"{min(found):.2f} to {max(found):.2f} of an even share",
        wanted=f"from {EVEN:g} to {1 / EVEN:g}",
    )


def control(model: Any) -> Iterator[Finding]:
    """Before training: no margin, and neurons of many frequencies."""
    with Ball.precision(BITS):
        ratio = ratio_of(model.as_transformer())
        verdict, ends = Verdict.of(bool(ratio < 0)), interval(ratio)
    name = "normalised margin"
    yield Finding("ratio", name, "trained", ends, 0, verdict, f"{ends[1]:.3f} γ*", "below 0")
    single = shares_of(model.neurons).single
    yield at_most(
        "single",
        "many frequencies in each neuron",
        "trained",
        single,
        MIXED,
        words=f"{single:.3f} of ‖θ‖² at its largest frequency",
        wanted=f"at most {MIXED}",
    )


def ratio_of(model: Transformer) -> arb:
    """The normalised margin of the tensors over γ*."""
    star: arb = square_root(largest_margin_squared(model.interface.n_answers))
    ratio: arb = margin_of_tensors(model) / star
    return ratio


def shares_of(neurons: Neurons) -> Shares:
    """Of frequencies, in neurons and among them."""
    weights, shares = cubed_norms(*neurons), frequency_fractions(*neurons)
    of_frequency = shares[:, 1:]
    largest, count = of_frequency.argmax(1), of_frequency.shape[1]
    parts = np.bincount(largest, weights, count) / weights.sum()
    single = float((weights * of_frequency.max(1)).sum() / weights.sum())
    return Shares(single, parts * count)
