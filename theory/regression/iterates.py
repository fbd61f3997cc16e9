"""How many steps a method is run for, and the iterate after them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, TypeAlias

import numpy as np

from theory.kinds import Steps, Within

Iterations: TypeAlias = Annotated[Steps, Within(most=10**9)]
"""An integer ≥ 0, of steps that are made one by one."""


def after(k: int, iterates: Iterator[np.ndarray]) -> np.ndarray:
    """The iterate after k steps; the first is the one after none."""
    return next(islice(iterates, k, None))
