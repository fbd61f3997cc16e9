"""Random models of small integer weights, in whose circuits nothing is arranged."""

import numpy as np
import torch

from constructions import Stream, Transformer
from constructions.attention import Attention
from constructions.blocks import MLP, Block, Embed, PosEmbed, Unembed
from constructions.tokens import Tokens

WIDTHS = {"a": 2, "b": 1, "c": 2}
VOCABULARY, LONGEST = 3, 2


def random_model(seed, normalise="hardmax", masks=("causal", "full"), layers=2):
    """Averages are of at most two tokens, so that no sum of a hardmax model is rounded."""
    rng = np.random.default_rng(seed)
    D, heads = sum(WIDTHS.values()), len(masks)

    def drawn(*shape, zero=0.6):
        entries = rng.integers(-2, 3, shape) * (rng.random(shape) > zero)
        return torch.from_numpy(entries.astype(np.float64))

    blocks = [
        Block(
            Attention(
                *(drawn(heads, D, 2) for _ in range(3)),
                drawn(heads, 2, D),
                *(drawn(heads, 2) for _ in range(2)),
                normalise=normalise,
                mask=masks,
            ),
            MLP(drawn(D, 3), drawn(3), drawn(3, D), drawn(D)) if layer == 0 else None,
        )
        for layer in range(layers)
    ]
    return Transformer(
        Embed(drawn(VOCABULARY, D, zero=0.3)),
        blocks,
        Unembed(drawn(D, 3, zero=0.3), drawn(3)),
        pos_embed=PosEmbed(drawn(LONGEST, D)),
        interface=Tokens(VOCABULARY, LONGEST),
        stream=Stream(**WIDTHS),
        source="a test",
    )
