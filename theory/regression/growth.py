"""The step counts of an algorithm that match the layers of a model, and their growth."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import Integers, Reals, Within, checked

LAWS = ("linear", "quadratic", "cubic", "exponential", "logarithmic")
# The level of the test against random sequences, and their largest entry.
LEVEL, MOST = 0.05, 100.0

StepNumbers: TypeAlias = Annotated[Any, Integers("k", Within(least=0))]
"""Step counts, integers ≥ 0, shape (k,)."""
Similarity: TypeAlias = Annotated[Any, Reals("k layers")]
"""The similarity of the iterate after each step count to each layer, shape (k, layers)."""
StepsByLayer: TypeAlias = Annotated[Any, Reals("layers", Within(least=0, most=10**15))]
"""For each layer the step count that matches it, a number from 0 to 10¹⁵, shape (layers,)."""


@checked
def matching_steps(steps: StepNumbers, similarity: Similarity) -> np.ndarray:
    """The number of steps after which an algorithm is most similar to each layer of a model.

    `similarity` (k, layers) contains the similarity of each layer to the algorithm after each of
    the k step counts `steps` (k,). For each layer, the step count with the largest similarity is
    determined. Let l be the first layer that has the largest of these counts. The result contains
    the counts up to layer l, because the later layers are a plateau. However, if a layer after l
    has a smaller count than layer l − 1, the result contains the counts of all layers.
    """
    best = steps[similarity.argmax(axis=0)]
    top = int(best.argmax())
    plateau = best[top:].min() >= best[max(top - 1, 0)]
    return best[: top + 1] if plateau else best


@checked
def growth_of(steps: StepsByLayer) -> str:
    """The growth of a step count with the number of the layer, as a word such as "linear".

    `steps` (layers,) contains one step count for each layer of a model, for example the number of
    steps after which an algorithm is most similar to the layer. Five correlations are compared.
    Four of them are with the number of the layer: the correlation of the counts ("linear"), of the
    square roots of the counts ("quadratic"), of the cube roots ("cubic") and of the logarithms
    ("exponential"). The fifth is the correlation of the counts with the logarithm of the layer
    number ("logarithmic"). The result is the word of the largest correlation, with two exceptions.
    The result is "none" if the counts decrease somewhere or are all equal. Otherwise, the result is
    "unclear" if the largest correlation is not above the 95 % quantile for random increasing
    sequences of the same length, or if there are fewer than four different counts.
    """
    if (np.diff(steps) < 0).any() or len(np.unique(steps)) == 1:
        return "none"
    if len(np.unique(steps)) < 4:
        return "unclear"
    straight = straightness(steps[None])[0]
    clear = straight.max() > random_straightness(len(steps))
    return LAWS[int(straight.argmax())] if clear else "unclear"


def straightness(steps: np.ndarray) -> np.ndarray:
    """The five correlations that `growth_of` compares, for each of several sequences, (count, 5).

    `steps` (count, layers) contains `count` sequences. The correlations are in the order of `LAWS`.
    """
    layer = np.arange(1.0, steps.shape[-1] + 1)
    seen = (
        (steps, layer),
        (np.sqrt(steps), layer),
        (np.cbrt(steps), layer),
        (np.log(np.maximum(steps, 0.5)), layer),  # log 0 is replaced by log ½
        (steps, np.log(layer)),
    )

    def correlation(values: np.ndarray, against: np.ndarray) -> np.ndarray:
        a, b = values - values.mean(-1, keepdims=True), against - against.mean()
        length = np.sqrt((a * a).sum(-1) * (b @ b))
        return np.divide(a @ b, length, out=np.zeros_like(length), where=length > 0)

    return np.stack([correlation(*each) for each in seen], axis=-1)


@cache
def random_straightness(n_layers: int) -> float:
    """The 95 % quantile of the largest of the five correlations of a random sorted sequence.

    The random sequences have `n_layers` entries, and the five correlations are those of
    `straightness`.
    """
    sequences = np.sort(np.random.default_rng(0).uniform(1, MOST, (10_000, n_layers)), axis=-1)
    return float(np.quantile(straightness(sequences).max(-1), 1 - LEVEL))
