"""Two strings of Alice's with the same message: what a layer that sends too little must have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from theory.kinds import InputError
from theory.retrieval.collisions import by_lattice, by_merging
from verify.evidence.formats import FORMATS
from verify.retrieval.messages import Message, Split, fractions

Pair = tuple[list[int], list[int]]


def collision(
    split: Split,
    choices: Sequence[tuple[int, int]],
    fill: Callable[[Sequence[int]], list[int]],
    rng: np.random.Generator,
    tries: Iterable[Any],
) -> Pair | None:
    """Two choices of Alice's symbols with the same message, or None if none is found.

    She has two different symbols to choose from at each of her places; `fill` makes a prompt of her
    choice.  Messages of hardmax, and unrounded ones, are merged place by place; rounded sums are
    linear in the choices, and a lattice gives those that are close.

    Raises ValueError for softmax without a precision: balls do not tell equal sums from close ones.
    """
    if split.format is None and split.attn.normalise == "softmax":
        raise InputError(
            "sums of exponentials are known as balls, which never count as equal: give the split a "
            f"precision, one of {', '.join(FORMATS)}"
        )

    def held(bits: Sequence[int]) -> list[int]:
        return [pair[bit] for pair, bit in zip(choices, bits, strict=True)]

    def message(bits: Sequence[int]) -> Message:
        return split.message(fill(held(bits)))

    def grains(bits: Sequence[int]) -> list[float]:
        assert split.format is not None
        return [float(split.format.ulp(fractions(x)[0])) for h in message(bits) for x in h]

    hers = zip(split.alice, choices, strict=True)
    parts = [(split.part(a, j), split.part(b, j)) for j, (a, b) in hers]
    if split.format is None or split.attn.normalise == "hardmax":
        pairs = by_merging(parts, split.merge, split.nothing)
    else:
        numbers = np.array([[[float(x) for h in m for x in h] for m in pair] for pair in parts])
        pairs = by_lattice(numbers[:, 1] - numbers[:, 0], grains, rng, tries)
    return next(((held(a), held(b)) for a, b in pairs if message(a) == message(b)), None)
