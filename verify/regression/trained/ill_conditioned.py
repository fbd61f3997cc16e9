"""The claim `ill-conditioned`: where gradient descent is slow, trained transformers are not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from theory.checks import InputError
from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict
from verify.trained.checkpoints import described, models_of
from verify.trained.newton_or_gd import closer
from verify.trained.probes import Probed
from verify.trained.published import KINDS, beside_published, cells, published
from verify.trained.similarities import DESCENT_STEPS, Tables
from verify.trained.statistics import LEVEL, RESAMPLED, agreed, resampled

TIMES = 10  # as many gradient steps as Newton steps


@claim(source="[Fu2024]", draws=True)
def ill_conditioned(
    run: Run,
    *,
    checkpoint: Annotated[
        str, option("transformer trained on ill-conditioned prompts: a shipped name, or a file")
    ] = "regression-small-ill-conditioned",
    samples: Annotated[int, option("fresh prompts", min=20)] = 2000,
) -> Iterator[Finding]:
    """On ill-conditioned prompts the last layer is like few Newton steps, or many gradient steps.

    Σ has eigenvalues 100 and 1, half of each, in a basis of each prompt's own.  Counted are the
    steps of largest similarity of errors with the last layer.  The last layer is more like Newton
    than gradient descent.
    """
    from constructions.trained.models import RegressionTransformer

    yield _published_tables()
    theirs, _ = published("ill_conditioned_gradient_descent")
    steps = sorted({*DESCENT_STEPS, *theirs.tolist()})
    tables = {}
    for name, model in models_of(checkpoint, RegressionTransformer).items():
        if model.task.covariance != "ill-conditioned":
            raise InputError(
                f"{described(name)} was trained on {model.task.covariance} prompts: give another "
                "checkpoint"
            )
        tables[name] = Tables.of(Probed.of(run, model, samples), steps)
        yield _steps(run, name, tables[name])
        yield closer(name, tables[name], "0.988 and 0.986")
        if beside_published(model, "ill-conditioned"):
            yield from cells(name, tables[name], "ill_conditioned")
    if run.plot:
        from verify.trained.regression_picture import draw_similarities

        draw_similarities(run.plot, tables, "ill_conditioned")


def best(steps: np.ndarray, similarity: np.ndarray) -> tuple[int, float]:
    """The steps (k,) of largest similarity (k,), and that similarity."""
    return int(steps[similarity.argmax()]), float(similarity.max())


def many_more(newton: np.ndarray, descent: np.ndarray) -> float:
    """How often gradient descent makes so many times as many steps as Newton, which makes some."""
    return float(((newton > 0) & (descent >= TIMES * newton)).mean())


def _published_tables() -> Finding:
    newton, descent = (
        best(steps, table[:, -1])
        for steps, table in (published(f"ill_conditioned_{kind}") for kind in KINDS)
    )
    return Finding(
        "the published tables (12 layers, d = 20): steps that match the last layer",
        "trained",
        _counted(newton, descent),
        f"gradient descent at least {TIMES} times as many",
        Verdict.of(many_more(np.array([newton[0]]), np.array([descent[0]])) == 1),
    )


def _steps(run: Run, name: str, tables: Tables) -> Finding:
    """Decided by sets of prompts drawn again, the same ones for both algorithms."""
    newton, descent = tables.newton, tables.gradient_descent
    again = resampled(run.rng, np.concatenate([newton.cosines[:, -1], descent.cosines[:, -1]]))
    counts = (
        each.steps[means.argmax(1)]
        for each, means in zip(
            (newton, descent), np.split(again, [len(newton.steps)], axis=1), strict=True
        )
    )
    share = many_more(*counts)
    found = (best(each.steps, each.mean[:, -1]) for each in (newton, descent))
    return Finding(
        f"{described(name)}: steps that match the last layer",
        "trained",
        f"{_counted(*found)} ({descent.algorithm}); so in {share:.1%} of {RESAMPLED} resampled "
        "sets",
        f"gradient descent at least {TIMES} times as many, in at least {1 - LEVEL:.1%} of them",
        agreed(share),
    )


def _counted(newton: tuple[int, float], descent: tuple[int, float]) -> str:
    return (
        f"Newton {newton[0]}, similarity {newton[1]:.3f}; gradient descent {descent[0]}, "
        f"similarity {descent[1]:.3f}"
    )
