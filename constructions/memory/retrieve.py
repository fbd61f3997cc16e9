"""Retrieval at scale: updates of a modern Hopfield network with up to millions of patterns.

    f(ξ) = Σ_j p_j x_j,   p = softmax(β⟨x_j, ξ⟩)          [Ramsauer2021]

Two ways to compute it; neither ever holds a score for every pattern and every query.

dense    `scaled_dot_product_attention` with keys and values x_j: two products of all patterns with
         all queries.
pruned   One such product, of which only the largest score of each group of 32 patterns is kept;
         then the groups that matter, as they are.  Leaving out all groups whose scores are more
         than τ/β below the largest one drops the weight δ ≤ N e^{−τ}, and since
         f = (1 − δ) f_kept + δ f_dropped with both means no longer than M = max‖x_j‖,

             ‖f_kept − f‖ = δ ‖f_kept − f_dropped‖ ≤ 2 M N e^{−τ},

         which is at most ε M for τ = ln(2N/ε): the window widens like ln N.  Two scores are
         compared, each a sum of d rounded products, so it is wider still by 2·d·eps·‖ξ‖ M.

Which one is faster depends on how many groups matter: at large β few, at small β all.  So it is
measured, on two of the queries; and a query for which many groups matter is done densely.

Over several updates an error grows by at most the Lipschitz constant of f.  Its Jacobian is
β Cov_p(x), and the variance of points in a ball of radius M is at most M² in every direction: β M².
With S updates each is held to ε/S, smaller by that factor for each update that follows: k of them
widen the window to τ = ln(2NS/ε) + k·ln max(1, β M²).
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

GROUP = 32  # patterns of which one score is kept
BLOCK = 2048  # patterns whose scores are held at once: with 256 queries they stay in cache
CHUNK = 256  # queries at once
PAIRS = 128  # groups of patterns, each for one query, that are looked at together
DENSE_SCORES = 2**28  # in case scores have to be held (float64 on some devices)
# Measured, as times: a product is half of the dense way, a group costs as much as 80 patterns of
# another product, and choosing between the two pays from 64 queries on.
PROBES, FEW, KEPT_AT_MOST = 2, 64, 1 / 50


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
    """`steps` updates f of queries (…, d) among stored patterns (N, d), exactly that many.

    Pruning, which is used where it is faster, adds at most tolerance · M, M = max‖x_j‖, to a
    query's Euclidean distance from the exact result; `tolerance` is by default the spacing of the
    format at 1 (1.2e-7 in float32, 2.2e-16 in float64).  Besides, scores are rounded, by about
    d·eps·M‖ξ‖, and β multiplies that: an update is off by at most

        M·tolerance + update_rounding(N, d, beta, M, ‖ξ‖, eps)        (`theory.memory`),

    where the second part is about 2(d + 11)·eps·β·M²‖ξ‖ + N·eps·M.  In float32 with vectors of
    length 1 and d = 64 that is 2e-2 at β = 1e3 already, and nothing is said from 1e5 on: take
    float64 there.  Formats shorter than float32 are not pruned.

    Works in the patterns' format, on their device, and computes no gradients; integers become
    floats of the default format.  Memory beyond patterns and queries: a score for each 32
    patterns and 256 queries.  Raises ValueError for shapes that do not fit, no patterns, NaN or
    infinite entries, and scores beyond the format.
    """
    patterns = as_tensor(patterns, name="patterns")
    if not patterns.is_floating_point():
        patterns = patterns.to(torch.get_default_dtype())
    shape = tuple(patterns.shape)
    if len(shape) != 2 or 0 in shape:
        raise InputError(f"patterns have shape {shape}: give at least one row, (N, d)")
    patterns, queries = patterns.contiguous(), as_tensor(queries, patterns, "queries")
    Reals(f"... {shape[1]}").fit("queries", queries.shape)
    allowed = torch.finfo(patterns.dtype).eps if tolerance is None else tolerance
    states = queries.reshape(-1, queries.shape[-1])
    longest = float(patterns.norm(dim=1).max())
    _scores_are_finite(patterns, queries, beta, longest)
    for following in reversed(range(steps)):
        window = _window(len(patterns), beta, longest, allowed, steps, following)
        if not _may_prune(states) or _crowded(patterns, states, window, longest):
            states = _dense(patterns, states, beta)
            continue
        chunks = states.split(CHUNK)
        states = torch.cat([_pruned(patterns, chunk, beta, window, longest) for chunk in chunks])
    return states.reshape(queries.shape)


def _scores_are_finite(patterns: Tensor, queries: Tensor, beta: float, longest: float) -> None:
    """Raise ValueError for a NaN, and for scores beyond the format, of which torch's attention
    makes a 0.  No score is above β·M(‖ξ‖ + M), also in later updates."""
    farthest = float(queries.norm(dim=-1).max()) if queries.numel() else 0.0
    # Their sum and not the larger one, which would lose a NaN.
    if max(1.0, beta) * longest * (longest + farthest) <= torch.finfo(patterns.dtype).max:
        return
    require_finite("patterns", patterns)
    require_finite("queries", queries)
    kind = str(patterns.dtype).removeprefix("torch.")
    raise InputError(f"scores are too large for {kind}: scale patterns and queries down")


def _window(
    N: int, beta: float, longest: float, allowed: float, steps: int, following: int
) -> float:
    """τ/β for an update of `steps`, `following` of them after it, and an error of allowed·M."""
    tau = math.log(2 * N * steps) - math.log(allowed)
    if following:
        # A sum of logarithms, because (β M²)^following may be beyond any float.
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
    """Whether there are queries enough, in a format that is not short."""
    eps = torch.finfo(states.dtype).eps
    return len(states) >= FEW and eps <= torch.finfo(torch.float32).eps


def _crowded(patterns: Tensor, states: Tensor, window: float, longest: float) -> bool:
    """Whether many groups matter, judged by two of the queries."""
    probes = states[:: len(states) // PROBES]
    if window >= 2 * longest * float(probes.norm(dim=1).max()):  # no two scores are so far apart
        return True
    scores = probes @ patterns.T
    largest = max_pool1d(scores[None], GROUP, ceil_mode=True)[0]
    matter = largest >= largest.amax(1, keepdim=True) - window
    return float(matter.double().mean()) > KEPT_AT_MOST


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
    """The update from the groups with a score within the window below the largest."""
    largest = _largest(patterns, states)
    peak = largest.amax(0)
    rounding = 2 * states.shape[1] * torch.finfo(states.dtype).eps * longest
    kept = largest >= peak - window - rounding * states.norm(dim=1)
    crowded = kept.sum(0) > 2 * KEPT_AT_MOST * len(kept)
    kept &= ~crowded
    sums, totals = torch.zeros_like(states), states.new_zeros(len(states))
    within = torch.arange(GROUP, device=patterns.device)
    for pairs in kept.nonzero().split(PAIRS):
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
    # Where rounding times β is beyond the range of exp, the weights are infinite or all 0.
    densely = crowded | ~((totals > 0) & totals.isfinite())
    if densely.any():
        updated[densely] = _dense(patterns, states[densely], beta)
    return updated
