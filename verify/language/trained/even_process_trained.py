"""The claim `even-process-trained`: a transformer comes to a known source, all words scored."""

from __future__ import annotations

from collections.abc import Iterator
from math import expm1, sqrt
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

# Stated before any of these models was trained, but for IMPOSSIBLE; of another program's,
# Σ KL_t ≤ .001, δ ≤ .0034 and at most 6.2e-4 on impossible words had been seen.
LEARNED = 0.002  # nats, Σ KL_t: at most
CALIBRATED = 0.01  # δ of the worst threshold: at most
WINDOW = 6  # symbols: the last letter is predicted better than with so many before it
UNTRAINED = 0.5  # nats Σ KL_t of an untrained model: at least
IMPOSSIBLE = 0.1  # of its words, at least: .5 before that of seed 0 had been seen, .503
ROUNDING = 1e-9  # of sums over all words, of logarithms in float64


@claim(source="proved in theory/language/rescaling.py and sources.py; measured")
def even_process_trained(run: Run) -> Iterator[Finding]:
    """Observation: trained on the even process, a transformer is within .002 nats of its entropy.

    CE_t = H(X_t|X_<t) + KL_t: all 2^10 words are scored, and the source is known exactly, so what
    is lost is known without samples.  Three seeds, each judged; thresholds from before training,
    but for that of impossible words of untrained models, which is from after.

    loss         Σ_t CE_t − H_t, symbol by symbol, is KL(p‖g) of whole words.
    learned      Σ_t KL_t ≤ .002.
    impossible   words of probability 0 have at most 1 − e^{−KL} (attained where g is p but for a
                 factor), and at least the deterministic bound with every τ.
    rescaling    δ = max_τ |g(A) − p(A)|, A = {g > τ}: 2δ² ≤ kl(p(A)‖g(A)), which scaling g on A
                 would win, ≤ KL(p‖g).
    calibrated   δ ≤ .01.
    looks-back   KL_10 is less than what seeing six symbols only would cost.
    """
    found = models_of(NAME, KIND)
    for name, model, task in found:
        yield from labelled(name, trained(scored(model, task.length)))
    before = [scored(untrained(configuration_of(name)), task.length) for name, _, task in found]
    yield from labelled("untrained", control(before))


def scored(model: Any, length: int) -> StringDistributions:
    """A model beside the source, run in float64: so the chances of words add up to those of their
    prefixes."""
    words, source = all_sequences(length, 2).tolist(), even_process()
    p = np.array([float(source.probability(word)) for word in words])
    return StringDistributions(p, string_probabilities(model.double(), length).numpy())


def losses(of: StringDistributions) -> list[float]:
    """KL_t for t = 1 … T: the cross-entropy of X_t given all before it, less the source's."""
    return [
        cross - float(conditional_entropy(even_process(), t))
        for t, cross in enumerate(of.cross_entropies, start=1)
    ]


def trained(of: StringDistributions) -> Iterator[Finding]:
    """The findings on one model."""
    each, whole, T = losses(of), of.divergence, of.length
    yield at_most(
        "loss",
        f"Σ CE_t − H_t is KL(p‖g) of all 2^{T} words",
        "float",
        abs(sum(each) - whole),
        ROUNDING,
        words=f"{whole:.6f} nats both ways",
    )
    yield at_most(
        "learned",
        "what is lost above the entropy of the source",
        "trained",
        sum(each),
        LEARNED,
        words=f"Σ KL_t = {sum(each):.5f} nats; KL_{T} = {each[-1]:.5f}",
        wanted=f"at most {LEARNED:g}",
    )
    yield between(of, whole)
    yield rescaling(of, whole)
    yield at_most(
        "calibrated",
        "over- or under-confidence at the worst threshold",
        "trained",
        of.worst_level.delta,
        CALIBRATED,
        wanted=f"at most {CALIBRATED:g}",
    )
    cost = float(window_cost(even_process(), T, WINDOW))
    yield at_most(
        "looks-back",
        f"X_{T} is predicted from more than the last {WINDOW} symbols",
        "trained",
        each[-1],
        cost,
        words=f"KL_{T} = {each[-1]:.5f}",
        wanted=f"below the {cost:.4f} nats that a window of {WINDOW} costs",
    )


def between(of: StringDistributions, whole: float) -> Finding:
    """Impossible words: from the greatest sure bound to 1 − e^{−KL}."""
    said, least, most = of.impossible, of.least_impossible, -expm1(-whole)
    outside = max(least - said, said - most)
    return at_most(
        "impossible",
        "words that the source never says",
        "float",
        outside,
        ROUNDING,
        words=f"g(H) = {said:.2e}",
        wanted=f"from {max(least, 0.0):.1e} to 1 − e^(−KL) = {most:.2e}",
    )


def rescaling(of: StringDistributions, whole: float) -> Finding:
    """2δ² ≤ kl(p(A)‖g(A)) ≤ KL(p‖g) at the worst threshold."""
    delta, gain = of.worst_level.delta, of.worst_level.gain
    return each_at_most(
        "rescaling",
        "what scaling g at the worst threshold would win",
        "float",
        {"2δ²": 2 * delta**2, "gain": gain},
        {"2δ²": gain + ROUNDING, "gain": whole + ROUNDING},
        words=f"δ = {delta:.4f} ≤ {sqrt(whole / 2):.4f}, and {gain:.2e} of {whole:.2e} nats",
        wanted="2δ² ≤ gain ≤ KL(p‖g)",
    )


def control(models: list[StringDistributions]) -> Iterator[Finding]:
    """Before training: far from the source, and impossible words are said; in every seed."""
    lost = [sum(losses(of)) for of in models]
    said = [of.impossible for of in models]
    yield at_least(
        "learned",
        "what is lost above the entropy of the source",
        "trained",
        min(lost),
        UNTRAINED,
        words=f"{', '.join(f'{each:.3f}' for each in lost)} nats",
        wanted=f"at least {UNTRAINED:g}",
    )
    yield at_least(
        "impossible",
        "words that the source never says",
        "trained",
        min(said),
        IMPOSSIBLE,
        words=f"{', '.join(f'{each:.3f}' for each in said)} of all words",
        wanted=f"at least {IMPOSSIBLE:g}",
    )
