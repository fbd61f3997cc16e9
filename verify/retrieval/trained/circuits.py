"""Attention, circuits and linear probes of trained and built induction heads."""

from __future__ import annotations

import copy

import numpy as np

from constructions.trained.patching import RedirectedAttention
from constructions.transformer import Transformer
from verify.retrieval.snapshots import snapshots


def attention_of(model: Transformer, tokens: np.ndarray) -> list[np.ndarray]:
    """The attention weights (m, T, T) of the head of each layer, for m sequences of T tokens.

    The result is a list with an array for each layer. Tokens that the model puts before a
    sequence, such as BOS, are omitted.
    """
    front = len(model.interface.prefix)
    return [each.patterns[..., 0, front:, front:] for each in snapshots(model, tokens)]


def attended(attention: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The mean attention weight (m,) at given positions, for each of m sequences.

    `attention` (m, T, T) contains the weight of every key for every query. `place` (m, T) contains
    a position for every query, or −1. The mean of the weights at these positions is over all
    queries whose entry of `place` is not −1.
    """
    weights = np.take_along_axis(attention, np.maximum(place, 0)[..., None], axis=-1)[..., 0]
    return np.asarray(np.where(place >= 0, weights, 0).sum(-1) / (place >= 0).sum(-1))


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


def looking_at(model: Transformer, layer: int, places: np.ndarray) -> Transformer:
    """A copy of the model in which the head of one layer attends to given positions.

    Token t of sequence i attends to position places[i, t], with weight 1.
    """
    changed = copy.deepcopy(model)
    block = changed.blocks[layer - 1]
    assert block.attn is not None
    front = len(model.interface.prefix)  # tokens of the prefix attend to the first prefix token
    block.attn = RedirectedAttention(block.attn, np.pad(places + front, ((0, 0), (front, 0))))
    return changed


def decoded(
    model: Transformer, built: Transformer, tokens: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The residuals of linear probes of a trained model for each register of the built model.

    A probe is a linear map from the stream of the trained model to the last content of a register
    of the built model, fitted to the first half of the sequences. The result maps each register to
    two arrays for the h other sequences. The first array (layers + 1, h) contains the squared
    residuals of the probes after the embedding and after every layer. The second array (h,)
    contains the squared deviations of the register from its mean. So the R² of a probe is 1 minus
    the sum of the residuals over the sum of the deviations.
    """
    half, prefix = len(tokens) // 2, len(built.interface.prefix)
    *_, final = built.streams(tokens)
    registers = final[:, prefix:].double().numpy()
    seen, hidden = registers[:half].reshape(-1, registers.shape[-1]), registers[half:]
    squares = []
    for H in model.streams(tokens):
        X = np.concatenate([H.double().numpy(), np.ones((*tokens.shape, 1))], axis=-1)
        W = np.linalg.lstsq(X[:half].reshape(-1, X.shape[-1]), seen, rcond=1e-9)[0]
        squares.append(((X[half:] @ W - hidden) ** 2).sum(1))
    left, whole = np.array(squares), ((hidden - seen.mean(0)) ** 2).sum(1)
    places = {register: built.stream[register] for register in built.stream}
    return {r: (left[..., at].sum(-1), whole[:, at].sum(-1)) for r, at in places.items()}
