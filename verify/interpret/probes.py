"""Linear probes of the layers of a model for in-context regression, and their predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import InputError, NonNegative, Reals, Steps, Within, checked
from theory.kinds.errors import shown_all
from theory.regression import Prompts
from theory.scaling import near_one
from verify.evidence.statistics import Mean, estimated
from verify.interpret.algorithms import Algorithms, labels_of, read_prompts
from verify.interpret.models import (
    Sources,
    Streams,
    as_array,
    check_model,
    chunks,
    predictions_of,
)

RANK = 1e-9  # eigenvalues below this fraction of the largest count as 0
# the smallest unit of a coordinate of the stream, relative to its mean and to the largest deviation
OF_MEAN, OF_LARGEST = 1e-3, 1e-6
Predictions: TypeAlias = Annotated[np.ndarray, Reals("...")]
"""Finite numbers, of any shape."""
Examples: TypeAlias = Annotated[Any, Reals("m n d")]
"""The x of the examples of m prompts, shape (m, n, d)."""
ExampleLabels: TypeAlias = Annotated[Any, Reals("m n")]
"""The y of the examples of m prompts, shape (m, n)."""
ALL, HALVES = (0,), (1, 2)
"""The sets of `Probes.weights`: fitted to all prompts, and to each half of them."""
SetOfProbes: TypeAlias = Annotated[Steps, Within(most=2)]
"""The number of a set of `Probes.weights`."""


@checked
def probe(
    model: Any, fitted: Prompts, streams: Sources | None = None, tokens: slice | None = None
) -> Probes:
    """The linear probes of each layer of a model that predict the labels best, by least squares.

    A probe is an affine function of the residual stream of a token, and the same function at all
    positions. It is fitted to the labels of the n examples and of the query of m prompts `fitted`.
    Its predictions are the best that can be read linearly from the layer, not those by which the
    model goes on: if a layer contains an iterate of an algorithm, they are at least as good as this
    iterate, in particular for few and small gradient steps. `outputs` reads layers without a probe.

    For a model of this library, the first probe is that of the embedding. For any other
    `torch.nn.Module`, `streams` has the names of submodules, such as ["blocks.0", "blocks.1"],
    whose outputs (m, T, D) are probed; if an output is a tuple, its first entry is. The module is
    called as model(x, y, x_query). `streams` may also be a function of (model, x, y, x_query) that
    returns the list of these arrays. The predictions of a prompt belong to T = n + 1 tokens: if the
    streams have more, `tokens` selects those of the predictions, for example `slice(None, None, 2)`
    for x_1, y_1, x_2, y_2, …, x_query.

    Raises `ValueError` for fewer than 2 prompts; for arrays of other shapes, or with entries that
    are not finite; for modules that do not run once in a call; for a module in training mode or on
    the device meta; for a model that is not deterministic; for tokens that see the labels that they
    predict; and for prompts of a size that a module does not take.
    """
    p, found = read_prompts(fitted), Streams(model, streams, tokens)
    if len(p.x) < 2:
        raise InputError(f"fitted has {len(p.x)} prompt: give at least 2 prompts, or 1000")
    check_model(lambda *few: [*found.of(*few)], p)
    return Probes(found, _best(found, p))


def _best(streams: Streams, fitted: Prompts) -> list[list[np.ndarray]]:
    """The least-squares probes, by their normal equations, for all prompts and for each half.

    The coordinates of a stream are measured from their means on the first prompts, in units of
    their standard deviations: normal equations square ratios of sizes. Directions in which the
    stream of a layer is constant have weight 0. Streams and labels are divided by powers of two
    that bring them near 1, so that no product underflows.
    """
    wanted, of_labels = near_one(labels_of(fitted)[..., None], (0, 1, 2))
    moments: dict[tuple[int, int], np.ndarray] = {}
    origins: dict[int, np.ndarray] = {}
    powers: dict[int, np.ndarray] = {}
    for place, found in _featured(streams.of, fitted.x, fitted.y, fitted.x_query):
        for layer, H in enumerate(found):
            if layer not in origins:
                origins[layer] = np.append(H[..., :-1].mean((0, 1)), 0.0)
                _, power = np.frexp(np.abs(H - origins[layer])[..., :-1].max(initial=0.0))
                powers[layer] = np.append(np.full(H.shape[-1] - 1, power), 0)
            Z = np.ldexp(H - origins[layer], -powers[layer])
            both = np.concatenate([Z, wanted[place]], axis=-1)
            for half in range(2):
                rows = both[half::2].reshape(-1, both.shape[-1])
                moments[half, layer] = moments.get((half, layer), 0.0) + rows.T @ rows

    def best(*halves: int) -> list[np.ndarray]:
        scaled = [np.ldexp(origins[layer], -power) for layer, power in powers.items()]
        weights = [
            _solved(sum(moments[half, layer] for half in halves), origin)
            for layer, origin in enumerate(scaled)
        ]
        return [
            np.ldexp(each, of_labels.ravel() - powers[layer]) for layer, each in enumerate(weights)
        ]

    return [best(0, 1), best(0), best(1)]


@dataclass(frozen=True)
class Probes:
    """Linear probes of each layer of a model.

    `weights` are three lists of the weights (D + 1,) of an affine probe for each layer. The probes
    of the first list were fitted to all prompts, and those of the others to each half of them.
    """

    streams: Streams
    weights: list[list[np.ndarray]]

    @checked
    def on(self, prompts: Prompts, noise: NonNegative = 0.0) -> ProbedLayers:
        """The predictions of the probes on m prompts, other than those to which they were fitted.

        `noise` is the standard deviation of the noise of labels. The raised errors are those of
        `probe`.
        """
        p = read_prompts(prompts)
        predictions, *halves = self.read(p.x, p.y, p.x_query)
        names = self.streams.names(len(predictions))
        return ProbedLayers(p, predictions, np.array(halves), noise, names)

    @checked
    def read(
        self,
        x: Examples,
        y: ExampleLabels,
        x_query: Annotated[Any, Reals("m d")],
        sets: Sequence[SetOfProbes] = ALL + HALVES,
    ) -> np.ndarray:
        """The predictions of several sets of probes, (sets, layers, m, n + 1).

        There are m prompts with n examples `x` (m, n, d) with labels `y` (m, n) and a query
        `x_query` (m, d), and each probe has a prediction at each example and at the query.
        Raises `ValueError` without sets.
        """
        if not sets:
            raise InputError("sets is empty: give at least one set of probes")
        streams = _featured(self.streams.of, x, y, x_query)
        return self._predicted(streams, y, y.shape[-1] + 1, sets)

    @checked
    def after(
        self, x: Examples, y: ExampleLabels, queries: Annotated[Any, Reals("m T d")]
    ) -> np.ndarray:
        """The predictions (layers, m, T) at T queries (m, T, d), each after the same n examples."""
        streams = _featured(self.streams.after, x, y, queries)
        return self._predicted(streams, y, queries.shape[1], ALL)[0]

    def _predicted(
        self,
        chunked: Iterable[tuple[slice, Iterator[np.ndarray]]],
        y: np.ndarray,
        count: int,
        sets: Sequence[int],
    ) -> np.ndarray:
        """The predictions (sets, layers, m, count) from the features of each layer."""
        weights = [self.weights[each] for each in sets]
        found = np.empty((len(weights), len(weights[0]), len(y), count))
        for place, streams in chunked:
            widths = [len(each) - 1 for each in weights[0]]
            for layer, H in enumerate(streams):
                if layer >= len(widths) or H.shape[-1] != widths[layer] + 1:
                    raise InputError(
                        f"on prompts of {y.shape[-1]} examples, layer {layer} has width "
                        f"{H.shape[-1] - 1}, and the probes were fitted to layers of widths "
                        f"{shown_all(widths)}: give prompts of the dimension of `fitted`"
                    )
                for index, each in enumerate(weights):
                    found[index, layer, place] = H @ each[layer]
            if layer + 1 < len(widths):
                raise InputError(
                    f"the model has {layer + 1} layers, and the probes were fitted to "
                    f"{len(widths)}: give `streams` whose number does not change"
                )
        return found


@dataclass(frozen=True)
class ProbedLayers:
    """The predictions of the layers of a model on m prompts, by linear probes.

    `predictions` (layers, m, n + 1) are those of the probe of each layer, at the n examples and the
    query of each prompt. The probes were fitted to other prompts, and `halves` (2, layers, m,
    n + 1) are the predictions of probes that were fitted to one half and to the other half of these
    other prompts. `noise` is the standard deviation of the noise of labels, and `names` are the
    names of the layers. Squared errors are divided by the variance of a label, which is the squared
    error of the constant prediction 0.
    """

    prompts: Prompts
    predictions: np.ndarray
    halves: np.ndarray
    noise: float = 0.0
    names: tuple[str, ...] = ()

    @cached_property
    def algorithms(self) -> Algorithms:
        """The predictions of several algorithms on the prompts."""
        return Algorithms(self.prompts)

    @cached_property
    def variance(self) -> float:
        """The variance of a label, E‖x‖² + noise², for the examples x of the prompts.

        The weights w of the prompts are assumed to have mean 0 and covariance I.
        """
        x = self.prompts.x
        return float(np.vecdot(x, x).mean() + self.noise**2)

    @checked
    def error(self, predictions: Predictions) -> np.ndarray:
        """Mean squared errors of prompts (…, m), for predictions (…, m, n + 1).

        Raises ValueError for predictions of another shape.
        """
        m, places = labels_of(self.prompts).shape
        Reals(f"... {m} {places}").fit("predictions", predictions.shape)
        return np.asarray(((predictions - labels_of(self.prompts)) ** 2).mean(-1) / self.variance)

    @cached_property
    def errors(self) -> np.ndarray:
        """The errors of the best probe of each layer, (layers, m).

        There are m prompts. If a probe is fitted to N prompts, its excess error over the best probe
        is approximately proportional to 1/N. The excess error is estimated by the difference
        between the errors of probes fitted to half of the prompts and of probes fitted to all
        prompts, and is subtracted.
        """
        whole = self.error(self.predictions)
        return 2 * whole - self.error(self.halves).mean(0)

    @cached_property
    def bayes(self) -> np.ndarray:
        """The predictions (m, n + 1) of the Bayes predictor on the m prompts, for w ~ N(0, I).

        There is a prediction at each of the n examples of a prompt and at the query.
        """
        return self.algorithms.bayes(self.noise)

    @property
    def best(self) -> float:
        """The mean squared error of the Bayes predictor."""
        return float(self.error(self.bayes).mean())

    def mean_errors(self) -> dict[str, Mean]:
        """The mean of `errors` over prompts, with its standard error, by the name of the layer."""
        return {name: estimated(row) for name, row in zip(self.names, self.errors, strict=True)}

    def to_json(self) -> dict[str, Any]:
        """The printed table as JSON values."""
        return {name: mean.value for name, mean in self.mean_errors().items()} | {
            "Bayes": self.best
        }

    def __str__(self) -> str:
        rows = [f"{name:12} {mean:.4f}" for name, mean in self.mean_errors().items()]
        m, t = self.predictions.shape[1:]
        head = f"squared error / variance of a label, {m} prompts of {t - 1} examples"
        return "\n".join([head, *rows, f"{'Bayes':12} {self.best:.4f}"])


@checked
def outputs(
    model: Any,
    prompts: Prompts,
    read: Callable[..., Any] | None = None,
    noise: NonNegative = 0.0,
) -> ProbedLayers:
    """The predictions of a model, or of its layers, on m prompts of n examples, without a probe.

    Without `read`, the result has one layer, "output": the predictions of the model, which is any
    function of (x, y, x_query) that `predictions_of` takes. Otherwise `read` is a function of
    (model, x, y, x_query) that returns the predictions (m, n + 1) of each layer, for example by the
    unembedding of the model, applied to the residual stream after each layer. `noise` is the
    standard deviation of the noise of labels.

    The raised errors are those of `predictions_of`.
    """
    p = read_prompts(prompts)
    names: tuple[str, ...] = ("output",)
    if read is None:
        predicted = predictions_of(model, p)[None]
    else:
        predicted, names = _read_directly(Streams(model, _in_columns(read)), p)
    return ProbedLayers(p, predicted, np.stack([predicted] * 2), noise, names)


def _in_columns(read: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, whose predictions (m, n + 1) are streams of width 1."""

    def columns(*given: Any) -> Iterator[np.ndarray]:
        return (as_array(each, "a layer")[..., None] for each in read(*given))

    return columns


def _read_directly(streams: Streams, p: Prompts) -> tuple[np.ndarray, tuple[str, ...]]:
    check_model(lambda *few: [*streams.of(*few)], p)
    parts = [
        np.stack([H[..., 0] for H in streams.of(p.x[i], p.y[i], p.x_query[i])])
        for i in chunks(len(p.x))
    ]
    predicted = np.concatenate(parts, axis=1)
    return predicted, streams.names(len(predicted))


def _solved(moments: Any, origin: np.ndarray) -> np.ndarray:
    """The least-squares weights, from ZᵀZ of the rows Z = (features − origin, label).

    The last feature is 1, with origin 0.
    """
    gram, total = moments[:-1, :-1], moments[:-1, -1]
    sizes = np.sqrt(gram.diagonal() / gram[-1, -1])
    units = np.maximum(sizes, OF_MEAN * np.abs(origin))
    units[:-1] = np.maximum(units[:-1], OF_LARGEST * sizes[:-1].max(initial=0.0))
    units[units == 0] = 1.0
    values, V = np.linalg.eigh(gram / np.outer(units, units))
    kept = values > RANK * values[-1]
    weights = V[:, kept] @ ((V[:, kept].T @ (total / units)) / values[kept]) / units
    weights[-1] -= weights @ origin
    return np.asarray(weights)


def _featured(
    streams: Callable[..., Iterator[np.ndarray]],
    x: np.ndarray,
    y: np.ndarray,
    queries: np.ndarray,
) -> Iterator[tuple[slice, Iterator[np.ndarray]]]:
    """Chunks of prompts, and each layer's features (prompts, tokens, D + 1), the last being 1."""
    for place in chunks(len(x)):
        layers = streams(x[place], y[place], queries[place])
        column = (0, 0), (0, 0), (0, 1)
        yield place, (np.pad(H, column, constant_values=1.0) for H in layers)
