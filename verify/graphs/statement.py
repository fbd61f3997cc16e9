"""What a claim states of a construction on graphs, for every number of nodes and layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from constructions.transformer import Transformer


@dataclass(frozen=True)
class OverGraphs:
    """A construction of L layers on graphs of n nodes.

    label      what tells it from others of its claim
    theorem    the entry of the ledger that states the model's sizes
    build      (n, L) → the model, with the planted fault if any
    outputs    (graphs (…, n, n), L) → its outputs (…, n, n) by definition
    """

    label: str
    theorem: str
    build: Callable[[int, int], Transformer]
    outputs: Callable[[np.ndarray, int], np.ndarray]

    def at(self, n: int, L: int) -> Case:
        """The statement for graphs of n nodes and L layers."""
        return Case(self, n, L)


@dataclass(frozen=True)
class Case:
    """A statement on graphs at one size."""

    of: OverGraphs
    n: int
    L: int

    @cached_property
    def model(self) -> Transformer:
        """The model of this size, with the planted fault if any."""
        return self.of.build(self.n, self.L)

    def outputs(self, A: np.ndarray) -> np.ndarray:
        """The outputs (…, n, n) by definition."""
        return self.of.outputs(A, self.L)
