"""The claim `even-process-trained`: a trained transformer compared with a known source."""

from __future__ import annotations

from collections.abc import Iterator
from math import expm1
from typing import Any

import numpy as np

from constructions import string_probabilities
from constructions.trained import configuration_of, untrained
from theory.language import StringDistributions, conditional_entropy, even_process, window_cost
from theory.sequences import all_sequences
from verify.claim import Run, claim
from verify.evidence.checkpoints import models_of
from verify.finding import Finding, at_least, at_most, each_at_most, labelled

NAME, KIND = "even-process-small-2-layers", "a softmax transformer trained on even-process"

# The thresholds were stated before any of these models was trained, except IMPOSSIBLE.  Models of
# another program were known to have Σ KL_t ≤ .001, δ ≤ .0034 and a probability of impossible words
# of at most 6.2e-4.
LEARNED = 0.002  # largest Σ KL_t, in nats
CALIBRATED = 0.01  # largest δ of the worst threshold
WINDOW = 6  # symbols of a window, from which the last symbol is predicted less well
UNTRAINED = 0.5  # smallest Σ KL_t of an untrained model, in nats
IMPOSSIBLE = 0.1  # its smallest probability of impossible words (.5 until seed 0 gave .503)
ROUNDING = 1e-9  # rounding of sums of logarithms over all words


@claim()
def even_process_trained(run: Run) -> Iterator[Finding]:
    """Observation: the loss of a transformer trained on the even process is within .002 nats of the
    entropy of the process.

    The even process emits bits, with an even number of 1s between successive 0s.  Words have ten
    symbols, and the loss is the sum of the cross-entropies of the ten symbols.  The distribution p
    of words is known exactly, and the probabilities g of all 2^10 words under the model are
    computed.  So the losses are exact up to rounding.  The cross-entropy of symbol t is CE_t = H_t
    + KL_t, where H_t is the entropy of symbol t given the earlier symbols, and KL_t ≥ 0 is the
    excess.  Each of three seeds is tested.  The null models are untrained models.  All thresholds
    were stated before training, except the threshold for the probability of impossible words under
    untrained models.

    loss         Σ_t (CE_t − H_t) equals the divergence KL(p‖g) of words.
    learned      Σ_t KL_t ≤ .002.
    impossible   Words of probability 0 under p have total probability at most 1 − e^{−KL(p‖g)}
                 under the model, with equality if g ∝ p on the other words.  For every threshold τ
                 ≥ 0, the total probability is at least the deterministic lower bound on
                 hallucination (claim `hallucination`).
    rescaling    2δ² ≤ kl(p(A)‖g(A)) ≤ KL(p‖g).  Here A is the set of words with g > τ for the
                 threshold τ for which δ = |g(A) − p(A)| is largest, and kl(a‖b) is the divergence
                 of Bernoulli distributions with probabilities a and b.  The middle term is the
                 decrease of the loss if g is multiplied by one factor on A and by another factor
                 off A, such that A has probability p(A).
    calibrated   the number δ of `rescaling` is at most .01.
    looks-back   KL_10 is at most the excess of the best prediction of symbol 10 from only the last
                 six symbols before it.
    """
    found = models_of(NAME, KIND)
    for name, model, task in found:
        yield from labelled(name, trained(scored(model, task.length)))
    before = [scored(untrained(configuration_of(name)), task.length) for name, _, task in found]
    yield from labelled("untrained", control(before))


def scored(model: Any, length: int) -> StringDistributions:
    """The probabilities of all words of `length` bits under the even process and under a model.

    The probabilities are computed in float64, so that sums over words with the same prefix are
    exact enough.
    """
    words, source = all_sequences(length, 2).tolist(), even_process()
    p = np.array([float(source.probability(word)) for word in words])
    return StringDistributions(p, string_probabilities(model.double(), length).numpy())


def losses(of: StringDistributions) -> list[float]:
    """For each symbol, (cross-entropy given the earlier symbols) − (entropy given the same)."""
    return [
        cross - float(conditional_entropy(even_process(), t))
        for t, cross in enumerate(of.cross_entropies, start=1)
    ]


def trained(of: StringDistributions) -> Iterator[Finding]:
    """The findings on one trained model."""
    each, whole, T = losses(of), of.divergence, of.length
    yield at_most(
        "loss",
        "sum over the symbols of a word of (cross-entropy of the model g) − (entropy of the source "
        f"p), compared with the divergence KL(p‖g) on all 2^{T} words",
        "float",
        abs(sum(each) - whole),
        ROUNDING,
        words=f"both are {whole:.6f} nats",
        wanted=f"a difference of at most {ROUNDING:g}, for rounding errors",
    )
    yield at_most(
        "learned",
        "(cross-entropy of a word) − (entropy of the source)",
        "trained",
        sum(each),
        LEARNED,
        words=f"{sum(each):.5f} nats, of which {each[-1]:.5f} nats for symbol {T}",
        wanted=f"at most {LEARNED:g} nats",
    )
    yield between(of, whole)
    yield rescaling(of, whole)
    yield at_most(
        "calibrated",
        "largest |g(A) − p(A)| of the model g and the source p over all thresholds τ, where "
        "A = {g > τ}",
        "trained",
        of.worst_level.delta,
        CALIBRATED,
        words=f"{of.worst_level.delta:.4f}",
        wanted=f"at most {CALIBRATED:g}",
    )
    cost = float(window_cost(even_process(), T, WINDOW))
    yield at_most(
        "looks-back",
        f"(cross-entropy of symbol {T}) − (entropy of symbol {T} given the earlier symbols)",
        "trained",
        each[-1],
        cost,
        words=f"{each[-1]:.5f} nats",
        wanted=f"at most {cost:.4f} nats, the extra loss of reading only the last {WINDOW} symbols",
    )


def between(of: StringDistributions, whole: float) -> Finding:
    """The model's probability of impossible words, compared with its lower and upper bounds.

    The bounds are the largest deterministic bound and 1 − e^{−KL}, where KL = `whole` is the
    divergence of the model from the source.
    """
    found, least, most = of.impossible, of.least_impossible, -expm1(-whole)
    outside = max(least - found, found - most)
    return at_most(
        "impossible",
        "total probability under the model g of the words that are impossible under the source p",
        "float",
        outside,
        ROUNDING,
        words=f"{found:.2e}",
        wanted=f"from {max(least, 0.0):.1e}, the deterministic bound, to "
        f"1 − e^(−KL(p‖g)) = {most:.2e}",
    )


def rescaling(of: StringDistributions, whole: float) -> Finding:
    """The decrease of the loss if a model g is rescaled on A = {g > τ}, compared with its bounds.

    A is the set of words of probability above τ, p is the source, and τ is the threshold with the
    largest δ = |g(A) − p(A)|.  The bounds are 2δ² and KL(p‖g) = `whole`.
    """
    delta, gain = of.worst_level.delta, of.worst_level.gain
    return each_at_most(
        "rescaling",
        "decrease of the loss if the model g of the source p is rescaled on A = {g > τ}, for the "
        "threshold τ with the largest δ = |g(A) − p(A)|",
        "float",
        {"2δ²": 2 * delta**2, "gain": gain},
        {"2δ²": gain + ROUNDING, "gain": whole + ROUNDING},
        words=f"{gain:.2e} nats, with δ = {delta:.4f}",
        wanted=f"from 2δ² = {2 * delta**2:.2e} to KL(p‖g) = {whole:.2e} nats",
    )


def control(models: list[StringDistributions]) -> Iterator[Finding]:
    """The findings on the null model: before training, losses are large.

    Impossible words are probable before training.
    """
    lost = [sum(losses(of)) for of in models]
    impossible = [of.impossible for of in models]
    yield at_least(
        "learned",
        "(cross-entropy of a word) − (entropy of the source) before training, by seed",
        "trained",
        min(lost),
        UNTRAINED,
        words=f"{', '.join(f'{each:.3f}' for each in lost)} nats",
        wanted=f"at least {UNTRAINED:g} nats for every seed",
    )
    yield at_least(
        "impossible",
        "total probability, under the model before training, of the words that are impossible "
        "under the source, by seed",
        "trained",
        min(impossible),
        IMPOSSIBLE,
        words=f"{', '.join(f'{each:.3f}' for each in impossible)}",
        wanted=f"at least {IMPOSSIBLE:g} for every seed",
    )
