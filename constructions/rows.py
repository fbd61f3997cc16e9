"""Averages of values by attention in blocks of rows: memory grows with T, and not with T².

The scores of a block of queries are computed, then their weights, then the averages of values;
under a causal mask, only for the keys up to the last query of the block.

Under hardmax attention, short numbers are enough where they are exact.  If queries and keys are
integers with Σ_i max|q_i|·max|k_i| < 2²⁴, then every partial sum of a score is an integer below 2²⁴
in size, so that float32 contains all of them and the scores are those of float64.  In the same way
the sums of values of the attended keys are exact if values are integers and the number of keys
times the largest of them is below 2²⁴.  Both are decided from the numbers at hand.

For long sequences under a causal mask, hardmax heads whose queries and keys are integers find the
best keys of one query after the other among those that can be attended
(`constructions.cached_keys`), which often takes O(T log T) and not O(T²).
"""

from __future__ import annotations

import math
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from constructions.cached_keys import Lookups, Plane, Table, arranged, different, on_paraboloid
from constructions.tensors import has_tangent

FEWEST = 128  # queries in a block; fewer than twice as many are one block
ENTRIES = 2**18  # of the scores of a block, which then stay in cache
LONG = 2**13  # tokens from which on the best keys are found among those that can be attended
MANY = 2**10  # different keys in a table
EXACT = 2**24  # float32 contains the integers up to this size


@runtime_checkable
class Heads(Protocol):
    """Heads with the same mask: see `constructions.attention.Heads`."""

    @property
    def normalise(self) -> str: ...

    @property
    def mask(self) -> str: ...

    def weights(self, Q: Tensor, K: Tensor) -> tuple[Tensor, Tensor | float]:
        """The pattern before normalisation, and the divisor of each row."""


def averages(heads: Heads, Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    """The averages of values (…, heads, T, d_value), weighted by the scores of queries and keys.

    Q has shape (…, heads, T, d_head), K (…, heads, tokens, d_head), V (…, heads, tokens, d_value).
    The queries are those of the last T tokens.
    """
    asking, answering = Q.shape[-2], K.shape[-2]
    causal = heads.normalise == "hardmax" and heads.mask in ("causal", "strictly causal")
    here = V.device.type == "cpu" and V.numel() and not _differentiated(V)
    if causal and here and LONG <= asking == answering:
        found = _one_by_one(Q.detach(), K.detach(), V, heads.mask)
        if found is not None:
            return found
    entries = math.prod(Q.shape[:-2]) * answering
    rows = max(FEWEST, ENTRIES // max(entries, 1))
    if asking < 2 * FEWEST or not entries or heads.normalise == "linear":
        return _average(heads, Q, K, V)
    short = heads.normalise == "hardmax" and Q.dtype == torch.float64
    if short and exact_in_float32(Q.detach(), K.detach()):
        Q, K = Q.detach().float(), K.detach().float()
    parts = []
    for start in range(0, asking, rows):
        q = Q[..., start : start + rows, :]
        end = answering - asking + start + q.shape[-2]
        if heads.mask in ("full", "context-only"):
            seen = slice(None)
        else:
            seen = slice(end - q.shape[-2] if heads.mask == "diagonal" else 0, end)
        parts.append(_average(heads, q, K[..., seen, :], V[..., seen, :]))
    return torch.cat(parts, dim=-2)


def _one_by_one(Q: Tensor, K: Tensor, V: Tensor, mask: str) -> Tensor | None:
    """The averages (…, T, d_value), for each head and sequence query by query.

    The result is None if scores may be rounded, or if finding the best keys could take longer than
    computing all scores.
    """
    Q, K = (M.expand(*V.shape[:-2], *M.shape[-2:]) for M in (Q, K))
    parts = []
    for q, k, v in zip(*(M.flatten(0, -3) for M in (Q, K, V)), strict=True):
        part = _of_one_head(q, k, v, mask)
        if part is None:
            return None
        parts.append(part)
    return torch.stack(parts).view(V.shape)


def _of_one_head(Q: Tensor, K: Tensor, V: Tensor, mask: str) -> Tensor | None:
    """`_one_by_one` for one head and one sequence."""
    q, k = Q.double().numpy(), K.double().numpy()
    largest = np.abs(q).max(0) @ np.abs(k).max(0)
    if not (largest < 2**53 and (q == q.round()).all() and (k == k.round()).all()):
        return None
    free = np.flatnonzero((q != q[0]).any(0)).tolist()
    fixed = [i for i in range(q.shape[1]) if i not in free]
    y = k[:, fixed] @ q[0, fixed]
    k = np.column_stack([k, y, 0 * y])
    values, paraboloid = lambda i: different(k[:, i]), lambda i: on_paraboloid(y, k[:, i])
    cache, query, key = arranged(free, q.shape[1], not y.any(), values, paraboloid)
    if cache is Plane and not q[:, query[1]].all():
        return None
    if cache is Table and not paraboloid(query) and values(query) > MANY:
        return None
    lookups = Lookups(cache, mask, len(key), [len(query)], [V.shape[1]])
    read = np.column_stack([k[:, key], q[:, query], V.double().numpy()])
    found = [lookups.attended(row) for row in read.tolist()]
    return torch.tensor(found, dtype=V.dtype)


def _average(heads: Heads, Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    weights, total = heads.weights(Q, K)
    if weights.dtype == V.dtype:
        sums = weights @ V
        return sums if isinstance(total, float) else sums / total
    if not _differentiated(V) and exact_in_float32(V, V.new_ones(1, 1), K.shape[-2]):
        return (weights @ V.float()).to(V.dtype) / total
    return weights.to(V.dtype) @ V / total


def _differentiated(V: Tensor) -> bool:
    """Whether derivatives of functions of V are computed, whose numbers are no integers."""
    return V.requires_grad or has_tangent(V)


def exact_in_float32(Q: Tensor, K: Tensor, terms: int = 1) -> bool:
    """Whether `terms` times the products of rows of Q and rows of K are exact in float32.

    So it is if the entries are integers, and sums of products of their largest sizes are below 2²⁴.
    """
    largest = [M.abs().amax((*range(M.ndim - 1),)) for M in (Q, K)]
    if not bool(terms * (largest[0] * largest[1]).sum() < EXACT):
        return False
    return all(torch.equal(M, M.round()) for M in (Q, K))
