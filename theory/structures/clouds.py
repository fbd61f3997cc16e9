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

import numpy as np
from numpy.typing import ArrayLike

from theory import checks, machine
from theory.checks import InputError
from theory.structures.points import as_numbers, drawn_by, hard_points


def as_cloud(points: ArrayLike) -> np.ndarray:
    """`points` (…, N, d) as they are, whole numbers or float64.

    Raises ValueError for what are no finite numbers, no points at all, and for d < 1.
    """
    array = as_numbers("points", points)
    if array.ndim < 2 or 0 in array.shape[-2:]:
        raise InputError(
            f"points have shape {array.shape}: give rows (…, N, d) of at least one point"
        )
    return array


def beside_cloud(queries: ArrayLike, points: np.ndarray) -> np.ndarray:
    """`queries` (…, m, d) beside points (…, N, d), whose leading dimensions and d they have.

    Raises ValueError for what are no finite numbers, and for other shapes.
    """
    array = as_numbers("queries", queries)
    alike = array.ndim >= 2 and array.shape[:-2] == points.shape[:-2]
    if not alike or array.shape[-1] != points.shape[-1]:
        raise InputError(
            f"queries have shape {array.shape} and points {points.shape}: give as many rows "
            "(…, m, d) of the same dimension"
        )
    return array


def nearest_in_cloud(points: ArrayLike, queries: ArrayLike) -> np.ndarray:
    """argmin_a ‖x_a − q‖ for points (…, N, d) and queries (…, m, d), (…, m): by definition.

    Raises ValueError as `as_cloud` and `beside_cloud`.
    """
    x = as_cloud(points)
    q = beside_cloud(queries, x)
    machine.fits_in_memory(
        f"the distances of {x.shape} points and {q.shape} queries",
        16 * q.size * x.shape[-2],
        "take fewer queries",
    )
    return ((x[..., None, :, :] - q[..., :, None, :]) ** 2).sum(-1).argmin(-1)


def uniform_cloud(
    sets: int, N: int, d: int, m: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Points (sets, N, d) and queries (sets, m, d).  Raises ValueError for counts below 1, and for
    what no memory holds."""
    rng = drawn_by(rng, sets, N, m, d)
    count, d = checks.dimension("sets", sets), checks.dimension("d", d)
    x = rng.uniform(size=(count, checks.dimension("N", N), d))
    return x, rng.uniform(size=(count, checks.dimension("m", m), d))


def hard_cloud(
    sets: int, levels: int, d: int, m: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Points (sets, 2^levels − 1, d) and queries (sets, m, d).

    Raises ValueError for counts below 1 and as `hard_points`.
    """
    rng = checks.generator("rng", rng)
    axes = [hard_points(sets, levels, 1, rng)[0] for _ in range(checks.dimension("d", d))]
    x = np.stack([rng.permuted(axis, axis=-1) for axis in axes], axis=-1)
    which = rng.integers(x.shape[1], size=(len(x), checks.dimension("m", m)))
    q = np.take_along_axis(x, which[..., None], axis=1)
    return x, q + rng.normal(size=q.shape)


def sphere_cloud(
    sets: int, N: int, d: int, m: int, rng: np.random.Generator, rho: float = 0.8
) -> tuple[np.ndarray, np.ndarray]:
    """Points (sets, N, d) and queries (sets, m, d), all of length 1.

    Raises ValueError for counts below 1, d < 2, and ρ that is not from −1 to 1.
    """
    if checks.dimension("d", d) < 2:
        raise InputError("d is 1: give at least 2, as a sphere in one dimension is two points")
    if not -1 <= checks.finite_number("rho", rho) <= 1:
        raise InputError(f"rho is {rho:g}: give an inner product from −1 to 1")
    rng = drawn_by(rng, sets, N, m, d)
    x = _directions(rng.normal(size=(checks.dimension("sets", sets), checks.dimension("N", N), d)))
    which = rng.integers(N, size=(sets, checks.dimension("m", m), 1))
    near = np.take_along_axis(x, which, axis=1)
    away = rng.normal(size=near.shape)
    away = _directions(away - (away * near).sum(-1, keepdims=True) * near)
    return x, rho * near + np.sqrt(1 - rho**2) * away


def _directions(z: np.ndarray) -> np.ndarray:
    return np.asarray(z / np.linalg.norm(z, axis=-1, keepdims=True))
