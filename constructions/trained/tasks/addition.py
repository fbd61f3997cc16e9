"""The task addition: the sum of a pair of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from constructions.arithmetic.sums import Sums
from constructions.interface import Model
from constructions.seeds import TorchSeed
from constructions.trained.configuration import presets
from constructions.trained.form import Form
from constructions.trained.models import Shape
from constructions.trained.numbers import FORMS
from constructions.trained.tasks.task import CHUNK, Batch, FreshPrompts, Labelling, PromptCount
from constructions.trained.transformers import TiedShape
from theory import machine
from theory.kinds import CountFrom2, Steps, checked, shown

TRAINED = 0.8  # fraction of the unordered pairs for training
SPLIT = 0  # seed of the partition, the same in all runs


@checked
@dataclass(frozen=True)
class Addition(Labelling, kind="addition"):
    """The task of adding two numbers a and b below `numbers`, after [Zhou2024].

    Four fifths of the unordered pairs are training pairs, the same in all runs. In a prompt, a and
    b are in random order.
    """

    numbers: CountFrom2

    models = ("tied",)

    def form(self, shape: Shape) -> Form:
        p = 2 * self.numbers
        return Form(Sums(p, p, None), p + 1, p, positions=3)

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return []

    def pairs(self, trained: bool) -> Tensor:
        """All m training pairs (a, b), a ≤ b, or all held-out pairs unless `trained`, (m, 2)."""
        n = self.numbers
        machine.fits_in_memory(f"the pairs of numbers = {shown(n)}", 30 * n**2, "give fewer")
        pairs = np.stack(np.triu_indices(n), axis=1)
        order = np.random.default_rng(SPLIT).permutation(len(pairs))
        cut = round(TRAINED * len(pairs))
        return torch.from_numpy(pairs[order[:cut] if trained else order[cut:]])

    @checked
    def sequences(self, count: PromptCount, seed: TorchSeed) -> Batch:
        device, unordered = seed.device, self.pairs(trained=True)
        chosen = torch.randint(len(unordered), (count,), generator=seed, device=device)
        swapped = torch.randint(2, (count, 1), generator=seed, device=device).bool()
        pairs = unordered.to(device)[chosen]
        return pairs.flip(-1).where(swapped, pairs), pairs.sum(-1, keepdim=True)

    def best(self, tokens: Tensor, wanted: Tensor) -> str:
        return "best possible: 100.00% right, 0 nats"

    @checked
    def evaluate(self, model: Model, prompts: FreshPrompts, seed: Steps) -> Iterator[str]:
        """Yields accuracy and cross-entropy on training pairs, and accuracy on held-out pairs."""
        yield from super().evaluate(model, prompts, seed)
        pairs = self.pairs(trained=False)
        sums = torch.cat([model(chunk) for chunk in pairs.split(CHUNK)])
        right = (sums == pairs.sum(-1, keepdim=True)).double().mean()
        yield f"{len(pairs)} held-out pairs: {float(right):.2%} right"


LEARNED = {
    "steps": 3000,
    "learning_rate": 5e-4,
    "batch_size": 128,
    "weight_decay": 0.01,
    "final_rate": 0.0,
}
PRESETS = presets(
    **{rows: (Addition(150), LEARNED, TiedShape(2, 4, 128, 512, rows=rows)) for rows in FORMS}
)
