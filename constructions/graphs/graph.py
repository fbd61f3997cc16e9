"""How a graph is written as a prompt, and what a model says of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.interface import Interface, Prompt, finite_tensors
from theory import checks
from theory.checks import InputError
from theory.graphs.adjacency import check_adjacency


class Graph(Interface):
    """Adjacency A (…, n, n) → whether nodes are connected, (…, n, n) of 0 and 1 as int64.

    Token i is row i of A; its output is a number for each node, and says "connected" where that is
    above `threshold`.  `model.logits(A)` are the numbers.  `margin` is the least distance of two
    outputs on different sides of the threshold, with the threshold in their middle.

    Raises ValueError for a threshold that is no finite number, for what is no adjacency matrix of n
    nodes (`theory.graphs.as_adjacency`), and for outputs that overflow.
    """

    def __init__(self, n: int, *, threshold: float = 0.0, margin: float | None = None) -> None:
        super().__init__()
        at = checks.real("threshold", threshold)
        checks.finite("threshold", at.ndim == 0 and bool(np.isfinite(at)))
        if margin is not None:
            margin = checks.positive_number("margin", margin)
        self.n, self.threshold, self.margin = checks.dimension("n", n), float(at), margin
        self.context = self.n

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        (A,) = finite_tensors(like, inputs, "A")
        check_adjacency(A, self.n)
        return (A,)

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        (A,) = inputs
        return Prompt(A, self.n)

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        if not bool(torch.isfinite(outputs).all()):
            kind = str(outputs.dtype).removeprefix("torch.")
            raise InputError(
                f"an output overflows {kind}: build the model with fewer layers, or clipped"
            )
        return (outputs > self.threshold).to(torch.int64)
