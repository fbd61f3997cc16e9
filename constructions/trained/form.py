"""The requirements of a task on the shape of a model; tasks and shapes import this module."""

from __future__ import annotations

from typing import NamedTuple

from constructions.attention import Mask
from constructions.interface import Interface

SOURCE = "trained; see constructions/trained"  # the source of every trained model


class Form(NamedTuple):
    """The properties of a model that a task's prompts require."""

    interface: Interface
    d_in: int  # columns of a token, or the size of the vocabulary
    d_out: int  # columns of the unembedding
    positions: int = 0  # rows of the position embedding, or 0 without one
    mask: Mask = "causal"
    scale: float | None = None  # scale of attention scores; None for 1/√(width of a head)
    rows: int | None = None  # number of embedding rows that a token sums; None for 1 or d_in
