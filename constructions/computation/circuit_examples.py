"""Small transformers with unique-hard and average-hard heads, as examples for `to_circuit`.

BOS is at position 0 and the symbols are at positions 1 … T.  The output after each symbol is a bit.

contains_aa     outputs whether there were two 1s in a row so far.  In layer 1, position j attends
                to position j − 1, and the MLP writes 1 to `pair` if both symbols are 1.  Layer 2
                attends to the latest token where `pair` is 1; if there is none, each token
                attends to itself, where `pair` is 0.
marked_majority outputs whether there were more 1s at odd than at even positions so far.  The 1s
                share the largest score, and one head averages their values, which are +1 at odd
                and −1 at even positions.  BOS has half the score of a 1, and the value 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Block, Embed, PosEmbed, Stage, Unembed
from constructions.call import construction
from constructions.margins import Margin
from constructions.primitives import And
from constructions.stream import LinearRead, Map, Stream, one
from constructions.tokens import Tokens, latest, placed, sizes
from constructions.transformer import Transformer
from theory.kinds import Count

SOURCE = "weightwright"


@construction
def contains_aa(max_length: Count) -> Transformer:
    """Returns a model that outputs, after each bit, whether there were two 1s in a row so far.

    Words have at most max_length bits.  The model has 2 layers of 1 head, width 6 and 1 ReLU.
    """
    _, T = sizes(2, max_length)
    stream = Stream(x=1, before=1, pair=1, j=1, norm=1, answer=1)
    x, before, pair, j, norm, answer = map(stream.read, stream)
    blocks = [
        block(
            stream,
            [placed(j - one, (j, norm), x, "before")],
            [And((x, before), "pair")],
            normalise="hardmax",
            mask="causal",
        ),
        block(stream, [latest(pair, j, pair, "answer", T)], normalise="hardmax", mask="causal"),
    ]
    stages = Stage(1, "pair", _pair), Stage(2, "answer", _any_pair)
    codes = {"x": (0, 1, 0)}
    return _model(stream, codes, blocks, _bit(stream, answer), stages, T)


@construction
def marked_majority(max_length: Count) -> Transformer:
    """Returns a model that outputs, after each bit, whether more 1s are at odd than even positions.

    The 1s up to the bit are counted.  Words have at most max_length bits.  The model has 1 layer of
    1 head and width 3.
    """
    _, T = sizes(2, max_length)
    stream = Stream(mark=1, side=1, answer=1)
    mark, side, answer = map(stream.read, stream)
    head = Head(one, mark, side, "answer", margin=Margin(1.0, graded=False, ties=True))
    blocks = [block(stream, [head], normalise="hardmax", mask="causal")]
    codes = {"mark": (0, 2, 1)}
    here = np.arange(T + 1)
    sides = {"side": np.where(here == 0, 0.0, -((-1.0) ** here))}
    # If the mean is positive, it is at least 1/(T + 1).
    delta = 2.0 ** -(T + 1).bit_length() / 2
    output = _bit(stream, answer, delta)
    stages = (Stage(1, "answer", _mean_side),)
    return _model(stream, codes, blocks, output, stages, T, delta, sides)


def _pair(words: np.ndarray) -> np.ndarray:
    """Whether the symbol at each position and the previous symbol are 1."""
    before = np.pad(words[..., :-1], [(0, 0)] * (words.ndim - 1) + [(1, 0)])
    return (words & before)[..., None]


def _any_pair(words: np.ndarray) -> np.ndarray:
    """Whether the word so far contains two 1s in a row."""
    return np.maximum.accumulate(_pair(words), axis=-2)


def _mean_side(words: np.ndarray) -> np.ndarray:
    """The mean, over the 1s so far, of 1 at odd and −1 at even positions; 0 if there are no 1s."""
    sides = words * (1 - 2 * (np.arange(words.shape[-1]) % 2))
    count = np.maximum(np.cumsum(words, axis=-1), 1)
    return (np.cumsum(sides, axis=-1) / count)[..., None]


def _bit(stream: Stream, answer: LinearRead, delta: float = 1.0) -> Unembed:
    """The unembedding that tests whether the register is above δ/2: logits δ and 2·answer."""
    return unembed(stream, answer @ Map(np.array([[0.0, 2.0]]), "bit"), bias=np.array([delta, 0.0]))


def _model(
    stream: Stream,
    codes: Mapping[str, Sequence[int]],
    blocks: list[Block],
    output: Unembed,
    stages: tuple[Stage, ...],
    T: int,
    margin: float = 1.0,
    positions: dict[str, np.ndarray] | None = None,
) -> Transformer:
    embed = rows(stream, **{name: np.array(column) for name, column in codes.items()})
    here, V = np.arange(T + 1), len(embed) - 1
    line = {"j": here, "norm": here**2}
    placed_at = {n: values for n, values in line.items() if n in stream} | (positions or {})
    pos_embed = PosEmbed(rows(stream, **placed_at)) if placed_at else None
    return Transformer(
        Embed(embed),
        blocks,
        output,
        pos_embed=pos_embed,
        interface=Tokens(V, T, prefix=(V,), labels=2, margin=margin),
        stream=stream,
        stages=stages,
        source=SOURCE,
    )
