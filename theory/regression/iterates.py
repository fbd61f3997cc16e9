"""The iterates of a recursion: after so many steps, and checked to be finite."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, TypeAlias

import numpy as np

from theory.kinds import InputError, Steps, Within

Iterations: TypeAlias = Annotated[Steps, Within(most=10**9)]
"""An integer from 0 to 10⁹, the number of steps of a recursion."""


def after(k: int, iterates: Iterator[np.ndarray]) -> np.ndarray:
    """The iterate after k steps; after 0 steps it is the first."""
    return next(islice(iterates, k, None))


def finite(iterates: Iterator[np.ndarray], remedy: str) -> Iterator[np.ndarray]:
    """The same iterates.  Raises `InputError`, with a remedy, at one with an infinity or NaN."""
    for steps, iterate in enumerate(iterates):
        if not np.isfinite(iterate).all():
            raise InputError(f"the iterate overflows float64 after {steps} steps: {remedy}")
        yield iterate


def finite_product(M: np.ndarray, b: np.ndarray) -> np.ndarray:
    """M b.  Raises `InputError` if it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = np.matvec(M, b)
    if not np.isfinite(product).all():
        raise InputError("the weights M b overflow float64: rescale x and y")
    return product
