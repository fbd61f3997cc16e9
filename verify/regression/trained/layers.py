"""The claim `layers`: the error of a trained transformer falls from layer to layer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from verify.claim import Run, claim
from verify.evidence.checkpoints import models_of
from verify.evidence.statistics import BY, NOTHING, above, below, estimated
from verify.finding import Finding, labelled
from verify.regression.trained.options import TRANSFORMER, Checkpoint, Samples
from verify.regression.trained.predictors import predictions_of
from verify.regression.trained.probes import Probed


@claim(source="[Fu2024]", picture="verify.regression.trained.pictures:layers_picture")
def layers(
    run: Run, *, checkpoint: Checkpoint = "regression-small", samples: Samples = 2000
) -> Iterator[Finding]:
    """Published observation: with a linear probe fitted to each layer, the mean squared error of a
    transformer trained on in-context linear regression falls from every layer to the next.

    A linear probe of every layer is fitted by least squares to prompts of its own and measured
    on others; what it errs more for being fitted to so many is estimated, and taken off.  Squared
    errors are over the variance of a label, averaged over all prefixes.
    """
    probed = []
    for trained in models_of(checkpoint, TRANSFORMER):
        probed.append(Probed.of(run, trained, samples))
        yield from labelled(trained.name, [*falls(probed[-1]), own_read_out(probed[-1])])
    run.draw(probed)


def falls(probed: Probed) -> Iterator[Finding]:
    """Paired differences of successive layers, prompt by prompt."""
    for layer, (before, after) in enumerate(pairwise(probed.errors), 1):
        drop = estimated(before - after)
        yield above(
            f"layer-{layer}",
            f"layer {layer} improves on {f'layer {layer - 1}' if layer > 1 else 'the embedding'}",
            drop,
            words=f"{before.mean():.4f} → {after.mean():.4f}, the difference {drop:.4f}",
            wanted=f"above 0 {BY}",
        )


def own_read_out(probed: Probed) -> Finding:
    """The model's read-out is linear too, so the best one does as well."""
    own = probed.error(predictions_of(probed.trained.model, probed.prompts))
    last = probed.errors[-1]
    worse = estimated(last - own)
    return below(
        "own-read-out",
        "the read-out of the last layer does as well as the model's own",
        worse,
        NOTHING * (1 - probed.best),
        words=f"{last.mean():.4f} and {own.mean():.4f} (best possible {probed.best:.4f}): worse by "
        f"{worse:.5f}",
        wanted=f"less than {NOTHING:.0%} of what there is to learn, {BY}",
    )
