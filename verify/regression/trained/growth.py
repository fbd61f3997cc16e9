"""How the steps that match the layers of a model grow from layer to layer: linearly or not."""

from __future__ import annotations

from collections import Counter

import numpy as np

from verify.claim import Run
from verify.evidence.statistics import agreeing, resampled
from verify.finding import Finding
from verify.regression.trained.similarities import Likeness

EXPECTED = {"Newton": "linear", "gradient descent": "exponential"}
"""How the steps of each algorithm grow that match the layers of a transformer."""


def matching(steps: np.ndarray, similarity: np.ndarray) -> np.ndarray:
    """The steps that match each layer best, up to the first layer that matches the most.

    That is where a plateau begins.  Where later layers match fewer than the layer before it, there
    is none, and all layers count.
    """
    best = steps[similarity.argmax(axis=0)]
    top = int(best.argmax())
    plateau = best[top:].min() >= best[max(top - 1, 0)]
    return best[: top + 1] if plateau else best


def growth_of(steps: np.ndarray) -> str:
    """How steps by layer grow: "linear", "exponential", "logarithmic", or "none".

    The first if the steps are straighter as they are than their logarithms against the layer, and
    than they are against the logarithm of the layer; and so on.  None if they fall from a layer to
    the next, or are not four numbers at least.
    """
    layer = np.arange(1, len(steps) + 1)
    if len(np.unique(steps)) < 4 or (np.diff(steps) < 0).any():
        return "none"
    straight = {
        "linear": (steps, layer),
        "exponential": (np.log(steps + 1.0), layer),
        "logarithmic": (steps, np.log(layer)),
    }
    return max(straight, key=lambda kind: float(np.corrcoef(*straight[kind])[0, 1]))


def growth(run: Run, id: str, name: str, likeness: Likeness, wanted: str) -> Finding:
    """That the steps that are most alike have the growth that is wanted.

    Decided by how often it is so for sets of prompts drawn again from those at hand.
    """
    again = resampled(run.rng, likeness.alike)
    # Most sets match the same steps.
    matched = Counter(tuple(matching(likeness.steps, means)) for means in again)
    agree = sum(count for steps, count in matched.items() if growth_of(np.array(steps)) == wanted)
    return agreeing(
        id,
        f"{name}: {wanted} growth",
        agree / len(again),
        words=f"{listed(likeness.best)} by layer ({likeness.algorithm})",
        steps=likeness.best,
    )


def listed(steps: np.ndarray) -> str:
    """Numbers in a row, in words."""
    return ", ".join(str(k) for k in steps.tolist())
