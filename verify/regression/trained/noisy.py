"""The claim `noisy`: a transformer trained on noisy labels predicts like ridge regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import numpy as np

from theory.kinds import InputError
from theory.regression import error_distances
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import Trained, models_of
from verify.evidence.statistics import BY, agreeing, estimated, resampled, sign_of
from verify.finding import Finding, Verdict, labelled
from verify.interpret import algorithms, predictions_of
from verify.regression.trained.options import QUICK, TRANSFORMER, Samples
from verify.regression.trained.prompts import prompts_of

POWERS = np.arange(-6, 7)  # penalties are noise²·2^j, j in POWERS


@claim(picture="verify.regression.trained.pictures:penalties_picture")
def noisy(
    run: Run,
    *,
    checkpoint: Annotated[
        str, option("transformer trained on noisy labels: a shipped name, or a file")
    ] = "regression-small-noise0.5",
    noiseless: Annotated[
        str, option("transformer trained on the same prompts without noise: a name, or a file")
    ] = "regression-small",
    samples: Samples = 2000,
) -> Iterator[Finding]:
    """Published observation: a transformer trained on labels with Gaussian noise of variance σ²
    predicts like ridge regression with penalty σ², the Bayes predictor.

    The labels of inputs x are ⟨w, x⟩ plus independent noise N(0, σ²), with weights w ~ N(0, I) for
    each prompt. For such labels, the Bayes predictor is ridge regression with penalty σ². The
    predictions of the transformer are compared with ridge regression for several penalties: σ²
    times powers of 2. The nearest penalty is the one whose predictions have the smallest mean
    squared difference from those of the transformer, over all prefixes. On the same prompts, the
    nearest penalty of a transformer that was trained on labels without noise is smaller.
    """
    models, others = models_of(checkpoint, TRANSFORMER), models_of(noiseless, TRANSFORMER)
    for trained in models:
        check_prompts(trained, others)
    count = run.limited(QUICK, samples=samples)
    noise, p = models[0].task.noise, prompts_of(models[0].task, count, run.rng)
    known, penalties = algorithms(p), noise**2 * 2.0**POWERS
    ridge, squares = known.spectrum.ridge(penalties), {}
    for trained in (*models, *others):
        own, predicted = trained.task.noise > 0, predictions_of(trained.model, p)
        wanted = known.labels[:, 1:]
        apart = error_distances(ridge[..., 1:], predicted[None, :, 1:], wanted)[:, 0]
        squares[trained.name] = apart.mean(-1)
        found = [as_good(predicted, known.labels, ridge)] if own else []
        yield from labelled(trained.name, [*found, nearest(run, noise, apart, own=own)])
    run.draw(penalties, noise, squares)


def check_prompts(trained: Trained, others: list[Trained]) -> None:
    """Raises InputError unless `trained` has noise and the other tasks differ only in the noise."""
    if not trained.task.noise:
        raise InputError(
            f"{trained.name} was trained without noise: give a checkpoint trained on noisy labels"
        )
    for other in others:
        if other.task != replace(trained.task, noise=0.0):
            raise InputError(
                f"{other.name} was not trained on the noiseless version of the prompts of "
                f"{trained.name}: give a checkpoint trained on these prompts without noise"
            )


def as_good(own: np.ndarray, labels: np.ndarray, ridge: np.ndarray) -> Finding:
    """Compares the errors of the model with the errors of ridge regression, by prompt.

    The penalties of ridge regression are a quarter of the Bayes penalty and four times this
    penalty.
    """
    error = ((own - labels) ** 2).mean(-1)
    smaller, best, larger = ((ridge[np.isin(POWERS, (-2, 0, 2))] - labels) ** 2).mean(-1)
    gains = {"σ²/4": estimated(smaller - error), "4σ²": estimated(larger - error)}
    return Finding(
        "errors",
        "mean squared error of the model, compared with that of ridge regression with the "
        "penalties σ²/4 and 4σ²",
        "trained",
        {penalty: gain.value for penalty, gain in gains.items()},
        0,
        Verdict.together(sign_of(*gain) for gain in gains.values()),
        f"{error.mean():.3f} for the model, {smaller.mean():.3f} for the penalty σ²/4, which is "
        f"{gains['σ²/4']:.3f} more, and {larger.mean():.3f} for 4σ², which is {gains['4σ²']:.3f} "
        f"more; the error of the model exceeds the Bayes error {best.mean():.3f} by "
        f"{error.mean() / best.mean() - 1:.1%}",
        f"an error of the model below both errors of ridge regression {BY}",
    )


def nearest(run: Run, noise: float, apart: np.ndarray, *, own: bool) -> Finding:
    """The finding on the penalty whose ridge regression is nearest to a trained model.

    `apart` (penalties, m) contains mean squared differences of predictions, for each penalty and
    each of m prompts. The nearest penalty is computed for resampled sets of prompts too. `own` is
    true if the model was trained on noisy labels.
    """
    again = POWERS[resampled(run.rng, apart).argmin(1)]
    means = apart.mean(-1)
    at = means.argmin()
    penalty = float(noise**2 * 2.0 ** POWERS[at])
    kind = "equal to" if own else "below"
    return agreeing(
        "nearest" if own else "nearest-without-noise",
        "penalty for which the predictions of ridge regression are nearest to those of the model",
        float((again == 0 if own else again < 0).mean()),
        words=f"{penalty:.3g}, where the noise has the variance σ² = {noise**2:.3g}; the mean "
        f"squared difference of predictions is {means[at]:.4f} for this penalty and "
        f"{means[POWERS == 0][0]:.4f} for σ²",
        wanted=f"a penalty {kind} the variance σ² of the noise",
        penalty=penalty,
    )
