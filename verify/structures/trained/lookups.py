"""Measurements of trained search networks at each lookup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from constructions.trained import configuration_of, untrained
from theory.memory.capacity import clopper_pearson
from theory.structures import found_at, next_cells
from verify.finding import Finding, Verdict

KIND = "a lookup network trained on search"
LEVEL = 0.9973  # coverage of an interval, that of three standard errors
CHUNK = 200  # sets measured in one batch
INSIDE = f"by {LEVEL:.2%} confidence intervals"


class Proportion(NamedTuple):
    """The fraction times/of of independent queries; NaN if there are no queries."""

    times: int
    of: int

    @property
    def value(self) -> float:
        """The fraction times/of."""
        return self.times / self.of if self.of else np.nan

    @property
    def interval(self) -> tuple[float, float]:
        """A Clopper–Pearson confidence interval for the probability."""
        return clopper_pearson(self.times, self.of, LEVEL) if self.of else (0.0, 1.0)

    def __str__(self) -> str:
        return f"{100 * self.value:.1f}"


class Measured(NamedTuple):
    """Lookups of a network on sets of N points, with one query for each set.

    shown     the index of the point at each of M lookups, (sets, M), or N + t for extra cell t
    nearest   the index of the nearest neighbour, (sets,)
    place     the cells of all points, (sets, N)
    """

    shown: np.ndarray
    nearest: np.ndarray
    place: np.ndarray

    @property
    def found(self) -> np.ndarray:
        """Whether the nearest neighbour is among the first i lookups, (sets, M) for i = 1 … M."""
        return np.logical_or.accumulate(self.shown == self.nearest[:, None], axis=1)

    @property
    def by_lookup(self) -> list[Proportion]:
        """The accuracy after each lookup."""
        return [Proportion(int(column.sum()), len(column)) for column in self.found.T]

    @property
    def descends(self) -> bool:
        """Whether the order of the cells is closer to the descending order of points than to the
        ascending.
        """
        N = self.place.shape[1]
        up, down = ((self.place == row).sum() for row in (np.arange(N), np.arange(N)[::-1]))
        return bool(down > up)

    @property
    def in_order(self) -> np.ndarray:
        """The fraction of cells c that contain the point of rank c, (sets,).

        Points are given in ascending order; cells can be in ascending or descending order
        (`descends`).
        """
        N = self.place.shape[1]
        row = np.arange(N)[::-1] if self.descends else np.arange(N)
        return np.asarray((self.place == row).mean(1))

    def at(self, cells: np.ndarray) -> list[Proportion]:
        """The fraction of lookups at the given cells, for each lookup, among queries not yet found.

        `cells` contains one cell for each of M lookups, (sets, M).  Cells are numbered in the
        ascending order of the points that they contain.
        """
        open_ = np.hstack([np.ones((len(self.found), 1), dtype=bool), ~self.found[:, :-1]])
        same = (self.shown == cells) & open_
        return [
            Proportion(int(s.sum()), int(o.sum())) for s, o in zip(same.T, open_.T, strict=True)
        ]


def measure(
    model: Any, points: np.ndarray, queries: np.ndarray, nearest: np.ndarray | None = None
) -> Measured:
    """The `Measured` lookups of a network, on ascending points (sets, N) and queries (sets,).

    Points in d dimensions, (sets, N, d), and queries (sets, d) are allowed, too.  By default, the
    nearest neighbours `nearest` (sets,) are computed from distances.  The network receives the
    points in a random order; in ascending order, points with equal scores would remain sorted.
    """
    mixed = _mixed(points)
    x = torch.as_tensor(_given(points, mixed), dtype=model.like.dtype)
    with torch.no_grad():
        order = torch.cat([model.order(part) for part in x.split(CHUNK)]).numpy()
    place = np.take_along_axis(mixed, order, axis=1).argsort(1)
    if nearest is None:
        cloud, centre = points.reshape(*points.shape[:2], -1), queries.reshape(len(points), 1, -1)
        nearest = np.square(cloud - centre).sum(-1).argmin(1)
    return Measured(shown(model, points, queries), nearest, place)


def shown(model: Any, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The index of the point at each of M lookups, (sets, M), as in `Measured`."""
    mixed, N, flat = _mixed(points), points.shape[1], points.ndim == 2
    x, q = (
        torch.as_tensor(each, dtype=model.like.dtype).split(CHUNK)
        for each in (_given(points, mixed), queries.reshape(len(points), 1, -1))
    )
    with torch.no_grad():
        parts = [
            model(*(each[..., 0] if flat else each for each in pair))[:, 0]
            for pair in zip(x, q, strict=True)
        ]
    seen = torch.cat(parts).numpy()
    extra = np.tile(np.arange(N, 1 + max(N - 1, seen.max())), (len(points), 1))
    return np.asarray(np.take_along_axis(np.hstack([mixed, extra]), seen, axis=1))


def _mixed(points: np.ndarray) -> np.ndarray:
    cells = np.tile(np.arange(points.shape[1]), (len(points), 1))
    return np.random.default_rng(0).permuted(cells, axis=1)


def _given(points: np.ndarray, mixed: np.ndarray) -> np.ndarray:
    cloud = points.reshape(*points.shape[:2], -1)
    return np.asarray(np.take_along_axis(cloud, mixed[..., None], axis=1))


def tree_of(model: Any, descends: bool) -> np.ndarray:
    """The decision tree of a network that receives only the outcomes < and >, (2^M − 1,) cells.

    M is the number of lookups.  The nodes are in the order of `theory.structures.found_at`, and
    cells are numbered in the ascending order of the points that they contain.  `descends` is true
    if the network orders the points in descending order.
    """
    M, N = model.interface.lookups, model.interface.n
    tree = np.zeros(2**M - 1, dtype=np.int64)
    for leaf in range(2 ** (M - 1)):
        signs = [1 if leaf >> (M - 2 - i) & 1 else -1 for i in range(M - 1)]
        node, cells = 0, torch.zeros(1, N, 1)
        search = model.lookups(torch.zeros(1, 1, 1), cells)
        with torch.no_grad():
            logits = next(search)
            for sign in [*signs, 0]:
                at = logits.argmax(-1)
                tree[node] = int(at)
                if sign:
                    cells.fill_(-float(sign))  # the query 0 is above or below the point
                    logits = search.send(at)
                    node = 2 * node + (2 if sign > 0 else 1)
    return N - 1 - tree if descends else tree


def finds(tree: np.ndarray, N: int) -> list[int]:
    """The number of the lookup in which a decision tree finds each of N targets; 0 if not found."""
    return [int(at) for at in found_at(tree[None], N)[0]]


def in_per_cent(proportions: Sequence[Proportion]) -> str:
    """Fractions in per cent, on one line."""
    return ", ".join(map(str, proportions))


def over(
    id: str, name: str, proportions: Sequence[Proportion], bounds: Sequence[float], *, wanted: str
) -> Finding:
    """The finding that every fraction is above its bound, by confidence intervals."""
    return _apart(id, name, proportions, bounds, 1, wanted)


def under(
    id: str, name: str, proportions: Sequence[Proportion], bounds: Sequence[float], *, wanted: str
) -> Finding:
    """The finding that every fraction is below its bound, by confidence intervals."""
    return _apart(id, name, proportions, bounds, -1, wanted)


def _apart(
    id: str,
    name: str,
    proportions: Sequence[Proportion],
    bounds: Sequence[float],
    side: int,
    wanted: str,
) -> Finding:
    pairs = zip(proportions, bounds, strict=True)
    leads = [sorted(side * (end - b) for end in proportion.interval) for proportion, b in pairs]
    verdict = Verdict.FAILS if min(high for _, high in leads) < 0 else Verdict.UNDECIDED
    if min(low for low, _ in leads) > 0:
        verdict = Verdict.HOLDS
    measured = [
        {"share": proportion.value, "interval": list(proportion.interval)}
        for proportion in proportions
    ]
    most = max(proportion.of for proportion in proportions)
    some = "" if all(proportion.of == most for proportion in proportions) else "at most "
    words = f"{in_per_cent(proportions)} % of {some}{most} queries"
    beside = f"{wanted} {', '.join(f'{100 * bound:.1f}' for bound in bounds)} %, {INSIDE}"
    return Finding(id, name, "trained", measured, list(bounds), verdict, words, beside)


def before(name: str) -> Any:
    """The model of a checkpoint with the initial weights of the training run."""
    return untrained(configuration_of(name)).requires_grad_(False)


def cells(
    name: str, least: float, found: Measured, points: np.ndarray, queries: np.ndarray
) -> Finding:
    """The finding that more than a fraction `least` of lookups are as an algorithm predicts.

    The prediction is the next cell of the algorithm `name`.  Only lookups of queries that are not
    yet found are counted.
    """
    ends = (-1.0, 1.0) if abs(points).max() <= 1 else (points.min() - 1, points.max() + 1)
    at = next_cells(found.shown, points, queries, *ends)
    proportions = found.at(at[name])
    finding = over(
        "cells" if name == "interpolation" else name,
        f"fraction of the lookups for queries not yet found that are at the next cell of {name} "
        "search, by lookup",
        proportions,
        [least] * len(proportions),
        wanted="above",
    )
    if name == "interpolation":
        of_binary = in_per_cent(found.at(at["binary"]))
        finding.words += f"; {of_binary} % are at the next cell of binary search"
    return finding
