"""Batches of Erdős–Rényi graphs and their connected pairs, as tensors on any device.

Drawing.  The pairs of all graphs form one sequence of independent coin flips, in which the number
of pairs between consecutive edges is geometric: P(at least m pairs without an edge) = (1 − p)^m.
This is the distribution of ⌊ln(1 − u)/ln(1 − p)⌋ for u uniform on [0, 1).  So one random number is
drawn for each edge, and none for the pairs in between.

Connected pairs.  Warshall's algorithm: for k = 0, …, n − 1, R_ij becomes 1 where R_ik and R_kj are
1.  After step k, R_ij = 1 iff a path leads from i to j with intermediate nodes among 0 … k: a path
through k is a path from i to k followed by a path from k to j, with intermediate nodes among 0 … k
− 1.  An integer of 64 bits contains R_ij of 64 graphs, so that a step takes an "and" and an "or" of
n²/64 integers per graph.
"""

from __future__ import annotations

import math
from typing import Annotated

import torch
from torch import Generator, Tensor
from torch.nn.functional import pad

from constructions.seeds import TorchSeed
from theory import machine
from theory.graphs.adjacency import check_adjacency
from theory.kinds import Count, Instance, OpenUnit, checked

BITS, BYTES = 8, 8  # bits of a byte, bytes of an integer


@checked
def random_graphs(n_graphs: Count, n_nodes: Count, p: OpenUnit, seed: TorchSeed) -> Tensor:
    """Independent Erdős–Rényi graphs as boolean adjacency matrices (n_graphs, n, n), n = `n_nodes`.

    Each possible edge is present independently with probability p; every node has a loop.  `seed`
    is an integer ≥ 0, a Generator of numpy, or a `torch.Generator`, on whose device the graphs are
    drawn.

    Raises ValueError if the graphs do not fit in memory.
    """
    n, generator = n_nodes, seed
    needed = math.ceil((1 + 60 * p) * n_graphs * n**2)  # n²p/2 edges, 15 numbers each
    machine.fits_in_memory(f"{n_graphs} graphs of {n} nodes", needed, "give fewer graphs")
    device, pairs = generator.device, n * (n - 1) // 2
    places = _edges(n_graphs * pairs, p, generator)
    graph = places.div(max(pairs, 1), rounding_mode="floor")
    i, j = torch.triu_indices(n, n, 1, device=device)[:, places - graph * pairs]
    A = torch.eye(n, dtype=torch.bool, device=device).repeat(n_graphs, 1, 1)
    A[graph, i, j] = A[graph, j, i] = True
    return A


def _edges(total: int, p: float, generator: Generator) -> Tensor:
    """The indices of edges among `total` pairs, in increasing order."""
    device = generator.device
    last, found = -1, [torch.empty(0, dtype=torch.int64, device=device)]
    while (left := total - 1 - last) > 0:
        some = int(left * p + math.sqrt(left * p)) + 1  # usually enough
        u = torch.rand(some, dtype=torch.float64, generator=generator, device=device)
        between = (torch.log1p(-u) / math.log1p(-p)).clamp_(max=total).long()
        found.append((between + 1).cumsum(0) + last)
        last = int(found[-1][-1])
    places = torch.cat(found)
    return places[: int(torch.searchsorted(places, total))]


@checked
def connected(A: Annotated[Tensor, Instance(Tensor, "a tensor, torch.as_tensor(A)")]) -> Tensor:
    """Whether two nodes of graphs A are connected, as a tensor (…, n, n) of booleans.

    A (…, n, n) is a tensor of adjacency matrices.  Raises ValueError for another argument, as
    `theory.graphs.as_adjacency` does.
    """
    check_adjacency(A)
    graphs = A.reshape(-1, *A.shape[-2:]).bool()
    bits = 2 ** torch.arange(BITS, dtype=torch.uint8, device=A.device)[:, None, None]
    count, n, _ = graphs.shape
    fill = -count % (BITS * BYTES)
    grouped = pad(graphs.to(torch.uint8), (0, 0, 0, 0, 0, fill)).view(-1, BYTES, BITS, n, n)
    packed = (grouped * bits).sum(2, dtype=torch.uint8).permute(0, 2, 3, 1).flatten()
    R = packed.view(torch.int64).view(-1, n, n)  # shares memory with `packed`
    for k in range(n):
        R |= R[:, :, k, None] & R[:, k, None]
    reached = packed.view(-1, n, n, BYTES).permute(0, 3, 1, 2).contiguous()[:, :, None] & bits
    return reached.reshape(-1, n, n)[:count].bool().view(A.shape)
