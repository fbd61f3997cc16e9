"""The keys of a hardmax head that can be attended: the corners of a convex hull in the plane.

A head that reads keys in the plane gives a key (x, y) the score u·x + v·y, and its query (u, v) has
v > 0.  As a function of the key the score is linear, so its largest value over all keys is attained
on their upper hull, whatever u and v are.  A key below the hull is *dominated*: for every query,
some other key has a larger score.  Since keys are only added, a dominated key stays dominated, so
it is dropped and never read again.  Along the hull, from left to right, the score rises and then
falls, so the largest score is found by bisection: adding a key and answering a query both take
O(log n) comparisons for n keys on the hull, on average over the keys, each of which is dropped at
most once.  A key between others also moves the later entries of four lists.  The bisection starts
where the last query of the same head found its key, with steps that double, so a query whose key is
r places from there takes O(log r) comparisons.

Hardmax attention averages the values of all keys of largest score.  Equal keys are merged into one,
with the sum of their values and their number, and keys on an edge of the hull are kept, so that the
average is over the same keys as without a hull.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence


class UpperHull:
    """The upper hull of keys (x, y), with the sum of values and the number of keys at each corner.

    Its queries are those of `heads` heads. Numbers are Python numbers: with integers, nothing is
    rounded.
    """

    def __init__(self, heads: int = 1) -> None:
        self.near = [0] * heads  # where the last query of each head found its key
        self.x: list[float] = []
        self.y: list[float] = []
        self.sums: list[Sequence[float]] = []
        self.counts: list[int] = []

    def __len__(self) -> int:
        """The number of corners."""
        return len(self.x)

    def add(self, x: float, y: float, value: Sequence[float]) -> None:
        """Adds a key with its value, and drops the keys that it dominates."""
        X, Y = self.x, self.y
        i = bisect_left(X, x)
        if i < len(X) and X[i] == x:
            if y < Y[i]:
                return
            if y == Y[i]:
                self.sums[i] = [a + b for a, b in zip(self.sums[i], value, strict=True)]
                self.counts[i] += 1
                return
            Y[i], self.sums[i], self.counts[i] = y, value, 1
        else:
            if 0 < i < len(X) and _below(X[i - 1], Y[i - 1], x, y, X[i], Y[i]):
                return
            X.insert(i, x)
            Y.insert(i, y)
            self.sums.insert(i, value)
            self.counts.insert(i, 1)
        while i > 1 and _below(X[i - 2], Y[i - 2], X[i - 1], Y[i - 1], x, y):
            i -= 1
            self._drop(i)
        while i + 2 < len(X) and _below(x, y, X[i + 1], Y[i + 1], X[i + 2], Y[i + 2]):
            self._drop(i + 1)

    def _drop(self, i: int) -> None:
        del self.x[i], self.y[i], self.sums[i], self.counts[i]

    def best(self, u: float, v: float, head: int = 0) -> tuple[float, Sequence[float], int]:
        """The largest score u·x + v·y for v > 0, the sum of the values there and their number."""
        X, Y = self.x, self.y
        low, high, step = 0, len(X) - 1, 1
        middle = min(self.near[head], high - 1)
        while low < high:
            if u * (X[middle + 1] - X[middle]) + v * (Y[middle + 1] - Y[middle]) > 0:
                low = middle + 1
                middle += step
            else:
                high = middle
                middle -= step
            step *= 2
            if not low <= middle < high:
                middle = (low + high) // 2
        self.near[head] = low
        top, total, count = u * X[low] + v * Y[low], self.sums[low], self.counts[low]
        while low + 1 < len(X) and u * X[low + 1] + v * Y[low + 1] == top:
            low += 1
            total = [a + b for a, b in zip(total, self.sums[low], strict=True)]
            count += self.counts[low]
        return top, total, count


def _below(a: float, b: float, x: float, y: float, c: float, d: float) -> bool:
    """Whether (x, y) is below the line from (a, b) to (c, d), where a < x < c."""
    return (y - b) * (c - a) < (d - b) * (x - a)
