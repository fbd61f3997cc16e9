"""Random graphs by the hundred, and who is connected in them: exactly, and on any device.

Drawing.  The pairs of all graphs are one long row of coins.  From one edge to the next it is a
geometric number of coins: P(at least m without an edge) = (1 − p)^m, which is the law of
⌊ln(1 − u)/ln(1 − p)⌋ for u uniform on [0, 1).  So a random number is drawn for each edge, and none
for the pairs between.

Connecting.  Warshall's algorithm: for one node k after the other, R_ij becomes 1 where R_ik and
R_kj are 1.  After step k, R_ij says whether a path leads from i to j with none but nodes 0 … k in
between: such a path that visits k is one from i to k and one from k to j, with nodes 0 … k − 1 in
between.  A number of 64 bits holds R_ij of 64 graphs, so that a step takes an "and" and an "or" of
n²/64 numbers a graph.
"""

from __future__ import annotations

import math
from typing import Annotated

import torch
from torch import Generator, Tensor
from torch.nn.functional import pad

from theory import machine
from theory.graphs.adjacency import check_adjacency
from theory.kinds import Count, Instance, OpenUnit, checked

BITS, BYTES = 8, 8  # of a byte, and of a number


@checked
def random_graphs(
    count: Count,
    n: Count,
    p: OpenUnit,
    generator: Annotated[Generator, Instance(Generator, "torch.Generator().manual_seed(0)")],
) -> Tensor:
    """`count` graphs ER(n, p) with loops at all nodes, A (count, n, n) of True and False, on the
    generator's device.

    Raises ValueError for more graphs than there is memory.
    """
    needed = math.ceil((1 + 60 * p) * count * n**2)  # half as many edges, each in 15 numbers
    machine.fits_in_memory(f"{count} graphs of {n} nodes", needed, "give fewer")
    device, pairs = generator.device, n * (n - 1) // 2
    places = _edges(count * pairs, p, generator)
    graph = places.div(max(pairs, 1), rounding_mode="floor")
    i, j = torch.triu_indices(n, n, 1, device=device)[:, places - graph * pairs]
    A = torch.eye(n, dtype=torch.bool, device=device).repeat(count, 1, 1)
    A[graph, i, j] = A[graph, j, i] = True
    return A


def _edges(total: int, p: float, generator: Generator) -> Tensor:
    """Which of so many pairs are edges, in order."""
    device = generator.device
    last, found = -1, [torch.empty(0, dtype=torch.int64, device=device)]
    while (left := total - 1 - last) > 0:
        some = int(left * p + math.sqrt(left * p)) + 1  # mostly enough
        u = torch.rand(some, dtype=torch.float64, generator=generator, device=device)
        between = (torch.log1p(-u) / math.log1p(-p)).clamp_(max=total).long()
        found.append((between + 1).cumsum(0) + last)
        last = int(found[-1][-1])
    places = torch.cat(found)
    return places[: int(torch.searchsorted(places, total))]


@checked
def connected(A: Annotated[Tensor, Instance(Tensor, "a tensor, torch.as_tensor(A)")]) -> Tensor:
    """R (…, n, n) of True and False: whether a path leads from i to j, in graphs A with loops.

    Raises ValueError for what is no tensor of adjacency matrices (`theory.graphs.as_adjacency`).
    """
    check_adjacency(A)
    graphs = A.reshape(-1, *A.shape[-2:]).bool()
    bits = 2 ** torch.arange(BITS, dtype=torch.uint8, device=A.device)[:, None, None]
    count, n, _ = graphs.shape
    fill = -count % (BITS * BYTES)
    grouped = pad(graphs.to(torch.uint8), (0, 0, 0, 0, 0, fill)).view(-1, BYTES, BITS, n, n)
    packed = (grouped * bits).sum(2, dtype=torch.uint8).permute(0, 2, 3, 1).flatten()
    R = packed.view(torch.int64).view(-1, n, n)  # the same memory
    for k in range(n):
        R |= R[:, :, k, None] & R[:, k, None]
    reached = packed.view(-1, n, n, BYTES).permute(0, 3, 1, 2).contiguous()[:, :, None] & bits
    return reached.reshape(-1, n, n)[:count].bool().view(A.shape)
