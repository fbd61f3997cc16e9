"""Interventions on trained heads that replace the attention pattern but not the values."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from constructions.attention import Attention, per_head


class PatchedAttention(Attention):
    """Trained heads with a given attention pattern in place of the trained pattern.

    `given` (m, T, T) is the pattern of all heads for m sequences of T tokens. If a row of `given`
    is 0, every head has its trained pattern there.
    """

    def __init__(self, heads: Attention, given: Any) -> None:
        super().__init__(
            *(heads.W_Q, heads.W_K, heads.W_V, heads.W_O, heads.b_Q, heads.b_K),
            normalise=heads.normalise,
            mask=heads.masks,
            scale=heads.scale,
        )
        self.to(heads.W_Q)
        self.given = torch.as_tensor(given)

    def pattern(self, H: Tensor, n_examples: int) -> Tensor:
        """The pattern (m, heads, T, T) of the heads for m sequences of T tokens.

        Its rows are those of `given`, or those of the trained heads where a row of `given` is 0.
        """
        given = self.given.to(H)[:, None]
        own = super().pattern(H, n_examples)
        return given.where(given.any(-1, keepdim=True), own)

    def forward(self, H: Tensor, n_examples: int) -> Tensor:
        """The output of the heads with the given pattern, (m, T, D).

        `H` (m, T, D) is the stream of m sequences of T tokens, of width D.
        """
        mixed = self.pattern(H, n_examples) @ per_head(H, self.W_V)
        return mixed.transpose(-2, -3).flatten(-2) @ self.W_O.flatten(0, 1)

    def after(self, H: Tensor, n_examples: int) -> Tensor:
        """The stream `H` (m, T, D) plus the output of the heads with the given pattern."""
        return H + self(H, n_examples)


class RedirectedAttention(PatchedAttention):
    """Trained heads in which each token attends to one given position.

    `places` has shape (m, T), for m sequences of T tokens. In every head, token t of sequence i
    attends only to token places[i, t], or has its trained attention if places[i, t] = −1.
    """

    def __init__(self, heads: Attention, places: Any) -> None:
        places = torch.as_tensor(places)
        pattern = torch.nn.functional.one_hot(places.clamp(min=0), places.shape[-1])
        super().__init__(heads, pattern * (places >= 0)[..., None])
