"""Which steps of an algorithm match the layers of a model, and the law by which they grow."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import Integers, Reals, Within, checked

LAWS = ("linear", "quadratic", "cubic", "exponential", "logarithmic")
CHANCE, MOST = 0.05, 100.0  # random sequences that may be as straight; their largest number

StepNumbers: TypeAlias = Annotated[Any, Integers("k", Within(least=0))]
"""Numbers of steps, integers ≥ 0, shape (k,)."""
Similarity: TypeAlias = Annotated[Any, Reals("k layers")]
"""How similar the iterate after each is to each layer, shape (k, layers)."""
StepsByLayer: TypeAlias = Annotated[Any, Reals("layers", Within(least=0))]
"""Numbers ≥ 0, of steps that match each layer, shape (layers,)."""


@checked
def matching_steps(steps: StepNumbers, similarity: Similarity) -> np.ndarray:
    """The steps that match each layer best, up to the first layer that matches the most.

    A plateau begins there.  If later layers match fewer than the one before it, all layers count.
    """
    best = steps[similarity.argmax(axis=0)]
    top = int(best.argmax())
    plateau = best[top:].min() >= best[max(top - 1, 0)]
    return best[: top + 1] if plateau else best


@checked
def growth_of(steps: StepsByLayer) -> str:
    """How steps by layer grow: "linear", "quadratic", "cubic", "exponential", "logarithmic",
    "unclear", or "none".

    The law under which they are straightest against the layer: as they are, their square or cube
    roots, their logarithms, or as they are against the logarithm of the layer.  Unclear if that is
    no straighter than the straightest of 19 in 20 random increasing sequences of as many numbers,
    or if there are fewer than four different ones.  None if they fall from a layer to the next, or
    are all the same.
    """
    if (np.diff(steps) < 0).any() or len(np.unique(steps)) == 1:
        return "none"
    if len(np.unique(steps)) < 4:
        return "unclear"
    straight = straightness(steps[None])[0]
    return LAWS[int(straight.argmax())] if straight.max() > by_chance(len(steps)) else "unclear"


def straightness(steps: np.ndarray) -> np.ndarray:
    """Correlations with the layer, for sequences (count, layers) and each of `LAWS`, (count, 5)."""
    layer = np.arange(1.0, steps.shape[-1] + 1)
    seen = (
        (steps, layer),
        (np.sqrt(steps), layer),
        (np.cbrt(steps), layer),
        (np.log(np.maximum(steps, 0.5)), layer),  # no step counts as half a step
        (steps, np.log(layer)),
    )

    def correlation(values: np.ndarray, against: np.ndarray) -> np.ndarray:
        a, b = values - values.mean(-1, keepdims=True), against - against.mean()
        length = np.sqrt((a * a).sum(-1) * (b @ b))
        return np.divide(a @ b, length, out=np.zeros_like(length), where=length > 0)

    return np.stack([correlation(*each) for each in seen], axis=-1)


@cache
def by_chance(layers: int) -> float:
    """The straightness, under the best law, that 19 of 20 sorted uniform draws stay below."""
    sequences = np.sort(np.random.default_rng(0).uniform(1, MOST, (10_000, layers)), axis=-1)
    return float(np.quantile(straightness(sequences).max(-1), 1 - CHANCE))
