"""Layers of one or more models beside the iterates of an algorithm, with their uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import InputError, Integers, Reals, Steps, Within, checked, shown
from theory.kinds.errors import shown_all
from verify.evidence.statistics import Mean, estimated, sign_of
from verify.finding import Verdict
from verify.interpret.algorithms import labels_of
from verify.interpret.models import differ
from verify.interpret.probes import ProbedLayers
from verify.interpret.similarity import Table

StepNumbers: TypeAlias = Annotated[Any, Integers("k", Within(least=0))]
"""Numbers of steps, integers ≥ 0, shape (k,)."""
Iterates: TypeAlias = Annotated[Any, Reals("k m t")]
"""Predictions of an algorithm after each of k numbers of steps, (k, m, n + 1)."""


@checked
def compare(
    probed: ProbedLayers | Sequence[ProbedLayers],
    algorithm: str,
    steps: StepNumbers,
    predictions: Iterates,
) -> Comparison:
    """The similarity of errors of the layers of one or more models to those of an algorithm.

    `probed` are the probed layers of a model (`probe(model, fitted).on(prompts)`), or a list of
    these, for example for models of several seeds, all on the same m prompts of n examples.
    `predictions` (k, m, n + 1) are those of the algorithm, whose name is `algorithm`, after each of
    k numbers of steps `steps` (k,). The similarity of two predictors on a prompt is the cosine
    between their vectors of n errors, at predictions from at least one example [Fu2024].

    Raises `ValueError` for fewer than 4 prompts, for models on different prompts or of different
    numbers of layers, for a number of steps that is given twice, and for predictions of another
    shape.
    """
    models = [probed] if isinstance(probed, ProbedLayers) else list(probed)
    if not models:
        raise InputError("probed is []: give the probed layers of at least one model")
    first = models[0]
    for each in models[1:]:
        if each.names != first.names or len(each.predictions) != len(first.predictions):
            raise InputError(
                f"probed has a model with {shown_all(first.names)} and one with "
                f"{shown_all(each.names)}: give models of the same layers"
            )
        same = each.prompts.x.shape == first.prompts.x.shape
        if not same or not np.array_equal(labels_of(each.prompts), labels_of(first.prompts)):
            raise InputError(
                "probed has models on different prompts: give the same prompts to `.on` of all"
            )
    m, t = first.predictions.shape[1:]
    if predictions.shape != (len(steps), m, t):
        raise InputError(
            f"predictions has shape {predictions.shape} for {len(steps)} numbers of steps and "
            f"{m} prompts of {t - 1} examples: give an array of shape {(len(steps), m, t)}"
        )
    known, counts = np.unique(steps, return_counts=True)
    if (counts > 1).any():
        raise InputError(
            f"steps contains {known[counts > 1][0]} more than once: give each number of steps once"
        )
    if m < 4:
        raise InputError(
            f"probed is on {m} prompts, and halves of them are compared: give at least 4 prompts"
        )
    tables = tuple(Table.of(algorithm, steps, predictions, each) for each in models)
    return Comparison(first.names, tables, tuple(models))


@dataclass(frozen=True)
class Comparison:
    """The similarity of the layers of one or more models to one algorithm, by number of steps.

    `tables` contains a `Table` for each model, `names` the names of their layers, and `probed` the
    layers that were compared. `print` shows for each layer the numbers of steps that match best and
    the similarity of errors at the best number of steps, with its standard error over prompts and,
    if there are several models, over models.
    """

    names: tuple[str, ...]
    tables: tuple[Table, ...]
    probed: tuple[ProbedLayers, ...] = field(default=(), repr=False, compare=False)

    @property
    def algorithm(self) -> str:
        """The name of the algorithm."""
        return self.tables[0].algorithm

    @property
    def steps(self) -> np.ndarray:
        """The numbers of steps (k,) of the algorithm."""
        return self.tables[0].steps

    @property
    def mean(self) -> np.ndarray:
        """The mean similarity (k, layers) over prompts and models."""
        return np.asarray(np.mean([table.mean for table in self.tables], axis=0))

    @property
    def best(self) -> np.ndarray:
        """The number of steps (layers,) with the largest mean similarity to each layer."""
        return np.asarray(self.steps[self.mean.argmax(axis=0)])

    @property
    def among(self) -> np.ndarray:
        """The best numbers of steps of each model on each half of the prompts, (2·models, layers).

        The halves are every second prompt, and the others.
        """
        found = [t.alike[..., half::2].mean(-1) for t in self.tables for half in range(2)]
        return np.array([self.steps[each.argmax(axis=0)] for each in found])

    @property
    def decided(self) -> np.ndarray:
        """Whether all models match the same number of steps on both halves, Booleans (layers,).

        A layer that matches the largest of several numbers of steps is undecided: more steps may
        match better.
        """
        inside = (self.best < self.steps.max()) | (len(self.steps) == 1)
        return np.asarray((self.among == self.best).all(axis=0) & inside)

    def layer(self, layer: Any) -> int:
        """The index of a layer, given by its index or name; raises ValueError if there is none."""
        if isinstance(layer, str) and layer in self.names:
            return self.names.index(layer)
        if type(layer) is int and 0 <= layer < len(self.names):
            return layer
        raise InputError(
            f"layer is {shown(layer)}: give an integer from 0 to {len(self.names) - 1}, or one of "
            f"{shown_all(self.names)}"
        )

    @checked
    def at(self, layer: Any, steps: Steps) -> Cell:
        """The similarity of one layer, given by its index or name, to one iterate.

        Raises `ValueError` for a layer that the models do not have, and for a number of steps that
        was not compared.
        """
        index, (rows,) = self.layer(layer), np.nonzero(self.steps == steps)
        if not len(rows):
            raise InputError(
                f"steps is {steps}, and the steps compared are {shown_all(self.steps.tolist())}: "
                "give one of these"
            )
        values = np.array([table.alike[rows[0], index] for table in self.tables])
        of_layer = [p.predictions[index] - labels_of(p.prompts) for p in self.probed]
        errors = np.array(of_layer) if of_layer else None
        return Cell(f"{self.algorithm} after {steps} steps", self.names[index], values, errors)

    def to_json(self) -> dict[str, Any]:
        """The printed table as JSON values."""
        rows = [
            {
                "layer": name,
                "steps": int(self.best[i]),
                "among": self.among[:, i].tolist(),
                "decided": bool(self.decided[i]),
                **self.at(i, int(self.best[i])).similarity.value,
            }
            for i, name in enumerate(self.names)
        ]
        return {"algorithm": self.algorithm, "models": len(self.tables), "layers": rows}

    def __str__(self) -> str:
        models, m = len(self.tables), self.tables[0].alike.shape[-1]
        over = f"{models} models, {m} prompts" if models > 1 else f"{m} prompts"
        lines = [f"{self.algorithm} ({over})"]
        lines.append(f"  {'layer':12} {'steps':>6}  {'in halves':>12}  similarity of errors")
        for i, name in enumerate(self.names):
            low, high = self.among[:, i].min(), self.among[:, i].max()
            among = f"{low}" if low == high else f"{low} to {high}"
            cell = self.at(i, int(self.best[i])).similarity
            end = "" if self.decided[i] else "  undecided"
            end += ", the most compared" * int(self.best[i] == self.steps.max() and bool(end))
            lines.append(f"  {name:12} {self.best[i]:6}  {among:>12}  {cell:.3f}{end}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Cell:
    """The similarities (models, m) of one layer to one iterate, for each model and prompt.

    `errors` (models, m, n + 1) are those of the layer, by which `nearer` recognises the models and
    the prompts.
    """

    iterate: str
    layer: str
    values: np.ndarray
    errors: np.ndarray | None = field(default=None, repr=False, compare=False)

    @property
    def similarity(self) -> Mean:
        """The mean, with its standard error over prompts and models."""
        return _over_units(self.values)

    def __str__(self) -> str:
        return f"{self.layer}, {self.iterate}: similarity of errors {self.similarity:.3f}"


@checked
def nearer(first: Cell, second: Cell) -> Nearer:
    """Which of two iterates a layer is nearer to, by the similarity of errors.

    `first` and `second` are results of `Comparison.at`, for the same layer of the same models. The
    difference of similarities is paired by prompt and model.

    Raises `ValueError` for similarities of different layers, models or prompts.
    """
    if first.layer != second.layer or first.values.shape != second.values.shape:
        raise InputError(
            f"first and second are similarities of {first.layer} {first.values.shape} and of "
            f"{second.layer} {second.values.shape}: give the same layer, models and prompts"
        )
    ours, theirs = first.errors, second.errors
    if ours is not None and theirs is not None and differ(ours, theirs):
        raise InputError(
            f"first and second are similarities of {first.layer} on different prompts or of "
            "different models: give results of `at` for the same models on the same prompts"
        )
    apart = first.values - second.values
    halves = [float(apart[:, half::2].mean()) for half in range(2)]
    return Nearer(first, second, _over_units(apart), (halves[0], halves[1]))


@dataclass(frozen=True)
class Nearer:
    """The difference between the similarities of a layer to two iterates.

    `difference` is the similarity to the first iterate minus the similarity to the second one, with
    its standard error, and `halves` are the differences on every second prompt and on the others.
    """

    first: Cell
    second: Cell
    difference: Mean
    halves: tuple[float, float]

    @property
    def verdict(self) -> Verdict:
        """Whether the layer is nearer to the first iterate: *holds*, *fails* or *undecided*.

        The difference must exceed 3 standard errors, or for few models the quantile of Student's
        distribution of equal probability, and must have the same sign on both halves of the
        prompts.
        """
        verdict = sign_of(*self.difference)
        one, other = self.halves
        same = one > 0 < other or one < 0 > other
        return verdict if same else Verdict.UNDECIDED

    def to_json(self) -> dict[str, Any]:
        """The comparison as JSON values."""
        return {
            "layer": self.first.layer,
            "first": {"iterate": self.first.iterate, **self.first.similarity.value},
            "second": {"iterate": self.second.iterate, **self.second.similarity.value},
            "difference": self.difference.value,
            "halves": list(self.halves),
            "nearer": str(self.verdict),
        }

    def __str__(self) -> str:
        a, b = self.first, self.second
        if self.verdict is Verdict.FAILS:
            a, b = b, a
        apart = a.similarity.mean - b.similarity.mean
        numbers = (
            f"  similarities {a.similarity.mean:.3f} and {b.similarity.mean:.3f}, difference "
            f"{apart:.4f} ± {self.difference.error:.4f}"
        )
        if self.verdict is Verdict.UNDECIDED:
            halves = ", ".join(f"{half:.4f}" for half in self.halves)
            head = f"{a.layer}: undecided between {a.iterate} and {b.iterate}"
            return f"{head}\n{numbers}; on halves of the prompts {halves}"
        return f"{a.layer} is nearer to {a.iterate} than to {b.iterate}\n{numbers}"


def _over_units(values: np.ndarray) -> Mean:
    """The mean of values (models, m) with its standard error, over prompts and over models.

    All models have the same prompts, so that the variances of the mean over prompts (of the means
    over models) and over models (of the means over prompts) add up; the variance of single values
    is counted in both. The degrees of freedom are those of the models, if there are several.
    """
    over_prompts = estimated(values.mean(0))
    if len(values) == 1:
        return over_prompts
    over_models = estimated(values.mean(1))
    error = float(np.hypot(over_prompts.error, over_models.error))
    return Mean(over_models.mean, error, over_models.freedom)
