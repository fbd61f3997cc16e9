"""The tasks hop, k-hop induction, and induction, the case k = 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import pad

from constructions.seeds import TorchSeed
from constructions.trained.configuration import LEARNING, presets
from constructions.trained.tasks.task import Batch, PromptCount, TokenTask
from constructions.trained.transformers import TransformerShape
from theory.kinds import Count, Within, checked


@checked
@dataclass(frozen=True)
class Hop(TokenTask, kind="hop"):
    """The task of k-hop induction on uniform random tokens.

    A hop leads from a token to the token after its latest earlier copy [Sanford2024]. The target at
    each position is the token to which k hops lead. Positions from which fewer than k hops exist
    have no target.
    """

    whole_log: ClassVar[bool] = True

    k: Annotated[Count, Within(most="length")] = 1  # further hops change nothing

    @checked
    def sequences(self, count: PromptCount, seed: TorchSeed) -> Batch:
        self.fits(count, 64 * self.length)
        size, device = (count, self.length), seed.device
        tokens = torch.randint(self.vocabulary_size, size, generator=seed, device=device)
        after = following_latest_copy(tokens)
        place = after
        for _ in range(self.k - 1):
            place = after.gather(-1, place.clamp(min=0)).where(place >= 0, -1)
        return tokens, tokens.gather(-1, place.clamp(min=0)).where(place >= 0, -1)

    def best(self, tokens: Tensor, wanted: Tensor) -> str:
        return "best possible: 100.00% right, 0 nats"

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return [layers, *[f"k{self.k}"] * (name == "hop")]


def following_latest_copy(tokens: Tensor) -> Tensor:
    """The position after the latest earlier copy of each token, (…, T); −1 if there is no copy."""
    order = tokens.argsort(dim=-1, stable=True)  # copies are adjacent, the earlier one first
    alike = tokens.gather(-1, order).diff().eq(0)
    after = pad((order[..., :-1] + 1).where(alike, -1), (1, 0), value=-1)
    return torch.empty_like(tokens).scatter_(-1, order, after)


COPYING = TransformerShape(2, 1, 64, 0, layer_norm=False)
INDUCTION = presets(small=(Hop(16, 64), LEARNING, COPYING))
PRESETS = presets(small=(Hop(8, 64, k=4), LEARNING, TransformerShape(4, 4, 64, 256)))
