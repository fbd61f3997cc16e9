"""The sensitivity of any model, estimated, with its confidence interval.

    sensitivity(model, inputs, change)

is the share of inputs whose prediction changes when one place of it does, a token or a patch, each
place in turn.  `model` is any function from inputs (N, …) to labels (N, …); `change` says what
happens to a place.  If the N inputs are independent draws, each of these shares is the mean of N
independent numbers in [0, 1], and by [Hoeffding1963] it is within

    √(ln(2/η)/(2N))

of its expectation with probability at least 1 − η: the mean over places, and that of each place
(each by itself, not all at once).  The interval holds if

    the model is fixed: deterministic, the same for all calls, and no function of these inputs
                        (inputs that it was trained on are none), each row of which it answers
                        by itself, whatever the other rows are
    the changes         do not depend on how the inputs were drawn

What is random in a change is drawn afresh for each input, from a stream of the seed that is apart
from `numpy.random.default_rng(seed)`: inputs drawn with the same seed are independent of it, and
two models see the same changes.
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
    Within,
    array_of,
    checked,
)
from theory.sensitivity.tokens import Symbols

STREAM = 0x5E25  # beside the seed, which may have drawn the inputs

Change = Callable[[np.ndarray, np.random.Generator], Iterator[np.ndarray]]
"""Inputs (N, …) → for each place in turn, the inputs with this place changed."""


@dataclass(frozen=True)
class _Stream(Random):
    """A seed, or a Generator, as it is given."""

    def read(self, name: str, value: Any) -> Any:
        super().read(name, value)
        return value


Eta: TypeAlias = Annotated[float, RealNumber(Within(least=1e-300, below=1))]
"""η of the confidence 1 − η, of which 2/η is a number of float64."""
StreamSeed: TypeAlias = Annotated[int | np.random.Generator, _Stream()]
"""A seed, of which a stream apart is made, or a Generator that is gone on with."""


@checked
@dataclass(frozen=True)
class Estimate:
    """Fractions of changed predictions by place (places,), of `count` inputs each, at confidence
    1 − `eta`; as text with its interval: "0.310 ± 0.043"."""

    by_place: Annotated[Any, Reals("places", Within(least=0, most=1))]
    count: Count
    eta: Eta

    @property
    def value(self) -> float:
        """The mean over places."""
        return float(self.by_place.mean())

    @property
    def radius(self) -> float:
        """√(ln(2/η)/(2N))."""
        return sqrt(log(2 / self.eta) / (2 * self.count))

    @property
    def interval(self) -> tuple[float, float]:
        """Where the sensitivity is, at confidence 1 − η."""
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
    """The share of `inputs` (N, …) whose prediction changes with one place, place by place.

    `model` is called with arrays as long as `inputs`, and answers with labels, one or several for
    each input; those of a torch module are `constructions.sensitivity.predictions(module)`.  A
    generator as `seed` is gone on with.

    Raises `ValueError` for no inputs, for predictions that are no labels (floats), not one for each
    input or not as many for the changed inputs, for a change without places or that yields inputs
    of another shape, and for a change that cannot be called with inputs and a Generator.
    """
    if change in (forced, redrawn, noisy_patches):
        shown = getattr(change, "__name__", repr(change))
        raise InputError(f"the change is {shown}: give {shown}(…), called with its parameters")
    array = array_of("inputs", inputs)
    if array.ndim < 2 or not array.size:
        raise InputError(f"inputs have shape {array.shape}: give at least one, (N, …)")
    try:
        signature(change).bind(array, None)
    except TypeError as error:
        raise InputError(
            f"the change is called as change(inputs, rng) and says: {error}; give a function of "
            "both that yields the inputs with each place changed, such as forced(V)"
        ) from None
    rng, before = _stream(seed), _labels(model, array)
    places = change(array, rng)
    if not isinstance(places, Iterable):
        raise InputError(
            f"the change gives a {type(places).__name__}: give one that yields the inputs with "
            "each place changed"
        )
    shares = [_share(model, array, before, changed) for changed in places]
    if not shares:
        raise InputError("the change has no places: give one that yields changed inputs")
    return Estimate(np.array(shares), len(array), eta)


def _stream(seed: int | np.random.Generator) -> np.random.Generator:
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(np.random.SeedSequence([int(seed), STREAM]))


def _share(
    model: Callable[[Any], Any], inputs: np.ndarray, before: np.ndarray, changed: ArrayLike
) -> float:
    array = array_of("changed inputs", changed)
    if array.shape != inputs.shape:
        raise InputError(
            f"the change yields inputs of shape {array.shape} for {inputs.shape}: give a change of "
            "each input that keeps its shape"
        )
    after = _labels(model, array)
    if after.shape != before.shape:
        raise InputError(
            f"{before.shape[1]} labels are predicted for each input, and {after.shape[1]} for each "
            "changed one: give a model with as many for both"
        )
    return float((after != before).any(axis=1).mean())


def _labels(model: Callable[[Any], Any], inputs: np.ndarray) -> np.ndarray:
    try:
        predicted = model(inputs)
    except (TypeError, AttributeError) as error:
        if not hasattr(model, "state_dict"):
            raise
        raise InputError(
            f"the model is a {type(model).__name__}, which takes no arrays: for a torch module "
            "give constructions.sensitivity.predictions(module)"
        ) from error
    labels = array_of("predictions", predicted)
    if labels.ndim < 1 or len(labels) != len(inputs):
        raise InputError(
            f"predictions have shape {labels.shape} for {len(inputs)} inputs: give one for each"
        )
    if labels.dtype.kind not in "biuSU":
        raise InputError(
            f"predictions are of type {labels.dtype}: give labels, such as the argmax of logits"
        )
    return labels.reshape(len(labels), -1)


@checked
def redrawn(vocabulary_size: Symbols) -> Change:
    """A token of (N, T) becomes a uniform one of V symbols, itself allowed; the change raises
    `ValueError` for inputs that are no such tokens."""
    V = vocabulary_size

    def change(inputs: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
        tokens = _tokens(inputs, V)
        for place in range(tokens.shape[-1]):
            yield _replaced(tokens, place, rng.integers(V, size=len(tokens)))

    return change


@checked
def forced(vocabulary_size: Symbols) -> Change:
    """A token of (N, T) becomes a uniform one of the V − 1 other symbols, as `redrawn`; for V = 2
    it is flipped."""
    V = vocabulary_size

    def change(inputs: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
        tokens = _tokens(inputs, V)
        for place in range(tokens.shape[-1]):
            others = (tokens[:, place] + rng.integers(1, V, size=len(tokens))) % V
            yield _replaced(tokens, place, others)

    return change


@checked
def noisy_patches(size: Count, sigma: Positive) -> Change:
    """N(0, σ²) is added to every number in a patch of size × size pixels, of images
    (N, …, height, width), row by row of patches.

    The change raises `ValueError` for images that are not made of such patches or contain NaN or
    infinite numbers.
    """

    def change(inputs: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
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
