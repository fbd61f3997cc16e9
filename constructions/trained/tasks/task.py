"""The interface of a training task: data, loss, evaluation and names.

A task is a record of a few numbers.  In the JSON of a configuration it has the `kind` that its
class declares: `class Hop(TokenTask, kind="hop")`.  A batch is a tuple of tensors whose first
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
from constructions.seeds import torch_generator
from constructions.tokens import Tokens
from constructions.trained.form import Form
from constructions.trained.models import Shape
from theory.kinds import Count, checked

Batch = tuple[Tensor, ...]
CHUNK = 250  # prompts per forward pass of an evaluation


@runtime_checkable
class Training(Protocol):
    """The properties of a `Configuration` on which the prompts of a run depend."""

    @property
    def shape(self) -> Shape:
        """The shape of the model."""

    @property
    def steps(self) -> int:
        """The number of steps."""

    @property
    def batch_size(self) -> int:
        """The number of prompts per step."""

    @property
    def curriculum(self) -> Curriculum | None:
        """The growth of prompts during training, or None."""

    @property
    def seed(self) -> int:
        """The seed of the run."""


@checked
@dataclass(frozen=True)
class Curriculum:
    """The growth of prompts from `d` coordinates and `points` points [Garg2022].

    After every `every` steps there are one coordinate and two points more, up to the task's
    numbers.
    """

    d: Count
    points: Count
    every: Count

    def reached(self, step: int) -> tuple[int, int]:
        """Numbers of coordinates and points at a step, without the bounds of the task."""
        return self.d + step // self.every, self.points + 2 * (step // self.every)


@dataclass(frozen=True)
class Task(ABC):
    """A distribution of prompts, a loss, and an evaluation with the best possible values."""

    kind: ClassVar[str]
    kinds: ClassVar[dict[str, type[Task]]] = {}
    models: ClassVar[tuple[str, ...]] = ("transformer",)  # admissible kinds of models
    taught: ClassVar[bool] = False  # whether there can be a curriculum

    def __init_subclass__(cls, kind: str = "") -> None:
        if kind:
            cls.kind = kind
            Task.kinds[kind] = cls

    @abstractmethod
    def words(self, name: str, size: str, layers: str) -> list[str]:
        """The parts of a checkpoint's name between the preset and the seed."""

    @abstractmethod
    def form(self, shape: Shape) -> Form:
        """The properties that the prompts require of a model of this shape."""

    @abstractmethod
    def draw(self, made: Training, count: int, seed: int | Generator, *, step: int) -> Batch:
        """`count` prompts for the steps of a run from `step` on.

        They are on the device of `seed` if that is a generator, otherwise on the CPU.
        """

    @abstractmethod
    def loss(self, model: Model, *batch: Tensor) -> Tensor:
        """The training loss of a batch or of a part of it.

        It is a sum over predictions divided by a number that does not depend on the data, so the
        mean over equal parts of a batch is the loss of the batch.
        """

    @abstractmethod
    def evaluate(self, model: Model, prompts: int, seed: int) -> Iterator[str]:
        """Lines of a table: the model on `prompts` fresh prompts, and the best possible values."""

    def learnt(self, model: Model) -> bool:
        """Whether training can end before its last step; the loop calls this every few steps."""
        return False


class Labelling(Task):
    """Sequences of tokens; a batch is tokens and targets, both (count, T), −1 for no target."""

    @abstractmethod
    def sequences(self, count: int, seed: int | Generator) -> Batch:
        """Fresh sequences with targets, on the device of `seed`."""

    @abstractmethod
    def best(self, tokens: Tensor, wanted: Tensor) -> str:
        """The best possible values on these sequences, in words."""

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return [layers]

    def draw(self, made: Training, count: int, seed: int | Generator, *, step: int) -> Batch:
        return self.sequences(count, seed)

    def loss(self, model: Model, *batch: Tensor) -> Tensor:
        """The cross-entropy of the targets, divided by the number of all tokens."""
        tokens, wanted = batch
        logits = model.run(model.interface.write(torch, tokens)).flatten(0, -2)
        total = cross_entropy(logits, wanted.flatten(), ignore_index=-1, reduction="sum")
        return total / wanted.numel()

    def evaluate(self, model: Model, prompts: int, seed: int) -> Iterator[str]:
        """Accuracy and cross-entropy at positions with a target."""
        tokens, wanted = self.sequences(prompts, seed)
        counted = wanted >= 0
        logits = torch.cat([model.logits(chunk) for chunk in tokens.split(CHUNK)])[counted]
        entropy = cross_entropy(logits, wanted[counted])
        right = (logits.argmax(-1) == wanted[counted]).double().mean()
        yield f"{prompts} sequences: {float(right):.2%} right, {float(entropy):.4f} nats a token"
        yield self.best(tokens, wanted)


@checked
@dataclass(frozen=True)
class TokenTask(Labelling):
    """Sequences of `length` tokens whose targets are tokens."""

    vocabulary_size: Count
    length: Count

    def form(self, shape: Shape) -> Form:
        V, T = self.vocabulary_size, self.length
        return Form(Tokens(V, T), V, V, positions=T)


class Corpus(Task):
    """A task with a fixed set of prompts, traversed in epochs with a random order each.

    The seed of the run and the number of the epoch determine the order, so the step alone
    determines the next batch of a resumed run.
    """

    @property
    @abstractmethod
    def corpus(self) -> Batch:
        """All prompts, on the CPU."""

    def draw(self, made: Training, count: int, seed: int | Generator, *, step: int) -> Batch:
        generator = torch_generator(seed)
        size, first = len(self.corpus[0]), step * made.batch_size
        epochs = range(first // size, -(-(first + count) // size))
        orders = [np.random.default_rng((made.seed, epoch)).permutation(size) for epoch in epochs]
        rows = torch.from_numpy(np.concatenate(orders)[first % size :][:count])
        return tuple(part[rows].to(generator.device) for part in self.corpus)
