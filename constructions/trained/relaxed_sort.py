"""Differentiable relaxations of sorting: matrices (…, N, N) with distributions as rows.

They are used only in training, for gradients; the order itself is that of `argsort`.  Both
matrices are row-stochastic and tend to the permutation matrix of sorting as τ → 0, if all scores
s_1, …, s_N differ.

    neural_sort    row a = softmax_j(((2a + 1 − N) s_j − Σ_k |s_j − s_k|)/τ),  a = 0, …, N − 1
    soft_sort      row a = softmax_j(−|s_(a) − s_j|/τ),  s_(a) the a-th smallest score

For the first, Σ_k |s_j − s_k| − (2a + 1 − N) s_j is convex along the sorted scores.  Its increment
from s_(b) to s_(b+1) is 2(b − a) + 1 times their distance, so its minimum is at b = a.
"""

import torch
from torch import Tensor

from theory.kinds import Positive, Reals, checked


@checked
def neural_sort(scores: Tensor, tau: Positive) -> Tensor:
    """The relaxed sort of scores s (…, N) by [Grover2019]: a matrix (…, N, N) with softmax rows.

    Row a = 0, …, N − 1 is the softmax over j of ((2a + 1 − N) s_j − Σ_k |s_j − s_k|)/τ, where s_j
    is the j-th score and τ = `tau`.
    """
    Reals("... N").fit("scores", scores.shape)
    N = scores.shape[-1]
    far = (scores[..., :, None] - scores[..., None, :]).abs().sum(-1)
    times = torch.arange(1 - N, N, 2, device=scores.device, dtype=scores.dtype)
    return ((times[:, None] * scores[..., None, :] - far[..., None, :]) / tau).softmax(-1)


@checked
def soft_sort(scores: Tensor, tau: Positive) -> Tensor:
    """The relaxed sort of scores s (…, N) by [Prillo2020]: a matrix (…, N, N) with softmax rows.

    Row a = 0, …, N − 1 is the softmax over j of −|s_(a) − s_j|/τ, where s_j is the j-th score,
    s_(a) is the a-th smallest score, counted from 0, and τ = `tau`.
    """
    Reals("... N").fit("scores", scores.shape)
    ordered = scores.sort(-1).values
    return (-(ordered[..., :, None] - scores[..., None, :]).abs() / tau).softmax(-1)


RELAXED = {"neural": (neural_sort, 1.0), "soft": (soft_sort, 0.1)}
"""By name: the relaxation, and its τ for standardised scores."""
