"""Points in d dimensions, queries, and the nearest neighbour.

Points (…, N, d) are in cells 0 … N − 1 in the given order, and may be equal.  The nearest neighbour
of a query is the cell whose point is nearest to the query; of several equally near points, the
first.  Distributions:

    uniform    N independent points, uniform on (0, 1)^d, and a query of the same distribution
    hard       each coordinate has the hard distribution on the line (`points.py`), in an
               independent random order; a query is a point plus N(0, 1) in each coordinate
    sphere     points are directions z/‖z‖ of normal vectors z; a query is ρx + √(1 − ρ²)·t, where x
               is one of the points and t a unit vector orthogonal to x: the query has inner product
               ρ with x

The hard distribution in the plane of [Salemohamed2025] may be different from this one.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import InputError, Numbers, Seed, SignedUnit, Within, checked
from theory.scaling import comparable_squares
from theory.structures.points import Levels, Size, check_memory, hard_points

Cloud: TypeAlias = Annotated[Any, Numbers("... N d")]
"""Points in d dimensions, shape (…, N, d)."""
CloudQueries: TypeAlias = Annotated[Any, Numbers("... m d", empty=True)]
"""Queries in d dimensions, shape (…, m, d)."""


@checked
def nearest_in_cloud(points: Cloud, queries: CloudQueries) -> np.ndarray:
    """The index of the point nearest to each query q, argmin_a ‖q − x_a‖, an array (…, m).

    The N points x_a in d dimensions have shape (…, N, d), and the m queries have shape (…, m, d).
    If several points are equally near, the result is the index of the first.  Raises ValueError for
    arrays that do not fit in memory, and for integers whose squared distances could exceed int64.
    """
    machine.fits_in_memory(
        f"the distances of {points.shape} points and {queries.shape} queries",
        16 * queries.size * points.shape[-2],
        "take fewer queries",
    )
    x, q = points[..., None, :, :], queries[..., :, None, :]
    if not q.size:
        return np.zeros(np.broadcast_shapes(x.shape, q.shape)[:-2], dtype=np.int64)
    if x.dtype.kind == q.dtype.kind == "i":
        ends = [int(each) for array in (x, q) for each in (array.min(), array.max())]
        if (max(ends) - min(ends)) ** 2 * x.shape[-1] >= 2**63:
            raise InputError(
                f"points and queries are integers from {min(ends)} to {max(ends)}: give integers "
                "whose squared distances are below 2^63, or give floats"
            )
        return ((x - q) ** 2).sum(-1).argmin(-1)
    return comparable_squares(x - q).argmin(-1)


@checked
def uniform_cloud(
    n_sets: Size, n_points: Size, d: Size, n_queries: Size, seed: Seed
) -> tuple[np.ndarray, np.ndarray]:
    """Independent uniform points (n_sets, n_points, d) and queries (n_sets, n_queries, d).

    Points and queries are uniform on (0, 1)^d.  Raises ValueError for arrays that do not fit in
    memory.
    """
    check_memory(n_sets, n_points, n_queries, d)
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n_sets, n_points, d))
    return x, rng.uniform(size=(n_sets, n_queries, d))


@checked
def hard_cloud(
    n_sets: Size, levels: Levels, d: Size, n_queries: Size, seed: Seed
) -> tuple[np.ndarray, np.ndarray]:
    """Points and queries in d dimensions that have the hard distribution in each coordinate.

    Points have shape (n_sets, 2^levels − 1, d), and queries have shape (n_sets, n_queries, d).
    Each coordinate of the points is drawn by `hard_points` as the nodes of a balanced tree with L =
    `levels` levels.  The root is uniform on (0, 7^L).  A left child at depth k is its parent minus
    a uniform number from (0, 7^{L−k}), and a right child is its parent plus such a number.  In each
    coordinate, the numbers are then put into an independent random order.  A query is a random
    point of its set plus standard normal noise in each coordinate.  Raises ValueError for arrays
    that do not fit in memory.
    """
    check_memory(n_sets, 2**levels, n_queries, d)
    rng = np.random.default_rng(seed)
    axes = [hard_points(n_sets, levels, 1, rng)[0] for _ in range(d)]
    x = np.stack([rng.permuted(axis, axis=-1) for axis in axes], axis=-1)
    which = rng.integers(x.shape[1], size=(n_sets, n_queries))
    q = np.take_along_axis(x, which[..., None], axis=1)
    return x, q + rng.normal(size=q.shape)


@checked
def sphere_cloud(
    n_sets: Size,
    n_points: Size,
    d: Annotated[Size, Within(least=2)],
    n_queries: Size,
    seed: Seed,
    rho: SignedUnit = 0.8,
) -> tuple[np.ndarray, np.ndarray]:
    """Points (n_sets, n_points, d) and queries (n_sets, n_queries, d) on the unit sphere, d ≥ 2.

    The points are independent and uniform on the sphere.  A query is ρx + √(1 − ρ²)·t with
    ρ = `rho`, where x is a random point of its set and t is a random unit vector orthogonal to x.
    So the query has inner product ρ with x.  Raises ValueError for arrays that do not fit in
    memory.
    """
    check_memory(n_sets, n_points, n_queries, d)
    rng = np.random.default_rng(seed)
    x = _directions(rng.normal(size=(n_sets, n_points, d)))
    which = rng.integers(n_points, size=(n_sets, n_queries, 1))
    near = np.take_along_axis(x, which, axis=1)
    away = rng.normal(size=near.shape)
    away = _directions(away - (away * near).sum(-1, keepdims=True) * near)
    return x, rho * near + np.sqrt(1 - rho**2) * away


def _directions(z: np.ndarray) -> np.ndarray:
    return np.asarray(z / np.linalg.norm(z, axis=-1, keepdims=True))
