"""The kd-tree: a layout of points in which each node halves its cells by a plane.

Layout.  The points of the cells lo … hi − 1 at depth k are sorted by coordinate k mod d, where d is
the dimension.  The middle point, in cell m = ⌊(lo + hi)/2⌋, is the node, and both sides are laid
out in the same way at depth k + 1.  Of two points with equal coordinates, the point given first is
lower, so equal points are ordered too.  For d = 1 the layout is sorted order.

Search.  A lookup is at the node m of a bracket, with point x; let q be the query and a = k mod d.
The search continues on the right side if q_a ≥ x_a, and on the left side otherwise.  The other side
becomes pending, with |q_a − x_a| as a lower bound on the distance to its points.  After a leaf, the
search continues in the pending side whose plane is nearest to q; of equally near planes, in the
earliest.  If no side is pending, the last cell is looked up again.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from theory import machine
from theory.kinds import InputError, Integers, Within, checked
from theory.structures.clouds import Cloud, CloudQueries
from theory.structures.lookup import LookupCount


@checked
def kd_order(points: Cloud) -> np.ndarray:
    """The index of the point in each cell of a kd-tree, (…, N) for points (…, N, d).

    The N points are stored in cells 0 … N − 1.  The middle cell of a range of cells is a node of
    the tree.  In one coordinate, which is coordinate 0 at the root, no point before the middle cell
    is above the node's point, and no point after the middle cell is below it.  The cells before and
    after the middle cell are divided in the same way by the next coordinate; after coordinate d − 1
    comes coordinate 0.
    """
    N, d = points.shape[-2:]
    flat = points.reshape(-1, N, d)
    order, brackets, axis = np.tile(np.arange(N), (len(flat), 1)), [(0, N)], 0
    while brackets:
        deeper = []
        for lo, hi in brackets:
            here = np.sort(order[:, lo:hi], axis=1)  # in the given order, which breaks ties
            by = np.take_along_axis(flat[:, :, axis], here, axis=1).argsort(axis=1, kind="stable")
            order[:, lo:hi] = np.take_along_axis(here, by, axis=1)
            middle = (lo + hi) // 2
            deeper += [(a, b) for a, b in ((lo, middle), (middle + 1, hi)) if b - a > 1]
        brackets, axis = deeper, (axis + 1) % d
    return order.reshape(points.shape[:-1])


@checked
def in_order(
    points: Cloud, order: Annotated[Any, Integers("... N", Within(least=0, below="N"))]
) -> np.ndarray:
    """The points in a given order, (…, N, d): row c is the point with index order[c].

    `points` has shape (…, N, d), and `order` has shape (…, N).  Raises ValueError if a row of
    `order` is not a permutation of 0 … N − 1.
    """
    if (np.sort(order) != np.arange(order.shape[-1])).any():
        raise InputError(
            f"a row of `order` repeats a number: give a permutation of 0 … {order.shape[-1] - 1} "
            "in each row"
        )
    return np.take_along_axis(points, order[..., None], axis=-2)


@checked
def kd_search(points: Cloud, queries: CloudQueries, lookups: LookupCount) -> np.ndarray:
    """The cells that a nearest-neighbour search in a kd-tree looks up, (…, m, M) for M = `lookups`.

    Points (…, N, d) are in the order of the cells of the kd-tree, as sorted by `kd_order`.  The m
    queries have shape (…, m, d).  The plane of a node contains the node's point and divides the
    other points of its subtree by one coordinate.  The search descends from the root, on the
    query's side of each node's plane.  After a leaf, it takes the plane nearest to the query among
    the planes with an unsearched side, and continues on that side.  Raises ValueError for arrays
    that do not fit in memory.
    """
    x, q, M = points, queries, lookups
    n_queries = q.size // q.shape[-1]
    machine.fits_in_memory(
        f"{M} lookups of {n_queries} queries", 48 * M * n_queries, "give fewer queries"
    )
    N, d = x.shape[-2:]
    m = q.shape[-2]
    flat, each_query = x.reshape(-1, N, d), q.reshape(-1, d)
    row, each = np.repeat(np.arange(len(flat)), m), np.arange(len(each_query))
    # A bracket is (lo, hi, depth); a pending bracket also has the distance of its plane.
    bracket = np.tile([0, N, 0], (len(each_query), 1))
    pending = np.zeros((len(each_query), M, 3), dtype=np.int64)
    distance = np.full((len(each_query), M), np.inf)
    cells, cell = (
        np.zeros((len(each_query), M), dtype=np.int64),
        np.zeros(len(each_query), dtype=np.int64),
    )
    for i in range(M):
        empty = bracket[:, 1] <= bracket[:, 0]
        first = distance.argmin(axis=1)
        resumed = empty & np.isfinite(distance[each, first])
        bracket[resumed] = pending[resumed, first[resumed]]
        distance[resumed, first[resumed]] = np.inf
        lo, hi, depth = bracket.T
        inside = hi > lo
        cell = np.where(inside, (lo + hi) // 2, cell)
        cells[:, i] = cell
        axis = depth % d
        own, plane = each_query[each, axis], flat[row, cell, axis]
        right, away = own >= plane, _distance(own, plane)
        below = np.stack([lo, cell, depth + 1], axis=1), np.stack([cell + 1, hi, depth + 1], axis=1)
        far = np.where(right[:, None], *below)
        left_over = inside & (far[:, 1] > far[:, 0])
        pending[:, i] = far
        distance[:, i] = np.where(left_over, away, np.inf)
        bracket = np.where(inside[:, None], np.where(right[:, None], *below[::-1]), bracket)
    return cells.reshape(*q.shape[:-1], M)


def _distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The distances |a − b| of numbers; those of int64 can exceed int64, but fit in uint64."""
    if a.dtype.kind == b.dtype.kind == "i":
        return np.maximum(a, b).astype(np.uint64) - np.minimum(a, b).astype(np.uint64)
    return np.asarray(abs(a - b))
