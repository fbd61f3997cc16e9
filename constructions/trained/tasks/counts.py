"""The task counts: counts of items in a stream, from a sketch of few cells with one read per query.

The items of a stream are independent with a Zipf distribution in a random order of frequencies, a
new order for each stream, so an item determines nothing about its frequency.  Queries have
the same distribution.  The loss is the expected error of a cell drawn from the softmax of the read
logits,

    E_i Σ_c softmax(reads_i)_c |f(value_c) − count_i|,

minus an entropy bonus for the read distribution, which decreases to 0 at 0.6 of the steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor

from constructions.interface import Model
from constructions.seeds import torch_generator
from constructions.structures.cells import Sketch
from constructions.trained.configuration import presets
from constructions.trained.form import Form
from constructions.trained.models import Shape
from constructions.trained.sketch import SketchShape, counted
from constructions.trained.tasks.task import CHUNK, Batch, FreshPrompts, Task, Training
from theory import machine
from theory.kinds import Count, NonNegative, Steps, checked, shown
from theory.structures import one_row_error, zipf

UNTIL = 0.6  # fraction of the steps with an entropy bonus


@checked
@dataclass(frozen=True)
class Counts(Task, kind="counts"):
    """The task of counting items in streams, from a sketch with few cells and one read per query.

    A stream has `stream` tokens over `items` items with Zipf frequencies rank^(−`exponent`).
    `bonus` is the initial coefficient of the entropy bonus for the distribution of reads.
    """

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

    def streams(self, count: int, seed: int | Generator) -> tuple[Tensor, Tensor]:
        """Returns `count` distributions of V items, (count, V), and a stream from each, (count, n).

        A stream consists of n independent items.
        """
        generator = torch_generator(seed)
        device = generator.device
        machine.fits_in_memory(
            f"streams of stream = {shown(self.stream)} tokens over items = {shown(self.items)}",
            8 * (count * (self.items + self.stream) + self.items),
            "give smaller numbers",
        )
        frequencies = torch.as_tensor(zipf(self.items, self.exponent), device=device).float()
        rank = torch.rand(count, self.items, generator=generator, device=device).argsort(-1)
        p = frequencies[rank]
        return p, torch.multinomial(p, self.stream, replacement=True, generator=generator)

    def draw(self, made: Training, count: int, seed: int | Generator, *, step: int) -> Batch:
        """Returns the probabilities and the counts of V items, and the fraction of steps done.

        Probabilities and counts have shape (count, V), and the fraction has shape (count,).
        """
        generator = torch_generator(seed)
        probabilities, streams = self.streams(count, generator)
        counts = counted(streams, self.items)
        steps = step + torch.arange(count, device=generator.device) // made.batch_size
        return probabilities, counts, steps / made.steps

    def loss(self, model: Any, *batch: Tensor) -> Tensor:
        probabilities, counts, done = batch
        answers = model.unembedding(model.cell_values(counts)[..., None])[..., 0]
        log_reads = model.reading().log_softmax(-1)
        reads = log_reads.exp()
        errors = (answers[:, None, :] - counts[..., None]).abs()
        error = (probabilities * (reads * errors).sum(-1)).sum(-1)
        entropy = -(reads * log_reads).sum(-1).mean()
        return (error - self.bonus * (1 - done / UNTIL).clamp(min=0) * entropy).mean()

    @checked
    def evaluate(self, model: Model, prompts: FreshPrompts, seed: Steps) -> Iterator[str]:
        """Yields the expected absolute error of an answer on new streams."""
        probabilities, streams = self.streams(prompts, seed)
        queries, total = torch.arange(self.items), 0.0
        for p, stream in zip(probabilities.split(CHUNK), streams.split(CHUNK), strict=True):
            counts = counted(stream, self.items)
            answers = model(stream, queries.expand(len(stream), -1))
            total += float((p * (answers - counts).abs()).sum())
        yield f"{prompts} streams: mean error {total / prompts:.2f}"
        p, k = zipf(self.items, self.exponent), model.interface.n_cells
        random, even = (one_row_error(p, self.stream, k, balanced=b) for b in (False, True))
        yield f"count-min with one row: {random:.2f}; with cells of equal size: {even:.2f}"


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
