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
    with torch.no_grad():
        clean, own = of.answers(of.clean), of.outputs(of.clean)
        return {
            node: _decides(of, clean, node, own[node], torch.unique(_rounded(output), dim=0))
            for node, output in of.outputs(pool).items()
        }


def _rounded(output: Tensor) -> Tensor:
    return output.flatten(0, 1).round(decimals=DECIMALS)


def _decides(of: Hooked, clean: Tensor, node: Node, own: Tensor, values: Tensor) -> np.ndarray:
    """Whether some of the values (k, D), in place of own (m, T, D) at a token, changes an answer.

    Values are tried a few at a time, then more: a token that has decided is not tried again.
    """
    m, T, _ = own.shape
    decides, start, size = torch.zeros(m, T, dtype=torch.bool), 0, 1
    while start < len(values) and not decides.all():
        some = values[start : start + size]
        rows, at = decides.logical_not().nonzero(as_tuple=True)
        rows, at = rows.repeat(len(some)), at.repeat(len(some))
        new = some.repeat_interleave(len(rows) // len(some), 0)
        for part in torch.arange(len(rows)).split(ROWS):
            p, t = rows[part], at[part]
            change = torch.zeros(len(p), T, own.shape[-1], dtype=own.dtype)
            change[torch.arange(len(p)), t] = new[part] - own[p, t]
            answers = of.answers(of.clean[p], of.changed_output(node, change))
            differs = (answers != clean[p]).any(-1)
            decides[p[differs], t[differs]] = True
        start, size = start + size, 2 * size
    return decides.numpy()
