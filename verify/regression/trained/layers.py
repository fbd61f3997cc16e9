"""The claim `layers`: the error of a trained transformer falls from layer to layer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from verify.claim import Run, claim
from verify.evidence.checkpoints import models_of
from verify.evidence.statistics import BY, NOTHING, above, below, estimated
from verify.finding import Finding, labelled
from verify.interpret import predictions_of
from verify.regression.trained.options import TRANSFORMER, Checkpoint, Samples
from verify.regression.trained.probes import Probed


@claim(picture="verify.regression.trained.pictures:layers_picture")
def layers(
    run: Run, *, checkpoint: Checkpoint = "regression-small", samples: Samples = 2000
) -> Iterator[Finding]:
    """Published observation: with a linear probe fitted to each layer, the mean squared error of a
    transformer trained on in-context linear regression falls from every layer to the next.

    For every layer, a linear probe is fitted by least squares to some prompts and measured on other
    prompts. The fit to finitely many prompts increases the error; this increase is estimated and
    subtracted. Squared errors are divided by the variance of a label, and averaged over all numbers
    of examples before the query.
    """
    probed = []
    for trained in models_of(checkpoint, TRANSFORMER):
        probed.append(Probed.of(run, trained, samples))
        yield from labelled(trained.name, [*falls(probed[-1]), output_of_the_model(probed[-1])])
    run.draw(probed)


def falls(probed: Probed) -> Iterator[Finding]:
    """Compares the errors of each layer and the next layer, paired by prompt."""
    for layer, (before, after) in enumerate(pairwise(probed.errors), 1):
        drop = estimated(before - after)
        before_it = f"layer {layer - 1}" if layer > 1 else "the embedding"
        yield above(
            f"layer-{layer}",
            f"(error of a linear probe of {before_it}) − (error of a linear probe of layer "
            f"{layer})",
            drop,
            words=f"{before.mean():.4f} − {after.mean():.4f} = {drop:.4f}",
            wanted=f"a difference above 0 {BY}",
        )


def output_of_the_model(probed: Probed) -> Finding:
    """Compares the linear probe of the last layer with the unembedding of the model."""
    own = probed.error(predictions_of(probed.trained.model, probed.prompts))
    last = probed.errors[-1]
    worse = estimated(last - own)
    return below(
        "own-unembedding",
        "(error of the last layer's probe) − (error of the model's output)",
        worse,
        NOTHING * (1 - probed.best),
        words=f"{last.mean():.4f} − {own.mean():.4f} = {worse:.5f}; the Bayes error is "
        f"{probed.best:.4f}",
        wanted=f"a difference below {NOTHING:.0%} of 1 − (Bayes error) {BY}",
    )
