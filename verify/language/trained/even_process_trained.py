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
    """Observation: trained on the even process, a transformer is within .002 nats of its entropy.

    CE_t = H(X_t|X_<t) + KL_t.  The source is known exactly and the probabilities of all 2^10 words
    are computed, so that losses are exact.  Each of three seeds is judged.  Thresholds were stated
    before training, except the threshold for impossible words of untrained models.

    loss         Σ_t (CE_t − H_t), summed over symbols, is KL(p‖g) of words.
    learned      Σ_t KL_t ≤ .002.
    impossible   words of probability 0 have total probability at most 1 − e^{−KL} under the model,
                 with equality if g ∝ p on other words, and at least the deterministic bound for
                 every τ.
    rescaling    2δ² ≤ kl(p(A)‖g(A)) ≤ KL(p‖g) for δ = max_τ |g(A) − p(A)|, A = {g > τ}; the middle
                 term is the gain of rescaling g on A.
    calibrated   δ ≤ .01.
    looks-back   KL_10 is below the cost of a window of six symbols.
    """
    found = models_of(NAME, KIND)
    for name, model, task in found:
        yield from labelled(name, trained(scored(model, task.length)))
    before = [scored(untrained(configuration_of(name)), task.length) for name, _, task in found]
    yield from labelled("untrained", control(before))


def scored(model: Any, length: int) -> StringDistributions:
    """The distributions of the source and a model, in float64 so that prefix sums agree."""
    words, source = all_sequences(length, 2).tolist(), even_process()
    p = np.array([float(source.probability(word)) for word in words])
    return StringDistributions(p, string_probabilities(model.double(), length).numpy())


def losses(of: StringDistributions) -> list[float]:
    """KL_t for t = 1 … T, the cross-entropy of X_t given X_<t minus the entropy of the source."""
    return [
        cross - float(conditional_entropy(even_process(), t))
        for t, cross in enumerate(of.cross_entropies, start=1)
    ]


def trained(of: StringDistributions) -> Iterator[Finding]:
    """The findings on one model."""
    each, whole, T = losses(of), of.divergence, of.length
    yield at_most(
        "loss",
        f"|Σ_t (CE_t − H_t) − KL(p‖g)| over all 2^{T} words",
        "float",
        abs(sum(each) - whole),
        ROUNDING,
        words=f"both {whole:.6f} nats",
        wanted=f"at most {ROUNDING:g}, for rounding",
    )
    yield at_most(
        "learned",
        "cross-entropy minus the entropy of the source",
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
        "δ = max_τ |g(A) − p(A)|, over- or under-confidence at the worst threshold",
        "trained",
        of.worst_level.delta,
        CALIBRATED,
        words=f"{of.worst_level.delta:.4f}",
        wanted=f"at most {CALIBRATED:g}",
    )
    cost = float(window_cost(even_process(), T, WINDOW))
    yield at_most(
        "looks-back",
        f"KL_{T} compared with the cost of a window of {WINDOW} symbols",
        "trained",
        each[-1],
        cost,
        words=f"{each[-1]:.5f} nats",
        wanted=f"at most {cost:.4f} nats",
    )


def between(of: StringDistributions, whole: float) -> Finding:
    """g(H) of impossible words between the largest deterministic bound and 1 − e^{−KL}."""
    found, least, most = of.impossible, of.least_impossible, -expm1(-whole)
    outside = max(least - found, found - most)
    return at_most(
        "impossible",
        "probability of impossible words, between its bounds",
        "float",
        outside,
        ROUNDING,
        words=f"g(H) = {found:.2e}",
        wanted=f"from {max(least, 0.0):.1e} to 1 − e^(−KL) = {most:.2e}",
    )


def rescaling(of: StringDistributions, whole: float) -> Finding:
    """2δ² ≤ kl(p(A)‖g(A)) ≤ KL(p‖g) at the worst threshold."""
    delta, gain = of.worst_level.delta, of.worst_level.gain
    return each_at_most(
        "rescaling",
        "gain of rescaling g at the worst threshold, between 2δ² and KL(p‖g)",
        "float",
        {"2δ²": 2 * delta**2, "gain": gain},
        {"2δ²": gain + ROUNDING, "gain": whole + ROUNDING},
        words=f"δ = {delta:.4f}, 2δ² = {2 * delta**2:.2e} ≤ {gain:.2e} ≤ {whole:.2e} nats",
        wanted="2δ² ≤ gain ≤ KL(p‖g)",
    )


def control(models: list[StringDistributions]) -> Iterator[Finding]:
    """The null model: before training the loss is large and impossible words are probable."""
    lost = [sum(losses(of)) for of in models]
    impossible = [of.impossible for of in models]
    yield at_least(
        "learned",
        "cross-entropy minus the entropy of the source before training, the minimum over seeds",
        "trained",
        min(lost),
        UNTRAINED,
        words=f"{', '.join(f'{each:.3f}' for each in lost)} nats",
        wanted=f"at least {UNTRAINED:g} nats",
    )
    yield at_least(
        "impossible",
        "probability of impossible words before training, the minimum over seeds",
        "trained",
        min(impossible),
        IMPOSSIBLE,
        words=f"{', '.join(f'{each:.3f}' for each in impossible)}",
        wanted=f"at least {IMPOSSIBLE:g}",
    )
