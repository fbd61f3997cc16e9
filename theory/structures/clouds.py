"""Points in d dimensions, queries, and the nearest neighbour.

Points (…, N, d) stand in cells 0 … N − 1 in the order in which they are given, and some may be
equal: the nearest neighbour of a query is the cell whose point is nearest to it, and of those as
near the first.  Distributions:

    uniform    N independent points, uniform on (0, 1)^d, and a query of the same law
    hard       every coordinate as on the hard line, in an order of its own; a query is one of the
               points and N(0, 1) in each coordinate
    sphere     directions z/‖z‖ of normal z; a query is ρx + √(1 − ρ²)·t, x one of the points and t
               a direction orthogonal to it: all inner products with x are ρ

The hard line is that of `points.py`; [Salemohamed2025] has a hard plane, and ours need not be it.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import Numbers, Seed, SignedUnit, Within, checked
from theory.structures.points import Levels, Size, check_memory, hard_points

Cloud: TypeAlias = Annotated[Any, Numbers("... N d")]
"""Points in d dimensions, shape (…, N, d)."""
CloudQueries: TypeAlias = Annotated[Any, Numbers("... m d", empty=True)]
"""Queries of points in d dimensions, shape (…, m, d)."""


@checked
def nearest_in_cloud(points: Cloud, queries: CloudQueries) -> np.ndarray:
    """argmin_a ‖x_a − q‖ for points (…, N, d) and queries (…, m, d), (…, m): by definition.

    Raises ValueError for what no memory holds.
    """
    machine.fits_in_memory(
        f"the distances of {points.shape} points and {queries.shape} queries",
        16 * queries.size * points.shape[-2],
        "take fewer queries",
    )
    return ((points[..., None, :, :] - queries[..., :, None, :]) ** 2).sum(-1).argmin(-1)


@checked
def uniform_cloud(
    sets: Size, N: Size, d: Size, m: Size, rng: Seed
) -> tuple[np.ndarray, np.ndarray]:
    """Points (sets, N, d) and queries (sets, m, d).  Raises ValueError for what no memory holds."""
    check_memory(sets, N, m, d)
    x = rng.uniform(size=(sets, N, d))
    return x, rng.uniform(size=(sets, m, d))


@checked
def hard_cloud(
    sets: Size, levels: Levels, d: Size, m: Size, rng: Seed
) -> tuple[np.ndarray, np.ndarray]:
    """Points (sets, 2^levels − 1, d) and queries (sets, m, d).

    Raises ValueError for what no memory holds.
    """
    check_memory(sets, 2**levels, m, d)
    axes = [hard_points(sets, levels, 1, rng)[0] for _ in range(d)]
    x = np.stack([rng.permuted(axis, axis=-1) for axis in axes], axis=-1)
    which = rng.integers(x.shape[1], size=(sets, m))
    q = np.take_along_axis(x, which[..., None], axis=1)
    return x, q + rng.normal(size=q.shape)


@checked
def sphere_cloud(
    sets: Size,
    N: Size,
    d: Annotated[Size, Within(least=2)],
    m: Size,
    rng: Seed,
    rho: SignedUnit = 0.8,
) -> tuple[np.ndarray, np.ndarray]:
    """Points (sets, N, d) and queries (sets, m, d), all of length 1; d ≥ 2, as the sphere in one
    dimension is two points.

    Raises ValueError for what no memory holds.
    """
    check_memory(sets, N, m, d)
    x = _directions(rng.normal(size=(sets, N, d)))
    which = rng.integers(N, size=(sets, m, 1))
    near = np.take_along_axis(x, which, axis=1)
    away = rng.normal(size=near.shape)
    away = _directions(away - (away * near).sum(-1, keepdims=True) * near)
    return x, rho * near + np.sqrt(1 - rho**2) * away


def _directions(z: np.ndarray) -> np.ndarray:
    return np.asarray(z / np.linalg.norm(z, axis=-1, keepdims=True))
