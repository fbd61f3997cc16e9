"""The head by which a token finds the latest, or the first, position that holds its own code."""

from __future__ import annotations

import numpy as np

from constructions.transformer import Transformer
from verify.evidence.gaps import States, at_positions, at_tokens


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
