"""The head by which a token attends to the latest, or the first, position with a matching code."""

from __future__ import annotations

import numpy as np

from constructions.transformer import Transformer
from verify.evidence.gaps import States, at_positions, at_tokens


def matching(model: Transformer, layer: int, register: str, start: int, latest: bool) -> States:
    """The queries and keys of a head that compares the code of a token with a `register` of keys.

    A token attends to the latest (or first) position at which `register` equals the code of the
    token. If there is no such position, the token attends to position 0. From position `start` on,
    the register can be any code; at earlier positions the register is 0.
    """
    V, n = model.interface.vocabulary_size, model.interface.max_length
    # The codes in the weights; the code of BOS, number V, is 0.
    codes, later = at_tokens(model, "code")["code"], np.arange(start, n + 1)
    token = np.array([*[V] * start, *np.repeat(np.arange(V), len(later))])
    place = np.array([*range(start), *np.tile(later, V)])
    none = np.where(place == 0, 0.0, -np.inf)
    recency = place if latest else n + 1 - place
    preference = np.where(token == np.arange(V)[:, None], recency, none)
    keys = {register: codes[token], **at_positions(model, "rank", at=place)}
    return States(layer, {"code": codes[:V]}, keys, preference, place)
