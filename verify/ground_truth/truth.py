"""What is true of a model whose circuit is known: by all interventions, not by a method."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from constructions.circuits import Edge, Node, circuit
from constructions.transformer import Transformer
from verify.ground_truth.hooked import Hooked, Link

DECIMALS = 9  # outputs that agree in these are one output
ROWS = 2**12  # prompts in one forward pass


@dataclass(frozen=True)
class Truth:
    """The links of a model that matter, and those that exist.

    A link exists if the circuit has an edge from its source to this port of its target, through
    some register, on a path to the unembedding; it matters if such an edge changes an answer on
    some prompt (`Circuit.edges_that_matter`).
    """

    matter: frozenset[Link]
    exist: frozenset[Link]


def true_links(model: Transformer, length: int) -> Truth:
    """The truth on all prompts of at most `length` tokens; all interventions are tried."""
    found = circuit(model)
    return Truth(links_of(found.edges_that_matter(length).mattering), links_of(found.live_edges))


def links_of(edges: Iterable[Edge]) -> frozenset[Link]:
    """The edges without their registers."""
    return frozenset(Link(each.source, each.target, each.port) for each in edges)


def deciding(of: Hooked, pool: Tensor) -> dict[Node, np.ndarray]:
    """Whether the output of each node at each token decides an answer: arrays (m, T).

    It does if an answer of the clean prompt changes when this output is replaced by the node's
    output at some token of some prompt of `pool` (k, T); all of them are tried.
    """
    found = {}
    with torch.no_grad():
        clean = of.answers(of.clean)
        own, outputs = of.outputs(of.clean), of.outputs(pool)
        m, T = of.clean.shape
        for node, output in outputs.items():
            values = torch.unique(output.flatten(0, 1).round(decimals=DECIMALS), dim=0)
            decides = np.zeros((m, T), dtype=bool)
            for some in values.split(max(1, ROWS // m)):
                tokens = of.clean.repeat(len(some), 1)
                for t in range(T):
                    change = torch.zeros(len(some), m, T, values.shape[-1], dtype=values.dtype)
                    change[:, :, t] = some[:, None] - own[node][:, t]
                    patched = of.answers(tokens, of.changed_output(node, change.flatten(0, 1)))
                    differs = (patched.unflatten(0, (len(some), m)) != clean).any(-1)
                    decides[:, t] |= differs.any(0).numpy()
            found[node] = decides
    return found
