"""The interface of models on graphs: adjacency matrices in, connected pairs out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.interface import Interface, Prompt, as_many
from constructions.tensors import as_tensor, require_finite
from theory.graphs.adjacency import MOST_LISTED, all_graphs, check_adjacency
from theory.kinds import Count, Finite, InputError, Positive, Steps, checked, read


class Graph(Interface):
    """The interface of models that map adjacency matrices A (…, n, n) to predicted connections.

    The prediction (…, n, n) as int64 is 1 for pairs of nodes predicted connected, else 0.  Token i
    is row i of A and has one output for each node j, `model.logits(A)[…, i, j]`: i and j are
    predicted connected iff this output is above `threshold`.  `margin` is the distance between the
    smallest output above the threshold and the largest output below the threshold.

    The model raises ValueError for an input that is not an adjacency matrix of n = `n_nodes` nodes
    (`theory.graphs.as_adjacency`), and for outputs that overflow.
    """

    @checked
    def __init__(
        self, n_nodes: Count, *, threshold: Finite = 0.0, margin: Positive | None = None
    ) -> None:
        super().__init__()
        self.n_nodes, self.threshold, self.margin = n_nodes, threshold, margin
        self.context = n_nodes

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        (A,) = as_many(inputs, "A")
        A = as_tensor(A, like, "A", booleans=True)
        require_finite("A", A)
        check_adjacency(A, self.n_nodes)
        return (A,)

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        (A,) = inputs
        return Prompt(A, self.n_nodes)

    def all_inputs(self, most: int, causal: bool) -> Iterator[tuple[np.ndarray]] | None:
        n, most = self.n_nodes, read(Steps, "most", most)
        listed = n <= MOST_LISTED and 2 ** (n * (n - 1) // 2) <= most
        return iter([(all_graphs(n),)]) if listed else None

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        if not bool(torch.isfinite(outputs).all()):
            kind = str(outputs.dtype).removeprefix("torch.")
            raise InputError(
                f"an output overflows {kind}: build the model with fewer layers, or with "
                "clipped=True"
            )
        return (outputs > self.threshold).to(torch.int64)
