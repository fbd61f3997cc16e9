"""A search for two inputs of Alice with the same message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from theory.kinds import InputError, Seed
from theory.retrieval.collisions import by_lattice, by_merging
from verify.evidence.formats import FORMATS
from verify.retrieval.messages import Message, Split, fractions

Pair = tuple[list[int], list[int]]


def collision(
    split: Split,
    choices: Sequence[tuple[int, int]],
    fill: Callable[[Sequence[int]], list[int]],
    seed: Seed,
    tries: Iterable[Any],
) -> Pair | None:
    """Two choices of Alice's symbols with the same message, or None if the search finds none.

    `choices` contains the two symbols that can stand at each of Alice's positions, and `fill`
    returns the prompt with the chosen symbols. If `split` has hardmax attention or no precision,
    equal messages are found by merging the messages of Alice's symbols position by position.
    Otherwise the message contains rounded sums. Before rounding, the sums are linear in the
    choices, and choices with close sums are found by lattice reduction.

    Raises ValueError for softmax attention without a precision, because sums of exponentials are
    then computed in balls, which cannot be compared for equality.
    """
    if split.format is None and split.attn.normalise == "softmax":
        raise InputError(
            "without a `precision`, the messages of softmax attention are balls, which cannot be "
            "compared for equality: give Split a `precision`, one of "
            f"{', '.join(FORMATS)}"
        )

    def symbols(bits: Sequence[int]) -> list[int]:
        return [pair[bit] for pair, bit in zip(choices, bits, strict=True)]

    def message(bits: Sequence[int]) -> Message:
        return split.message(fill(symbols(bits)))

    def quanta(bits: Sequence[int]) -> list[float]:
        assert split.format is not None
        return [float(split.format.ulp(fractions(x)[0])) for h in message(bits) for x in h]

    at_positions = zip(split.alice, choices, strict=True)
    parts = [(split.part(a, j), split.part(b, j)) for j, (a, b) in at_positions]
    if split.format is None or split.attn.normalise == "hardmax":
        pairs = by_merging(parts, split.merge, split.nothing)
    else:
        numbers = np.array([[[float(x) for h in m for x in h] for m in pair] for pair in parts])
        pairs = by_lattice(numbers[:, 1] - numbers[:, 0], quanta, seed, tries)
    return next(((symbols(a), symbols(b)) for a, b in pairs if message(a) == message(b)), None)
