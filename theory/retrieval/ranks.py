"""The rank of each token among the distinct tokens of its sequence."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from theory.kinds import Count, Within

Few: TypeAlias = Annotated[Count, Within(most=10_000)]
"""The size of a vocabulary whose symbols are enumerated one by one."""


def ranks(values: np.ndarray) -> np.ndarray:
    """The rank of each entry of integer sequences (…, T), as int64.

    The rank of an entry is the number of distinct smaller entries of its sequence. Equal entries
    have equal ranks, and a larger entry has a larger rank. Every rank is below T, however large
    the entries are.
    """
    order = np.argsort(values, axis=-1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=-1)
    dense = np.zeros(values.shape, dtype=np.int64)
    np.cumsum(ascending[..., 1:] != ascending[..., :-1], axis=-1, out=dense[..., 1:])
    result = np.empty_like(dense)
    np.put_along_axis(result, order, dense, axis=-1)
    return result
