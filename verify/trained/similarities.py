"""Tables of the similarity of errors: an algorithm's steps beside the layers of a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theory.regression import error_cosines
from verify.trained.predictors import Algorithms, Probed

NEWTON_STEPS = tuple(range(31))
GD_STEPS = tuple(2**i for i in range(17))


@dataclass(frozen=True)
class Table:
    """Cosines of errors (k, layers, m) of an algorithm after `steps` (k,) and each layer."""

    steps: np.ndarray
    cosines: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """The similarity of errors (k, layers)."""
        return self.cosines.mean(-1)

    @property
    def error(self) -> np.ndarray:
        """Its standard error (k, layers)."""
        return self.cosines.std(-1, ddof=1) / np.sqrt(self.cosines.shape[-1])


@dataclass(frozen=True)
class Tables:
    """Algorithms beside the same layers: Newton from αS and from αI, and gradient descent, at
    `factor`/λmax of each prefix."""

    newton: Table
    newton_from_identity: Table
    gradient_descent: Table
    factor: float

    @staticmethod
    def of(probed: Probed) -> Tables:
        """From what is predicted after at least one example."""
        algorithms = Algorithms(probed.prompts)
        searched = algorithms.gradient_descent(GD_STEPS)
        layered, wanted = probed.predictions[1:, :, 1:], algorithms.labels[:, 1:]

        def table(steps: tuple[int, ...], predictions: np.ndarray) -> Table:
            return Table(np.array(steps), error_cosines(predictions[..., 1:], layered, wanted))

        return Tables(
            table(NEWTON_STEPS, algorithms.newton(NEWTON_STEPS)),
            table(NEWTON_STEPS, algorithms.newton(NEWTON_STEPS, "identity")),
            table(GD_STEPS, searched.predictions),
            searched.step_size,
        )
