"""What is compared: trained models, their layers, and algorithms, by what they predict.

Predictions are arrays (…, m, n + 1): entry t is for example t + 1 of a prompt (at the end: for its
query) from the first t.  Algorithms take every prefix as a problem of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from theory.regression import (
    PrefixSpectrum,
    Prompts,
    gaussian_prompts,
    ill_conditioned_prompts,
    online_gradient_descent_iterates,
)
from verify.claim import Run

if TYPE_CHECKING:
    from constructions.trained.configuration import Regression
    from constructions.trained.regression import InContextRegressor

FITTED = 4000  # prompts to which read-outs are fitted, others than those of a measurement
CHUNK = 200  # prompts that a model sees at once: what they need stays in the cache
RANK = 1e-9  # of the largest eigenvalue: directions of a layer that count as none
FACTORS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 1.9)
"""Step sizes of gradient descent that are tried, times 1/λmax of each prefix."""


def prompts_of(
    task: Regression, count: int, rng: np.random.Generator, *, further: int = 0
) -> Prompts:
    """Fresh prompts of the task that a model was trained on, with so many further examples."""
    draw = gaussian_prompts if task.covariance == "isotropic" else ill_conditioned_prompts
    return draw(count, task.points - 1 + further, task.d, noise=task.noise, seed=rng)


def labels_of(p: Prompts) -> np.ndarray:
    """What is to be predicted, (m, n + 1)."""
    return np.concatenate([p.y, p.y_query[..., None]], axis=-1)


def predictions_of(model: InContextRegressor, p: Prompts) -> np.ndarray:
    """What a model predicts, (m, n + 1)."""
    parts = (model(p.x[place], p.y[place], p.x_query[place]) for place in _chunks(len(p.x)))
    return np.concatenate([part.double().numpy() for part in parts])


def read_outs(model: InContextRegressor, fitted: Prompts) -> list[np.ndarray]:
    """The best linear read-outs (D + 1,) of the embedding and of each layer.

    A read-out is affine in the stream, one for all positions, and the best one on the prompts
    `fitted`: least squares, solved by its normal equations.  Directions in which the stream of a
    layer does not vary get the weight 0.
    """
    layers = model.n_layers + 1
    grams, sums = [np.zeros(())] * layers, [np.zeros(())] * layers
    wanted = labels_of(fitted)
    for place, streams in _streams(model, fitted.x, fitted.y, fitted.x_query):
        y = wanted[place].ravel()
        for layer, H in enumerate(streams):
            rows = H.reshape(-1, H.shape[-1])
            grams[layer] = grams[layer] + rows.T @ rows
            sums[layer] = sums[layer] + rows.T @ y
    return [_solved(gram, total) for gram, total in zip(grams, sums, strict=True)]


def read(
    model: InContextRegressor,
    weights: list[np.ndarray],
    x: np.ndarray,
    y: np.ndarray,
    x_query: np.ndarray,
) -> np.ndarray:
    """What read-outs of these weights predict, (layers + 1, m, n + 1)."""
    found = np.empty((len(weights), *y.shape[:-1], y.shape[-1] + 1))
    for place, streams in _streams(model, x, y, x_query):
        for layer, H in enumerate(streams):
            found[layer, place] = H @ weights[layer]
    return found


@dataclass(frozen=True)
class Probed:
    """A model, its prompts, and what read-outs of its layers predict (layers + 1, m, n + 1).

    The read-outs were fitted to `fitted` other prompts.
    Squared errors are over the variance of a label, so that saying nothing has 1.
    """

    model: InContextRegressor
    prompts: Prompts
    fitted: int
    predictions: np.ndarray

    @staticmethod
    def of(run: Run, model: InContextRegressor, samples: int) -> Probed:
        """The model on fresh prompts of its own task."""
        count = FITTED // 4 if run.quick else FITTED
        fitted = prompts_of(model.task, count, run.rng)
        prompts = prompts_of(model.task, samples, run.rng)
        weights = read_outs(model, fitted)
        predictions = read(model, weights, prompts.x, prompts.y, prompts.x_query)
        return Probed(model, prompts, count, predictions)

    @property
    def variance(self) -> float:
        """The variance of a label, E‖x‖² + noise²."""
        return float(np.vecdot(self.prompts.x, self.prompts.x).mean() + self.model.task.noise**2)

    def error(self, predictions: np.ndarray) -> np.ndarray:
        """Mean squared errors of prompts (…, m), for predictions (…, m, n + 1)."""
        return np.asarray(((predictions - labels_of(self.prompts)) ** 2).mean(-1) / self.variance)


def _solved(gram: np.ndarray, total: np.ndarray) -> np.ndarray:
    values, V = np.linalg.eigh(gram)
    kept = values > RANK * values[-1]
    return V[:, kept] @ ((V[:, kept].T @ total) / values[kept])


def _streams(
    model: InContextRegressor, x: np.ndarray, y: np.ndarray, x_query: np.ndarray
) -> Iterator[tuple[slice, list[np.ndarray]]]:
    """Chunks of prompts, and what is read of each layer, (prompts, n + 1, D + 1), its last 1."""
    for place in _chunks(len(x)):
        read = model.representations(x[place], y[place], x_query[place])
        yield (
            place,
            [np.concatenate([H.double().numpy(), np.ones((*H.shape[:-1], 1))], -1) for H in read],
        )


def _chunks(m: int) -> Iterator[slice]:
    for start in range(0, m, CHUNK):
        yield slice(start, start + CHUNK)


@dataclass(frozen=True)
class Searched:
    """Predictions for several numbers of steps, and the step size that did best."""

    steps: tuple[int, ...]
    predictions: np.ndarray
    step_size: float


class Algorithms:
    """Algorithms on the same prompts, (k, m, n + 1) for k numbers of steps."""

    def __init__(self, p: Prompts) -> None:
        self.prompts, self.labels = p, labels_of(p)
        self.spectrum = PrefixSpectrum(p.x, p.y, p.x_query)

    def newton(self, steps: Iterable[int], start: str = "gram") -> np.ndarray:
        """Iterative Newton from αS, α = 1/λmax² of each prefix, or from αI, α = 1/λmax."""
        power = 2 if start == "gram" else 1
        return self.spectrum.newton(steps, 1 / self.spectrum.largest**power, start)

    def gradient_descent(self, steps: Iterable[int]) -> Searched:
        """Gradient descent at step size factor/λmax of each prefix.

        The factor is that of `FACTORS` with which the largest number of steps errs least.
        """
        counts = tuple(steps)
        return self._searched(
            counts,
            FACTORS,
            lambda factor: self.spectrum.gradient_descent(counts, factor / self.spectrum.largest),
        )

    def momentum(self, steps: Iterable[int], condition: float) -> np.ndarray:
        """The Chebyshev semi-iteration on [λmax/condition, λmax] of each prefix."""
        largest = self.spectrum.largest
        return self.spectrum.chebyshev(steps, largest / condition, largest)

    def online_gradient_descent(self) -> Searched:
        """One pass, a step for each example, at a constant step size that errs least at the end.

        Tried are `FACTORS` times 1/E‖x‖².
        """
        p = self.prompts
        size = float(np.vecdot(p.x, p.x).mean())
        following = np.concatenate([p.x, p.x_query[..., None, :]], axis=-2)

        def run(step_size: float) -> np.ndarray:
            iterates = online_gradient_descent_iterates(p.x, p.y, step_size)
            return np.vecdot(np.stack([*iterates], axis=-2), following)[None]

        return self._searched((p.x.shape[-2],), [factor / size for factor in FACTORS], run)

    def least_squares(self) -> np.ndarray:
        """The minimum-norm least-squares solution of every prefix, (m, n + 1)."""
        return self.spectrum.ols()

    def _searched(
        self, steps: tuple[int, ...], sizes: Iterable[float], run: Callable[[float], np.ndarray]
    ) -> Searched:
        tried = [(size, run(size)) for size in sizes]
        size, best = min(tried, key=lambda pair: float(((pair[1][-1] - self.labels) ** 2).mean()))
        return Searched(steps, best, size)
