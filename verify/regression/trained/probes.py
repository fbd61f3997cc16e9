"""Probes: what linear read-outs of the layers of a trained model predict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from theory.regression import Prompts
from verify.claim import Run
from verify.trained.predictors import Algorithms, chunks, labels_of, prompts_of

if TYPE_CHECKING:
    from constructions.trained.regression import InContextRegressor

FITTED = 4000  # prompts to which read-outs are fitted, others than those of a measurement
RANK = 1e-9  # of the largest eigenvalue: directions of a layer that count as none


def read_outs(model: InContextRegressor, fitted: Prompts) -> list[list[np.ndarray]]:
    """The best linear read-outs (D + 1,) of the embedding and of each layer, three times.

    A read-out is affine in the stream, one for all positions, and the best one on the prompts
    `fitted`, then on every second of them, and then on the others: least squares, solved by its
    normal equations.  Directions in which the stream of a layer does not vary get the weight 0.
    """
    layers = model.n_layers + 1
    grams, sums = ([[np.zeros(())] * layers for _ in range(2)] for _ in range(2))
    wanted = labels_of(fitted)
    for place, streams in _streams(model, fitted.x, fitted.y, fitted.x_query):
        for layer, H in enumerate(streams):
            for half in range(2):
                rows, y = H[half::2].reshape(-1, H.shape[-1]), wanted[place][half::2].ravel()
                grams[half][layer] = grams[half][layer] + rows.T @ rows
                sums[half][layer] = sums[half][layer] + rows.T @ y
    both = [[a + b for a, b in zip(*parts, strict=True)] for parts in (grams, sums)]
    return [
        [_solved(gram, total) for gram, total in zip(*each, strict=True)]
        for each in (both, *zip(grams, sums, strict=True))
    ]


def read(
    model: InContextRegressor,
    weights: list[list[np.ndarray]],
    x: np.ndarray,
    y: np.ndarray,
    x_query: np.ndarray,
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
    half of them each.  Squared errors are over the variance of a label, so that saying nothing has
    1.
    """

    model: InContextRegressor
    prompts: Prompts
    predictions: np.ndarray
    halves: np.ndarray

    @staticmethod
    def of(run: Run, model: InContextRegressor, samples: int) -> Probed:
        """The model on fresh prompts of its own task."""
        fitted = prompts_of(model.task, FITTED // 4 if run.quick else FITTED, run.rng)
        prompts = prompts_of(model.task, samples, run.rng)
        weights = read_outs(model, fitted)
        predictions, *halves = read(model, weights, prompts.x, prompts.y, prompts.x_query)
        return Probed(model, prompts, predictions, np.array(halves))

    @property
    def variance(self) -> float:
        """The variance of a label, E‖x‖² + noise²."""
        return float(np.vecdot(self.prompts.x, self.prompts.x).mean() + self.model.task.noise**2)

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
        """What the Bayes predictor for w ~ N(0, I) predicts, (m, n + 1): least squares, or with
        noisy labels ridge regression with the variance of the noise."""
        algorithms, noise = Algorithms(self.prompts), self.model.task.noise
        return algorithms.spectrum.ridge([noise**2])[0] if noise else algorithms.least_squares()

    @property
    def best(self) -> float:
        """The error of the Bayes predictor."""
        return float(self.error(self.bayes).mean())


def _solved(gram: np.ndarray, total: np.ndarray) -> np.ndarray:
    values, V = np.linalg.eigh(gram)
    kept = values > RANK * values[-1]
    return V[:, kept] @ ((V[:, kept].T @ total) / values[kept])


def _streams(
    model: InContextRegressor, x: np.ndarray, y: np.ndarray, x_query: np.ndarray
) -> Iterator[tuple[slice, list[np.ndarray]]]:
    """Chunks of prompts, and what is read of each layer, (prompts, n + 1, D + 1), its last 1."""
    for place in chunks(len(x)):
        read = model.representations(x[place], y[place], x_query[place])
        yield (
            place,
            [np.concatenate([H.double().numpy(), np.ones((*H.shape[:-1], 1))], -1) for H in read],
        )
