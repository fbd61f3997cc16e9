"""The weights that the layers of a model induce: linear functions of the query.

The induced weights of a layer are the least-squares fit of its predictions at many queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import InputError, Reals, Steps, checked
from theory.regression import PrefixSpectrum, Prompts, similarity, weight_cosines
from theory.scaling import near_one
from verify.evidence.statistics import estimated, sign_of
from verify.finding import Verdict
from verify.interpret.algorithms import FACTORS, read_prompts
from verify.interpret.probes import Probes
from verify.interpret.similarity import Likeness

TINY = np.finfo(float).tiny
ManyQueries: TypeAlias = Annotated[Any, Reals("m T d")]
"""Queries after the same examples, shape (m, T, d)."""
Progress: TypeAlias = Callable[[Iterable[int]], Iterable[int]]
"""A function that returns the given numbers one by one, for example a progress bar."""


@checked
def induced_weights(
    probes: Probes,
    prompts: Prompts,
    queries: ManyQueries,
    first: Steps = 0,
    progress: Progress = iter,
) -> InducedWeights:
    """The weights that the layers of a model induce, after each number of examples.

    The model predicts the labels of T `queries` (m, T, d) after the first t of the n examples of
    each of m prompts, for t = 1, …, n. The predictions of a layer are those of its linear probe
    (`probe`), and its induced weights are the weights of the linear function of the query that fits
    them best, by least squares. The weights of the prompts are those that generated their labels.
    `first` is the index of the first layer, and `progress` is called with the numbers t.

    Raises `ValueError` for T ≤ d, for queries of another number of prompts or another dimension,
    for weights of the prompts that have not the shape (m, d), for a layer that the model does not
    have, for a `progress` that omits numbers, for squares that overflow or are rounded to 0, and in
    the cases in which `probe` does.
    """
    p = read_prompts(prompts)
    samples, n, d = p.x.shape
    T = queries.shape[1]
    if queries.shape != (samples, T, d) or d >= T:
        raise InputError(
            f"queries has shape {queries.shape} for {samples} prompts in dimension {d}: give more "
            f"than {d} queries for each prompt, ({samples}, T, {d})"
        )
    n_layers = len(probes.weights[0])
    if first >= n_layers:
        raise InputError(f"first is {first}: give an integer below the {n_layers} layers")
    truth = np.matvec(queries, Reals(f"{samples} {d}").read("prompts.w", p.w))
    size = (n_layers - first, samples, n)
    weights = np.empty((*size, d))
    squares, nonlinear, error, explained = np.empty((4, *size))
    with np.errstate(over="ignore"):
        left_out = {*range(1, n + 1)}
        for t in progress(range(1, n + 1)):
            left_out.discard(t)
            predicted = probes.after(p.x[:, :t], p.y[:, :t], queries)[first:]
            near, power = near_one(predicted, -1)
            w, _ = similarity.induced_weights(np.broadcast_to(queries, (*near.shape, d)), near)
            square = (near**2).mean(-1)
            left = ((near - np.matvec(queries, w)) ** 2).sum(-1) / (T - d)
            weights[:, :, t - 1] = np.ldexp(w, power)
            squares[:, :, t - 1] = np.ldexp(square, 2 * power[..., 0])
            nonlinear[:, :, t - 1] = np.ldexp(left, 2 * power[..., 0])
            error[:, :, t - 1] = ((predicted - truth) ** 2).mean(-1)
            explained[:, :, t - 1] = 1 - left / np.maximum(square, TINY)
        if left_out:
            raise InputError(
                f"progress omits {min(left_out)}: give a function that returns all numbers"
            )
        silent = (truth**2).mean(-1, keepdims=True)
    rounded = truth.any() and silent.mean() < TINY
    if rounded or not np.isfinite([squares, nonlinear, error]).all():
        raise InputError(
            "the squares of predictions overflow, or those of labels are rounded to 0: give "
            "prompts of numbers closer to 1"
        )
    names = probes.streams.names(n_layers)[first:]
    return InducedWeights(p, weights, squares, nonlinear, error, silent, explained, names)


@dataclass(frozen=True)
class InducedWeights:
    """The weights that the layers of a model induce after the first t examples of m prompts, t ≤ n.

    The induced weights are the least-squares fit of the predictions at T queries by linear
    functions of the query. `weights` (layers, m, n, d) are the induced weights for t = 1, …, n,
    where d is the dimension of the queries. Three attributes are mean squares over the T queries:
    `predicted` (layers, m, n) of the predictions, `error` (layers, m, n) of the errors, and
    `silent` (m, 1) of the errors of the constant 0. `nonlinear` (layers, m, n) is the sum of
    squares of the residuals of the linear fit divided by T − d. The expectation of this quotient
    does not depend on T. `explained` (layers, m, n) is the R² of the linear fit to the predictions,
    1 − nonlinear/predicted, and 1 if all predictions are 0. `names` are the names of the layers.
    """

    prompts: Prompts
    weights: np.ndarray
    predicted: np.ndarray
    nonlinear: np.ndarray
    error: np.ndarray
    silent: np.ndarray
    explained: np.ndarray
    names: tuple[str, ...] = ()

    @property
    def first(self) -> int | None:
        """The index of the first layer with less error than the constant 0, or None."""
        gains = (self.silent - self.error).mean(-1)
        better = [sign_of(*estimated(gain)) is Verdict.HOLDS for gain in gains]
        return better.index(True) if any(better) else None

    def to_json(self) -> dict[str, Any]:
        """The printed table as JSON values."""
        return {
            name: {"R2": float(r2.mean()), "error": float(error.mean() / self.silent.mean())}
            for name, r2, error in zip(self.names, self.explained, self.error, strict=True)
        }

    def __str__(self) -> str:
        rows = [
            f"  {name:12} R² {row['R2']:.3f}, error {row['error']:.3f}"
            for name, row in self.to_json().items()
        ]
        head = "linear fit to the predictions of layers; squared error / that of the prediction 0"
        return "\n".join([head, *rows])

    def newton(self, steps: Sequence[int]) -> Likeness:
        """Cosines between the induced weights of layers and the weights of Newton's method.

        The induced weights of a layer are the least-squares fit of its predictions by linear
        functions of the query. There is a cosine for each of the numbers `steps` of Newton steps.
        For the examples X of a prefix and S = XᵀX, the iteration starts from αS, where α = 1/λmax²
        and λmax is the largest eigenvalue of S.
        """
        cosines = self._beside(lambda s: s.newton(steps, 1 / s.largest**2))
        return Likeness("Newton from αS", np.array(steps), cosines)

    def gradient_descent(self, steps: Sequence[int]) -> Likeness:
        """Cosines between the induced weights of layers and the weights of gradient descent.

        The induced weights of a layer are the least-squares fit of its predictions by linear
        functions of the query. There is a cosine for each of the numbers `steps` of gradient steps.
        The step size is chosen such that gradient descent is most similar to the last layer.
        """

        def tried(factor: float) -> Likeness:
            cosines = self._beside(lambda s: s.gradient_descent(steps, factor / s.largest))
            label = f"gradient descent, step size {factor:g}/λmax"
            return Likeness(label, np.array(steps), cosines)

        return max(map(tried, FACTORS), key=lambda each: float(each.last.mean()))

    @cached_property
    def _spectra(self) -> list[PrefixSpectrum]:
        """The spectra for 1 to n examples; queries are unit vectors, so predictions are weights."""
        x, y = self.prompts.x[:, None], self.prompts.y[:, None]
        m, n, d = self.weights.shape[1:]
        units = np.broadcast_to(np.eye(d), (m, d, d))
        return [PrefixSpectrum(x[..., :t, :], y[..., :t], units) for t in range(1, n + 1)]

    def _beside(self, predict: Callable[[PrefixSpectrum], np.ndarray]) -> np.ndarray:
        """Cosines (k, layers, m) with the predictions of an algorithm at unit vectors."""
        found = [predict(spectrum)[..., -1] for spectrum in self._spectra]
        return weight_cosines(np.stack(found, axis=-2), self.weights)
