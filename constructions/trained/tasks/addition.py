"""Pairs of numbers; wanted is their sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from constructions.arithmetic.sums import Sums
from constructions.interface import Model
from constructions.trained.configuration import presets
from constructions.trained.form import Form
from constructions.trained.models import Shape
from constructions.trained.numbers import KINDS
from constructions.trained.tasks.task import CHUNK, Batch, Labelling
from constructions.trained.transformers import TiedShape
from theory.kinds import CountFrom2, checked

TRAINED = 0.8  # of the unordered pairs; the others are for tests
SPLIT = 0  # seed of the one partition that there is


@checked
@dataclass(frozen=True)
class Addition(Labelling, kind="addition"):
    """a + b for numbers below `numbers`, after [Zhou2024].

    Four fifths of the unordered pairs, the same ones in all runs, are trained on, in random order
    of the two numbers.
    """

    numbers: CountFrom2

    models = ("tied",)

    def form(self, shape: Shape) -> Form:
        p = 2 * self.numbers
        return Form(Sums(p, p, None), p + 1, p, positions=3)

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return []

    def pairs(self, trained: bool) -> Tensor:
        """The unordered pairs a ≤ b (m, 2) that are trained on, or those that are not."""
        pairs = np.stack(np.triu_indices(self.numbers), axis=1)
        order = np.random.default_rng(SPLIT).permutation(len(pairs))
        cut = round(TRAINED * len(pairs))
        return torch.from_numpy(pairs[order[:cut] if trained else order[cut:]])

    def sequences(self, count: int, generator: Generator) -> Batch:
        device, known = generator.device, self.pairs(trained=True)
        chosen = torch.randint(len(known), (count,), generator=generator, device=device)
        turned = torch.randint(2, (count, 1), generator=generator, device=device).bool()
        pairs = known.to(device)[chosen]
        return pairs.flip(-1).where(turned, pairs), pairs.sum(-1, keepdim=True)

    def best(self, tokens: Tensor, wanted: Tensor) -> str:
        return "best possible: 100.00% right, 0 nats"

    def evaluate(self, model: Model, prompts: int, seed: int) -> Iterator[str]:
        """As other tasks over tokens; then pairs that were not trained on."""
        yield from super().evaluate(model, prompts, seed)
        pairs = self.pairs(trained=False)
        said = torch.cat([model(chunk) for chunk in pairs.split(CHUNK)])
        right = (said == pairs.sum(-1, keepdim=True)).double().mean()
        yield f"{len(pairs)} pairs that were not trained on: {float(right):.2%} right"


LEARNED = {
    "steps": 3000,
    "learning_rate": 5e-4,
    "batch_size": 128,
    "weight_decay": 0.01,
    "final_rate": 0.0,
}
PRESETS = presets(
    **{rows: (Addition(150), LEARNED, TiedShape(2, 4, 128, 512, rows=rows)) for rows in KINDS}
)
