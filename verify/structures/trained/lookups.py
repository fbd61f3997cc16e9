"""What trained search networks do, lookup by lookup: measured as any strategy is."""

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
LEVEL = 0.9973  # of an interval: as rarely missed as three standard errors
CHUNK = 200  # sets measured in one batch
INSIDE = f"by intervals of {LEVEL:.2%}"


class Share(NamedTuple):
    """A fraction: `times` of `of` independent queries; its value is NaN for none."""

    times: int
    of: int

    @property
    def value(self) -> float:
        """The fraction."""
        return self.times / self.of if self.of else np.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Where the probability is, by Clopper and Pearson."""
        return clopper_pearson(self.times, self.of, LEVEL) if self.of else (0.0, 1.0)

    def __str__(self) -> str:
        return f"{100 * self.value:.1f}"


class Measured(NamedTuple):
    """Of a network on sets of points with a query each: which of the points each lookup shows
    (sets, M), N + t an extra cell t, the nearest one (sets,), and the cells of all points
    (sets, N)."""

    shown: np.ndarray
    nearest: np.ndarray
    place: np.ndarray

    @property
    def found(self) -> np.ndarray:
        """Whether the nearest one is among the first i, (sets, M)."""
        return np.logical_or.accumulate(self.shown == self.nearest[:, None], axis=1)

    @property
    def by_lookup(self) -> list[Share]:
        """Accuracy by lookup."""
        return [Share(int(column.sum()), len(column)) for column in self.found.T]

    @property
    def descends(self) -> bool:
        """Whether more cells hold the point of their rank in descending than in ascending order."""
        N = self.place.shape[1]
        up, down = ((self.place == row).sum() for row in (np.arange(N), np.arange(N)[::-1]))
        return bool(down > up)

    @property
    def in_order(self) -> np.ndarray:
        """The fraction of cells of each set that hold the point of their rank, (sets,), for points
        that were given in ascending order; in the direction that more of all cells have."""
        N = self.place.shape[1]
        row = np.arange(N)[::-1] if self.descends else np.arange(N)
        return np.asarray((self.place == row).mean(1))

    def at(self, cells: np.ndarray) -> list[Share]:
        """Of queries that are not found before lookup i, how many look at these cells (sets, M) of
        points in ascending order."""
        open_ = np.hstack([np.ones((len(self.found), 1), dtype=bool), ~self.found[:, :-1]])
        same = (self.shown == cells) & open_
        return [Share(int(s.sum()), int(o.sum())) for s, o in zip(same.T, open_.T, strict=True)]


def measure(
    model: Any, points: np.ndarray, queries: np.ndarray, nearest: np.ndarray | None = None
) -> Measured:
    """Points (sets, N) in ascending order, and queries (sets,); or (sets, N, d) and (sets, d).  The
    nearest point (sets,) is that at the least distance, if it is not given.

    The network is given the points in another order, lest equal scores leave them sorted.
    """
    mixed = _mixed(points)
    x = torch.as_tensor(_given(points, mixed), dtype=model.like.dtype)
    with torch.no_grad():
        order = torch.cat([model.order(part) for part in x.split(CHUNK)]).numpy()
    place = np.take_along_axis(mixed, order, axis=1).argsort(1)
    if nearest is None:
        cloud, asked = points.reshape(*points.shape[:2], -1), queries.reshape(len(points), 1, -1)
        nearest = np.square(cloud - asked).sum(-1).argmin(1)
    return Measured(shown(model, points, queries), nearest, place)


def shown(model: Any, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """What the lookups show (sets, M), of points and queries as `measure` has them."""
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
    """The decision tree of a network that compares, (2^M − 1,) cells in ascending order of what
    they hold, as `found_at` takes trees: its input is < or > and nothing else."""
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
                    cells.fill_(-float(sign))  # the query 0 is above or below what it sees
                    logits = search.send(at)
                    node = 2 * node + (2 if sign > 0 else 1)
    return N - 1 - tree if descends else tree


def finds(tree: np.ndarray, N: int) -> list[int]:
    """The lookup at which a tree finds each of N targets."""
    return [int(at) for at in found_at(tree[None], N)[0]]


def told(shares: Sequence[Share]) -> str:
    """Fractions in per cent, in a row."""
    return " ".join(map(str, shares))


def over(
    id: str, name: str, shares: Sequence[Share], bounds: Sequence[float], *, wanted: str
) -> Finding:
    """That every fraction is above its bound: by intervals."""
    return _apart(id, name, shares, bounds, 1, wanted)


def under(
    id: str, name: str, shares: Sequence[Share], bounds: Sequence[float], *, wanted: str
) -> Finding:
    """That every fraction is below its bound: by intervals."""
    return _apart(id, name, shares, bounds, -1, wanted)


def _apart(
    id: str, name: str, shares: Sequence[Share], bounds: Sequence[float], side: int, wanted: str
) -> Finding:
    pairs = zip(shares, bounds, strict=True)
    leads = [sorted(side * (end - b) for end in share.interval) for share, b in pairs]
    verdict = Verdict.FAILS if min(high for _, high in leads) < 0 else Verdict.UNDECIDED
    if min(low for low, _ in leads) > 0:
        verdict = Verdict.HOLDS
    measured = [{"share": share.value, "interval": list(share.interval)} for share in shares]
    words = f"{told(shares)} % of {max(share.of for share in shares)}"
    beside = f"{wanted} {' '.join(f'{100 * bound:.1f}' for bound in bounds)}, {INSIDE}"
    return Finding(id, name, "trained", measured, list(bounds), verdict, words, beside)


def before(name: str) -> Any:
    """The model of a checkpoint with the weights that training began with."""
    return untrained(configuration_of(name)).requires_grad_(False)


def cells(
    name: str, least: float, found: Measured, points: np.ndarray, queries: np.ndarray
) -> Finding:
    """That more than a fraction `least` of lookups, while nothing is found, are at the next cell of
    an algorithm."""
    ends = (-1.0, 1.0) if abs(points).max() <= 1 else (points.min() - 1, points.max() + 1)
    at = next_cells(found.shown, points, queries, *ends)
    shares = found.at(at[name])
    finding = over(
        "cells" if name == "interpolation" else name,
        f"lookups at {name} search's next cell, while not found",
        shares,
        [least] * len(shares),
        wanted="above",
    )
    if name == "interpolation":
        finding.words += f"; at binary search's {told(found.at(at['binary']))} %"
    return finding
