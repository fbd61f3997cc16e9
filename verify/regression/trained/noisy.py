"""The claim `noisy`: trained on noisy labels, a transformer does as ridge regression does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from theory.checks import InputError
from theory.regression import error_distances
from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict
from verify.trained.checkpoints import described, models_of
from verify.trained.predictors import Algorithms, predictions_of, prompts_of
from verify.trained.statistics import (
    ERRORS,
    LEVEL,
    RESAMPLED,
    agreed,
    estimated,
    resampled,
    sign_of,
)

if TYPE_CHECKING:
    from constructions.trained.regression import InContextRegressor

POWERS = np.arange(-6, 7)  # penalties are noise² times 2 to these


@claim(source="[Akyurek2022]", draws=True)
def noisy(
    run: Run,
    *,
    checkpoint: Annotated[
        str, option("transformer trained on noisy labels: a shipped name, or a file")
    ] = "regression-small-noise0.5",
    noiseless: Annotated[
        str, option("transformer trained on the same prompts without noise: a name, or a file")
    ] = "regression-small",
    samples: Annotated[int, option("fresh prompts", min=20)] = 2000,
) -> Iterator[Finding]:
    """Trained on noisy labels, a transformer is nearest to the Bayes predictor of that noise.

    For w ~ N(0, I) and labels with independent noise N(0, σ²) the Bayes predictor is ridge
    regression with penalty σ².  Nearest is the penalty of least mean squared difference between
    predictions, over all prefixes, among σ² times powers of 2.  A transformer trained without noise
    is nearest to a smaller penalty on the very same prompts.
    """
    from constructions.trained.models import RegressionTransformer

    others = models_of(noiseless, RegressionTransformer)
    for name, model in models_of(checkpoint, RegressionTransformer).items():
        noise = model.task.noise
        if not noise:
            raise InputError(
                f"{described(name)} was trained without noise: give another checkpoint"
            )
        for label, other in others.items():
            if other.task != replace(model.task, noise=0.0):
                raise InputError(
                    f"{described(label)} was not trained on the prompts of {described(name)} "
                    "without noise: give another"
                )
        p = prompts_of(model.task, samples, run.rng)
        algorithms = Algorithms(p)
        ridge = algorithms.spectrum.ridge(noise**2 * 2.0**POWERS)
        yield _as_good(name, algorithms, ridge, model)
        squares = {}
        for label, each in {name: model, **others}.items():
            said = predictions_of(each, p)[None, :, 1:]
            apart = error_distances(ridge[..., 1:], said, algorithms.labels[:, 1:])[:, 0]
            squares[label] = apart.mean(-1)
            yield _nearest(run, label, noise, apart, own=label == name)
        if run.plot:
            from verify.trained.regression_picture import draw_penalties

            draw_penalties(run.plot, noise**2 * 2.0**POWERS, noise, squares)


def _as_good(
    name: str, algorithms: Algorithms, ridge: np.ndarray, model: InContextRegressor
) -> Finding:
    """No predictor errs less than Bayes on average; how much more the model does, by prompt."""
    wanted = algorithms.labels
    own = ((predictions_of(model, algorithms.prompts) - wanted) ** 2).mean(-1)
    errors = ((ridge - wanted) ** 2).mean(-1)
    best = errors[POWERS == 0][0].mean()
    others = errors[np.abs(POWERS) == 2]
    gains = [estimated(other - own) for other in others]
    verdicts = [sign_of(*gain) for gain in gains]
    return Finding(
        f"{described(name)}: errs less than ridge regression with σ²/4 and with 4σ²",
        "trained",
        f"squared error {own.mean():.3f}, Bayes {best:.3f} ({own.mean() / best - 1:+.1%}); "
        + " and ".join(
            f"{other.mean():.3f} ({gain:.3f} ± {spread:.3f} more)"
            for other, (gain, spread) in zip(others, gains, strict=True)
        ),
        f"less than both by {ERRORS:g} standard errors",
        Verdict.together(verdicts),
    )


def _nearest(run: Run, name: str, noise: float, apart: np.ndarray, *, own: bool) -> Finding:
    """Mean squared differences (penalties, m), by prompts drawn again."""
    again = POWERS[resampled(run.rng, apart).argmin(1)]
    share = float((again == 0 if own else again < 0).mean())
    means = apart.mean(-1)
    at = means.argmin()
    return Finding(
        f"{described(name)}: nearest to the penalty "
        + ("of the noise" if own else "of less noise, on the same prompts"),
        "trained",
        f"{noise**2 * 2.0 ** POWERS[at]:.3g} where σ² = {noise**2:.3g} (squared difference "
        f"{means[at]:.4f}, at σ² {means[POWERS == 0][0]:.4f}); so in {share:.1%} of {RESAMPLED} "
        "resampled sets",
        f"at least {1 - LEVEL:.1%} of them",
        agreed(share),
    )
