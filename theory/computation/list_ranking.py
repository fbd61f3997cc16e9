"""List ranking by pointer jumping: the number of elements from each element to the end of its list.

Every element has a successor `next`, which is 0 at the end of a list, and a rank, which is 1 at
first. A step computes

    rank ← rank + rank[next],   next ← next[next]

After k steps `next` points 2^k elements further, and the rank is the number of elements before that
one: 2^k, or the number of elements up to the end if this is smaller. If elements have a common
successor, the lists form a forest, and the rank of a node is the number of nodes on its path to the
root.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from theory.computation.pram import Program, Read, Set, Step, processors_fit
from theory.kinds import Count, InputError, OneSequence, Seed, Within, checked


@checked
def list_ranking(max_length: Count) -> Program:
    """The PRAM program for list ranking in ⌈log₂N⌉ steps, for at most N = max_length elements.

    The input is the successor of each element, which is 0 at the end of a list. The output is the
    rank of each element: the number of elements from this element to the end of its list, both
    included.
    """
    N = max_length
    processors_fit(N)
    jump = Step(
        reads=(Read("rank", ("next",), "a"), Read("next", ("next",), "b")),
        sets=(Set("rank", "plus", ("rank", "a")), Set("next", "copy", ("b",))),
    )
    return Program(
        f"list_ranking({N})",
        N,
        inputs=("next",),
        answer="rank",
        steps=(jump,),
        repeat=(N - 1).bit_length(),
        initial={"rank": (1,) * N},
    )


@checked
def ranks(successors: Annotated[OneSequence, Within(most="T")]) -> np.ndarray:
    """The rank of each of N elements, (N,): the number of elements up to the end of its list.

    The element itself and the last element of the list are counted. The ranks are computed by
    walking from each element to the end. `successors` (N,) contains the successor of each element,
    a number in 1 … N, or 0 at the end of a list. Raises `ValueError` for successors with a cycle.
    """
    following = np.concatenate([[0], successors])
    N = len(successors)
    place, rank = np.arange(1, N + 1), np.zeros(N, dtype=np.int64)
    for _ in range(N):
        rank += place > 0
        place = following[place]
    if place.any():
        raise InputError(
            f"the successors of element {np.flatnonzero(place)[0] + 1} lead into a cycle: "
            "give lists without cycles"
        )
    return rank


def all_lists(n: int) -> np.ndarray:
    """All arrays of successors of n elements without a cycle, as the rows of an array (…, n)."""
    rows = np.moveaxis(np.indices((n + 1,) * n), 0, -1).reshape(-1, n)
    place = np.broadcast_to(np.arange(1, n + 1), rows.shape)
    following = np.concatenate([np.zeros((len(rows), 1), dtype=int), rows], axis=1)
    for _ in range(n):
        place = np.take_along_axis(following, place, axis=1)
    return rows[(place == 0).all(axis=1)]


def random_list(n: Count, seed: Seed) -> np.ndarray:
    """The successors (n,) of one list of n elements in random order."""
    order = 1 + seed.permutation(n)
    successors = np.zeros(n, dtype=np.int64)
    successors[order[:-1] - 1] = order[1:]
    return successors
