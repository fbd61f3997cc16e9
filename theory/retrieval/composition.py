"""Function composition: two tables in the prompt, and one argument."""

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError


def _tables(f: ArrayLike, g: ArrayLike, x: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """f, g (…, size) and x (…) as int64 arrays with entries in 0, …, size − 1."""
    f = checks.tokens("f", f)
    size = f.shape[-1]
    f, g = checks.tokens("f", f, size), checks.tokens("g", g)
    if g.shape != f.shape:
        raise InputError(f"f has shape {f.shape} and g {g.shape}: both must be (…, size)")
    g = checks.tokens("g", g, size)
    # `tokens` refuses single numbers; x has one per prompt.
    x = checks.tokens("x", np.asarray(x)[..., None], size)[..., 0]
    if x.shape != f.shape[:-1]:
        raise InputError(
            f"x has shape {x.shape} and f {f.shape}: give one x per prompt, shape {f.shape[:-1]}"
        )
    return f, g, x


def composition(f: ArrayLike, g: ArrayLike, x: ArrayLike) -> np.ndarray:
    """g[f[x]] (…), for tables f, g (…, size) of functions on 0, …, size − 1 and arguments x (…).

    "The profession of John's mother": f lists the mothers, g the professions, x is John. The task
    of [Peng2024].

    Raises `ValueError` for shapes that do not match and for entries outside 0, …, size − 1.
    """
    f, g, x = _tables(f, g, x)
    y = np.take_along_axis(f, x[..., None], axis=-1)
    return np.take_along_axis(g, y, axis=-1)[..., 0]


def composition_by_definition(f: ArrayLike, g: ArrayLike, x: int) -> int:
    """`composition` for one prompt, f and g (size,), as its formula says."""
    tables = checks.one_sequence("f", f), checks.one_sequence("g", g)
    _tables(*tables, x)
    return tables[1][tables[0][x]]


def composition_prompt(f: ArrayLike, g: ArrayLike, x: ArrayLike) -> np.ndarray:
    """The prompt f[0], …, f[size−1], g[0], …, g[size−1], x as tokens (…, 2·size + 1).

    f and g are told apart by their positions alone. Raises `ValueError` as `composition` does.
    """
    f, g, x = _tables(f, g, x)
    return np.concatenate([f, g, x[..., None]], axis=-1)
