"""Tests of whether moves of points that are not looked up change the registers of a query."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from constructions.transformer import Transformer


def lookups_of(model: Transformer, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The cells of all lookups according to the layer invariants of a model, (…, m, M)."""
    return np.concatenate([stage.holds(points, queries) for stage in model.stages], axis=-1)


def changed_queries(
    model: Transformer, points: np.ndarray, moved: np.ndarray, queries: np.ndarray
) -> Iterator[str]:
    """The queries whose registers differ after some layer if points are replaced by moved points.

    Queries have shape (sets, 1, …).  The iterator yields a description of each changed query in
    words.
    """
    pairs = zip(model.streams(points, queries), model.streams(moved, queries), strict=True)
    for before, after in pairs:
        differs = (before[:, -1] != after[:, -1]).any(-1).numpy()
        yield from (f"{model.name}: query {each.tolist()}" for each in queries[differs])
