"""Points on a line, queries, and the nearest neighbour that a lookup should find.

Points (…, N) are in cells 0 … N − 1 in ascending order.  The nearest neighbour of a query is the
cell whose point is nearest to the query; of two equally near points, the first.  Distributions of
[Salemohamed2025]:

    uniform    N independent points, U(low, high), and a query of the same distribution
    hard       a balanced tree of N = 2^L − 1 nodes: the root is U(0, a^L), and a node at depth k is
               its parent minus (left child) or plus (right child) U(0, a^{L−k}), where a > 1 is the
               base; a query is one of the points plus N(0, 1)

The powers range from a^L at the root to a at the leaves.  In the order of the tree, hard points are
not always ascending, so they are sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import Count, Finite, InputError, Numbers, Seed, Within, checked


@dataclass(frozen=True)
class Ascending(Numbers):
    """The kind `Numbers` with strictly ascending rows, so that every point has a different rank."""

    entries = "finite numbers in strictly ascending rows"

    @property
    def wrong(self) -> tuple[Any, ...]:
        right = self.example
        return (*super().wrong, right[..., ::-1], right * 0)

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        array = super()._entries(name, array)
        falls = array[..., 1:] <= array[..., :-1]  # a difference of integers could overflow
        if falls.any():
            *row, at = map(int, np.argwhere(falls)[0])
            before, after = array[(*row, at)], array[(*row, at + 1)]
            raise InputError(f"{name} has {before:g} directly before {after:g}: give {self.what}")
        return array


Points: TypeAlias = Annotated[Any, Ascending("... N")]
"""Distinct points in ascending order, shape (…, N)."""
Queries: TypeAlias = Annotated[Any, Numbers("... m", empty=True)]
"""Finite numbers, shape (…, m)."""
NumberArray: TypeAlias = Annotated[Any, Numbers("...", empty=True)]
"""Finite numbers, of any shape."""
End: TypeAlias = Annotated[Any, Numbers("")]
"""One finite number, an end of a range."""
Size: TypeAlias = Annotated[Count, Within(most=10**9)]
"""An integer from 1 to 10^9."""
Levels: TypeAlias = Annotated[Count, Within(most=20)]
"""An integer from 1 to 20: levels of a tree of at most a million points."""


@checked
def nearest(points: Points, queries: Queries) -> np.ndarray:
    """The index of the point nearest to each query q, argmin_a |q − x_a|, an array (…, m).

    The points x_a are N ascending numbers and have shape (…, N), and the m queries have shape
    (…, m).  If two points are equally near, the result is the index of the first.  Raises
    ValueError for arrays that do not fit in memory.
    """
    machine.fits_in_memory(
        f"the distances of {points.shape} points and {queries.shape} queries",
        48 * queries.size * points.shape[-1],
        "take fewer queries",
    )
    x, q = points[..., None, :], queries[..., :, None]
    above, below = np.maximum(x, q), np.minimum(x, q)
    if above.dtype.kind == "i":  # differences of int64 fit in uint64
        return (above.astype(np.uint64) - below.astype(np.uint64)).argmin(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        found, distance = _least_difference(above, below)
        if np.isfinite(distance).all():
            return found
        halved, _ = _least_difference(above / 2, below / 2)  # where all distances overflow
    return np.where(np.isfinite(distance), found, halved)


def _least_difference(above: np.ndarray, below: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The index of the least difference (…, m) of numbers (…, m, N), and the difference."""
    difference = above - below
    rest = above - difference  # its rounding error, by Knuth's two-sum
    error = (above - (difference + rest)) + (rest - below)
    least = difference.min(-1, keepdims=True)
    return np.where(difference == least, error, np.inf).argmin(-1), least[..., 0]


@checked
def uniform_points(
    n_sets: Size,
    n_points: Size,
    n_queries: Size,
    seed: Seed,
    low: Finite = -1.0,
    high: Finite = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Ascending points (n_sets, n_points) and queries (n_sets, n_queries), uniform on (low, high).

    The points are independent draws that are then sorted in each set.  The queries are independent
    draws too, and are not sorted.  Raises ValueError if low ≥ high, or for arrays that do not fit
    in memory.
    """
    check_memory(n_sets, n_points, n_queries)
    check_range(low, high)
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(low, high, (n_sets, n_points)), axis=-1)
    return x, rng.uniform(low, high, (n_sets, n_queries))


def check_range(low: Any, high: Any) -> None:
    """Raise ValueError unless low < high."""
    if not low < high:
        raise InputError(f"low is {low:g} and high is {high:g}: give low < high")


def check_memory(sets: int, N: int, m: int, d: int = 1) -> None:
    """Raise ValueError if points and queries do not fit in memory.

    There are `sets` sets, each with N points and m queries in d dimensions.
    """
    machine.fits_in_memory(
        f"{sets:.3g} sets of {N:.3g} points and {m:.3g} queries",
        32 * sets * d * (N + m),
        "draw fewer",
    )


@checked
def hard_points(
    n_sets: Size,
    levels: Levels,
    n_queries: Size,
    seed: Seed,
    a: Annotated[Finite, Within(above=1)] = 7.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Ascending points, and queries, of the hard distribution of [Salemohamed2025] on the line.

    Points have shape (n_sets, 2^levels − 1) and queries (n_sets, n_queries).  With L = `levels`,
    the points are the nodes of a balanced tree.  The root is drawn uniformly from (0, a^L).  A left
    child at depth k is its parent minus a number drawn uniformly from (0, a^{L−k}), and a right
    child is its parent plus such a number.  The root has depth 0.  A query is a random point of its
    set plus standard normal noise.  Raises ValueError if a^L overflows float64, or for arrays that
    do not fit in memory.
    """
    most = 1e300 ** (1 / levels)
    if a >= most:
        raise InputError(f"the parameter a is {a:g}: give a number above 1 and below {most:.3g}")
    check_memory(n_sets, 2**levels, n_queries)
    rng = np.random.default_rng(seed)
    depth = [rng.uniform(0, a**levels, (n_sets, 1))]
    for k in range(1, levels):
        step = rng.uniform(0, a ** (levels - k), (n_sets, 2**k))
        depth.append(np.repeat(depth[-1], 2, axis=1) + step * np.tile([-1.0, 1.0], 2 ** (k - 1)))
    x = np.sort(np.concatenate(depth, axis=1), axis=-1)
    which = rng.integers(x.shape[1], size=(n_sets, n_queries))
    return x, np.take_along_axis(x, which, axis=-1) + rng.normal(size=which.shape)
