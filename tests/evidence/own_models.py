"""Models over tokens, written for the tests of `certify`, and functions that define them."""

from __future__ import annotations

from typing import Any

import numpy as np

from constructions.assembly import Head, block, rows
from constructions.blocks import Embed, PosEmbed, Stage
from constructions.call import construction
from constructions.margins import Margin
from constructions.primitives import Staircase
from constructions.stream import Stream, one
from constructions.tokens import Tokens, decode
from constructions.transformer import Transformer


def earlier(tokens: list[int]) -> int:
    """The position of the last earlier occurrence of the last token, −1 if there is none."""
    return max((j for j, v in enumerate(tokens[:-1]) if v == tokens[-1]), default=-1)


def distinct(tokens: list[int]) -> int:
    """The number of different tokens modulo 3."""
    return len({*tokens}) % 3


@construction
def earlier_model(vocabulary_size: int, max_length: int, gap: float = 1.0) -> Transformer:
    V, n = vocabulary_size, max_length
    stream = Stream(token=V, rank=1, place=n, answer=n)
    head = _earlier(stream, n, stream.read("place"), "answer", gap)
    return Transformer(
        Embed(rows(stream, token=np.eye(V + 1, V))),
        [block(stream, [head], normalise="hardmax", mask="strictly causal")],
        decode(stream, stream.read("answer"), np.eye(n), bottom=0.5),
        pos_embed=PosEmbed(rows(stream, rank=_ranks(n), place=np.eye(n + 1, n, -1))),
        interface=Tokens(V, n, prefix=(V,), labels=n, margin=0.5, bottom=True),
        stream=stream,
        stages=(Stage(1, "answer", lambda tokens: _places(tokens, n)),),
        source="tests",
    )


@construction
def largest_model(vocabulary_size: int, max_length: int, margin: Margin) -> Transformer:
    """The largest token so far."""
    values = np.arange(vocabulary_size, dtype=float)
    stream = Stream(token=1, answer=1)
    token, answer = stream.read("token"), stream.read("answer")
    head = Head(one, token, token, "answer", margin=margin)
    return Transformer(
        Embed(rows(stream, token=values)),
        [block(stream, [head], normalise="hardmax", mask="causal")],
        decode(stream, answer, 2 * values[:, None], bias=-(values**2)),
        interface=Tokens(vocabulary_size, max_length, margin=1.0),
        stream=stream,
        source="tests",
    )


@construction
def distinct_model(vocabulary_size: int, max_length: int) -> Transformer:
    V, n = vocabulary_size, max_length
    stream = Stream(token=V, rank=1, bos=1, new=1, count=1, answer=3)
    new, count, answer = map(stream.read, ("new", "count", "answer"))
    residues = np.eye(3)[np.arange(V + 1) % 3]  # BOS counts as new
    steps = Staircase(
        count, np.arange(1.0, V + 2), np.ones(V + 1), np.diff(residues, axis=0, prepend=0), "answer"
    )
    first = _earlier(stream, n, stream.read("bos"), "new", 1.0)
    return Transformer(
        Embed(rows(stream, token=np.eye(V + 1, V), bos=np.eye(V + 1)[:, V])),
        [
            block(stream, [first], normalise="hardmax", mask="strictly causal"),
            block(stream, [Head(one, one, new, "count")], [steps], mask="causal"),
        ],
        decode(stream, answer, np.eye(3)),
        pos_embed=PosEmbed(rows(stream, rank=_ranks(n))),
        interface=Tokens(V, n, prefix=(V,), labels=3, margin=1.0),
        stream=stream,
        source="tests",
    )


def _earlier(stream: Stream, n: int, value: Any, into: str, gap: float) -> Head:
    token, rank = map(stream.read, ("token", "rank"))
    return Head(((n + 1) * token, one), (token, rank), value, into, margin=Margin(gap))


def _ranks(n: int) -> np.ndarray:
    return np.r_[n + 1, 1 : n + 1]


def _places(tokens: np.ndarray, n: int) -> np.ndarray:
    flat = tokens.reshape(-1, tokens.shape[-1]).tolist()
    found = [[earlier(row[: t + 1]) for t in range(len(row))] for row in flat]
    return np.vstack([np.eye(n), np.zeros(n)])[np.reshape(found, tokens.shape)]
