"""Registers that store v as (v, −v), which layer norms without ε scale [ChiangCholak2022].

If every register contains a pair (v, −v), the mean of a token's stream is 0.  So a layer norm
divides the stream by its Euclidean norm and multiplies it by the square root of the width.  This
factor is positive, and ReLUs without bias are multiplied by the same factor.  So a second layer
norm, between head and MLP, would change nothing.  A score is multiplied by the factors of both
tokens.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from constructions.primitives import ReLU, Times
from constructions.stream import LinearRead, Map, Stream


@dataclass(frozen=True)
class Sides:
    """Registers that store one number v each, as v, or as (v, −v) if `layer_norm` is true."""

    names: tuple[str, ...]
    layer_norm: bool

    @property
    def signs(self) -> np.ndarray:
        """The signs of the coordinates of a register: [[1]], or [[1, −1]] with layer norms."""
        return np.array([[1.0, -1.0]] if self.layer_norm else [[1.0]])

    @property
    def stream(self) -> Stream:
        """The residual stream that consists of these registers."""
        width: int = self.signs.shape[1]
        return Stream(**dict.fromkeys(self.names, width))

    def read(self, name: str) -> LinearRead:
        """The linear read of the number v that the register `name` stores."""
        whole = self.stream.read(name)
        return whole @ Map(np.eye(2)[:, :1], "first") if self.layer_norm else whole

    def both(self, count: int = 1, times: float = 1.0) -> Times:
        """The linear map by which a head or an MLP writes to all sides of `count` registers."""
        if not self.layer_norm:
            return times
        return Map(times * np.kron(np.eye(count), self.signs), f"{times:g}·(1, −1)")

    def of(self, values: np.ndarray) -> np.ndarray:
        """The rows (rows, coordinates) of an embedding that give one register these values."""
        return np.outer(values, self.signs)

    def one_hot(self, *names: str) -> dict[str, np.ndarray]:
        """The one-hot rows of an embedding: symbol i is 1 in register names[i] and 0 elsewhere."""
        return dict(zip(names, map(self.of, np.eye(len(names))), strict=True))

    def erased(self, but: str) -> Iterable[ReLU]:
        """The ReLUs that erase all registers except `but` with layer norms; none without them."""
        away = Map(np.array([[-1.0, 1.0], [1.0, -1.0]]), "away")
        gone = [name for name in self.names if name != but] if self.layer_norm else []
        return [ReLU(self.stream.read(name), name, away) for name in gone]

    def scale(self, head: int) -> float:
        """The scale of attention scores: 1/√head, and width times this number with layer norms.

        `head` is the width of a head, and width is the width of the residual stream.  The factor of
        layer norms is √width for each of the two tokens, query and key.
        """
        return (self.stream.d_model if self.layer_norm else 1.0) / math.sqrt(head)

    @property
    def logits(self) -> Map:
        """The unembedding of a register to two logits, times √width if there are layer norms."""
        width = self.signs.shape[1]
        factor = math.sqrt(self.stream.d_model) if self.layer_norm else 1.0
        label = f"(0, √{self.stream.d_model})" if self.layer_norm else "(0, 1)"
        return Map(np.eye(width)[:, :1] * np.array([[0.0, factor]]), label)
