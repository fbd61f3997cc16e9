"""The claim `ill-conditioned`: where gradient descent is slow, trained transformers are not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict
from verify.trained.checkpoints import described, models_of
from verify.trained.newton_or_gd import closer
from verify.trained.probes import Probed
from verify.trained.published import beside_published, cells, published
from verify.trained.similarities import DESCENT_STEPS, Tables

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
        tables[name] = Tables.of(Probed.of(run, model, samples), steps)
        yield _steps(name, tables[name])
        yield closer(name, tables[name], "0.988 and 0.986")
        if beside_published(model, "ill-conditioned"):
            yield from cells(name, tables[name], "ill_conditioned")
    if run.plot:
        from verify.trained.regression_picture import draw_similarities

        draw_similarities(run.plot, tables, "ill_conditioned")


def best(steps: np.ndarray, similarity: np.ndarray) -> tuple[int, float]:
    """The steps (k,) of largest similarity (k,), and that similarity."""
    return int(steps[similarity.argmax()]), float(similarity.max())


def _published_tables() -> Finding:
    newton, descent = (
        best(steps, table[:, -1])
        for steps, table in map(
            published, ("ill_conditioned_newton", "ill_conditioned_gradient_descent")
        )
    )
    return _counted("the published tables (12 layers, d = 20)", newton, descent, "")


def _steps(name: str, tables: Tables) -> Finding:
    newton, descent = (
        best(table.steps, table.mean[:, -1]) for table in (tables.newton, tables.gradient_descent)
    )
    return _counted(described(name), newton, descent, f" ({tables.gradient_descent.algorithm})")


def _counted(
    of: str, newton: tuple[int, float], descent: tuple[int, float], step_size: str
) -> Finding:
    return Finding(
        f"{of}: steps that match the last layer",
        "trained",
        f"Newton {newton[0]}, similarity {newton[1]:.3f}; gradient descent {descent[0]}, "
        f"similarity {descent[1]:.3f}{step_size}",
        f"gradient descent at least {TIMES} times as many",
        Verdict.of(descent[0] >= TIMES * newton[0]),
    )
