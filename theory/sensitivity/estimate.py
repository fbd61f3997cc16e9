"""Estimates of the sensitivity of any model, with confidence intervals.

    sensitivity(model, inputs, change)

returns, for each place (a token or a patch), the fraction of inputs whose prediction changes when
that place is changed.  `model` is any function from inputs (N, …) to labels (N, …), and `change`
yields the inputs with each place changed.  If the N inputs are independent draws, each fraction is
the mean of N independent numbers in [0, 1], and by [Hoeffding1963] it is within

    √(ln(2/η)/(2N))

of its expectation with probability at least 1 − η.  This holds for each place separately, and for
the mean over places, but not for all places at once.  It requires that

    the model    is deterministic, independent of these inputs (not trained on them), and predicts
                 each row independently of the other rows
    the changes  are independent of how the inputs were drawn

Changes are drawn for each input independently, from a random stream of the seed that differs from
`numpy.random.default_rng(seed)`.  So they are independent of inputs drawn with the same seed.  With
the same seed, two models receive the same changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from inspect import signature
from math import log, sqrt
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from theory.kinds import (
    Count,
    InputError,
    Integers,
    Positive,
    Random,
    RealNumber,
    Reals,
    Seed,
    Within,
    array_of,
    checked,
)
from theory.sensitivity.tokens import Symbols

STREAM = 0x5E25  # distinguishes this stream from the inputs' stream with the same seed

Change = Callable[[np.ndarray, np.random.Generator], Iterator[np.ndarray]]
"""A function of inputs (N, …) and a Generator; it yields, place by place, the changed inputs."""


@dataclass(frozen=True)
class _Stream(Random):
    """A seed, or a Generator; read as given."""

    def read(self, name: str, value: Any) -> Any:
        super().read(name, value)
        return value


Eta: TypeAlias = Annotated[float, RealNumber(Within(least=1e-300, below=1))]
"""The error probability η of an interval of confidence 1 − η; 2/η is finite in float64."""
StreamSeed: TypeAlias = Annotated[int | np.random.Generator, _Stream()]
"""A seed, from which a separate stream is made, or a Generator, which is advanced."""


@checked
@dataclass(frozen=True)
class Estimate:
    """An estimated sensitivity: the fraction of predictions that change if one place is changed.

    A place is a part of an input, for example a token or a patch. `by_place` (places,) contains,
    for each place, the fraction of the inputs whose prediction changes if this place is changed.
    `count` is the number of inputs. The confidence interval has the confidence 1 − `eta`. `str`
    returns the mean over places with the radius of this interval, as in "0.310 ± 0.043".
    """

    by_place: Annotated[Any, Reals("places", Within(least=0, most=1))]
    count: Count
    eta: Eta

    @property
    def value(self) -> float:
        """The estimated sensitivity: the mean over places of the fraction of changed predictions.

        `by_place` has this fraction for each place, a part of an input such as a token.
        """
        return float(self.by_place.mean())

    @property
    def radius(self) -> float:
        """The radius √(ln(2/η)/(2N)) of the confidence interval of the estimated sensitivity.

        N = `count` is the number of inputs, and 1 − η is the confidence, with η = `eta`. The
        estimated sensitivity is the mean of `by_place`, the fraction of changed predictions for
        each place.
        """
        return sqrt(log(2 / self.eta) / (2 * self.count))

    @property
    def interval(self) -> tuple[float, float]:
        """The interval (low, high) that contains the true sensitivity with confidence 1 − `eta`.

        It consists of the numbers of [0, 1] at a distance of at most `radius` from `value`.
        """
        return max(0.0, self.value - self.radius), min(1.0, self.value + self.radius)

    def __str__(self) -> str:
        return f"{self.value:.3f} ± {self.radius:.3f}"


@checked
def sensitivity(
    model: Callable[[Any], Any],
    inputs: ArrayLike,
    change: Change,
    *,
    eta: Eta = 0.05,
    seed: StreamSeed = 0,
) -> Estimate:
    """The fraction of inputs for which the prediction of a model changes if one place is changed.

    The array `inputs` (N, …) contains N inputs. `model` takes arrays of this shape and returns one
    or several labels for each input; for a torch module, use
    `constructions.sensitivity.predictions(module)`. A place is a part of an input, for example a
    token. The function `change` takes the inputs and a NumPy Generator. It yields the inputs with
    the first place changed, then with the second place changed, and so on. For example, `forced(V)`
    changes one token of sequences of tokens 0, …, V − 1, and its places are the positions. The
    result is an `Estimate`, which contains the fraction for each place. Its interval has the
    confidence 1 − `eta` if the inputs are independent draws. If `seed` is a Generator, its state
    advances.

    Raises `ValueError` if there are no inputs. Raises `ValueError` if predictions are floats, do
    not have one row per input, or have another shape for changed inputs. Raises `ValueError` if
    `change` cannot be called with inputs and a Generator, yields nothing, or yields inputs of
    another shape.
    """
    if change in (forced, redrawn, noisy_patches):
        shown = getattr(change, "__name__", repr(change))
        raise InputError(
            f"`change` is the function {shown} itself: call {shown}(…), and give the result of "
            "the call as `change`"
        )
    array = array_of("inputs", inputs)
    if array.ndim < 2 or not array.size:
        raise InputError(
            f"inputs have shape {array.shape}: give at least one input, in an array (N, …)"
        )
    try:
        signature(change).bind(array, None)
    except (TypeError, ValueError) as error:  # ValueError: a class of Python has no signature
        raise InputError(
            f"`change` cannot be called with (inputs, rng) ({error}): give a function that "
            "yields the inputs with each place changed, such as forced(V)"
        ) from None
    rng, before = _stream(seed), _labels(model, array)
    places = change(array, rng)
    if not isinstance(places, Iterable):
        raise InputError(
            f"`change` returns a {type(places).__name__}: give a function that yields the inputs "
            "with each place changed"
        )
    fractions = [_fraction(model, array, before, changed) for changed in places]
    if not fractions:
        raise InputError("`change` yields nothing: give a function that yields changed inputs")
    return Estimate(np.array(fractions), len(array), eta)


def _stream(seed: int | np.random.Generator) -> np.random.Generator:
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(np.random.SeedSequence([int(seed), STREAM]))


def _fraction(
    model: Callable[[Any], Any], inputs: np.ndarray, before: np.ndarray, changed: ArrayLike
) -> float:
    array = array_of("changed inputs", changed)
    if array.shape != inputs.shape:
        raise InputError(
            f"`change` yields inputs of shape {array.shape} for inputs of shape {inputs.shape}: "
            "give a function that preserves the shape"
        )
    after = _labels(model, array)
    if after.shape != before.shape:
        raise InputError(
            f"the model predicts {before.shape[1]} labels for each input, and {after.shape[1]} for "
            "each changed input: give a model that predicts equally many labels for both"
        )
    return float((after != before).any(axis=1).mean())


def _labels(model: Callable[[Any], Any], inputs: np.ndarray) -> np.ndarray:
    try:
        predicted = model(inputs)
    except (TypeError, AttributeError) as error:
        if not hasattr(model, "state_dict"):
            raise
        raise InputError(
            f"the model is a {type(model).__name__}, which does not accept arrays: for a torch "
            "module, give constructions.sensitivity.predictions(module)"
        ) from error
    labels = array_of("predictions", predicted)
    if labels.ndim < 1 or len(labels) != len(inputs):
        raise InputError(
            f"predictions have shape {labels.shape} for {len(inputs)} inputs: "
            "give a model that returns one prediction for each input"
        )
    if labels.dtype.kind not in "biuSU":
        raise InputError(
            f"predictions have dtype {labels.dtype}: "
            "give a model that returns labels, such as the argmax of logits"
        )
    return labels.reshape(len(labels), -1)


@checked
def redrawn(vocabulary_size: Symbols) -> Change:
    """A change that replaces one token by a uniformly random symbol, which may equal the token.

    The change is a function of two arguments: an array (N, T) of N sequences of T tokens, which are
    integers from 0 to `vocabulary_size` − 1, and a seed or a NumPy Generator. For each position in
    turn, the function yields an array of the sequences with the token at this position replaced. It
    raises `ValueError` for other arrays.
    """
    V = vocabulary_size

    @checked
    def change(inputs: np.ndarray, rng: Seed) -> Iterator[np.ndarray]:
        tokens = _tokens(inputs, V)
        for place in range(tokens.shape[-1]):
            yield _replaced(tokens, place, rng.integers(V, size=len(tokens)))

    return change


@checked
def forced(vocabulary_size: Symbols) -> Change:
    """A change that replaces one token by a uniformly random symbol that differs from the token.

    The change is a function of two arguments: an array (N, T) of N sequences of T tokens, which are
    integers from 0 to `vocabulary_size` − 1, and a seed or a NumPy Generator. For each position in
    turn, the function yields an array of the sequences with the token at this position replaced. It
    raises `ValueError` for other arrays. If there are only two symbols, the token is replaced by
    the other symbol.
    """
    V = vocabulary_size

    @checked
    def change(inputs: np.ndarray, rng: Seed) -> Iterator[np.ndarray]:
        tokens = _tokens(inputs, V)
        for place in range(tokens.shape[-1]):
            others = (tokens[:, place] + rng.integers(1, V, size=len(tokens))) % V
            yield _replaced(tokens, place, others)

    return change


@checked
def noisy_patches(size: Count, sigma: Positive) -> Change:
    """A change that adds noise N(0, sigma²) to the pixels of one patch of size × size pixels.

    The change is a function of two arguments: an array of images (N, …, height, width), and a seed
    or a NumPy Generator. It yields the images with noise on each patch in turn, row by row. It
    raises `ValueError` for heights or widths that are not multiples of `size`, and for pixels that
    are NaN or infinite.
    """

    @checked
    def change(inputs: np.ndarray, rng: Seed) -> Iterator[np.ndarray]:
        images = Reals("... height width").read("inputs", inputs)
        if images.ndim < 3 or images.shape[-2] % size or images.shape[-1] % size:
            raise InputError(
                f"inputs have shape {images.shape}: give images (N, …, height, width) whose sides "
                f"are multiples of {size}"
            )
        for top in range(0, images.shape[-2], size):
            for left in range(0, images.shape[-1], size):
                noisy = images.copy()
                patch = noisy[..., top : top + size, left : left + size]
                patch += sigma * rng.standard_normal(patch.shape)
                yield noisy

    return change


def _tokens(inputs: np.ndarray, V: int) -> np.ndarray:
    return Integers("N T", Within(least=0, below=V)).read("inputs", inputs)


def _replaced(tokens: np.ndarray, place: int, by: np.ndarray) -> np.ndarray:
    changed = tokens.copy()
    changed[:, place] = by
    return changed
