"""Probes: what linear read-outs of the layers of a trained model predict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from theory.regression import Prompts
from verify.claim import Run
from verify.evidence.checkpoints import Trained
from verify.regression.trained.options import QUICK
from verify.regression.trained.predictors import Algorithms, chunks, labels_of, prompts_of

FITTED = 4000  # prompts to which read-outs are fitted, others than those of a measurement
RANK = 1e-9  # of the largest eigenvalue: directions of a layer that count as none

ReadOuts = list[np.ndarray]
"""The weights (D + 1,) of an affine read-out of the embedding, and of each layer."""


def fitted_read_outs(run: Run, trained: Trained) -> list[ReadOuts]:
    """The `read_outs` of a model, fitted to fresh prompts of its own task."""
    count = FITTED // 10 if run.quick else FITTED
    return read_outs(trained.model, prompts_of(trained.task, count, run.rng))


def read_outs(model: Any, fitted: Prompts) -> list[ReadOuts]:
    """The best linear read-outs of the embedding and of each layer, three times.

    A read-out is affine in the stream, one for all positions, and the best one on the prompts
    `fitted`, then on every second of them, and then on the others: least squares, solved by its
    normal equations.  Directions in which the stream of a layer does not vary get the weight 0.
    """
    wanted = labels_of(fitted)[..., None]
    moments: dict[tuple[int, int], np.ndarray] = {}
    for place, streams in _streams(model, fitted.x, fitted.y, fitted.x_query):
        for layer, H in enumerate(streams):
            both = np.concatenate([H, wanted[place]], axis=-1)
            for half in range(2):
                rows = both[half::2].reshape(-1, both.shape[-1])
                moments[half, layer] = moments.get((half, layer), 0.0) + rows.T @ rows

    def best(*halves: int) -> ReadOuts:
        layers = range(model.n_layers + 1)
        return [_solved(sum(moments[half, layer] for half in halves)) for layer in layers]

    return [best(0, 1), best(0), best(1)]


def read(
    model: Any, weights: list[ReadOuts], x: np.ndarray, y: np.ndarray, x_query: np.ndarray
) -> np.ndarray:
    """What several read-outs of each layer predict, (read-outs, layers + 1, m, n + 1)."""
    found = np.empty((len(weights), len(weights[0]), *y.shape[:-1], y.shape[-1] + 1))
    for place, streams in _streams(model, x, y, x_query):
        for layer, H in enumerate(streams):
            for index, each in enumerate(weights):
                found[index, layer, place] = H @ each[layer]
    return found


@dataclass(frozen=True)
class Probed:
    """A model, its prompts, and what read-outs of its layers predict (layers + 1, m, n + 1).

    The read-outs were fitted to other prompts, those of `halves` (2, layers + 1, m, n + 1) to one
    half of them each.  Squared errors are over the variance of a label: saying nothing has 1.
    """

    trained: Trained
    prompts: Prompts
    predictions: np.ndarray
    halves: np.ndarray

    @staticmethod
    def of(run: Run, trained: Trained, samples: int) -> Probed:
        """The model on fresh prompts of its own task."""
        weights = fitted_read_outs(run, trained)
        count = min(samples, QUICK) if run.quick else samples
        p = prompts_of(trained.task, count, run.rng)
        predictions, *halves = read(trained.model, weights, p.x, p.y, p.x_query)
        return Probed(trained, p, predictions, np.array(halves))

    @cached_property
    def algorithms(self) -> Algorithms:
        """Algorithms on the same prompts."""
        return Algorithms(self.prompts)

    @cached_property
    def variance(self) -> float:
        """The variance of a label, E‖x‖² + noise²."""
        x = self.prompts.x
        return float(np.vecdot(x, x).mean() + self.trained.task.noise**2)

    def error(self, predictions: np.ndarray) -> np.ndarray:
        """Mean squared errors of prompts (…, m), for predictions (…, m, n + 1)."""
        return np.asarray(((predictions - labels_of(self.prompts)) ** 2).mean(-1) / self.variance)

    @cached_property
    def errors(self) -> np.ndarray:
        """Those of the best read-outs of the layers, (layers + 1, m).

        What a fit to N prompts errs more than the best read-out is about proportional to 1/N, so
        the halves err as much more than the whole as the whole does, which is taken off.
        """
        whole = self.error(self.predictions)
        return 2 * whole - self.error(self.halves).mean(0)

    @cached_property
    def bayes(self) -> np.ndarray:
        """What the best predictor predicts, (m, n + 1)."""
        return self.algorithms.bayes(self.trained.task.noise)

    @property
    def best(self) -> float:
        """The error of the best predictor."""
        return float(self.error(self.bayes).mean())


def _solved(moments: Any) -> np.ndarray:
    """The weights of least squares, from ZᵀZ of the rows Z = (features, what is wanted)."""
    gram, total = moments[:-1, :-1], moments[:-1, -1]
    values, V = np.linalg.eigh(gram)
    kept = values > RANK * values[-1]
    return V[:, kept] @ ((V[:, kept].T @ total) / values[kept])


def _streams(
    model: Any, x: np.ndarray, y: np.ndarray, x_query: np.ndarray
) -> Iterator[tuple[slice, Iterator[np.ndarray]]]:
    """Chunks of prompts, and what is read of each layer, (prompts, n + 1, D + 1), its last 1."""
    for place in chunks(len(x)):
        layers = model.representations(x[place], y[place], x_query[place])
        column = (0, 0), (0, 0), (0, 1)
        yield place, (np.pad(H.double().numpy(), column, constant_values=1.0) for H in layers)
