"""Heads of different rules and masks beside each other, in torch's own encoder."""

import pytest
import torch

from constructions.attention import Attention
from constructions.blocks import Block, Embed, Unembed
from constructions.stock import to_encoder
from constructions.stream import Stream
from constructions.tokens import Tokens
from constructions.transformer import Transformer


def attention(normalise, mask):
    """One head with the scores x_j/4, which adds the attended x_j to the last coordinate."""
    W = {part: torch.zeros(1, 3, 1, dtype=torch.float64) for part in "QKV"}
    W["Q"][0, 1, 0] = W["K"][0, 0, 0] = 0.5
    W["V"][0, 0, 0] = 1.0
    W_O = torch.tensor([[[0.0, 0.0, 1.0]]], dtype=torch.float64)
    zero = torch.zeros(1, 1, dtype=torch.float64)
    return Attention(W["Q"], W["K"], W["V"], W_O, zero, zero, normalise=normalise, mask=mask)


@pytest.mark.parametrize("first", [("linear", "full"), ("softmax", "full"), ("linear", "causal")])
@pytest.mark.parametrize("rule", ["linear", "softmax"])
@pytest.mark.parametrize("mask", ["full", "causal", "strictly causal", "diagonal"])
def test_heads_of_all_masks_stand_together(first, rule, mask):
    one = torch.ones(2, 1, dtype=torch.float64)
    x = torch.tensor([[-1.0], [1.0]], dtype=torch.float64)
    model = Transformer(
        Embed(torch.hstack([x, one, 0 * one])),
        [Block(attention(*first), None), Block(attention(rule, mask), None)],
        Unembed(torch.tensor([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0]], dtype=torch.float64)),
        interface=Tokens(2, 4),
        stream=Stream(x=1, one=1, out=1),
        name="two heads",
        source="a test",
    )
    words = [[1, 0, 1, 1], [0, 0, 1, 0], [0, 1, 1, 0]]
    stock = to_encoder(model, words)
    errors = (stock.logits(words) - model.logits(words)).abs()
    assert float(errors.max()) <= float(stock.bound(words).max()) < 1e-9
