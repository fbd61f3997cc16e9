"""What a task is to those who train on it, measure it or name it.

A task is a record of a few numbers, which stands in the configuration of a model under the `kind`
that its class names: `class Hop(TokenTask, kind="hop")`.  A batch is a tuple of tensors whose first
dimension is the prompts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from constructions.interface import Model
from constructions.tokens import Tokens
from constructions.trained.form import Form
from constructions.trained.models import Shape
from theory.kinds import Count, checked

Batch = tuple[Tensor, ...]
CHUNK = 250  # prompts that are measured at once


@runtime_checkable
class Training(Protocol):
    """What the draws of a run depend on; every `Configuration` has it."""

    @property
    def shape(self) -> Shape:
        """The shape of the model that is trained."""

    @property
    def steps(self) -> int:
        """How many steps there are."""

    @property
    def batch_size(self) -> int:
        """Prompts a step."""

    @property
    def curriculum(self) -> Curriculum | None:
        """How prompts grow, if they do."""

    @property
    def seed(self) -> int:
        """The seed of the run."""


@checked
@dataclass(frozen=True)
class Curriculum:
    """From `d` coordinates and `points` points, one coordinate and two points more every so many
    steps, up to the task's [Garg2022]."""

    d: Count
    points: Count
    every: Count

    def reached(self, step: int) -> tuple[int, int]:
        """Coordinates and points at a step, were there no end to them."""
        return self.d + step // self.every, self.points + 2 * (step // self.every)


@dataclass(frozen=True)
class Task(ABC):
    """How prompts are drawn, what is lowered, and what is best possible."""

    kind: ClassVar[str]
    kinds: ClassVar[dict[str, type[Task]]] = {}
    models: ClassVar[tuple[str, ...]] = ("transformer",)  # the kinds that can read the prompts
    taught: ClassVar[bool] = False  # whether a curriculum can begin with smaller ones

    def __init_subclass__(cls, kind: str = "") -> None:
        if kind:
            cls.kind = kind
            Task.kinds[kind] = cls

    @abstractmethod
    def words(self, name: str, size: str, layers: str) -> list[str]:
        """What a model is called by besides the task's name, the preset and the seed."""

    @abstractmethod
    def form(self, shape: Shape) -> Form:
        """What a model of this shape must be to read the prompts."""

    @abstractmethod
    def draw(self, made: Training, count: int, generator: Generator, *, step: int) -> Batch:
        """`count` prompts for steps of a run from `step` on, on the generator's device."""

    @abstractmethod
    def loss(self, model: Model, *batch: Tensor) -> Tensor:
        """What training lowers, of a batch or a part of it.

        A sum over what is predicted divided by a number that does not depend on the data, so that
        the mean over the parts of a batch is the loss of the whole.
        """

    @abstractmethod
    def evaluate(self, model: Model, prompts: int, seed: int) -> Iterator[str]:
        """Lines of a table: a model on so many fresh prompts, beside what is best possible."""

    def learnt(self, model: Model) -> bool:
        """Whether training ends before its last step, which is asked every so many."""
        return False


class Labelling(Task):
    """Sequences of tokens; a batch is tokens (count, T) and what is wanted (count, T), −1 where
    nothing is."""

    @abstractmethod
    def sequences(self, count: int, generator: Generator) -> Batch:
        """Fresh sequences, on the generator's device."""

    @abstractmethod
    def best(self, tokens: Tensor, wanted: Tensor) -> str:
        """What is best possible on these sequences, in words."""

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return [layers]

    def draw(self, made: Training, count: int, generator: Generator, *, step: int) -> Batch:
        return self.sequences(count, generator)

    def loss(self, model: Model, *batch: Tensor) -> Tensor:
        """The entropy of what is wanted, over the number of all tokens."""
        tokens, wanted = batch
        logits = model.run(model.interface.write(torch, tokens)).flatten(0, -2)
        total = cross_entropy(logits, wanted.flatten(), ignore_index=-1, reduction="sum")
        return total / wanted.numel()

    def evaluate(self, model: Model, prompts: int, seed: int) -> Iterator[str]:
        """The share of right answers and the entropy, of those that are wanted."""
        tokens, wanted = self.sequences(prompts, Generator().manual_seed(seed))
        counted = wanted >= 0
        logits = torch.cat([model.logits(chunk) for chunk in tokens.split(CHUNK)])[counted]
        entropy = cross_entropy(logits, wanted[counted])
        right = (logits.argmax(-1) == wanted[counted]).double().mean()
        yield f"{prompts} sequences: {float(right):.2%} right, {float(entropy):.4f} nats a token"
        yield self.best(tokens, wanted)


@checked
@dataclass(frozen=True)
class TokenTask(Labelling):
    """Sequences of `length` tokens, where tokens are wanted."""

    vocabulary_size: Count
    length: Count

    def form(self, shape: Shape) -> Form:
        V, T = self.vocabulary_size, self.length
        return Form(Tokens(V, T), V, V, positions=T)


class Corpus(Task):
    """A task whose prompts are a fixed set, gone through in epochs, each in an order of its own.

    That order is determined by the run's seed and the number of the epoch, so that a run knows by
    its step where it stands.
    """

    @property
    @abstractmethod
    def corpus(self) -> Batch:
        """All prompts, on the CPU."""

    def draw(self, made: Training, count: int, generator: Generator, *, step: int) -> Batch:
        size, first = len(self.corpus[0]), step * made.batch_size
        epochs = range(first // size, -(-(first + count) // size))
        orders = [np.random.default_rng((made.seed, epoch)).permutation(size) for epoch in epochs]
        rows = torch.from_numpy(np.concatenate(orders)[first % size :][:count])
        return tuple(part[rows].to(generator.device) for part in self.corpus)
