"""Function composition: two tables in the prompt, and one argument."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import Integers, Steps, Within, checked

POINTS = Within(least=0, below="n_points")
Function: TypeAlias = Annotated[Any, Integers("... n_points", POINTS)]
"""The table of a function on 0, …, n_points − 1, or one per prompt, shape (…, n_points)."""
Argument: TypeAlias = Annotated[Any, Integers("...", POINTS, empty=True)]
"""An element of 0, …, n_points − 1, or one per prompt, shape (…)."""


@checked
def composition(f: Function, g: Function, x: Argument) -> np.ndarray:
    """The composition g[f[x]] (…) for tables f and g (…, s) and arguments x (…) [Peng2024].

    The tables define functions on the points 0, …, s − 1. Entries and arguments are integers from 0
    to s − 1. For example, in "the profession of John's mother" f maps each person to their mother,
    g maps each person to their profession, and x is John.
    """
    y = np.take_along_axis(f, x[..., None], axis=-1)
    return np.take_along_axis(g, y, axis=-1)[..., 0]


@checked
def composition_by_definition(
    f: Annotated[Any, Integers("n_points", POINTS)],
    g: Annotated[Any, Integers("n_points", POINTS)],
    x: Annotated[Steps, Within(below="n_points")],
) -> int:
    """The value g[f[x]] for one pair of tables f and g and one argument x, in Python integers."""
    return int(g[f[x]])


@checked
def composition_prompt(f: Function, g: Function, x: Argument) -> np.ndarray:
    """The prompts f[0], …, f[s−1], g[0], …, g[s−1], x (…, 2s + 1) for maps f and g of s points.

    The tables f and g are (…, s), and the arguments x are (…). Only the position of a token shows
    whether the token is an entry of f or of g. The answer to a prompt is g[f[x]].
    """
    return np.concatenate([f, g, x[..., None]], axis=-1)
