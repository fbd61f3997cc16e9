"""How alike algorithms after so many steps and the layers of a model are; and how the steps that
match grow from layer to layer: linearly or not."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from theory.regression import error_cosines, error_distances, growth_of, matching_steps
from verify.claim import Run
from verify.evidence.statistics import BY, LEVEL, above, agreeing, estimated, resampled
from verify.finding import Finding, Verdict
from verify.regression.trained.predictors import FACTORS
from verify.regression.trained.probes import Probed

NEWTON_STEPS = tuple(range(31))
# All small numbers, as factors 1 − ηλ below 0 tell odd from even; then a grid, up to 2^16.
DESCENT_STEPS = (*range(65), *(round(2 ** (i / 4)) for i in range(25, 65)))
MOMENTUM_STEPS = (0, *sorted({round(2 ** (i / 6)) for i in range(49)}))  # up to 256
CONDITIONS = (10, 30, 100)
"""λmax/smallest of the Chebyshev semi-iteration that are tried: steps with the best momentum."""
EXPECTED = {"Newton": "linear", "gradient descent": "exponential"}
"""How the steps of each algorithm grow that match the layers of a transformer."""


@dataclass(frozen=True)
class Likeness:
    """How alike an algorithm after `steps` (k,) is to each layer, prompt by prompt: `alike`
    (k, layers, m), such as cosines."""

    algorithm: str
    steps: np.ndarray
    alike: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """The mean over prompts (k, layers)."""
        return np.asarray(self.alike.mean(-1))

    @property
    def error(self) -> np.ndarray:
        """Its standard error (k, layers)."""
        return np.asarray(self.alike.std(-1, ddof=1) / np.sqrt(self.alike.shape[-1]))

    @property
    def best(self) -> np.ndarray:
        """The steps that are most alike to each layer, (layers,)."""
        return np.asarray(self.steps[self.mean.argmax(axis=0)])

    @property
    def last(self) -> np.ndarray:
        """How alike those are to the last layer, (m,)."""
        return np.asarray(self.alike[self.mean[:, -1].argmax(), -1])


@dataclass(frozen=True)
class Table(Likeness):
    """By the cosines between the errors on a prompt, and by `squares` (k, layers, m): mean squared
    differences of predictions over the variance of a label."""

    squares: np.ndarray

    @property
    def by_squares(self) -> Likeness:
        """Alike the more, the smaller the difference."""
        return Likeness(self.algorithm, self.steps, -self.squares)


@dataclass(frozen=True)
class Tables:
    """Algorithms beside the same layers.

    Newton from αS and from αI, gradient descent at that step size, a `factor` of `FACTORS` over
    λmax, which can be most like the last layer, and with the best momentum for each κ of
    `CONDITIONS`: the Chebyshev semi-iteration on [λmax/κ, λmax] of each prefix.
    """

    newton: Table
    newton_from_identity: Table
    gradient_descent: Table
    momentum: tuple[Table, ...]
    factor: float

    @staticmethod
    def of(probed: Probed, descent_steps: Sequence[int] = DESCENT_STEPS) -> Tables:
        """From what is predicted after at least one example."""
        algorithms = probed.algorithms
        layers, wanted = probed.predictions[1:, :, 1:], algorithms.labels[:, 1:]

        def table(algorithm: str, steps: Iterable[int], predictions: np.ndarray) -> Table:
            said = predictions[..., 1:]
            squares = error_distances(said, layers, wanted) / probed.variance
            cosines = error_cosines(said, layers, wanted)
            return Table(algorithm, np.array([*steps]), cosines, squares)

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
        """Those of Newton from αS and of gradient descent, which are compared."""
        return self.newton, self.gradient_descent

    def __iter__(self) -> Iterator[Table]:
        yield from (self.newton, self.newton_from_identity, self.gradient_descent, *self.momentum)


def closer(tables: Tables, published: str) -> Finding:
    """The last layer, each algorithm after the steps that match it best; paired by prompt.

    Newton from αI is gradient descent of 2^k steps, and is searched as Newton from αS is, k being
    at most 30; gradient descent of any number of steps, and of five step sizes, stands beside.
    """
    compared = tables.newton, tables.newton_from_identity, tables.gradient_descent
    difference = estimated(tables.newton.last - tables.newton_from_identity.last)
    similarities = ", ".join(f"{each.last.mean():.4f} ({each.algorithm})" for each in compared)
    apart = ", ".join(f"{-each.by_squares.mean[:, -1].max():.4f}" for each in compared)
    return above(
        "last-layer",
        "the last layer is more like Newton from αS than from αI, 2^k gradient steps",
        difference,
        words=f"similarity of errors {similarities}; the first two differ by {difference:.4f}; "
        f"squared differences {apart}",
        wanted=f"above 0 {BY} (published, d = 20: {published})",
    )


def growth(run: Run, id: str, name: str, likeness: Likeness, wanted: str) -> Finding:
    """That the steps that are most alike have the growth that is wanted.

    Decided by how often it is so for sets of prompts drawn again from those at hand; undecided
    where no law is straighter than by chance.
    """
    again = resampled(run.rng, likeness.alike)
    # Most sets match the same steps.
    matched = Counter(tuple(matching_steps(likeness.steps, means)) for means in again)
    laws = Counter[str]()
    for steps, count in matched.items():
        laws[growth_of(np.array(steps))] += count
    common = ", ".join(f"{law} {count / len(again):.0%}" for law, count in laws.most_common())
    found = agreeing(
        id,
        f"{name}: {wanted} growth",
        laws[wanted] / len(again),
        words=f"{', '.join(map(str, likeness.best))} by layer ({likeness.algorithm}): {common}",
        steps=likeness.best,
    )
    if found.verdict is Verdict.FAILS and laws["unclear"] > LEVEL * len(again):
        found.verdict = Verdict.UNDECIDED
    return found


def save_cells(path: Path, tables: Mapping[str, Tables]) -> None:
    """Every cell as a row of a CSV file: the similarity of errors and its standard error.

    For each model over its prompts; and, where there are several models that were compared with
    the same algorithms, for their mean, over the models, each of which has prompts of its own.
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
