"""Tokens renumbered: the rank of each among the distinct entries of its own sequence."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from theory.kinds import Count, Within

Few: TypeAlias = Annotated[Count, Within(most=10_000)]
"""Symbols of a vocabulary over which a definition sums one by one."""


def ranks(values: np.ndarray) -> np.ndarray:
    """For integer values (…, T): how many distinct smaller entries the sequence has (…, T), int64.

    Equal entries keep equal numbers and the order stays, but the numbers are now below T, however
    large the vocabulary.
    """
    order = np.argsort(values, axis=-1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=-1)
    dense = np.zeros(values.shape, dtype=np.int64)
    np.cumsum(ascending[..., 1:] != ascending[..., :-1], axis=-1, out=dense[..., 1:])
    result = np.empty_like(dense)
    np.put_along_axis(result, order, dense, axis=-1)
    return result
