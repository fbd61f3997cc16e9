"""The predictions of trained models and of algorithms on the same prompts.

Predictions are arrays (…, m, n + 1): entry t is the prediction at example t + 1 of a prompt (the
last at its query) from the first t examples.  Algorithms solve each prefix separately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from constructions.trained.tasks.regression import Regression
from theory.regression import (
    PrefixSpectrum,
    Prompts,
    Start,
    filter_residual,
    gaussian_prompts,
    ill_conditioned_prompts,
    online_gradient_descent_iterates,
)

Predictor = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]
"""A function of examples x (m, n, d), y (m, n) and queries (m, d)."""

CHUNK = 200  # prompts per call of a model, so that its activations fit the cache
FACTORS = (0.25, 0.5, 1.0, 1.5, 1.9)
"""The step sizes of gradient descent that are compared, in units of 1/λmax of each prefix."""


def prompts_of(
    task: Regression, n_prompts: int, seed: int | np.random.Generator, *, further: int = 0
) -> Prompts:
    """Fresh prompts of the task of a trained model, with `further` additional examples."""
    draw = gaussian_prompts if task.covariance == "isotropic" else ill_conditioned_prompts
    return draw(n_prompts, task.points - 1 + further, task.d, noise=task.noise, seed=seed)


def labels_of(p: Prompts) -> np.ndarray:
    """The labels of the n examples and of the query of each of m prompts, (m, n + 1)."""
    return np.concatenate([p.y, p.y_query[..., None]], axis=-1)


def predictions_of(predictor: Predictor, p: Prompts) -> np.ndarray:
    """The predictions (m, n + 1) of a predictor on m prompts, at the n examples and at the query.

    The predictor is a trained model, a construction or another function of examples and queries. If
    its outputs have the shape (…, n + 1), it is called once. If its outputs have the shape (…),
    with a prediction at the query only, it is called for each number of examples from 1, and its
    prediction without examples counts as 0.
    """
    predicted = answers_of(predictor, p.x, p.y, p.x_query)
    if predicted.ndim == 2:
        return predicted
    earlier = [
        answers_of(predictor, p.x[:, :t], p.y[:, :t], p.x[:, t]) for t in range(1, p.x.shape[1])
    ]
    return np.stack([np.zeros(len(predicted)), *earlier, predicted], axis=-1)


def answers_of(
    predictor: Predictor, x: np.ndarray, y: np.ndarray, x_query: np.ndarray
) -> np.ndarray:
    """The outputs (m, …) of a predictor on m prompts, computed for some prompts at a time."""
    parts = [np.asarray(predictor(x[i], y[i], x_query[i]), np.float64) for i in chunks(len(x))]
    return np.concatenate(parts)


def chunks(m: int) -> Iterator[slice]:
    """The prompts of each call of a model, as slices."""
    for start in range(0, m, CHUNK):
        yield slice(start, start + CHUNK)


class Algorithms:
    """The predictions of several algorithms on the same prompts.

    Methods with an argument `steps` return an array (k, m, n + 1): for each of the k counts in
    `steps` and each of m prompts, a prediction at each of the n examples and at the query. Each
    prediction depends only on the prefix, the examples before.
    """

    def __init__(self, p: Prompts) -> None:
        self.prompts, self.labels = p, labels_of(p)
        self.spectrum = PrefixSpectrum(p.x, p.y, p.x_query)

    def newton(self, steps: Iterable[int], start: Start = "gram") -> np.ndarray:
        """Predictions (k, m, n + 1) of Newton's method after each of k step counts `steps`.

        There are m prompts of n examples and a query, and a prediction for each prefix of a prompt.
        Let S = XᵀX for the examples X of a prefix, and let λmax be the largest eigenvalue of S. The
        iteration starts at αS with α = 1/λmax² ("gram"), or at αI with α = 1/λmax ("identity").
        """
        power = 2 if start == "gram" else 1
        return self.spectrum.newton(steps, 1 / self.spectrum.largest**power, start)

    def gradient_descent(self, steps: Iterable[int], factor: float) -> np.ndarray:
        """Predictions (k, m, n + 1) of gradient descent with step size factor/λmax for each prefix.

        There are k counts in `steps`, and m prompts of n examples and a query. λmax is the largest
        eigenvalue of XᵀX for the examples X of the prefix.
        """
        return self.spectrum.gradient_descent(steps, factor / self.spectrum.largest)

    def momentum(self, steps: Iterable[int], condition: float) -> np.ndarray:
        """Predictions (k, m, n + 1) of gradient descent with the best momentum.

        The method is the Chebyshev semi-iteration on [λmax/condition, λmax] for each prefix, where
        λmax is the largest eigenvalue of XᵀX for the examples X of the prefix. There are k counts
        in `steps`, and m prompts of n examples and a query.
        """
        largest = self.spectrum.largest
        return self.spectrum.chebyshev(steps, largest / condition, largest)

    def filtered(self, power: float, doublings: float) -> np.ndarray:
        """Predictions (m, n + 1) with the residual factor (1 − z^power)^r, r = 2^doublings.

        There are m prompts of n examples and a query. For a prefix with the examples X, z = λ/λmax
        is the ratio of an eigenvalue λ of XᵀX to the largest eigenvalue λmax.

        Power 2 is Newton's method from αS after `doublings` steps, and power 1 is gradient descent
        with step size 1/λmax for each prefix after 2^doublings steps. The numbers of steps need not
        be integers.
        """
        z = self.spectrum.eigenvalues / self.spectrum.largest[..., None]
        left = filter_residual(z, power, 2**doublings)
        return np.vecdot(1 - left, self.spectrum.components)

    def online_gradient_descent(self) -> tuple[np.ndarray, float | None]:
        """Predictions (1, m, n + 1) of one pass of online gradient descent, and the best step size.

        There are m prompts of n examples and a query. The step size is the one with the smallest
        squared error over all prefixes. It is chosen among the rule of [Fu2024], that is, 1/‖x_i‖²
        for example x_i, and the numbers factor/E‖x‖² for each factor in `FACTORS`, where E‖x‖² is
        the mean over all examples. The rule of [Fu2024] is returned as None.
        """
        p = self.prompts
        size = float(np.vecdot(p.x, p.x).mean())
        following = np.concatenate([p.x, p.x_query[..., None, :]], axis=-2)

        def run(step_size: float | None) -> np.ndarray:
            iterates = online_gradient_descent_iterates(p.x, p.y, step_size)
            return np.vecdot(np.stack([*iterates], axis=-2), following)[None]

        def squared_error(step_size: float | None) -> float:
            return float(((run(step_size) - self.labels) ** 2).mean())

        best = min([None, *(factor / size for factor in FACTORS)], key=squared_error)
        return run(best), best

    def least_squares(self) -> np.ndarray:
        """Predictions (m, n + 1) of the minimum-norm least-squares solution of every prefix.

        There are m prompts of n examples and a query.
        """
        return self.spectrum.ols()

    def bayes(self, noise: float) -> np.ndarray:
        """Predictions (m, n + 1) of the Bayes predictor for weights w ~ N(0, I).

        There are m prompts of n examples and a query. `noise` is the standard deviation of the
        noise of labels. Without noise, the Bayes predictor is least squares; with noise, it is
        ridge regression with penalty noise².
        """
        return self.spectrum.ridge([noise**2])[0] if noise else self.least_squares()
