"""Interventions: a model over tokens with the attention of one layer replaced."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import numpy as np

from constructions.attention import Attention
from constructions.tokens import in_front
from constructions.trained import PatchedAttention, RedirectedAttention
from constructions.trained.patching import Places, Weights
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, checked


@checked
def redirected(model: Transformer, layer: Count, places: Places) -> Transformer:
    """The model with a layer in which the heads of token t attend only to position places[i, t].

    `places` (m, T) contains a position below T for each token of sequence i, or −1, for which
    attention is not changed. Layers are counted from 1, and positions from 0, without tokens such
    as BOS that the model puts in front of a sequence. The result can be called with m sequences of
    T tokens; it shares its weights with the model.

    Raises `ValueError` for a model that is not over tokens, for a layer that the model does not
    have or that has no heads, and for positions that a sequence of T tokens does not have.
    """
    front = in_front(model)
    moved = np.where(places >= 0, places + front, -1)
    filled = np.pad(moved, ((0, 0), (front, 0)), constant_values=-1)
    return changed(model, layer, lambda heads: RedirectedAttention(heads, filled))


@checked
def patched(model: Transformer, layer: Count, pattern: Weights) -> Transformer:
    """The model with a layer whose heads all have the attention weights `pattern`.

    Row t of pattern[i] contains the weights of token t of sequence i; if it is 0, the heads keep
    their own weights for this token. `pattern` has shape (m, T, T), and T includes the tokens that
    the model puts in front of a sequence, such as BOS. Layers are counted from 1. The result can be
    called with m such sequences; it shares its weights with the model.

    Raises `ValueError` for a layer that the model does not have or that has no heads.
    """
    return changed(model, layer, lambda heads: PatchedAttention(heads, pattern))


def changed(
    model: Transformer, layer: int, change: Callable[[Attention], Attention]
) -> Transformer:
    """A copy of the model, with shared weights, in which change(heads) replaces a layer's heads."""
    if layer > model.n_layers or model.blocks[layer - 1].attn is None:
        raise InputError(
            f"layer is {layer}, and the model has {model.n_layers} layers: give a layer with heads"
        )
    copy = deepcopy(model, {id(weights): weights for weights in model.parameters()})
    block = copy.blocks[layer - 1]
    assert block.attn is not None
    block.attn = change(block.attn)
    return copy
