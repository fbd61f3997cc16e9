"""Attention and circuits of trained and built induction heads."""

from __future__ import annotations

import numpy as np

from constructions.transformer import Transformer
from verify.interpret.attention import attended as attention_at
from verify.interpret.attention import patterns_of


def attention_of(model: Transformer, tokens: np.ndarray) -> list[np.ndarray]:
    """The attention weights (m, T, T) of the head of each layer, for m sequences of T tokens.

    The result is a list with an array for each layer. Tokens that the model puts before a
    sequence, such as BOS, are omitted.
    """
    return [each[..., 0, :, :] for each in patterns_of(model, tokens)]


def attended(attention: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The mean attention weight (m,) at given positions, for each of m sequences.

    `attention` (m, T, T) contains the weight of every key for every query. `place` (m, T) contains
    a position for every query, or −1. The mean of the weights at these positions is over all
    queries whose entry of `place` is not −1.
    """
    weights = attention_at(attention[:, None], place)[:, 0]
    return np.asarray(weights.sum(-1) / (place >= 0).sum(-1))


def circuits_of(model: Transformer) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The matrices of three circuits of an induction head, with the column of each largest entry.

    position  W_pos W_Q¹ (W_pos W_K¹)ᵀ (T × T), keys j ≤ i only: scores of layer 1 by positions
    match     W_E W_Q² (W_E W_V¹ W_O¹ W_K²)ᵀ (V × V): scores of layer 2 by the tokens whose
              values layer 1 has written there
    copy      W_E W_V² W_O² W_U (V × V): logits that layer 2 adds, by the token attended to
    """
    assert model.pos_embed is not None
    E, P, U = model.embed.W_E, model.pos_embed.W_pos, model.unembed.W_U
    first, second = (block.attn for block in model.blocks if block.attn is not None)
    queries = P @ first.W_Q[0] + first.b_Q[0]
    position = (queries @ (P @ first.W_K[0]).T).double().numpy()
    position[np.triu_indices(len(position), 1)] = -np.inf
    values = E @ first.W_V[0] @ first.W_O[0]
    match = (E @ second.W_Q[0] + second.b_Q[0]) @ (values @ second.W_K[0]).T
    copy = E @ second.W_V[0] @ second.W_O[0] @ U
    return {
        "position": (position[1:], np.arange(len(P) - 1)),
        "match": (match.double().numpy(), np.arange(len(E))),
        "copy": (copy.double().numpy(), np.arange(len(E))),
    }
