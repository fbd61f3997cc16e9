"""The keys that hardmax heads cache of the earlier tokens: those that some query can attend.

Each of these caches takes keys with their values, and returns the sum of the values of the best
keys for a query, and their number.  Heads that read the same keys share a cache, in which the value
of a key contains those of all of its heads.  A key that is not cached is dominated: for every query
some other key has a larger score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Protocol, runtime_checkable

import numpy as np

from constructions.hulls import UpperHull

FEW = 64  # values of the further coordinates z, each of which has a hull
Values = tuple[float, ...]
Sums = tuple[Sequence[float], int]  # the sum of values, and their number


@runtime_checkable
class CachedKeys(Protocol):
    """The keys that are cached for some heads."""

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

    If all keys are on a paraboloid, y = −a‖z‖² with a > 0, as in lookups of positions, the score is
    a‖p‖² − a‖z − p‖² for the query w = 2a p. Then the key z = p, if there is one, is the only best
    key. Otherwise a query takes time proportional to the number of different z.
    """

    def __init__(self, heads: int) -> None:
        self.rows: dict[tuple[float, ...], int] = {}
        self.keys = np.empty((0, 0))  # (y, z…) in the first rows; the others are free
        self.sums: list[Sums] = []
        self.a: float | None = None  # None if all keys are 0, and 0 without a paraboloid

    def __len__(self) -> int:
        """The number of different z."""
        return len(self.rows)

    def add(self, key: Sequence[float], value: Values) -> None:
        """Adds a key, unless its y is smaller than the largest for this z."""
        y, *rest = key
        if self.a != 0:
            self._fit(y, sum(z * z for z in rest))
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

    def _fit(self, y: float, norm: float) -> None:
        """Sets a, or sets it to 0 if the key is not on the paraboloid of the others."""
        if self.a is None and norm:
            self.a = max(-y / norm, 0.0)
        if y != -(self.a or 0.0) * norm:
            self.a = 0.0

    def best(self, query: Sequence[float], head: int) -> Sums:
        """The query is (w…)."""
        if self.a:
            row = self.rows.get(tuple(w / (2 * self.a) for w in query))
            if row is not None:
                return self.sums[row]
        scores = self.keys[: len(self.sums)] @ np.array([1.0, *query])
        largest = np.flatnonzero(scores == scores.max())
        return _together(self.sums[row] for row in largest)


class Lookups:
    """The lookups of heads that read the same keys, on one growing sequence.

    `key`, `queries` and `values` are the widths of their keys, and of each head's queries and
    values.
    """

    def __init__(
        self,
        cache: Callable[[int], CachedKeys],
        mask: str,
        key: int,
        queries: Sequence[int],
        values: Sequence[int],
    ) -> None:
        self.new, self.mask = cache, mask
        self.key, *cuts, self.value = slices([key, *queries, sum(values)])
        self.queries, self.values, self.width = cuts, slices(values), self.value.stop
        self.grows = any(queries)  # without queries, the cache has one key
        self.clear()

    def clear(self) -> None:
        """Empties the cache."""
        self.cache, self.first = self.new(len(self.queries)), True

    def attended(self, read: list[float]) -> Iterable[float]:
        """The averages of the values that the heads attend to at the next token.

        Its key is added. `read` contains the token's key, the queries of all heads and their
        values, one after the other.
        """
        value = tuple(read[self.value])
        if self.mask == "diagonal":
            return value
        before = self.mask == "causal" or self.first  # the first token attends to itself
        if before:
            self.cache.add(read[self.key], value)
        averages = list[float]()
        for head, (query, values) in enumerate(zip(self.queries, self.values, strict=True)):
            total, count = self.cache.best(read[query], head)
            averages += total[values] if count == 1 else [n / count for n in total[values]]
        if not before:
            self.cache.add(read[self.key], value)
        self.first = False
        return averages


def arranged(
    free: Sequence[int],
    width: int,
    y_is_zero: bool,
    values: Callable[[Sequence[int]], float],
    paraboloid: Callable[[Sequence[int]], bool],
) -> tuple[Callable[[int], CachedKeys], list[int], list[int]]:
    """The cache for a number of heads, and the coordinates of their queries and keys, in order.

    `free` are the coordinates, of `width`, that are not equal in all queries. The others add y to
    the score, which is coordinate `width` of the keys, and coordinate `width` + 1 is 0. `values` is
    an upper bound on the number of values of some coordinates of the keys. `paraboloid` is whether
    coordinate `width` and other coordinates of all keys are on a paraboloid.
    """
    if len(free) == 2 and y_is_zero:
        return Plane, [*free], [*free]
    if not free:
        return Hulls, [], [width + 1, width]
    x, *z = query = sorted(free, key=lambda i: values([i]), reverse=True)
    if not z or (values(z) <= FEW and not paraboloid(query)):
        return Hulls, query, [x, width, *z]
    return Table, query, [width, *query]


def different(rows: np.ndarray) -> int:
    """The number of different rows."""
    if rows.shape[1] == 1:
        return len(np.unique(rows))
    return len(np.unique(rows, axis=0))


def on_paraboloid(y: np.ndarray, z: np.ndarray) -> bool:
    """Whether y = −a‖z‖² for all keys (y, z), with a number a > 0."""
    norms = (z * z).sum(-1)
    last = int(norms.argmax())
    if not norms[last] or y[last] >= 0:
        return False
    return bool((y == y[last] / norms[last] * norms).all())


def slices(widths: Sequence[int]) -> list[slice]:
    """Where runs of these widths are, one after the other."""
    ends = [0, *accumulate(widths)]
    return [slice(*each) for each in pairwise(ends)]


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
