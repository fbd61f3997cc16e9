"""Registers that layer norms without an ε leave in proportion [ChiangCholak2022].

Where every register holds (v, −v) the mean of a token is 0, so that a norm divides by its length,
times the root of the width.  It multiplies a token by a positive number; units without a bias, of
the layer before and of the next, multiply along, and a second norm, between head and MLP, would
change nothing.  Scores get the factors of both tokens.
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
    """Registers of one number each, held as v, or as (v, −v) where `layer_norm` is true."""

    names: tuple[str, ...]
    layer_norm: bool

    @property
    def signs(self) -> np.ndarray:
        """The sides of one register, (1, 1) or (1, 2)."""
        return np.array([[1.0, -1.0]] if self.layer_norm else [[1.0]])

    @property
    def stream(self) -> Stream:
        """The registers."""
        width: int = self.signs.shape[1]
        return Stream(**dict.fromkeys(self.names, width))

    def read(self, name: str) -> LinearRead:
        """v."""
        whole = self.stream.read(name)
        return whole @ Map(np.eye(2)[:, :1], "first") if self.layer_norm else whole

    def both(self, count: int = 1, times: float = 1.0) -> Times:
        """What adds to both sides of so many registers."""
        if not self.layer_norm:
            return times
        return Map(times * np.kron(np.eye(count), self.signs), f"{times:g}·(1, −1)")

    def held(self, values: np.ndarray) -> np.ndarray:
        """The rows of tables that hold these, (rows, sides)."""
        return np.outer(values, self.signs)

    def letters(self, *names: str) -> dict[str, np.ndarray]:
        """One-hot rows."""
        return dict(zip(names, map(self.held, np.eye(len(names))), strict=True))

    def erased(self, kept: str) -> Iterable[ReLU]:
        """Where there are norms, units that take away all registers but one: relu(v), relu(−v)."""
        away = Map(np.array([[-1.0, 1.0], [1.0, -1.0]]), "away")
        gone = [name for name in self.names if name != kept] if self.layer_norm else []
        return [ReLU(self.stream.read(name), name, away) for name in gone]

    def scale(self, head: int) -> float:
        """1/√head for heads of this width, and √width of both tokens of length 1 after a norm."""
        return (self.stream.d_model if self.layer_norm else 1.0) / math.sqrt(head)

    @property
    def logits(self) -> Map:
        """Of the two answers from a register's sides, times √width after a norm."""
        width = self.signs.shape[1]
        said = math.sqrt(self.stream.d_model) if self.layer_norm else 1.0
        label = f"(0, √{self.stream.d_model})" if self.layer_norm else "(0, 1)"
        return Map(np.eye(width)[:, :1] * np.array([[0.0, said]]), label)
