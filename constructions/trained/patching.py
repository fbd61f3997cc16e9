"""Interventions on trained heads: what they would do if they looked elsewhere."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from constructions.attention import Attention, per_head


class Attends(Attention):
    """Heads with the values of others, and a given pattern in the place of theirs.

    given (m, T, T): token t of sequence i attends so in every head; where a row is 0, each head has
    its own.  It is for sequences of T tokens, m of them at a time.
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
        """What is given, or the heads' own, (m, heads, T, T)."""
        given = self.given.to(H)[:, None]
        own = super().pattern(H, n_examples)
        return given.where(given.any(-1, keepdim=True), own)

    def forward(self, H: Tensor, n_examples: int) -> Tensor:
        """What is carried from there, (m, T, D)."""
        mixed = self.pattern(H, n_examples) @ per_head(H, self.W_V)
        return mixed.transpose(-2, -3).flatten(-2) @ self.W_O.flatten(0, 1)

    def after(self, H: Tensor, n_examples: int) -> Tensor:
        """The stream with it."""
        return H + self(H, n_examples)


class LooksAt(Attends):
    """Heads with the values of others, that look at given places, and at nothing else.

    places (m, T): token t of sequence i looks at token places[i, t], in every head; −1 leaves it as
    it is.
    """

    def __init__(self, heads: Attention, places: Any) -> None:
        places = torch.as_tensor(places)
        looks = torch.nn.functional.one_hot(places.clamp(min=0), places.shape[-1])
        super().__init__(heads, looks * (places >= 0)[..., None])
