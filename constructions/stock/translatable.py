"""Checks that a model can be written with softmax heads of one mask; the error names the layer."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from constructions.blocks import check_own_heads
from constructions.transformer import Transformer
from theory.kinds import InputError


def layer_error(model: Any, number: int, why: str, instead: str) -> InputError:
    """The error for a layer that cannot be translated, with the reason and the remedy."""
    return InputError(f"layer {number} of {model.name} {why}: {instead}")


def check_translatable(model: Any, causal: bool) -> None:
    """Raises ValueError for a model with a layer that softmax heads of one mask cannot express."""
    if not isinstance(model, Transformer):
        raise InputError(
            f"a {type(model).__name__} is not a Transformer of this library: give a Transformer"
        )
    check_own_heads(model)
    norms = model.ln_final is not None
    for number, block in enumerate(model.blocks, start=1):
        norms |= block.ln1 is not None or block.ln2 is not None
        if block.norm is not None:
            raise layer_error(
                model,
                number,
                "normalises every token to norm 1",
                "give a model without unit norms, since a stock layer norm also subtracts the mean",
            )
        attn = block.attn
        if attn is not None and attn.normalise == "relu":
            raise layer_error(
                model,
                number,
                "has ReLU attention, which is not a sum of softmax heads",
                "give a construction of linear, softmax or hardmax heads",
            )
    if norms:
        raise InputError(
            f"{model.name} has layer norms, which the translation cannot express: give a "
            "construction without layer norms"
        )
    if causal:
        _reads_no_later_token(model)


def _reads_no_later_token(model: Transformer) -> None:
    """Raises ValueError unless, after the examples, no read depends on later tokens."""
    stale = np.zeros(model.d_model, dtype=bool)  # wrong in examples, under a causal mask
    for number, block in enumerate(model.blocks, start=1):
        written = stale.copy()
        for part in [] if block.attn is None else block.attn.parts():
            if part.mask == "full":
                raise layer_error(
                    model,
                    number,
                    "sees all tokens (mask full), but a causal model sees only earlier tokens",
                    "give a causal construction, or use to_encoder",
                )
            if part.mask == "diagonal":
                reads = part.W_Q, part.W_K, part.W_V
                if any(_reads(W, stale) for W in reads):
                    written |= _writes(part.W_O)
                continue
            if any(_reads(W, stale) for W in (part.W_K, part.W_V)):
                raise layer_error(
                    model,
                    number,
                    "reads states of examples that depend on later examples (context-only mask), "
                    "but in a causal model no token sees a later one",
                    "give a causal construction (causal=True, newton_with_pauses), or use "
                    "to_encoder",
                )
            if part.mask == "context-only" or _reads(part.W_Q, stale):
                written |= _writes(part.W_O)
        if block.mlp is not None:
            units = (array(block.mlp.W_in)[written] != 0).any(0)
            written |= (array(block.mlp.W_out)[units] != 0).any(0)
        stale = written


def _reads(W: Tensor, coordinates: np.ndarray) -> bool:
    return bool((array(W)[:, coordinates] != 0).any())


def _writes(W_O: Tensor) -> np.ndarray:
    return np.asarray((array(W_O) != 0).any((0, 1)))


def array(values: Tensor) -> np.ndarray:
    """Returns weights as a float64 array."""
    return np.asarray(values.detach().double().numpy())
