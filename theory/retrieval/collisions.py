"""Searches for two strings whose messages are equal or close.

For each of B positions, a bit chooses one of two symbols.  If there are more choices than messages,
two choices have the same message by the pigeonhole principle. The functions of this module search
for such a pair.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from flint import fmpz_mat

from theory.kinds import Seed, read

BEAM = 256  # the number of messages from which the search by merging continues
WINDOW, FILLS = 64, 8  # positions per lattice; random choices elsewhere per short vector

M = TypeVar("M", bound=Hashable)
Pair = tuple[Sequence[int], Sequence[int]]
"""Two choices, one bit per position."""


def by_merging(
    parts: Sequence[tuple[M, M]], merge: Callable[[M, M], M], start: M
) -> Iterator[Pair]:
    """An iterator of pairs of choices of symbols with equal messages.

    A choice consists of one of two symbols at each of B positions. `parts` contains, for each
    position, the messages of the two symbols. `merge` returns the message of two joined parts, and
    `start` is the message of no symbols. The search extends prefixes of choices position by
    position.
    """
    reached: dict[M, list[int]] = {start: []}
    for i, pair in enumerate(parts):
        before, reached = reached, {}
        for message, chosen in islice(before.items(), BEAM):
            for bit, part in enumerate(pair):
                merged = merge(message, part)
                if merged in reached:
                    rest = [0] * (len(parts) - i - 1)
                    yield [*reached[merged], *rest], [*chosen, bit, *rest]
                reached[merged] = [*chosen, bit]


def by_lattice(
    steps: np.ndarray,
    quanta: Callable[[Sequence[int]], Sequence[float]],
    seed: Seed,
    tries: Iterable[Any],
) -> Iterator[Pair]:
    """An iterator of pairs of choices b, b' with close sums Σ_t b_t·steps_t and Σ_t b'_t·steps_t.

    Choices are vectors of B bits, and `steps` is (B, m), so a choice b has m sums. Close sums may
    be equal after rounding. The sums are close if the difference b − b' ∈ {−1, 0, 1}^B gives a
    short vector of the lattice that the rows of `steps` span. LLL searches for such vectors. Each
    of the `tries` uses a new random subset of the positions. For a choice, `quanta` returns the
    spacing of floating-point numbers at each of the m sums.
    """
    rng: np.random.Generator = read(Seed, "seed", seed)
    B = len(steps)
    for _ in tries:
        window = rng.permutation(B)[:WINDOW]
        spacing = quanta(rng.integers(2, size=B).tolist())
        # In quarters of the spacing, so that differences far below the spacing round to 0.
        scaled = np.clip(np.rint(4 * steps[window] / spacing), -(2.0**62), 2.0**62)
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
