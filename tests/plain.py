"""Models that tests make of parts: tokens as they are, an answer at each."""

import numpy as np
import torch

from constructions.attention import Attention
from constructions.interface import Interface, Prompt
from constructions.transformer import Transformer


class Plain(Interface):
    """Tokens as they are, all of them examples."""

    def check(self, like, *inputs):
        return inputs

    def write(self, xp, *inputs):
        return Prompt(inputs[0], inputs[0].shape[-2])

    def read(self, outputs, *inputs):
        return outputs


def plain(embed, blocks, unembed, stream, **more):
    """A transformer of these parts."""
    given = {"interface": Plain(), "stream": stream, "name": "", "source": ""}
    return Transformer(embed, blocks, unembed, **given | more)


def integers(rng, *shape, size=2):
    """Small whole numbers: sums and products of them are exact in float64."""
    return torch.as_tensor(rng.integers(-size, size + 1, shape).astype(np.float64))


def an_attention(rng, normalise, mask, heads=2, D=4, d_head=3, d_value=2, scale=1.0):
    shapes = ((heads, D, d_head), (heads, D, d_head), (heads, D, d_value), (heads, d_value, D))
    W = [integers(rng, *shape) for shape in shapes]
    b = [integers(rng, heads, d_head) for _ in range(2)]
    return Attention(*W, *b, normalise=normalise, mask=mask, scale=scale)
