"""Products with block-sparse linear maps of the stream: only the non-zero blocks are computed.

A layer of a construction reads and writes few registers, and a register is a run of columns.  For a
long prompt, most of the arithmetic and of the memory traffic would be products with zeros.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from constructions.tensors import has_tangent

LONG = 2**16  # the number of entries of a stream from which on a search for zeros saves time


def span(weights: Tensor) -> tuple[int, int]:
    """The smallest range of rows that contains all non-zero rows of a matrix of weights.

    For meta tensors and for weights with gradients or tangents, which may change, the range
    contains all rows.
    """
    if unknown(weights):
        return 0, len(weights)
    rows = weights.any(-1).nonzero()
    return (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)


def all_zero(weights: Tensor) -> bool:
    """Whether all weights are 0 and cannot change."""
    return not unknown(weights) and not bool(weights.any())


def unknown(weights: Tensor) -> bool:
    """Whether weights have no values, or values that may change."""
    return weights.requires_grad or weights.is_meta or has_tangent(weights)


def moved_by(H: Tensor, M: Tensor) -> Tensor:
    """Returns H + H M for H (…, T, D) and M (…, D, D), computed block by block if T is large.

    The sum is computed as one product, H (I + M).  If H has gradients or a tangent, the product is
    not computed block by block, because blocks are written in place.
    """
    whole = H.numel() < LONG or unknown(M) or has_tangent(H)
    if whole or (H.requires_grad and torch.is_grad_enabled()):
        return H @ (M + torch.eye(M.shape[-1], dtype=M.dtype, device=M.device))
    result = torch.empty_like(H)
    for columns, rows in blocks(M):
        if rows.stop == rows.start:
            result[..., columns] = H[..., columns]
            continue
        both = slice(min(rows.start, columns.start), max(rows.stop, columns.stop))
        part = M[..., both, columns].clone()
        part.diagonal(both.start - columns.start, -2, -1).add_(1.0)
        torch.matmul(H[..., both], part, out=result[..., columns])
    return result


def blocks(M: Tensor) -> Iterator[tuple[slice, slice]]:
    """Yields runs of neighbouring columns of M (…, D, D), each with the range of its non-zero rows.

    Neighbouring columns are in one run if both are 0, or if both are not 0 and the run has at most
    twice as many non-zero rows as each of its columns.
    """
    filled = (M != 0).reshape(-1, *M.shape[-2:]).any(0).to(torch.int8)
    first = filled.argmax(0).tolist()
    behind = (len(filled) - filled.flip(0).argmax(0)).tolist()
    empty = filled.any(0).logical_not().tolist()
    spans = [
        (0, 0) if nothing else (a, b) for a, b, nothing in zip(first, behind, empty, strict=True)
    ]
    begin, rows, least = 0, spans[0], spans[0][1] - spans[0][0]
    for column, own in enumerate(spans[1:], start=1):
        size = own[1] - own[0]
        union = min(own[0], rows[0]), max(own[1], rows[1])
        alike = (size == 0) == (least == 0)
        if alike and union[1] - union[0] <= 2 * min(size, least):
            rows, least = union, min(size, least)
        else:
            yield slice(begin, column), slice(*rows)
            begin, rows, least = column, own, size
    yield slice(begin, len(spans)), slice(*rows)
