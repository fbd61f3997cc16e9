"""Interventions on trained heads: what they would do if they looked elsewhere."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from constructions.attention import Attention


class LooksAt(Attention):
    """A head with the values of another one, and given places in the place of its pattern.

    places (m, T): token t of sequence i looks at token places[i, t], and at nothing else.  It is
    for sequences of T tokens, m of them at a time.
    """

    def __init__(self, head: Attention, places: Any) -> None:
        super().__init__(
            *(head.W_Q, head.W_K, head.W_V, head.W_O, head.b_Q, head.b_K),
            normalise=head.normalise,
            mask=head.masks,
            scale=head.scale,
        )
        self.to(head.W_Q)
        self.places = torch.as_tensor(places)

    def pattern(self, H: Tensor, n_examples: int) -> Tensor:
        """One at the places, (m, 1, T, T)."""
        return torch.nn.functional.one_hot(self.places, H.shape[-2]).to(H)[:, None]

    def forward(self, H: Tensor, n_examples: int) -> Tensor:
        """What is carried from there, (m, T, D)."""
        return self.pattern(H, n_examples)[:, 0] @ H @ self.W_V[0] @ self.W_O[0]

    def after(self, H: Tensor, n_examples: int) -> Tensor:
        """The stream with it."""
        return H + self(H, n_examples)
