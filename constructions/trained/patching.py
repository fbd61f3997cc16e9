"""Interventions on trained heads that replace the attention pattern but not the values."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import pad

from constructions.attention import Attention, per_head
from constructions.tensors import as_tensor
from theory.kinds import InputError, Integers, Reals, Within, checked

Places: TypeAlias = Annotated[Any, Integers("m T", Within(least=-1, below="T"))]
"""A position for each token of m sequences, or −1, shape (m, T)."""
Weights: TypeAlias = Annotated[Any, Reals("m T T", Within(least=0))]
"""Attention weights of m sequences, shape (m, T, T)."""


class PatchedAttention(Attention):
    """Attention with trained heads, whose attention weights are replaced by given ones.

    Row t of the array `given`[i] contains the attention weights of token t of sequence i, for all
    heads. The array has shape (m, T, T) for m sequences of T tokens. If all entries of a row are 0,
    the heads keep their own attention weights for this token.
    """

    replaced = True

    @checked
    def __init__(self, heads: Attention, given: Weights) -> None:
        super().__init__(
            *(heads.W_Q, heads.W_K, heads.W_V, heads.W_O, heads.b_Q, heads.b_K),
            normalise=heads.normalise,
            mask=heads.masks,
            scale=heads.scale,
        )
        self.to(heads.W_Q)
        self.given = as_tensor(given)

    @property
    def is_causal(self) -> bool:
        """False, since the given attention weights are those of sequences of T tokens."""
        return False

    def pattern(self, H: Tensor, n_examples: int) -> Tensor:
        """The attention weights (m, heads, T, T) of the heads, for m sequences of T tokens.

        The rows are those of the array `given`. If all entries of a row of `given` are 0, the row
        is that of the trained head. H (m, T, D) is the residual stream, of width D. Under a
        context-only mask, all tokens attend to the first `n_examples` tokens only.

        Raises ValueError for another number of sequences or tokens than `given` has, unless it has
        one sequence.
        """
        m, T = (H.shape[0] if H.ndim > 2 else 1), H.shape[-2]
        if self.given.shape[1] != T or self.given.shape[0] not in (1, m):
            raise InputError(
                f"tokens are {m} sequences with {T} tokens in the prompt, and the attention is "
                f"replaced for {self.given.shape[0]} with {self.given.shape[1]}: give as many"
            )
        given = self.given.to(H)[:, None]
        own = super().pattern(H, n_examples)
        own = pad(own, (0, T - own.shape[-1]))  # a context-only pattern ends at the last example
        return given.where(given.any(-1, keepdim=True), own)

    def forward(self, H: Tensor, n_examples: int) -> Tensor:
        """The sum (m, T, D) of the outputs of the heads with the given attention weights.

        H (m, T, D) is the residual stream of m sequences of T tokens, of width D. Under a
        context-only mask, all tokens attend to the first `n_examples` tokens only.
        """
        mixed = self.pattern(H, n_examples) @ per_head(H, self.W_V)
        return mixed.transpose(-2, -3).flatten(-2) @ self.W_O.flatten(0, 1)

    def after(self, H: Tensor, n_examples: int) -> Tensor:
        """The residual stream (m, T, D) after the heads with the given attention weights.

        It is H plus the outputs of the heads, where H is the residual stream before the heads.
        Under a context-only mask, all tokens attend to the first `n_examples` tokens only.
        """
        return H + self(H, n_examples)


class RedirectedAttention(PatchedAttention):
    """Attention with trained heads, in which each token attends only to one given position.

    `places` has shape (m, T), for m sequences of T tokens. In every head, token t of sequence i
    attends only to token places[i, t]. If places[i, t] = −1, the attention weights of this token
    are those of the trained heads.
    """

    @checked
    def __init__(self, heads: Attention, places: Places) -> None:
        places = as_tensor(places)
        pattern = torch.nn.functional.one_hot(places.clamp(min=0), places.shape[-1])
        super().__init__(heads, pattern * (places >= 0)[..., None])
