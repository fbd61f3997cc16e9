"""Statements on constructions on graphs, for all numbers of nodes and layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from constructions.transformer import Transformer


@dataclass(frozen=True)
class OverGraphs:
    """A statement about the outputs of a construction of L layers on graphs of n nodes.

    label      a name that is unique within the claim
    theorem    the entry of the statement index with the model's sizes
    build      (n, L) → the model (or its mutant in a self-test)
    outputs    (graphs (…, n, n), L) → the outputs (…, n, n) of the model by definition
    """

    label: str
    theorem: str
    build: Callable[[int, int], Transformer]
    outputs: Callable[[np.ndarray, int], np.ndarray]

    def at(self, n: int, L: int) -> Case:
        """The statement for models of L layers on graphs of n nodes."""
        return Case(self, n, L)


@dataclass(frozen=True)
class Case:
    """A statement `of` about a construction, for n nodes and L layers."""

    of: OverGraphs
    n: int
    L: int

    @cached_property
    def model(self) -> Transformer:
        """The model of n nodes and L layers (or its mutant in a self-test)."""
        return self.of.build(self.n, self.L)

    def outputs(self, A: np.ndarray) -> np.ndarray:
        """The outputs (…, n, n) on graphs A (…, n, n) by definition."""
        return self.of.outputs(A, self.L)
