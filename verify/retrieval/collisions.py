"""Two strings of Alice's with the same message: what a layer that sends too little must have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from flint import fmpz_mat

from theory.checks import InputError
from verify.evidence.formats import FORMATS
from verify.retrieval.messages import Message, Split, fractions

KEPT = 256  # messages from which the search by merging goes on
WINDOW, FILLS = 64, 8  # places in one lattice, and ways to fill the others with a short vector

Choices = Sequence[tuple[int, int]]
Pair = tuple[list[int], list[int]]
Fill = Callable[[Sequence[int]], list[int]]


def collision(
    split: Split, choices: Choices, fill: Fill, rng: np.random.Generator, tries: Iterable[Any]
) -> Pair | None:
    """Two choices of Alice's symbols with the same message, or None if none is found.

    She has two different symbols to choose from at each of her places; `fill` makes a prompt of her
    choice.  Messages of hardmax, and unrounded ones, are put together place by place until two
    agree.  Rounded sums are linear in the choices: where two strings differ is a vector of entries
    −1, 0, 1, short in the lattice of the differences that one choice makes, and LLL finds it; each
    of the `tries` takes other places.

    Raises ValueError for softmax without a precision: balls do not tell equal sums from close ones.
    """
    if split.format is None and split.attn.normalise == "softmax":
        raise InputError(
            "sums of exponentials are known as balls, which never count as equal: give the split a "
            f"precision, one of {', '.join(FORMATS)}"
        )
    if split.format is None or split.attn.normalise == "hardmax":
        pairs = _by_merging(split, choices)
    else:
        pairs = _by_lattice(split, np.array(choices), fill, rng, tries)
    told = ((pair, [split.message(fill(held)) for held in pair]) for pair in pairs)
    return next((pair for pair, (one, other) in told if one == other), None)


def _by_merging(split: Split, choices: Choices) -> Iterator[Pair]:
    held: dict[Message, list[int]] = {split.nothing: []}
    for i, pair in enumerate(choices):
        before, held = held, {}
        for message, chosen in islice(before.items(), KEPT):
            for token in pair:
                merged = split.merge(message, split.part(token, split.alice[i]))
                if merged in held:
                    rest = [first for first, _ in choices[i + 1 :]]
                    yield [*held[merged], *rest], [*chosen, token, *rest]
                held[merged] = [*chosen, token]


def _by_lattice(
    split: Split, choices: np.ndarray, fill: Fill, rng: np.random.Generator, tries: Iterable[Any]
) -> Iterator[Pair]:
    """Pairs whose unrounded messages are close, so that the rounded ones may be equal."""
    assert split.format is not None
    B, places = len(choices), np.arange(len(choices))
    hers = zip(split.alice, choices.tolist(), strict=True)
    told = [[split.part(v, j) for v in pair] for j, pair in hers]
    numbers = np.array([[[float(x) for h in m for x in h] for m in pair] for pair in told])
    steps = numbers[:, 1] - numbers[:, 0]
    for _ in tries:
        window = rng.permutation(B)[:WINDOW]
        example = split.message(fill(choices[places, rng.integers(2, size=B)].tolist()))
        grains = [float(split.format.grain(fractions(x)[0])) for h in example for x in h]
        # In quarters of what rounding resolves: vectors as short as the entries of x are below it.
        scaled = np.clip(np.rint(4 * steps[window] / grains), -(2.0**62), 2.0**62)
        basis = np.hstack([scaled.astype(np.int64), np.eye(len(window), dtype=np.int64)])
        for row in fmpz_mat(basis.tolist()).lll().tolist():
            x = np.array(row[-len(window) :], dtype=object)
            if max(abs(x)) > 1:
                continue
            for _ in range(FILLS):
                first = rng.integers(2, size=B)
                second = first.copy()
                first[window[x != 0]], second[window[x != 0]] = x[x != 0] > 0, x[x != 0] < 0
                yield choices[places, first].tolist(), choices[places, second].tolist()
