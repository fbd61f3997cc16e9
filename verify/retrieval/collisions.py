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
    """Two choices of Alice's symbols with the same message, or None if none is found.

    `choices` are the two symbols that can stand at each of Alice's positions; `fill` returns the
    prompt with the chosen symbols.  Messages of hardmax and unrounded messages are merged position
    by position. Rounded sums are linear in the choices, and close sums are found by lattice
    reduction.

    Raises ValueError for softmax without a precision, since balls cannot be compared for equality.
    """
    if split.format is None and split.attn.normalise == "softmax":
        raise InputError(
            "the precision is None, and sums of exponentials are then balls, which cannot be "
            f"compared for equality: give the split a precision, one of {', '.join(FORMATS)}"
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
