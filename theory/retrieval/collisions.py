"""Two choices of one symbol at each place whose messages are equal, or close.

At each of B places one of two symbols is chosen, by a bit.  With more choices than messages two of
them have the same one; these are searches for such a pair.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from flint import fmpz_mat

KEPT = 256  # messages from which the search by merging goes on
WINDOW, FILLS = 64, 8  # places in one lattice, and ways to fill the others with a short vector

M = TypeVar("M", bound=Hashable)
Pair = tuple[Sequence[int], Sequence[int]]
"""Two choices, a bit for each place."""


def by_merging(
    parts: Sequence[tuple[M, M]], merge: Callable[[M, M], M], start: M
) -> Iterator[Pair]:
    """Pairs of choices whose messages are equal, put together place by place until two agree.

    `parts` (B, 2) are the messages of one symbol, `start` that of none.
    """
    held: dict[M, list[int]] = {start: []}
    for i, pair in enumerate(parts):
        before, held = held, {}
        for message, chosen in islice(before.items(), KEPT):
            for bit, part in enumerate(pair):
                merged = merge(message, part)
                if merged in held:
                    rest = [0] * (len(parts) - i - 1)
                    yield [*held[merged], *rest], [*chosen, bit, *rest]
                held[merged] = [*chosen, bit]


def by_lattice(
    steps: np.ndarray,
    grains: Callable[[Sequence[int]], Sequence[float]],
    rng: np.random.Generator,
    tries: Iterable[Any],
) -> Iterator[Pair]:
    """Pairs of choices whose sums Σ_t b_t·steps_t are close, so that the rounded ones may be equal.

    Their difference is a vector of entries −1, 0, 1, short in the lattice of `steps` (B, m), and
    LLL finds it; each of the `tries` takes other places.  `grains` maps a choice to what rounding
    resolves of each of its m sums.
    """
    B = len(steps)
    for _ in tries:
        window = rng.permutation(B)[:WINDOW]
        resolved = grains(rng.integers(2, size=B).tolist())
        # In quarters of what rounding resolves: vectors as short as the entries of x are below it.
        scaled = np.clip(np.rint(4 * steps[window] / resolved), -(2.0**62), 2.0**62)
        basis = np.hstack([scaled.astype(np.int64), np.eye(len(window), dtype=np.int64)])
        for row in fmpz_mat(basis.tolist()).lll().tolist():
            x = np.array(row[-len(window) :], dtype=object)
            if max(abs(x)) > 1:
                continue
            for _ in range(FILLS):
                first = rng.integers(2, size=B)
                second = first.copy()
                first[window[x != 0]], second[window[x != 0]] = x[x != 0] > 0, x[x != 0] < 0
                yield first.tolist(), second.tolist()
