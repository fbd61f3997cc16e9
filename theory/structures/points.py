"""Points on a line, queries, and the nearest neighbour, which a lookup is to find.

Points (…, N) stand in cells 0 … N − 1, in ascending order here.  The nearest neighbour of a query
is the cell whose point is nearest to it; of two as near, the first.  Distributions of
[Salemohamed2025]:

    uniform    N independent points, U(low, high), and a query of the same law
    hard       a balanced tree of N = 2^L − 1 nodes: the root U(0, a^L), a node at depth k its
               parent ∓ U(0, a^{L−k}), left and right; a query is one of the points and N(0, 1)

The exponent is read so that all powers from a^L to a occur.  The points of the hard distribution in
the order of the tree are not always ascending, so they are sorted.
"""

import numpy as np
from numpy.typing import ArrayLike

from theory import checks, machine
from theory.checks import InputError


def as_points(points: ArrayLike) -> np.ndarray:
    """`points` (…, N) as they are, whole numbers or float64.

    Raises ValueError for what are no finite numbers, no points at all, and a row that is not in
    strictly ascending order: with a point twice, a cell would have no rank of its own.
    """
    array = as_numbers("points", points)
    if array.ndim < 1 or array.shape[-1] < 1:
        raise InputError(f"points have shape {array.shape}: give rows (…, N) of at least one")
    steps = np.diff(array, axis=-1)
    if (steps <= 0).any():
        at = tuple(map(int, np.argwhere(steps <= 0)[0]))
        pair = array[at], array[(*at[:-1], at[-1] + 1)]
        raise InputError(
            f"points have {pair[0]:g} in front of {pair[1]:g}: give each row in ascending order, "
            "without duplicates"
        )
    return array


def as_queries(queries: ArrayLike, points: np.ndarray) -> np.ndarray:
    """`queries` (…, m) beside points (…, N), whose leading dimensions they have.

    Raises ValueError for what are no finite numbers, and for other leading dimensions.
    """
    array = as_numbers("queries", queries)
    if array.ndim < 1 or array.shape[:-1] != points.shape[:-1]:
        raise InputError(
            f"queries have shape {array.shape} and points {points.shape}: give as many rows (…, m)"
        )
    return array


def as_numbers(name: str, value: ArrayLike) -> np.ndarray:
    """Whole numbers as they are, and others in float64.  Raises ValueError for what are no finite
    numbers."""
    array = checks.array_of(name, value)
    if array.dtype.kind not in "iu" or array.dtype.itemsize > 8:
        array = checks.real(name, array)
    checks.finite(name, bool(np.isfinite(array).all()))
    return array


def nearest(points: ArrayLike, queries: ArrayLike) -> np.ndarray:
    """argmin_a |x_a − q| for points (…, N) and queries (…, m), (…, m): by definition.

    Raises ValueError as `as_points` and `as_queries`.
    """
    x = as_points(points)
    q = as_queries(queries, x)
    return abs(x[..., None, :] - q[..., :, None]).argmin(-1)


def uniform_points(
    sets: int, N: int, m: int, rng: np.random.Generator, low: float = -1.0, high: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Points (sets, N), ascending, and queries (sets, m), all independent U(low, high).

    Raises ValueError for counts below 1, unless low < high, and for what no memory holds.
    """
    rng = drawn_by(rng, sets, N, m)
    shape = checks.dimension("sets", sets), checks.dimension("N", N)
    low, high = checks.finite_number("low", low), checks.finite_number("high", high)
    if not low < high:
        raise InputError(f"points between {low:g} and {high:g}: give low < high")
    x = np.sort(rng.uniform(low, high, shape), axis=-1)
    return x, rng.uniform(low, high, (shape[0], checks.dimension("m", m)))


def drawn_by(rng: np.random.Generator, *counts: int) -> np.random.Generator:
    """What draws so many numbers in sets: `counts` are those of sets, of points and of queries, and
    of coordinates if any.  Raises ValueError for counts below 1, and for what no memory holds."""
    sets, N, m, d = [checks.dimension("a count", each) for each in (*counts, 1)[:4]]
    machine.fits_in_memory(
        f"{sets:.3g} sets of {N:.3g} points and {m:.3g} queries",
        32 * sets * d * (N + m),
        "draw fewer",
    )
    return checks.generator("rng", rng)


def hard_points(
    sets: int, levels: int, m: int, rng: np.random.Generator, a: float = 7.0
) -> tuple[np.ndarray, np.ndarray]:
    """Points (sets, 2^levels − 1), ascending, and queries (sets, m), of the hard distribution.

    Raises ValueError for counts below 1 or above 20 levels, a ≤ 1 or such that a^levels leaves
    float64, and for what no memory holds.
    """
    count, L = checks.dimension("sets", sets), checks.dimension("levels", levels)
    if L > 20:
        raise InputError(f"levels is {L}: give at most 20, a million points")
    most = 1e300 ** (1 / L)
    if not 1 < checks.positive_number("a", a) < most:
        raise InputError(f"a is {a:g}: give a number above 1 and below {most:.3g}")
    rng = drawn_by(rng, count, 2**L, m)
    depth = [rng.uniform(0, a**L, (count, 1))]
    for k in range(1, L):
        step = rng.uniform(0, a ** (L - k), (count, 2**k))
        depth.append(np.repeat(depth[-1], 2, axis=1) + step * np.tile([-1.0, 1.0], 2 ** (k - 1)))
    x = np.sort(np.concatenate(depth, axis=1), axis=-1)
    which = rng.integers(x.shape[1], size=(count, checks.dimension("m", m)))
    return x, np.take_along_axis(x, which, axis=-1) + rng.normal(size=which.shape)
