"""Published tables: similarity of errors between the layers of a transformer and algorithms.

The tables are from [Fu2024], with 12 layers, d = 20 and 41 points; rows are steps, and columns are
layers.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

import numpy as np

from theory.regression.growth import (
    LAWS,
    growth_of,
    matching_steps,
    random_straightness,
    straightness,
)
from verify.evidence.checkpoints import Trained
from verify.evidence.statistics import BY, ERRORS, sign_of
from verify.finding import Finding, Verdict, same
from verify.interpret.similarity import Likeness
from verify.regression.trained.similarities import EXPECTED, Tables

BETWEEN_SEEDS = 0.017


def published(prompts: str) -> tuple[Likeness, Likeness]:
    """The tables of Newton and gradient descent, for "isotropic" or "ill_conditioned" prompts."""
    folder = files("verify.regression.trained") / "published"

    def table(algorithm: str) -> Likeness:
        name = f"{prompts}_{algorithm.replace(' ', '_')}.csv"
        rows = np.loadtxt(str(folder / name), delimiter=",", skiprows=1)
        return Likeness(algorithm, rows[:, 0].astype(int), rows[:, 1:, None])

    return table("newton"), table("gradient descent")


def beside_published(trained: Trained, covariance: str) -> bool:
    """Whether a model has the size and the prompts of a published model."""
    task = trained.task
    size = trained.model.n_layers, task.d, task.points
    return (*size, task.covariance, task.noise) == (12, 20, 41, covariance, 0.0)


def cells(tables: Tables, prompts: str) -> Iterator[Finding]:
    """Compares our tables with the published tables, in the rows with the same numbers of steps.

    A table contains the similarities of the layers of one trained model to an algorithm.
    `BETWEEN_SEEDS` is the largest standard deviation of a cell between seeds of the small models.
    """
    bound = ERRORS * 2**0.5 * BETWEEN_SEEDS
    for table, theirs in zip(tables.both, published(prompts), strict=True):
        _, ours, same = np.intersect1d(table.steps, theirs.steps, return_indices=True)
        apart = np.abs(table.mean[ours] - theirs.mean[same])
        verdicts = [
            sign_of(bound - float(difference), float(error))
            for difference, error in zip(apart.flat, table.error[ours].flat, strict=True)
        ]
        agree, largest = verdicts.count(Verdict.HOLDS), float(apart.max())
        yield Finding(
            f"cells/{theirs.algorithm}".replace(" ", "-"),
            "absolute difference between each similarity of errors and its value in the published "
            f"table of {theirs.algorithm}",
            "trained",
            {"largest": largest, "mean": float(apart.mean()), "agree": agree, "of": apart.size},
            bound,
            Verdict.together(verdicts),
            f"{agree} of {apart.size} similarities agree; the largest difference is {largest:.3f} "
            f"and the mean difference is {apart.mean():.3f}",
            f"at most {bound:.3f} {BY} for each similarity, which is {ERRORS:g} standard "
            "deviations between two small models",
        )


def growth_in_published_tables() -> Iterator[Finding]:
    """Compares the growth of matching steps in the published tables with the published growth."""
    for each, wanted in zip(published("isotropic"), EXPECTED.values(), strict=True):
        steps = matching_steps(each.steps, each.mean)
        law, straight = growth_of(steps), straightness(steps[None])[0]
        at = LAWS.index(wanted)
        found = same(
            f"published/{each.algorithm}".replace(" ", "-"),
            "growth with the layer of the number of steps after which the errors of "
            f"{each.algorithm.replace('newton', 'Newton')} are most similar to the errors of the "
            "layer, in the published table (12 layers, d = 20)",
            law,
            wanted,
            evidence="trained",
            words=f"{law}, with {', '.join(map(str, steps))} steps for the layers in order; the "
            f"correlation is {straight[at]:.4f} for {wanted} growth; the largest correlation is "
            f"{straight.max():.4f}, for {LAWS[int(straight.argmax())]} growth; 19 of 20 random "
            f"sequences have correlations below {random_straightness(len(steps)):.4f}",
            wanted=f"{wanted} growth, whose correlation is the largest of all kinds of growth and "
            "larger than for 19 of 20 random sequences",
        )
        if law == "unclear":
            found.verdict = Verdict.UNDECIDED
        yield found
