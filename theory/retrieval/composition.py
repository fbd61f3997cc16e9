"""Function composition: two tables in the prompt, and one argument."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import Integers, Steps, Within, checked

BELOW_SIZE = Within(least=0, below="size")
Function: TypeAlias = Annotated[Any, Integers("... size", BELOW_SIZE)]
"""The table of a function on 0, …, size − 1, or one per prompt, shape (…, size)."""
Argument: TypeAlias = Annotated[Any, Integers("...", BELOW_SIZE, empty=True)]
"""An element of 0, …, size − 1, or one per prompt, shape (…)."""


@checked
def composition(f: Function, g: Function, x: Argument) -> np.ndarray:
    """g[f[x]] (…), for tables f, g (…, size) of functions on 0, …, size − 1 and arguments x (…).

    "The profession of John's mother": f lists the mothers, g the professions, x is John. The task
    of [Peng2024].
    """
    y = np.take_along_axis(f, x[..., None], axis=-1)
    return np.take_along_axis(g, y, axis=-1)[..., 0]


@checked
def composition_by_definition(
    f: Annotated[Any, Integers("size", BELOW_SIZE)],
    g: Annotated[Any, Integers("size", BELOW_SIZE)],
    x: Annotated[Steps, Within(below="size")],
) -> int:
    """`composition` for one prompt, f and g (size,), by its formula."""
    return int(g[f[x]])


@checked
def composition_prompt(f: Function, g: Function, x: Argument) -> np.ndarray:
    """The prompt f[0], …, f[size−1], g[0], …, g[size−1], x as tokens (…, 2·size + 1).

    f and g differ by their positions alone.
    """
    return np.concatenate([f, g, x[..., None]], axis=-1)
