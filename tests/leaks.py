"""The softmax weight of what hardmax does not attend to, beside what a head's margin allows."""

from copy import deepcopy
from typing import Any

from constructions.transformer import Transformer


def leaks(model: Transformer, sharpness: float, *inputs: Any) -> list[tuple[float, float]]:
    """By layer and head: the largest on these inputs, the stream being that of hardmax, and the
    bound that follows from the margin."""
    seen, found = model.prompt(*inputs).n_examples, []
    for block, H in zip(model.blocks, model.streams(*inputs), strict=False):
        if block.attn is None:
            continue
        soft = deepcopy(block.attn)
        soft.normalise, soft.scale = "softmax", sharpness
        stray = soft.pattern(H, seen) * (block.attn.pattern(H, seen) == 0)
        most = stray.sum(-1).amax(-1).reshape(-1, block.attn.n_heads).amax(0)
        bounds = (m.leak(sharpness, 0.0, model.interface.context - 1) for m in block.margins)
        found += zip(most.tolist(), bounds, strict=True)
    return found
