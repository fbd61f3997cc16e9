"""Retrieval at scale: updates of a modern Hopfield network with up to millions of patterns.

    f(ξ) = Σ_j p_j x_j,   p = softmax(β⟨x_j, ξ⟩)          [Ramsauer2021]

There are two algorithms; neither stores a score for every pattern and every query.

dense    `scaled_dot_product_attention` with keys and values x_j: two matrix products of all
         patterns with all queries.
pruned   One matrix product of all patterns with all queries, of which only the largest score of
         each group of 32 patterns is stored; then the update from the patterns of the selected
         groups.  If all groups with scores more than τ/β below the largest score are dropped, the
         dropped weight is δ ≤ N e^{−τ}.  Since f = (1 − δ) f_selected + δ f_dropped, and both means
         have a norm of at most M = max‖x_j‖,

             ‖f_selected − f‖ = δ ‖f_selected − f_dropped‖ ≤ 2 M N e^{−τ},

         which is at most ε M for τ = ln(2N/ε), so the window grows like ln N.  The two scores that
         are compared are sums of d rounded products, so the window is widened by 2·d·eps·‖ξ‖ M.

Which algorithm is faster depends on the number of groups within the window, which is small at large
β; at small β all groups are within the window.  The number is measured for two of the queries; a
query with many groups is computed densely.

Each later update multiplies an error by at most the Lipschitz constant of f, which is at most β M²:
the Jacobian is β Cov_p(x), and points in a ball of radius M have a variance of at most M² in every
direction.  Each of S updates may contribute ε/S to the final error, so the window of an update that
is followed by k others is widened to τ = ln(2NS/ε) + k·ln max(1, β M²).
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import max_pool1d, scaled_dot_product_attention

from constructions.tensors import as_tensor, require_finite
from theory.kinds import InputError, Positive, Reals, checked
from theory.memory.kinds import Updates
from theory.waiting import announced

GROUP = 32  # patterns per group; one score per group is stored
BLOCK = 2048  # patterns whose scores are computed at once; they fit in cache with 256 queries
CHUNK = 256  # queries processed at once
PAIRS = 128  # pairs of a group of patterns and a query that are processed together
DENSE_SCORES = 2**28  # scores at once if attention stores them (float64 on some devices)
# Chosen by measured times: one product takes half of the time of the dense update, a selected group
# takes the time of 80 patterns of a second product, and pruning is faster from 64 queries on.
PROBES, FEW, SELECTED_AT_MOST = 2, 64, 1 / 50


@checked
@torch.no_grad()
def retrieve(
    patterns: Any,
    queries: Any,
    beta: Positive,
    steps: Updates = 1,
    *,
    tolerance: Positive | None = None,
) -> Tensor:
    """The states (…, d) after `steps` modern Hopfield updates of queries (…, d).

    The stored patterns x_j are the rows of `patterns` (N, d); let M = max‖x_j‖. An update of a
    query ξ is Σ_j p_j x_j with the weights p = softmax(beta·⟨x_j, ξ⟩). Patterns of small weight are
    omitted (pruned) if this is faster. Pruning adds at most tolerance · M to the Euclidean error of
    a result. By default `tolerance` is eps, the distance from 1 to the next number of the dtype
    (1.2e-7 in float32, 2.2e-16 in float64). The score ⟨x_j, ξ⟩ has a rounding error of about
    d·eps·M‖ξ‖, which is multiplied by β = beta. The error of an update is at most

        M·tolerance + update_rounding(N, d, beta, M, ‖ξ‖, eps)        (`theory.memory`),

    where the second term is about 2(d + 11)·eps·β·M²‖ξ‖ + N·eps·M. For example, the second term is
    2e-2 in float32 at β = 1e3, for vectors of length 1 and d = 64. For β ≥ 1e5, the bound is
    vacuous in float32, so float64 is needed. In dtypes with less precision than float32 nothing is
    pruned.

    The computation is in the dtype and on the device of the patterns, without gradients; integers
    are converted to the default dtype. Queries are processed 256 at a time. For 256 queries, the
    additional memory is one number for each pair of a query and a group of 32 patterns. Raises
    ValueError for incompatible shapes, an empty set of patterns, NaN or infinite entries, and
    scores that overflow the dtype or of which the products underflow.
    """
    patterns = as_tensor(patterns, name="patterns")
    if not patterns.is_floating_point():
        patterns = patterns.to(torch.get_default_dtype())
    shape = tuple(patterns.shape)
    if len(shape) != 2 or 0 in shape:
        raise InputError(f"patterns have shape {shape}: give an array (N, d) with N ≥ 1")
    patterns, queries = patterns.contiguous(), as_tensor(queries, patterns, "queries")
    Reals(f"... {shape[1]}").fit("queries", queries.shape)
    allowed = torch.finfo(patterns.dtype).eps if tolerance is None else tolerance
    states = queries.reshape(-1, queries.shape[-1]).clone()  # the result for steps = 0
    # In float64, since squares of float32 may underflow.
    longest = float(torch.linalg.vector_norm(patterns, dim=1, dtype=torch.float64).max())
    _scores_are_finite(patterns, queries, beta, longest)
    _scores_do_not_underflow(patterns, beta, longest)
    for following in announced(range(steps - 1, -1, -1), "retrieve"):
        window = _window(len(patterns), beta, longest, allowed, steps, following)
        if not _may_prune(states) or _crowded(patterns, states, window, longest):
            states = _dense(patterns, states, beta)
            continue
        chunks = states.split(CHUNK)
        states = torch.cat([_pruned(patterns, chunk, beta, window, longest) for chunk in chunks])
    return states.reshape(queries.shape)


def _scores_are_finite(patterns: Tensor, queries: Tensor, beta: float, longest: float) -> None:
    """Raise ValueError for a NaN, and for scores that overflow, for which torch's attention
    returns 0.  No score exceeds β·M(‖ξ‖ + M), also in later updates."""
    farthest = float(queries.norm(dim=-1).max()) if queries.numel() else 0.0
    # The two lengths are added; a maximum would drop a NaN.
    if max(1.0, beta) * longest * (longest + farthest) <= torch.finfo(patterns.dtype).max:
        return
    require_finite("patterns", patterns)
    require_finite("queries", queries)
    dtype = str(patterns.dtype).removeprefix("torch.")
    raise InputError(f"scores are too large for {dtype}: scale patterns and queries down")


def _scores_do_not_underflow(patterns: Tensor, beta: float, longest: float) -> None:
    """Raise ValueError if products may underflow by more than the bound on rounding includes.

    With the smallest positive number η, a product of a score, or of a weight and a pattern, has an
    error of up to η/2 beside its rounding.  In a score times β, the sum is at most dβη/2, which is
    at most eps/4, and in an update Nη/2 ≤ N·eps·M/2 for normal M.  Products of numbers of 16 bits
    are computed in float32.
    """
    kind = torch.finfo(patterns.dtype)
    computed = torch.finfo(torch.promote_types(patterns.dtype, torch.float32))
    small = 0.0 < longest < kind.smallest_normal
    tiny = 2 * patterns.shape[1] * beta * computed.smallest_normal > 1
    if small or tiny:
        dtype = str(patterns.dtype).removeprefix("torch.")
        raise InputError(
            f"patterns of lengths up to {longest:.3g} at beta = {beta:g} have products that "
            f"underflow {dtype}: multiply patterns and queries by a number, and divide beta by its "
            "square"
        )


def _window(
    N: int, beta: float, longest: float, allowed: float, steps: int, following: int
) -> float:
    """The window τ/β of an update, for a total error of allowed·M after `steps` updates.

    This update is followed by `following` others.
    """
    tau = math.log(2 * N * steps) - math.log(allowed)
    if following:
        # A sum of logarithms, because (β M²)^following may overflow.
        tau += following * 2 * math.log(max(1.0, math.sqrt(beta) * longest))
    return max(0.0, tau) / beta


def _dense(patterns: Tensor, states: Tensor, beta: float) -> Tensor:
    stored = patterns[None, None]
    chunks = states.split(max(1, DENSE_SCORES // len(patterns)))
    return torch.cat(
        [
            scaled_dot_product_attention(chunk[None, None], stored, stored, scale=beta)[0, 0]
            for chunk in chunks
        ]
    )


def _may_prune(states: Tensor) -> bool:
    """Whether pruning is possible: there are enough queries, and the dtype has at least 32 bits."""
    eps = torch.finfo(states.dtype).eps
    return len(states) >= FEW and eps <= torch.finfo(torch.float32).eps


def _crowded(patterns: Tensor, states: Tensor, window: float, longest: float) -> bool:
    """Whether many groups are within the window, estimated from two of the queries."""
    probes = states[:: len(states) // PROBES]
    if window >= 2 * longest * float(probes.norm(dim=1).max()):  # no two scores differ by more
        return True
    scores = probes @ patterns.T
    largest = max_pool1d(scores[None], GROUP, ceil_mode=True)[0]
    within = largest >= largest.amax(1, keepdim=True) - window
    return float(within.double().mean()) > SELECTED_AT_MOST


def _largest(patterns: Tensor, states: Tensor) -> Tensor:
    """The largest score of each group of patterns, (groups, queries)."""
    groups = -(-len(patterns) // GROUP)
    largest = patterns.new_empty(groups, len(states))
    scores = patterns.new_empty(BLOCK, len(states))
    whole = len(patterns) // GROUP * GROUP
    for start in range(0, whole, BLOCK):
        block = patterns[start : min(start + BLOCK, whole)]
        found = torch.mm(block, states.T, out=scores[: len(block)])
        rows = largest[start // GROUP : (start + len(block)) // GROUP]
        torch.amax(found.view(-1, GROUP, len(states)), dim=1, out=rows)
    if whole < len(patterns):
        largest[-1] = (patterns[whole:] @ states.T).amax(0)
    return largest


def _pruned(patterns: Tensor, states: Tensor, beta: float, window: float, longest: float) -> Tensor:
    """The update from the groups that have a score within `window` of the largest."""
    largest = _largest(patterns, states)
    peak = largest.amax(0)
    rounding = 2 * states.shape[1] * torch.finfo(states.dtype).eps * longest
    selected = largest >= peak - window - rounding * states.norm(dim=1)
    crowded = selected.sum(0) > 2 * SELECTED_AT_MOST * len(selected)
    selected &= ~crowded
    sums, totals = torch.zeros_like(states), states.new_zeros(len(states))
    within = torch.arange(GROUP, device=patterns.device)
    for pairs in selected.nonzero().split(PAIRS):
        group, query = pairs.unbind(1)
        rows = (group[:, None] * GROUP + within).flatten()
        candidates = patterns.index_select(0, rows.clamp(max=len(patterns) - 1))
        candidates = candidates.view(-1, GROUP, patterns.shape[1])
        scores = (candidates * states[query][:, None]).sum(-1) - peak[query][:, None]
        weights = (beta * scores).exp()
        weights.view(-1)[rows >= len(patterns)] = 0.0
        totals.index_add_(0, query, weights.sum(1))
        sums.index_add_(0, query, torch.einsum("pg,pgd->pd", weights, candidates))
    updated = sums / totals[:, None]
    # If β times the rounding error is beyond the range of exp, weights are infinite or all 0.
    densely = crowded | ~((totals > 0) & totals.isfinite())
    if densely.any():
        updated[densely] = _dense(patterns, states[densely], beta)
    return updated
