"""Codes of tokens, written anew beside the constructions' own, and the head that finds a match."""

from __future__ import annotations

import numpy as np

from constructions.transformer import Transformer
from verify.evidence.gaps import States, at_positions, at_tokens


def token_codes(V: int) -> np.ndarray:
    """The binary digits of 0 … V − 1 as −1 and 1, and a last row 0 for ⊥, which −1 finds."""
    bits = max(1, (V - 1).bit_length())
    codes = [[1.0 if v >> b & 1 else -1.0 for b in range(bits)] for v in range(V)]
    return np.array([*codes, [0.0] * bits])


def codes_before(tokens: np.ndarray, V: int, order: int) -> dict[tuple[str, int], np.ndarray]:
    """What ("code before", s) stands for, s = 1 … order − 1: the code of the token s places before,
    0 if there is none; tokens (…, T) → (…, T, bits)."""
    T, codes = tokens.shape[-1], token_codes(V)
    none = np.full((*tokens.shape[:-1], order - 1), -1)
    padded = np.concatenate([none, tokens], axis=-1)
    starts = {s: order - 1 - s for s in range(1, order)}
    return {("code before", s): codes[padded[..., i : i + T]] for s, i in starts.items()}


def matching(model: Transformer, layer: int, register: str, start: int, latest: bool) -> States:
    """The states of a head by which a token finds the latest (or first) position whose `register`
    holds its own code: positions from `start` on can hold any code, those before it hold none, and
    position 0 is found where there is no match."""
    V, n = model.interface.vocabulary_size, model.interface.max_length
    # The codes of the weights; BOS, number V, has none.
    codes, later = at_tokens(model, "code")["code"], np.arange(start, n + 1)
    held = np.array([*[V] * start, *np.repeat(np.arange(V), len(later))])
    place = np.array([*range(start), *np.tile(later, V)])
    none = np.where(place == 0, 0.0, -np.inf)
    recency = place if latest else n + 1 - place
    preference = np.where(held == np.arange(V)[:, None], recency, none)
    keys = {register: codes[held], **at_positions(model, "rank", at=place)}
    return States(layer, {"code": codes[:V]}, keys, preference, place)
