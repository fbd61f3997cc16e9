"""The similarity of the layers of a model to algorithms by number of steps, and the growth of the
matching steps with the layer."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from theory.regression import growth_of, matching_steps
from verify.claim import Run
from verify.evidence.statistics import BY, LEVEL, above, agreeing, estimated, resampled
from verify.finding import Finding, Verdict
from verify.interpret.algorithms import FACTORS
from verify.interpret.similarity import Likeness, Table
from verify.regression.trained.probes import Probed

NEWTON_STEPS = tuple(range(31))
# All small numbers, since odd and even powers of 1 − ηλ < 0 differ; then a grid up to 2^16.
DESCENT_STEPS = (*range(65), *(round(2 ** (i / 4)) for i in range(25, 65)))
MOMENTUM_STEPS = (0, *sorted({round(2 ** (i / 6)) for i in range(49)}))  # up to 256
CONDITIONS = (10, 30, 100)
"""Values of λmax/smallest for the Chebyshev semi-iteration, which has the best momentum."""
EXPECTED = {"Newton": "linear", "gradient descent": "exponential"}
"""The published growth of the matching steps of each algorithm with the layer."""


@dataclass(frozen=True)
class Tables:
    """The similarities of the layers of one model to several algorithms.

    The algorithms are Newton from αS and from αI, gradient descent, and gradient descent with
    momentum. The step size of gradient descent is `factor`/λmax, where `factor` is the entry of
    `FACTORS` most similar to the last layer. Here λmax is the largest eigenvalue of XᵀX for the
    examples X of a prefix. Gradient descent with the best momentum is the Chebyshev semi-iteration
    on [λmax/κ, λmax], for each κ in `CONDITIONS`.
    """

    newton: Table
    newton_from_identity: Table
    gradient_descent: Table
    momentum: tuple[Table, ...]
    factor: float

    @staticmethod
    def of(probed: Probed, descent_steps: Sequence[int] = DESCENT_STEPS) -> Tables:
        """The similarities of the layers of a probed model to the algorithms.

        They are computed from predictions after at least one example.
        """
        algorithms = probed.algorithms

        def table(algorithm: str, steps: Sequence[int], predictions: np.ndarray) -> Table:
            return Table.of(algorithm, np.array(steps), predictions, probed, first=1)

        def descent(factor: float) -> Table:
            label = f"gradient descent, step size {factor:g}/λmax"
            return table(label, descent_steps, algorithms.gradient_descent(descent_steps, factor))

        def momentum(condition: float) -> Table:
            label = f"gradient descent with momentum, on [λmax/{condition}, λmax]"
            return table(label, MOMENTUM_STEPS, algorithms.momentum(MOMENTUM_STEPS, condition))

        made = {factor: descent(factor) for factor in FACTORS}
        factor = max(made, key=lambda each: float(made[each].last.mean()))
        return Tables(
            table("Newton from αS", NEWTON_STEPS, algorithms.newton(NEWTON_STEPS)),
            table("Newton from αI", NEWTON_STEPS, algorithms.newton(NEWTON_STEPS, "identity")),
            made[factor],
            tuple(map(momentum, CONDITIONS)),
            factor,
        )

    @property
    def both(self) -> tuple[Table, Table]:
        """The tables of Newton from αS and of gradient descent."""
        return self.newton, self.gradient_descent

    def __iter__(self) -> Iterator[Table]:
        yield from (self.newton, self.newton_from_identity, self.gradient_descent, *self.momentum)


def closer(tables: Tables, published: str) -> Finding:
    """Compares the similarities of the last layer to Newton from αS and from αI, paired by prompt.

    For each start, the number of steps is the best-matching number k ≤ 30. k steps from αI are 2^k
    gradient steps. Gradient descent with any number of steps and five step sizes is reported for
    comparison.
    """
    compared = tables.newton, tables.newton_from_identity, tables.gradient_descent
    difference = estimated(tables.newton.last - tables.newton_from_identity.last)
    similarities = ", ".join(f"{each.last.mean():.4f} ({each.algorithm})" for each in compared)
    apart = ", ".join(f"{-each.by_squares.mean[:, -1].max():.4f}" for each in compared)
    return above(
        "last-layer",
        "(similarity of the last layer's errors to those of Newton from αS) − (similarity to those "
        "of Newton from αI)",
        difference,
        words=f"{difference:.4f}; the similarities are {similarities}; the mean squared "
        f"differences of predictions are {apart}, in the same order",
        wanted=f"a difference above 0 {BY}; the published similarities for d = 20 are {published}",
    )


def growth(run: Run, id: str, name: str, likeness: Likeness, wanted: str) -> Finding:
    """Checks that the steps most similar to the layers have the growth `wanted`.

    The verdict depends on the fraction of resampled sets of prompts with this growth. In place of a
    failure, the verdict is undecided if `growth_of` finds the growth unclear in more than a
    fraction `LEVEL` of the resampled sets.
    """
    again = resampled(run.rng, likeness.alike)
    laws = Counter(growth_of(matching_steps(likeness.steps, means)) for means in again)
    shown = {"unclear": "no clear", "none": "no"}
    common = ", ".join(
        f"{count / len(again):.0%} have {shown.get(law, law)} growth"
        for law, count in laws.most_common()
    )
    found = agreeing(
        id,
        f"growth with the layer of the {name}",
        laws[wanted] / len(again),
        words=f"{', '.join(map(str, likeness.best))} steps for the layers in order "
        f"({likeness.algorithm}); of resampled sets of prompts, {common}",
        wanted=f"{wanted} growth",
        steps=likeness.best,
    )
    if found.verdict is Verdict.FAILS and laws["unclear"] > LEVEL * len(again):
        found.verdict = Verdict.UNDECIDED
    return found


def save_cells(path: Path, tables: Mapping[str, Tables]) -> None:
    """Writes the similarities of errors and their standard errors as rows of a CSV file.

    There is a row for each model, algorithm, number of steps and layer. The standard error of one
    model is over its prompts. If several models are compared with the same algorithms, the means
    over models are written too; their standard errors are over models, which have different
    prompts.
    """
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["model", "algorithm", "steps", "layer", "similarity", "standard_error"])

        def write(model: str, table: Table, mean: np.ndarray, error: np.ndarray) -> None:
            for row, layer in np.ndindex(mean.shape):
                cell = f"{mean[row, layer]:.4f}", f"{error[row, layer]:.4f}"
                rows.writerow([model, table.algorithm, table.steps[row], layer + 1, *cell])

        for name, each in tables.items():
            for table in each:
                write(name, table, table.mean, table.error)
        for same in zip(*tables.values(), strict=True):
            if len(same) > 1 and len({table.algorithm for table in same}) == 1:
                means = np.array([table.mean for table in same])
                error = means.std(axis=0, ddof=1) / np.sqrt(len(same))
                write(f"mean of {len(same)}", same[0], means.mean(0), error)
