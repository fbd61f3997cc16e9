"""How the steps that match the layers of a model grow from layer to layer: linearly or not."""

from __future__ import annotations

import numpy as np

from verify.claim import Run
from verify.finding import Finding
from verify.trained.statistics import LEVEL, RESAMPLED, agreed, resampled


def matching(steps: np.ndarray, similarity: np.ndarray) -> np.ndarray:
    """The steps that match each layer best, up to the first layer that matches the most."""
    best = steps[similarity.argmax(axis=0)]
    return best[: best.argmax() + 1]


def straightness(values: np.ndarray) -> float:
    """The correlation of a sequence with 1, 2, 3, …; 0 for fewer than three numbers, or equal ones.

    Of two sequences of one set of layers the one that grows linearly has the larger.
    """
    if len(values) < 3 or np.ptp(values) == 0:
        return 0.0
    return float(np.corrcoef(values, np.arange(len(values)))[0, 1])


def grows_linearly(steps: np.ndarray) -> bool:
    """Whether steps by layer are straighter than the logarithms of steps + 1."""
    return straightness(steps) > straightness(np.log2(steps + 1.0))


def growth(
    run: Run, label: str, algorithm: str, steps: np.ndarray, alike: np.ndarray, *, linear: bool
) -> Finding:
    """How the steps (k,) that are most alike (k, layers, m) grow with the layer.

    Decided by how often the same holds for sets of prompts drawn again from those at hand.
    """
    again = resampled(run.rng, alike)
    agree = sum(grows_linearly(matching(steps, means)) == linear for means in again) / len(again)
    best = steps[alike.mean(-1).argmax(axis=0)]
    return Finding(
        f"{label} grow {'linearly' if linear else 'exponentially'}",
        "trained",
        f"{listed(best)} by layer ({algorithm}); so in {agree:.1%} of {RESAMPLED} resampled sets",
        f"at least {1 - LEVEL:.1%} of them",
        agreed(agree),
    )


def listed(steps: np.ndarray) -> str:
    return ", ".join(str(k) for k in steps.tolist())
