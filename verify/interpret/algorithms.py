"""The predictions of algorithms for in-context regression, for all prefixes of the same prompts.

Predictions are arrays (…, m, n + 1): entry t is the prediction at example t + 1 of a prompt (the
last at its query) from the first t examples.  Each prefix is solved separately.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import Finite, NonNegative, Positive, RealNumber, Reals, Steps, Within, checked
from theory.regression import (
    PrefixSpectrum,
    Prompts,
    Start,
    filter_residual,
    online_gradient_descent_iterates,
)

FACTORS = (0.25, 0.5, 1.0, 1.5, 1.9)
"""The step sizes of gradient descent that are compared, in units of 1/λmax of each prefix."""

StepCounts: TypeAlias = Iterable[Steps]
"""Integers ≥ 0, numbers of steps."""
AtLeastOne: TypeAlias = Annotated[float, RealNumber(Within(least=1))]
"""A finite number ≥ 1."""


@checked
def algorithms(prompts: Prompts) -> Algorithms:
    """The predictions of known algorithms on m prompts, at all examples and at the query.

    The result has a method for each algorithm, for example `.newton(steps)`. The prompts have n
    examples x (m, n, d), labels y (m, n), queries x_query (m, d) and their labels y_query (m,).

    Raises `ValueError` for prompts whose arrays have other shapes or entries that are not finite,
    and for prompts whose matrices XᵀX overflow.
    """
    return Algorithms(prompts)


@checked
def read_prompts(prompts: Prompts) -> Prompts:
    """The prompts with arrays of float64; raises ValueError for shapes that do not fit together."""
    return replace(prompts, **_arrays(prompts.x, prompts.y, prompts.x_query, prompts.y_query))


@checked
def _arrays(
    x: Annotated[Any, Reals("m n d")],
    y: Annotated[Any, Reals("m n")],
    x_query: Annotated[Any, Reals("m d")],
    y_query: Annotated[Any, Reals("m")],
) -> dict[str, np.ndarray]:
    return {"x": x, "y": y, "x_query": x_query, "y_query": y_query}


def labels_of(p: Prompts) -> np.ndarray:
    """The labels of the n examples and of the query of each of m prompts, (m, n + 1)."""
    return np.concatenate([p.y, p.y_query[..., None]], axis=-1)


class Algorithms:
    """The predictions of several algorithms on the same prompts.

    Methods with an argument `steps` return an array (k, m, n + 1): for each of the k counts in
    `steps` and each of m prompts, a prediction at each of the n examples and at the query. Each
    prediction depends only on the prefix, the examples before.
    """

    def __init__(self, prompts: Prompts) -> None:
        self.prompts = p = read_prompts(prompts)
        self.labels = labels_of(p)
        self.spectrum = PrefixSpectrum(p.x, p.y, p.x_query)

    @checked
    def newton(self, steps: StepCounts, start: Start = "gram") -> np.ndarray:
        """Predictions (k, m, n + 1) of Newton's method after each of k step counts `steps`.

        There are m prompts of n examples and a query, and a prediction for each prefix of a prompt.
        Let S = XᵀX for the examples X of a prefix, and let λmax be the largest eigenvalue of S. The
        iteration starts at αS with α = 1/λmax² ("gram"), or at αI with α = 1/λmax ("identity").
        """
        power = 2 if start == "gram" else 1
        return self.spectrum.newton(steps, 1 / self.spectrum.largest**power, start)

    @checked
    def gradient_descent(self, steps: StepCounts, factor: Positive) -> np.ndarray:
        """Predictions (k, m, n + 1) of gradient descent with step size factor/λmax for each prefix.

        There are k counts in `steps`, and m prompts of n examples and a query. λmax is the largest
        eigenvalue of XᵀX for the examples X of the prefix.
        """
        return self.spectrum.gradient_descent(steps, factor / self.spectrum.largest)

    @checked
    def momentum(self, steps: StepCounts, condition: AtLeastOne) -> np.ndarray:
        """Predictions (k, m, n + 1) of gradient descent with the best momentum.

        The method is the Chebyshev semi-iteration on [λmax/condition, λmax] for each prefix, where
        λmax is the largest eigenvalue of XᵀX for the examples X of the prefix. There are k counts
        in `steps`, and m prompts of n examples and a query.
        """
        largest = self.spectrum.largest
        return self.spectrum.chebyshev(steps, largest / condition, largest)

    @checked
    def filtered(self, power: Positive, doublings: Finite) -> np.ndarray:
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
        the mean over all examples. The rule of [Fu2024] is returned as None; it is the only one if
        all examples are 0.
        """
        p = self.prompts
        size = float(np.vecdot(p.x, p.x).mean())
        following = np.concatenate([p.x, p.x_query[..., None, :]], axis=-2)

        def run(step_size: float | None) -> np.ndarray:
            iterates = online_gradient_descent_iterates(p.x, p.y, step_size)
            return np.vecdot(np.stack([*iterates], axis=-2), following)[None]

        def squared_error(step_size: float | None) -> float:
            return float(((run(step_size) - self.labels) ** 2).mean())

        steps = [factor / size for factor in FACTORS] if size else []
        best = min([None, *steps], key=squared_error)
        return run(best), best

    def least_squares(self) -> np.ndarray:
        """Predictions (m, n + 1) of the minimum-norm least-squares solution of every prefix.

        There are m prompts of n examples and a query.
        """
        return self.spectrum.ols()

    @checked
    def bayes(self, noise: NonNegative) -> np.ndarray:
        """Predictions (m, n + 1) of the Bayes predictor for weights w ~ N(0, I).

        There are m prompts of n examples and a query. `noise` is the standard deviation of the
        noise of labels. Without noise, the Bayes predictor is least squares; with noise, it is
        ridge regression with penalty noise².
        """
        return self.spectrum.ridge([noise**2])[0] if noise else self.least_squares()
