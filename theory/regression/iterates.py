"""Iterates of a recursion: the k-th iterate, and a check that all are finite."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, TypeAlias

import numpy as np

from theory.kinds import InputError, Steps, Within

Iterations: TypeAlias = Annotated[Steps, Within(most=10**7)]
"""An integer from 0 to 10⁷, the number of steps of a recursion."""


def after(k: int, iterates: Iterator[np.ndarray]) -> np.ndarray:
    """The iterate after k steps; for k = 0, the first iterate."""
    return next(islice(iterates, k, None))


def finite(
    iterates: Iterator[np.ndarray], remedy: str, **given: np.ndarray
) -> Iterator[np.ndarray]:
    """Yield copies of the iterates; raise `InputError` at the first that is not finite."""
    for steps, iterate in enumerate(iterates):
        if not np.isfinite(iterate).all():
            raise InputError(
                f"the iterate overflows float64 after {steps} steps ({largest(**given)}): {remedy}"
            )
        yield iterate.copy()  # the caller may change it


def largest(**given: np.ndarray) -> str:
    """The largest absolute value of each of the arrays `given`, in words."""
    return ", ".join(f"{name} up to {np.abs(value).max():.3g}" for name, value in given.items())


def finite_product(M: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product M b.  Raises `InputError` if the product overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = np.matvec(M, b)
    if not np.isfinite(product).all():
        raise InputError(f"the weights overflow float64 ({largest(M=M, b=b)}): rescale x and y")
    return product
