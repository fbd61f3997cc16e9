"""When means over prompts decide: by standard errors, or by prompts drawn again."""

from __future__ import annotations

import numpy as np

from verify.finding import Verdict

ERRORS = 3.0  # standard errors
NOTHING = 0.01  # of what there is to learn, from saying nothing to the best predictor
RESAMPLED, LEVEL = 200, 0.025  # sets of prompts drawn again, and the share that may disagree


def estimated(values: np.ndarray) -> tuple[float, float]:
    """The mean of values (m,) of independent prompts, and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))


def sign_of(mean: float, spread: float) -> Verdict:
    """Whether a mean with this standard error is above 0: by `ERRORS` of them, or undecided."""
    if mean - ERRORS * spread > 0:
        return Verdict.HOLDS
    return Verdict.FAILS if mean + ERRORS * spread < 0 else Verdict.UNDECIDED


def resampled(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    """Means of values (…, m) over m prompts drawn again with replacement, (RESAMPLED, …)."""
    m = values.shape[-1]
    times = rng.multinomial(m, np.full(m, 1 / m), RESAMPLED)
    return np.tensordot(times / m, values, (1, values.ndim - 1))


def agreed(share: float) -> Verdict:
    """Whether something is so, by the share of resampled sets in which it is."""
    if share >= 1 - LEVEL:
        return Verdict.HOLDS
    return Verdict.FAILS if share <= LEVEL else Verdict.UNDECIDED
