"""Small models for tests of circuits, written as matrices."""

import numpy as np
import torch

from constructions import Stream, Transformer
from constructions.assembly import Head, block
from constructions.blocks import Embed, Unembed
from constructions.stream import one
from constructions.tokens import Tokens


def unembedding(W_U, b_U):
    return Unembed(torch.tensor(W_U, dtype=torch.float64), torch.tensor(b_U, dtype=torch.float64))


def redundant():
    """Bits x, of which a and b are two copies; the answer is whether 2a + b > 1.

    Of the copies only a decides: with b replaced, 2a + b > 1 still if and only if a = 1.  A head
    copies a to c, which nothing reads.
    """
    stream = Stream(a=1, b=1, c=1)
    copied = Head(one, one, stream.read("a"), "c")
    return Transformer(
        Embed(torch.tensor([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]], dtype=torch.float64)),
        [block(stream, [copied], normalise="hardmax", mask="causal")],
        unembedding([[0.0, 2.0], [0.0, 1.0], [0.0, 0.0]], [0.0, -1.0]),
        interface=Tokens(2, 3),
        stream=stream,
        source="a test",
    )


def two_layers(W_O, W_Q):
    """A head writes its value, one number, by W_O (1 × 2) to r; the next reads r by W_Q (2 × 1)."""
    stream = Stream(x=1, r=2, y=1)
    x, y = np.eye(4)[:, :1], np.eye(4)[3:]
    zero = np.zeros((4, 1))
    first = (zero, zero, x, np.pad(W_O, ((0, 0), (1, 1))))
    second = (np.pad(W_Q, ((1, 1), (0, 0))), x, x, y)
    blocks = []
    for weights in (first, second):
        layer = block(stream, [Head(one, one, stream.read("x"), "y")], normalise="hardmax")
        for name, W in zip(("W_Q", "W_K", "W_V", "W_O"), weights, strict=True):
            getattr(layer.attn, name).data = torch.tensor(W[None], dtype=torch.float64)
        blocks.append(layer)
    return Transformer(
        Embed(torch.tensor([[0.0] * 4, [1.0, 0, 0, 0]], dtype=torch.float64)),
        blocks,
        unembedding([[0.0, 0.0]] * 3 + [[0.0, 1.0]], [0.0, 0.0]),
        interface=Tokens(2, 3),
        stream=stream,
        source="a test",
    )
