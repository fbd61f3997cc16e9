"""What trained and built induction heads look at, and what their weights and streams hold."""

from __future__ import annotations

import copy

import numpy as np

from constructions.trained.patching import LooksAt
from constructions.transformer import Transformer
from verify.retrieval.snapshots import snapshots


def attention_of(model: Transformer, tokens: np.ndarray) -> list[np.ndarray]:
    """The attention (m, T, T) of each layer's only head, between the tokens themselves."""
    front = len(model.interface.prefix)
    return [each.patterns[..., 0, front:, front:] for each in snapshots(model, tokens)]


def attended(attention: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The share (m,) of attention (m, T, T) that goes to place (m, T), where that is not −1."""
    shares = np.take_along_axis(attention, np.maximum(place, 0)[..., None], axis=-1)[..., 0]
    return np.asarray(np.where(place >= 0, shares, 0).sum(-1) / (place >= 0).sum(-1))


def circuits_of(model: Transformer) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The maps between embedding, heads and read-out, and where each row should be largest.

    position  W_pos W_Q¹ (W_pos W_K¹)ᵀ (T × T), the past only: whom layer 1 looks at
    match     W_E W_Q² (W_E W_V¹ W_O¹ W_K²)ᵀ (V × V): whom layer 2 looks at, by the token that
              layer 1 has carried there
    copy      W_E W_V² W_O² W_U (V × V): what layer 2 says of the token that it looks at
    """
    assert model.pos_embed is not None
    E, P, U = model.embed.W_E, model.pos_embed.W_pos, model.unembed.W_U
    first, second = (block.attn for block in model.blocks if block.attn is not None)
    asked = P @ first.W_Q[0] + first.b_Q[0]
    position = (asked @ (P @ first.W_K[0]).T).double().numpy()
    position[np.triu_indices(len(position), 1)] = -np.inf
    carried = E @ first.W_V[0] @ first.W_O[0]
    match = (E @ second.W_Q[0] + second.b_Q[0]) @ (carried @ second.W_K[0]).T
    copy = E @ second.W_V[0] @ second.W_O[0] @ U
    return {
        "position": (position[1:], np.arange(len(P) - 1)),
        "match": (match.double().numpy(), np.arange(len(E))),
        "copy": (copy.double().numpy(), np.arange(len(E))),
    }


def looking_at(model: Transformer, layer: int, places: np.ndarray) -> Transformer:
    """The same weights, but the only head of a layer looks at these tokens: places (m, T), one for
    each token of the m sequences that it is asked about."""
    changed = copy.deepcopy(model)
    block = changed.blocks[layer - 1]
    assert block.attn is not None
    front = len(model.interface.prefix)  # tokens in front of the sequence look at the first of them
    block.attn = LooksAt(block.attn, np.pad(places + front, ((0, 0), (front, 0))))
    return changed


def decoded(
    model: Transformer, built: Transformer, tokens: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """How well each register of the built model is read off the trained stream, by sequence.

    Linear read-outs are fitted to the first half of the sequences.  Of the h others, squares that
    are left after the embedding and every layer, (layers + 1, h), and those of the register without
    its mean, (h,): R² is 1 − Σ left / Σ whole.
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
