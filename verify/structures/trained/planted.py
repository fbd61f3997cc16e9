"""Strategies that replace trained lookup networks, to test that the findings detect them."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from types import SimpleNamespace

import torch
from torch import Tensor

from theory.structures import Strategy, binary_search, looked_at
from verify.evidence.checkpoints import Trained
from verify.structures.trained.lookups import Proportion


class Planted:
    """A search strategy with the interface of a trained lookup network.

    The cells are in ascending or descending order of the points, or in the given order if `jumbled`
    is true.
    """

    def __init__(
        self,
        strategy: Strategy,
        lookups: int,
        *,
        n: int = 7,
        descends: bool = False,
        jumbled: bool = False,
    ) -> None:
        self.strategy, self.descends, self.jumbled = strategy, descends, jumbled
        self.like = torch.zeros(1, dtype=torch.float64)
        self.interface = SimpleNamespace(lookups=lookups, n=n)

    def order(self, points: Tensor) -> Tensor:
        """The index of the point in each cell, (…, N) for points (…, N, 1)."""
        if self.jumbled:
            return torch.arange(points.shape[-2]).expand(points.shape[:-1])
        return points[..., 0].argsort(-1, descending=self.descends)

    def __call__(self, points: Tensor, queries: Tensor) -> Tensor:
        """The indices of the points at all lookups, (…, m, M), for queries (…, m)."""
        order = points.argsort(-1)
        cells = looked_at(self.strategy, points.gather(-1, order), queries, self.interface.lookups)
        of_each = order[..., None, :].expand(*queries.shape, -1)
        return of_each.gather(-1, torch.from_numpy(cells))

    def lookups(self, queries: Tensor, cells: Tensor) -> Generator[Tensor, Tensor, None]:
        """Binary search of cells (1, N, 1) for one query, by the signs of query − point only."""
        N, sign = cells.shape[-2], -1 if self.descends else 1
        lo, hi = -1, N
        for _ in range(self.interface.lookups):
            middle = max((lo + hi) // 2, 0)
            at = yield torch.eye(N)[middle, None, None]
            right = bool(sign * (queries - cells[:, at[0]]).sum() > 0)
            lo, hi = (middle, hi) if right else (lo, middle)


def by_binary_search(models: Iterable[Trained]) -> list[Trained]:
    """The given list of trained networks, with binary search in place of every network.

    Each planted model has the name of the network that it replaces.
    """
    found = []
    for name, model, task in models:
        interface = model.interface
        found.append(Trained(name, Planted(binary_search, interface.lookups, n=interface.n), task))
    return found


def all_found(proportions: Iterable[Proportion]) -> list[Proportion]:
    """Proportions of 1, for the numbers of queries in `proportions`."""
    return [Proportion(proportion.of, proportion.of) for proportion in proportions]


def none_found(proportions: Iterable[Proportion]) -> list[Proportion]:
    """Proportions of 0, for the numbers of queries in `proportions`."""
    return [Proportion(0, proportion.of) for proportion in proportions]
