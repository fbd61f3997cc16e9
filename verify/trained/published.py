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
from verify.trained.statistics import ERRORS

if TYPE_CHECKING:
    from constructions.trained.models import RegressionTransformer
    from verify.trained.similarities import Tables

KINDS = "newton", "gradient_descent"


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

    What was published has three digits and one training run, whose spread is not known: further
    apart than our own error is no contradiction, and undecided.
    """
    for kind, table in zip(KINDS, (tables.newton, tables.gradient_descent), strict=True):
        steps, theirs = published(f"{prompts}_{kind}")
        _, ours, same = np.intersect1d(table.steps, steps, return_indices=True)
        apart = np.abs(table.mean[ours] - theirs[same])
        within = apart <= ERRORS * table.error[ours] + 0.0005
        yield Finding(
            f"{described(name)}: cell by cell beside the published table of {kind}",
            "trained",
            f"{within.sum()} of {within.size} cells agree; the largest difference is "
            f"{apart.max():.3f}, the mean {apart.mean():.3f}",
            f"within {ERRORS:g} standard errors and the rounding of the table",
            Verdict.HOLDS if within.all() else Verdict.UNDECIDED,
        )
