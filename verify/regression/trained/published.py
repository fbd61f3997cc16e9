"""Published tables: similarity of errors between the layers of a transformer and algorithms.

From [Fu2024]: 12 layers, d = 20, 41 points; rows are steps, columns layers.
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
from verify.regression.trained.similarities import (
    EXPECTED,
    Likeness,
    Tables,
)

BETWEEN_SEEDS = 0.017


def published(prompts: str) -> tuple[Likeness, Likeness]:
    """Those of Newton and gradient descent, as if of one prompt; isotropic or ill_conditioned."""
    folder = files("verify.regression.trained") / "published"

    def table(algorithm: str) -> Likeness:
        name = f"{prompts}_{algorithm.replace(' ', '_')}.csv"
        rows = np.loadtxt(str(folder / name), delimiter=",", skiprows=1)
        return Likeness(algorithm, rows[:, 0].astype(int), rows[:, 1:, None])

    return table("newton"), table("gradient descent")


def beside_published(trained: Trained, covariance: str) -> bool:
    """Whether a model has the size and the prompts of a published one."""
    task = trained.task
    size = trained.model.n_layers, task.d, task.points
    return (*size, task.covariance, task.noise) == (12, 20, 41, covariance, 0.0)


def cells(tables: Tables, prompts: str) -> Iterator[Finding]:
    """Cell by cell beside the published tables, where the steps are the same.

    Each table is of one training run.  Two of them differ: in the cell in which they differ most,
    the seeds of the small models have a standard deviation of `BETWEEN_SEEDS`.
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
            f"cell by cell beside the published table of {theirs.algorithm}",
            "trained",
            {"largest": largest, "mean": float(apart.mean()), "agree": agree, "of": apart.size},
            bound,
            Verdict.together(verdicts),
            f"{agree} of {apart.size} cells agree; the largest difference is {largest:.3f}, the "
            f"mean {apart.mean():.3f}",
            f"at most {bound:.3f} ({ERRORS:g} times what two small models differ by in one cell), "
            f"{BY}",
        )


def growth_in_published_tables() -> Iterator[Finding]:
    """Linear for Newton, exponential for gradient descent."""
    for each, wanted in zip(published("isotropic"), EXPECTED.values(), strict=True):
        steps = matching_steps(each.steps, each.mean)
        law, straight = growth_of(steps), straightness(steps[None])[0]
        at = LAWS.index(wanted)
        found = same(
            f"published/{each.algorithm}".replace(" ", "-"),
            f"the published table of {each.algorithm} (12 layers, d = 20): {wanted} growth",
            law,
            wanted,
            evidence="trained",
            words=f"{', '.join(map(str, steps))}: {law}; straightness {straight[at]:.4f} "
            f"({wanted}), {straight.max():.4f} ({LAWS[int(straight.argmax())]}), of random "
            f"increasing ones {random_straightness(len(steps)):.4f}",
            wanted="straightest under this law, and straighter than 19 of 20 random ones",
        )
        if law == "unclear":
            found.verdict = Verdict.UNDECIDED
        yield found
