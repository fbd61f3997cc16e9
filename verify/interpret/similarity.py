"""The similarity of the layers of a model to an algorithm, by number of steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theory.regression import error_cosines, error_distances
from verify.interpret.algorithms import labels_of
from verify.interpret.probes import ProbedLayers


@dataclass(frozen=True)
class Likeness:
    """The similarity of the layers of a model to one algorithm, for several numbers of steps.

    `alike` (k, layers, m) contains the similarities, for example cosines, between a layer and the
    algorithm after each of k step counts `steps`, on each of m prompts.
    """

    algorithm: str
    steps: np.ndarray
    alike: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """The mean of the similarity over prompts, (k, layers), for k step counts."""
        return np.asarray(self.alike.mean(-1))

    @property
    def error(self) -> np.ndarray:
        """The standard error of the mean similarity, (k, layers), for k step counts."""
        return np.asarray(self.alike.std(-1, ddof=1) / np.sqrt(self.alike.shape[-1]))

    @property
    def best(self) -> np.ndarray:
        """The number of steps that is most similar to each layer, (layers,)."""
        return np.asarray(self.steps[self.mean.argmax(axis=0)])

    @property
    def last(self) -> np.ndarray:
        """The similarity of the last layer to the algorithm after the best-matching steps.

        There is a similarity for each of m prompts, (m,).
        """
        return np.asarray(self.alike[self.mean[:, -1].argmax(), -1])


@dataclass(frozen=True)
class Table(Likeness):
    """The similarity of the errors of layers to the errors of one algorithm, by number of steps.

    `alike` (k, layers, m) contains the cosines between the errors of a layer and the errors of the
    algorithm after each of k step counts, on each of m prompts. `squares` (k, layers, m) contains
    the mean squared differences of the predictions, divided by the variance of a label.
    """

    squares: np.ndarray

    @property
    def by_squares(self) -> Likeness:
        """The likeness whose measure of similarity is minus the mean squared difference."""
        return Likeness(self.algorithm, self.steps, -self.squares)

    @staticmethod
    def of(
        algorithm: str,
        steps: np.ndarray,
        predictions: np.ndarray,
        probed: ProbedLayers,
        first: int = 0,
    ) -> Table:
        """The similarities of the layers from layer `first` on to an algorithm.

        `predictions` (k, m, n + 1) are those of the algorithm after each of k step counts `steps`.
        The similarities are computed from predictions after at least one example.
        """
        layers, wanted = probed.predictions[first:, :, 1:], labels_of(probed.prompts)[:, 1:]
        squares = error_distances(predictions[..., 1:], layers, wanted) / probed.variance
        return Table(algorithm, steps, error_cosines(predictions[..., 1:], layers, wanted), squares)
