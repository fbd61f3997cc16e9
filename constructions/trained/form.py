"""What a task asks of the shape of a model, below both."""

from __future__ import annotations

from typing import NamedTuple

from constructions.attention import Mask
from constructions.interface import Interface

SOURCE = "trained; see constructions/trained"  # of every model here


class Form(NamedTuple):
    """What a model must be to read a task's prompts."""

    interface: Interface
    d_in: int  # columns of a token, or the size of the vocabulary
    d_out: int  # columns of the read-out
    positions: int = 0  # tokens that are told apart by where they stand, 0 for none
    mask: Mask = "causal"
    scale: float | None = None  # of attention scores; None for 1/√(width of a head)
    rows: int | None = None  # of the embedding that a token is a sum of; None for 1 or all of them
