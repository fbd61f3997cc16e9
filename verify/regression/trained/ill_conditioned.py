"""The claim `ill-conditioned`: trained transformers on ill-conditioned prompts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from theory.kinds import InputError
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import models_of
from verify.evidence.statistics import agreeing, resampled
from verify.finding import Finding, at_least, labelled
from verify.interpret.similarity import Likeness
from verify.regression.trained.options import TRANSFORMER, Samples
from verify.regression.trained.probes import Probed
from verify.regression.trained.published import beside_published, cells, published
from verify.regression.trained.similarities import DESCENT_STEPS, Tables, closer

TIMES = 10  # smallest ratio of gradient steps to Newton steps
WANTED = f"at least {TIMES} times as many steps of gradient descent as of Newton"


@claim(picture="verify.regression.trained.pictures:similarities_picture")
def ill_conditioned(
    run: Run,
    *,
    checkpoint: Annotated[
        str, option("transformer trained on ill-conditioned prompts: a shipped name, or a file")
    ] = "regression-small-ill-conditioned",
    samples: Samples = 2000,
) -> Iterator[Finding]:
    """Published observation: on ill-conditioned prompts, the number of gradient steps that best
    match the last layer of a trained transformer is at least ten times the number of Newton–Schulz
    steps that best match it. The last layer is more similar to the Newton–Schulz iteration than to
    gradient descent.

    The covariance of the inputs, in dimension d, has ⌊d/2⌋ eigenvalues 100 and ⌈d/2⌉ eigenvalues 1,
    in a random basis for each prompt. The predictions of a layer are those of a linear probe fitted
    to this layer. The similarity of errors of two methods is the mean over prompts of the cosine of
    their vectors of errors. The best-matching number of steps of an algorithm is the number for
    which its errors are most similar to those of the last layer.
    """
    models = models_of(checkpoint, TRANSFORMER)
    for trained in models:
        if trained.task.covariance != "ill-conditioned":
            raise InputError(
                f"{trained.name} was trained on {trained.task.covariance} prompts: give a "
                "checkpoint trained on ill-conditioned prompts"
            )
    newton, descent = published("ill_conditioned")
    yield steps_in_published_tables(newton, descent)
    steps = sorted({*DESCENT_STEPS, *descent.steps.tolist()})
    found = {}
    for trained in models:
        tables = found[trained.name] = Tables.of(Probed.of(run, trained, samples), steps)
        last_layer = steps_that_match(run, tables), closer(tables, "0.988 and 0.986")
        yield from labelled(trained.name, last_layer)
        if beside_published(trained, "ill-conditioned"):
            yield from labelled(trained.name, cells(tables, "ill_conditioned"))
    run.draw(found, "ill_conditioned")


def steps_in_published_tables(newton: Likeness, descent: Likeness) -> Finding:
    """Compares the numbers of gradient steps and of Newton steps that best match the last layer."""
    return at_least(
        "published",
        "numbers of steps of Newton and of gradient descent whose errors are most similar to those "
        "of the last layer, in the published tables (12 layers, d = 20)",
        "trained",
        descent.best[-1] / newton.best[-1],
        TIMES,
        words=counted(newton, descent),
        wanted=WANTED,
    )


def steps_that_match(run: Run, tables: Tables) -> Finding:
    """Compares the best-matching numbers of Newton and gradient steps on resampled prompts.

    The two algorithms are compared on the same resampled sets of prompts.
    """
    both = tables.both
    again = resampled(run.rng, np.concatenate([each.alike[:, -1] for each in both]))
    parts = np.split(again, [len(tables.newton.steps)], axis=1)
    newton, descent = (each.steps[means.argmax(1)] for each, means in zip(both, parts, strict=True))
    return agreeing(
        "steps",
        "numbers of steps of Newton and of gradient descent whose errors are most similar to those "
        "of the last layer",
        float(((newton > 0) & (descent >= TIMES * newton)).mean()),
        words=f"{counted(*both)} of step size {tables.factor:g}/λmax",
        wanted=WANTED,
        newton=tables.newton.best[-1],
        descent=tables.gradient_descent.best[-1],
    )


def counted(*both: Likeness) -> str:
    """Steps and similarities of Newton and gradient descent, in words."""
    newton, descent = both
    return (
        f"{newton.best[-1]} steps of Newton, with similarity {newton.last.mean():.3f}, and "
        f"{descent.best[-1]} steps, with similarity {descent.last.mean():.3f}, of gradient descent"
    )
