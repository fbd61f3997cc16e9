"""Counts of items in a stream, from a sketch of few cells that is read once.

Items of a stream are independent, by Zipf's law in a random order of frequency, another one for
each stream, so that an item does not say how frequent it is; who asks follows the same law.  What
is lowered is the mean error under it, exactly, of a cell that is drawn from the softmax of the
logits of reading,

    E_i Σ_c softmax(reads_i)_c |f(value_c) − count_i|,

less an entropy bonus for reading, that falls to 0 at .6 of the steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor

from constructions.interface import Model
from constructions.structures.cells import Sketch
from constructions.trained.configuration import presets
from constructions.trained.form import Form
from constructions.trained.models import Shape
from constructions.trained.sketch import SketchShape, counted
from constructions.trained.tasks.task import CHUNK, Batch, Task, Training
from theory.kinds import Count, NonNegative, checked
from theory.structures import one_row_error, zipf

UNTIL = 0.6


@checked
@dataclass(frozen=True)
class Counts(Task, kind="counts"):
    """Streams of so many of `items`, by Zipf's law; the entropy of reading times `bonus`."""

    items: Count
    stream: Count
    exponent: NonNegative = 1.2
    bonus: NonNegative = 0.03

    models = ("sketch",)

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return []

    def form(self, shape: Shape) -> Form:
        assert isinstance(shape, SketchShape)
        return Form(Sketch(self.items, shape.cells, self.stream), self.items, 1)

    def streams(self, count: int, generator: Generator) -> tuple[Tensor, Tensor]:
        """Laws (count, V), and streams of items (count, n)."""
        device = generator.device
        law = torch.as_tensor(zipf(self.items, self.exponent), device=device).float()
        rank = torch.rand(count, self.items, generator=generator, device=device).argsort(-1)
        laws = law[rank]
        return laws, torch.multinomial(laws, self.stream, replacement=True, generator=generator)

    def draw(self, made: Training, count: int, generator: Generator, *, step: int) -> Batch:
        """Laws, counts (count, V), and which part of all steps is done (count,)."""
        laws, streams = self.streams(count, generator)
        counts = counted(streams, self.items)
        steps = step + torch.arange(count, device=generator.device) // made.batch_size
        return laws, counts, steps / made.steps

    def loss(self, model: Any, *batch: Tensor) -> Tensor:
        laws, counts, done = batch
        said = model.unembedding(model.held(counts)[..., None])[..., 0]
        log_chances = model.reading().log_softmax(-1)
        chances = log_chances.exp()
        off = (said[:, None, :] - counts[..., None]).abs()
        error = (laws * (chances * off).sum(-1)).sum(-1)
        entropy = -(chances * log_chances).sum(-1).mean()
        return (error - self.bonus * (1 - done / UNTIL).clamp(min=0) * entropy).mean()

    def evaluate(self, model: Model, prompts: int, seed: int) -> Iterator[str]:
        """The mean error of an answer under the law."""
        laws, streams = self.streams(prompts, Generator().manual_seed(seed))
        asked, total = torch.arange(self.items), 0.0
        for law, stream in zip(laws.split(CHUNK), streams.split(CHUNK), strict=True):
            counts = counted(stream, self.items)
            said = model(stream, asked.expand(len(stream), -1))
            total += float((law * (said - counts).abs()).sum())
        yield f"{prompts} streams: mean error {total / prompts:.2f}"
        p, k = zipf(self.items, self.exponent), model.interface.n_cells
        random, even = (one_row_error(p, self.stream, k, balanced=b) for b in (False, True))
        yield f"count-min of one row {random:.2f}, cells of as many items each {even:.2f}"


PRESETS = presets(
    **{
        "sketch-32": (
            Counts(100, 100),
            {
                "steps": 2000,
                "learning_rate": 3e-3,
                "warmup": 200,
                "final_rate": 0.0,
                "weight_decay": 1e-3,
            },
            SketchShape(32, 64),
        )
    }
)
