"""The keys that hardmax heads cache of the earlier tokens: those that some query can attend.

Each of these caches takes keys with their values, and returns the sum of the values of the best
keys for a query, and their number.  Heads that read the same keys share a cache, in which the value
of a key contains those of all of its heads.  A key that is not cached is dominated: for every query
some other key has a larger score.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from constructions.hulls import UpperHull

Values = tuple[float, ...]
Sums = tuple[Sequence[float], int]  # the sum of values, and their number


class CachedKeys(Protocol):
    """The keys that are cached for some heads."""

    def __init__(self, heads: int) -> None: ...

    def __len__(self) -> int:
        """The number of cached keys."""

    def add(self, key: Sequence[float], value: Values) -> None:
        """Adds a key with its value."""

    def best(self, query: Sequence[float], head: int) -> Sums:
        """The sum of the values of the best keys for a query of a head, and their number."""


class Hulls:
    """Keys (x, y, z…) of score u·x + y + Σ_i w_i z_i: the upper hull of (x, y) for each z."""

    def __init__(self, heads: int) -> None:
        self.heads = heads
        self.hulls: dict[tuple[float, ...], UpperHull] = {}

    def __len__(self) -> int:
        """The largest number of keys of a hull."""
        return max(map(len, self.hulls.values()), default=0)

    def add(self, key: Sequence[float], value: Values) -> None:
        """Adds a key, and drops those that it dominates."""
        x, y, *rest = map(_integer, key)
        z = tuple(rest)
        if z not in self.hulls:
            self.hulls[z] = UpperHull(self.heads)
        self.hulls[z].add(x, y, value)

    def best(self, query: Sequence[float], head: int) -> Sums:
        """The query is (u, w…), or empty if the score is y."""
        u, *w = map(_integer, query) if query else (0,)
        if not w:
            (hull,) = self.hulls.values()
            return hull.best(u, 1, head)[1:]
        found = [
            (top + sum(a * b for a, b in zip(w, z, strict=True)), total, count)
            for z, hull in self.hulls.items()
            for top, total, count in [hull.best(u, 1, head)]
        ]
        largest = max(score for score, _, _ in found)
        return _together((total, count) for score, total, count in found if score == largest)


class Plane:
    """Keys (x, y) of score u·x + v·y: all of them, and the hulls for v > 0 and for v < 0.

    The hull of a sign is formed when it is first needed. For v = 0, all keys are read.
    """

    def __init__(self, heads: int) -> None:
        self.seen: list[tuple[float, float, Values]] = []
        self.hulls = {1: UpperHull(heads), -1: UpperHull(heads)}
        self.added = {1: 0, -1: 0}  # how many keys are in the hull of each sign

    def __len__(self) -> int:
        """The number of keys."""
        return len(self.seen)

    def add(self, key: Sequence[float], value: Values) -> None:
        """Adds a key."""
        x, y = map(_integer, key)
        self.seen.append((x, y, value))

    def best(self, query: Sequence[float], head: int) -> Sums:
        """The query is (u, v)."""
        u, v = map(_integer, query)
        if not v:
            top = max(u * x for x, _, _ in self.seen)
            return _together((value, 1) for x, _, value in self.seen if u * x == top)
        sign = 1 if v > 0 else -1
        hull = self.hulls[sign]
        for i in range(self.added[sign], len(self.seen)):
            x, y, value = self.seen[i]
            hull.add(x, sign * y, value)
        self.added[sign] = len(self.seen)
        return hull.best(u, abs(v), head)[1:]


class Table:
    """Keys (y, z…) of score y + Σ_i w_i z_i: the largest y for each z, in arrays.

    A query takes time proportional to the number of different z.
    """

    def __init__(self, heads: int) -> None:
        self.rows: dict[tuple[float, ...], int] = {}
        self.keys = np.empty((0, 0))  # (y, z…) in the first rows; the others are free
        self.sums: list[Sums] = []

    def __len__(self) -> int:
        """The number of different z."""
        return len(self.rows)

    def add(self, key: Sequence[float], value: Values) -> None:
        """Adds a key, unless its y is smaller than the largest for this z."""
        y, *rest = key
        row = self.rows.setdefault(tuple(rest), len(self.rows))
        if row == len(self.sums):
            if row == len(self.keys):
                more = np.empty((max(row, 16), len(key)))
                self.keys = np.concatenate([self.keys.reshape(row, len(key)), more])
            self.keys[row] = key
            self.sums.append((value, 1))
        elif y == self.keys[row, 0]:
            self.sums[row] = _together([self.sums[row], (value, 1)])
        elif y > self.keys[row, 0]:
            self.keys[row, 0], self.sums[row] = y, (value, 1)

    def best(self, query: Sequence[float], head: int) -> Sums:
        """The query is (w…)."""
        scores = self.keys[: len(self.sums)] @ np.array([1.0, *query])
        largest = np.flatnonzero(scores == scores.max())
        return _together(self.sums[row] for row in largest)


def _together(found: Iterable[Sums]) -> Sums:
    """The sums of sums and of numbers."""
    first, *others = found
    if not others:
        return first
    totals, counts = zip(first, *others, strict=True)
    return [sum(column) for column in zip(*totals, strict=True)], sum(counts)


def _integer(number: float) -> float:
    """A float that is an integer as an `int`, whose products are exact at any size."""
    return int(number) if number.is_integer() else number
