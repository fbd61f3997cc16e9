"""How a graph is written as a prompt, and how outputs are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.interface import Interface, Prompt, finite_tensors
from theory.graphs.adjacency import MOST_LISTED, all_graphs, check_adjacency
from theory.kinds import Count, Finite, InputError, Positive, checked


class Graph(Interface):
    """Adjacency A (…, n, n) → whether nodes are connected, (…, n, n) of 0 and 1 as int64.

    Token i is row i of A; its output is a number for each node, and predicts "connected" where that
    is above `threshold`.  `model.logits(A)` are the numbers.  `margin` is the least distance of two
    outputs on different sides of the threshold, with the threshold in their middle.

    The model raises ValueError for an input that is not an adjacency matrix of n nodes
    (`theory.graphs.as_adjacency`), and for outputs that overflow.
    """

    @checked
    def __init__(
        self, n: Count, *, threshold: Finite = 0.0, margin: Positive | None = None
    ) -> None:
        super().__init__()
        self.n, self.threshold, self.margin = n, threshold, margin
        self.context = n

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        (A,) = finite_tensors(like, inputs, "A")
        check_adjacency(A, self.n)
        return (A,)

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        (A,) = inputs
        return Prompt(A, self.n)

    def all_inputs(self, most: int, causal: bool) -> Iterator[tuple[np.ndarray]] | None:
        listed = self.n <= MOST_LISTED and 2 ** (self.n * (self.n - 1) // 2) <= most
        return iter([(all_graphs(self.n),)]) if listed else None

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        if not bool(torch.isfinite(outputs).all()):
            kind = str(outputs.dtype).removeprefix("torch.")
            raise InputError(
                f"an output overflows {kind}: build the model with fewer layers, or clipped"
            )
        return (outputs > self.threshold).to(torch.int64)
