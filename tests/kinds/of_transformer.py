"""Tables for the transformer; `public.py` documents them."""

import torch

from constructions.blocks import Block, Embed, Stage, Unembed
from constructions.stream import Stream
from constructions.tokens import Tokens

EXAMPLES = {
    "Block": Block,
    "Embed": lambda: Embed(torch.eye(2)),
    "Interface": lambda: Tokens(2, 3),
    "Stage": lambda: Stage(0, "a", len),
    "Stream": lambda: Stream(a=2),
    "Unembed": lambda: Unembed(torch.eye(2)),
}
