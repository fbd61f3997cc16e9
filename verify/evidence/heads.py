"""The products of a head's weights, compared with the products in the proof.

The output of a head depends only on [W_Q; b_Q] [W_K; b_K]ᵀ and W_V W_O, so a statement about these
products holds for every prompt.  Softmax and hardmax are invariant under a constant added to all
scores.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from constructions.transformer import Transformer
from verify.evidence.gaps import exact_product
from verify.finding import Finding, Verdict

CONSTANT = "1"
Products = Mapping[tuple[str, str], float]
"""(register, register) → factor: the map from the first to the second is factor·identity; the
constant 1 has the name "1"."""


def head_is(
    id: str, model: Transformer, layers: range, scores: Products, values: Products
) -> Finding:
    """The finding that the first head of each of these layers has the stated weights, exactly.

    Layers are counted from 1. `scores` maps pairs of registers (query, key) to factors: the head's
    scores must be Σ factor·⟨query, key⟩ over these pairs. `values` maps pairs of registers
    (value, output) to factors: the head must add factor·value to each register `output`.
    """
    off, exact, place = 0.0, bool(layers), dict(zip(model.stream, _places(model), strict=True))
    place[CONSTANT] = np.array([model.d_model])
    for layer in layers:
        attn = model.blocks[layer - 1].attn
        assert attn is not None
        query, key = (
            np.vstack([getattr(attn, f"W_{x}")[0].numpy(), getattr(attn, f"b_{x}")[0].numpy()])
            for x in "QK"
        )
        products = (
            exact_product(query, key.T),
            exact_product(attn.W_V[0].numpy(), attn.W_O[0].numpy()),
        )
        for (found, alike), stated in zip(products, (scores, values), strict=True):
            wanted = np.zeros_like(found)
            for (first, second), factor in stated.items():
                wanted[place[first], place[second]] += factor
            seen = slice(model.d_model)  # the last column of scores is the same for all keys
            off = max(off, float(abs(found - wanted)[:, seen].max()))
            exact = exact and alike
    score = " + ".join(f"{factor:g}·⟨{a}, {b}⟩" for (a, b), factor in scores.items()) or "0"
    output = ", ".join(f"{factor:g}·{a} to {b}" for (a, b), factor in values.items()) or "0"
    score = score.replace("+ -", "− ")
    words = f"the score is {score}"
    if scores:
        words += ", where ⟨a, b⟩ is the inner product of register a of the query and register b "
        words += "of the key"
        if any(CONSTANT in pair for pair in scores):
            words += f" ({CONSTANT} is a register of value 1)"
    words += f"; the head adds the attended token's {output}"
    where = f"layers {layers[0]} to {layers[-1]}" if len(layers) > 1 else f"layer {layers.start}"
    return Finding(
        id,
        f"scores and outputs of the head of {where}, for every prompt",
        "proved" if exact else "float",
        off,
        0,
        Verdict.of(off == 0) if exact else Verdict.UNDECIDED,
        words if off == 0 else f"weights differ by up to {off:g}",
        "as proved",
    )


def _places(model: Transformer) -> list[np.ndarray]:
    return [np.r_[model.stream[name]] for name in model.stream]
