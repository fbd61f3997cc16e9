"""The claim `layers`: the error of a trained transformer falls from layer to layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from verify.claim import Run, claim, option
from verify.finding import Finding
from verify.trained.checkpoints import described, models_of
from verify.trained.predictors import predictions_of
from verify.trained.probes import Probed
from verify.trained.statistics import ERRORS, NOTHING, estimated, sign_of


@claim(source="[Fu2024]", draws=True)
def layers(
    run: Run,
    *,
    checkpoint: Annotated[
        str, option("trained transformer for regression: a shipped name, or a file")
    ] = "regression-small",
    samples: Annotated[int, option("fresh prompts", min=20)] = 2000,
) -> Iterator[Finding]:
    """The error of a trained transformer falls with depth: each layer improves on the one before.

    A linear read-out of every layer is fitted by least squares to prompts of its own and measured
    on others; what it errs more for being fitted to so many is estimated, and taken off.  Squared
    errors are over the variance of a label, averaged over all prefixes.
    """
    from constructions.trained.models import RegressionTransformer

    probed = {}
    for name, model in models_of(checkpoint, RegressionTransformer).items():
        probed[name] = Probed.of(run, model, samples)
        yield from _falls(name, probed[name])
        yield _own_read_out(name, probed[name])
    if run.plot:
        from verify.trained.regression_picture import draw_layers

        draw_layers(run.plot, probed)


def _falls(name: str, probed: Probed) -> Iterator[Finding]:
    """Paired differences of successive layers, prompt by prompt."""
    errors = probed.errors
    drops = errors[:-1] - errors[1:]
    means, spread = drops.mean(-1), drops.std(-1, ddof=1) / np.sqrt(drops.shape[-1])
    for layer in range(len(drops)):
        before = f"layer {layer}" if layer else "the embedding"
        yield Finding(
            f"{described(name)}: layer {layer + 1} improves on {before}",
            "trained",
            f"{errors[layer].mean():.4f} → {errors[layer + 1].mean():.4f}, the difference "
            f"{means[layer]:.4f} ± {spread[layer]:.4f}",
            f"above 0 by {ERRORS:g} standard errors",
            sign_of(means[layer], spread[layer]),
        )


def _own_read_out(name: str, probed: Probed) -> Finding:
    """The model's read-out is linear too, so the best one does as well."""
    own, last = probed.error(predictions_of(probed.model, probed.prompts)), probed.errors[-1]
    worse, spread = estimated(last - own)
    return Finding(
        f"{described(name)}: the read-out of the last layer does as well as the model's own",
        "trained",
        f"{last.mean():.4f} and {own.mean():.4f} (best possible {probed.best:.4f}): worse by "
        f"{worse:.5f} ± {spread:.5f}",
        f"less than {NOTHING:.0%} of what there is to learn, by {ERRORS:g} standard errors",
        sign_of(NOTHING * (1 - probed.best) - worse, spread),
    )
