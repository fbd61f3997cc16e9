"""Tasks over tokens to train on: k-hop induction and in-context bigrams.

A batch is tokens (batch, T) and what is wanted (batch, T), −1 where nothing is.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from constructions.trained.configuration import Bigrams, Hop


def draw_hops(task: Hop, batch: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Uniform tokens, and the token that k hops lead to."""
    size, device = (batch, task.length), generator.device
    tokens = torch.randint(task.vocabulary_size, size, generator=generator, device=device)
    after = following_latest_copy(tokens)
    place = after
    for _ in range(task.k - 1):
        place = after.gather(-1, place.clamp(min=0)).where(place >= 0, -1)
    wanted = tokens.gather(-1, place.clamp(min=0)).where(place >= 0, -1)
    return tokens, wanted


def following_latest_copy(tokens: Tensor) -> Tensor:
    """The position after the latest earlier copy of each token, (…, T), −1 where there is none."""
    order = tokens.argsort(dim=-1, stable=True)  # copies side by side, the earlier one first
    alike = tokens.gather(-1, order).diff().eq(0)
    after = nn.functional.pad((order[..., :-1] + 1).where(alike, -1), (1, 0), value=-1)
    return torch.empty_like(tokens).scatter_(-1, order, after)


def draw_bigrams(task: Bigrams, batch: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Sequences of Markov chains of their own, and each next token."""
    V, device = task.vocabulary_size, generator.device

    def rows(*size: int) -> Tensor:
        """Dirichlet(1): exponential variables over their sum; running sums of it."""
        drawn = torch.empty((*size, V), device=device).exponential_(generator=generator)
        return (drawn / drawn.sum(-1, keepdim=True)).cumsum(-1)

    chain, uniform = (
        rows(batch, V),
        torch.rand((batch, task.length + 1), generator=generator, device=device),
    )
    now = (rows(batch) < uniform[:, :1]).sum(-1).clamp(max=V - 1)
    sequence, every = [now], torch.arange(batch, device=device)
    for t in range(1, task.length + 1):
        now = (chain[every, now] < uniform[:, t, None]).sum(-1).clamp(max=V - 1)
        sequence.append(now)
    joint = torch.stack(sequence, dim=-1)
    return joint[:, :-1].contiguous(), joint[:, 1:].contiguous()
