"""Published tables: similarity of errors between the layers of a transformer and algorithms.

From [Fu2024]: 12 layers, d = 20, 41 points; rows are steps, columns layers.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from verify.finding import Finding, Verdict
from verify.trained.checkpoints import described
from verify.trained.statistics import ERRORS, sign_of

if TYPE_CHECKING:
    from constructions.trained.models import RegressionTransformer
    from verify.trained.similarities import Tables

KINDS = "newton", "gradient_descent"
BETWEEN_SEEDS = 0.017


def published(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps (k,) and similarities (k, 12) of a table: isotropic_newton, ill_conditioned_newton,
    isotropic_gradient_descent or ill_conditioned_gradient_descent."""
    text = (files("verify.trained") / "published" / f"{name}.csv").read_text("utf-8")
    rows = np.array([[float(cell) for cell in row.split(",")] for row in text.splitlines()[1:]])
    return rows[:, 0].astype(int), rows[:, 1:]


def beside_published(model: RegressionTransformer, covariance: str) -> bool:
    """Whether a model has the size and the prompts of a published one."""
    task = model.task
    size = model.n_layers, task.d, task.points
    return (*size, task.covariance, task.noise) == (12, 20, 41, covariance, 0.0)


def cells(name: str, tables: Tables, prompts: str) -> Iterator[Finding]:
    """Cell by cell beside the published tables, where the steps are the same.

    Each table is of one training run.  Two of them differ: in the cell in which they differ most,
    the seeds of the small models have a standard deviation of `BETWEEN_SEEDS`.
    """
    for kind, table in zip(KINDS, (tables.newton, tables.gradient_descent), strict=True):
        steps, theirs = published(f"{prompts}_{kind}")
        _, ours, same = np.intersect1d(table.steps, steps, return_indices=True)
        apart = np.abs(table.mean[ours] - theirs[same])
        bound, spread = ERRORS * 2**0.5 * BETWEEN_SEEDS, table.error[ours]
        verdicts = [
            sign_of(bound - float(difference), float(error))
            for difference, error in zip(apart.flat, spread.flat, strict=True)
        ]
        yield Finding(
            f"{described(name)}: cell by cell beside the published table of {kind}",
            "trained",
            f"{verdicts.count(Verdict.HOLDS)} of {apart.size} cells agree; the largest difference "
            f"is {apart.max():.3f}, the mean {apart.mean():.3f}",
            f"at most {bound:.3f} ({ERRORS:g} times what two small models differ by in one cell), "
            f"by {ERRORS:g} standard errors",
            Verdict.together(verdicts),
        )
