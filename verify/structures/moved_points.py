"""Points in cells that are not looked at, moved: what a query holds does not change."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from constructions.transformer import Transformer


def lookups_of(model: Transformer, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """What the registers of all lookups hold by the layer invariants, (…, m, M)."""
    return np.concatenate([stage.holds(points, queries) for stage in model.stages], axis=-1)


def noticed(
    model: Transformer, points: np.ndarray, moved: np.ndarray, queries: np.ndarray
) -> Iterator[str]:
    """Queries (sets, 1, …) that hold other numbers, after whatever layer, when points are moved."""
    pairs = zip(model.streams(points, queries), model.streams(moved, queries), strict=True)
    for before, after in pairs:
        differs = (before[:, -1] != after[:, -1]).any(-1).numpy()
        yield from (f"{model.name}: query {each.tolist()}" for each in queries[differs])
