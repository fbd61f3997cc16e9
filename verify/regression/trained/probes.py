"""Linear probes of the layers of trained models, and their predictions."""

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

FITTED = 4000  # prompts to which probes are fitted; measurements use other prompts
RANK = 1e-9  # eigenvalues below this fraction of the largest count as 0

Probes = list[np.ndarray]
"""The weights (D + 1,) of an affine probe of the embedding, and of each layer."""


def fitted_probes(run: Run, trained: Trained) -> list[Probes]:
    """The three sets of `best_probes` of a model, fitted to fresh prompts of its task."""
    count = FITTED // 10 if run.quick else FITTED
    return best_probes(trained.model, prompts_of(trained.task, count, run.rng))


def best_probes(model: Any, fitted: Prompts) -> list[Probes]:
    """The least-squares probes of the embedding and of each layer, for three sets of prompts.

    A probe is an affine function of the residual stream of a token, and the same function at all
    positions. The first set contains all prompts `fitted`, the second set every second of these
    prompts, and the third set the other prompts. The least-squares problem is solved by its normal
    equations; directions in which the stream of a layer is constant have weight 0.
    """
    wanted = labels_of(fitted)[..., None]
    moments: dict[tuple[int, int], np.ndarray] = {}
    for place, streams in _streams(model, fitted.x, fitted.y, fitted.x_query):
        for layer, H in enumerate(streams):
            both = np.concatenate([H, wanted[place]], axis=-1)
            for half in range(2):
                rows = both[half::2].reshape(-1, both.shape[-1])
                moments[half, layer] = moments.get((half, layer), 0.0) + rows.T @ rows

    def best(*halves: int) -> Probes:
        layers = range(model.n_layers + 1)
        return [_solved(sum(moments[half, layer] for half in halves)) for layer in layers]

    return [best(0, 1), best(0), best(1)]


def read(
    model: Any, weights: list[Probes], x: np.ndarray, y: np.ndarray, x_query: np.ndarray
) -> np.ndarray:
    """The predictions of several probes of each layer, (probes, layers + 1, m, n + 1).

    There are m prompts with n examples `x` and a query. Each of `weights` contains a probe of the
    embedding and of each layer, and each probe has a prediction at each example and at the query.
    """
    found = np.empty((len(weights), len(weights[0]), *y.shape[:-1], y.shape[-1] + 1))
    for place, streams in _streams(model, x, y, x_query):
        for layer, H in enumerate(streams):
            for index, each in enumerate(weights):
                found[index, layer, place] = H @ each[layer]
    return found


@dataclass(frozen=True)
class Probed:
    """A trained model, m prompts of its task, and the predictions of linear probes.

    `predictions` (layers + 1, m, n + 1) are those of the probes of the embedding and of each layer,
    at the n examples and the query of each prompt. The probes were fitted to other prompts.
    `halves` (2, layers + 1, m, n + 1) are the predictions of probes that were fitted to one half
    and to the other half of these other prompts. Squared errors are divided by the variance of a
    label, which is the squared error of the constant prediction 0.
    """

    trained: Trained
    prompts: Prompts
    predictions: np.ndarray
    halves: np.ndarray

    @staticmethod
    def of(run: Run, trained: Trained, samples: int) -> Probed:
        """A trained model with probes, on `samples` fresh prompts of its task."""
        weights = fitted_probes(run, trained)
        count = min(samples, QUICK) if run.quick else samples
        p = prompts_of(trained.task, count, run.rng)
        predictions, *halves = read(trained.model, weights, p.x, p.y, p.x_query)
        return Probed(trained, p, predictions, np.array(halves))

    @cached_property
    def algorithms(self) -> Algorithms:
        """The predictions of several algorithms on the prompts of the model."""
        return Algorithms(self.prompts)

    @cached_property
    def variance(self) -> float:
        """The variance of a label, E‖x‖² + noise², for the examples x of the prompts."""
        x = self.prompts.x
        return float(np.vecdot(x, x).mean() + self.trained.task.noise**2)

    def error(self, predictions: np.ndarray) -> np.ndarray:
        """Mean squared errors of prompts (…, m), for predictions (…, m, n + 1)."""
        return np.asarray(((predictions - labels_of(self.prompts)) ** 2).mean(-1) / self.variance)

    @cached_property
    def errors(self) -> np.ndarray:
        """The errors of the best probes of the embedding and of each layer, (layers + 1, m).

        There are m prompts. If a probe is fitted to N prompts, its excess error over the best probe
        is approximately proportional to 1/N. The excess error is estimated by the difference
        between the errors of probes fitted to half of the prompts and of probes fitted to all
        prompts, and is subtracted.
        """
        whole = self.error(self.predictions)
        return 2 * whole - self.error(self.halves).mean(0)

    @cached_property
    def bayes(self) -> np.ndarray:
        """The predictions (m, n + 1) of the Bayes predictor on the m prompts.

        There is a prediction at each of the n examples of a prompt and at the query.
        """
        return self.algorithms.bayes(self.trained.task.noise)

    @property
    def best(self) -> float:
        """The mean squared error of the Bayes predictor."""
        return float(self.error(self.bayes).mean())


def _solved(moments: Any) -> np.ndarray:
    """The least-squares weights, from ZᵀZ of the rows Z = (features, label)."""
    gram, total = moments[:-1, :-1], moments[:-1, -1]
    values, V = np.linalg.eigh(gram)
    kept = values > RANK * values[-1]
    return V[:, kept] @ ((V[:, kept].T @ total) / values[kept])


def _streams(
    model: Any, x: np.ndarray, y: np.ndarray, x_query: np.ndarray
) -> Iterator[tuple[slice, Iterator[np.ndarray]]]:
    """Chunks of prompts, and each layer's features (prompts, n + 1, D + 1), the last being 1."""
    for place in chunks(len(x)):
        layers = model.representations(x[place], y[place], x_query[place])
        column = (0, 0), (0, 0), (0, 1)
        yield place, (np.pad(H.double().numpy(), column, constant_values=1.0) for H in layers)
