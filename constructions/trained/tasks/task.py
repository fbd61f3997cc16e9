"""The interface of a training task: data, loss, evaluation and names.

A task is a record of a few numbers.  In the JSON of a configuration it has the `kind` that its
class declares: `class Hop(TokenTask, kind="hop")`.  A batch is a tuple of tensors whose first
dimension is the prompts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from constructions.interface import Model
from constructions.seeds import torch_generator
from constructions.tokens import Tokens
from constructions.trained.form import Form
from constructions.trained.models import Shape
from theory import machine
from theory.kinds import Count, Steps, Within, checked, shown

Batch = tuple[Tensor, ...]
CHUNK = 250  # prompts per forward pass of an evaluation
MOST_FRESH = 100_000  # the largest number of prompts of an evaluation

FreshPrompts: TypeAlias = Annotated[Count, Within(least=2, most=MOST_FRESH)]
"""The number of prompts of an evaluation, at least 2 for a standard error."""
PromptCount: TypeAlias = Annotated[Count, Within(most=10**6)]
"""The number of prompts of a batch."""


@runtime_checkable
class Training(Protocol):
    """The part of a `Configuration` on which the prompts of a run depend."""

    @property
    def shape(self) -> Shape:
        """The shape of the model."""

    @property
    def steps(self) -> int:
        """The number of training steps."""

    @property
    def batch_size(self) -> int:
        """The number of prompts per step."""

    @property
    def curriculum(self) -> Curriculum | None:
        """The curriculum, by which prompts grow during training, or None."""

    @property
    def seed(self) -> int:
        """The seed of the run."""


@checked
@dataclass(frozen=True)
class Curriculum:
    """A curriculum: prompts grow from `d` coordinates and `points` points on [Garg2022].

    After every `every` steps, prompts have one more coordinate and two more points, up to the
    numbers of the task.
    """

    d: Count
    points: Count
    every: Count

    @checked
    def reached(self, step: Steps) -> tuple[int, int]:
        """The numbers of coordinates and points at a step, if the task set no upper limits."""
        return self.d + step // self.every, self.points + 2 * (step // self.every)


@dataclass(frozen=True)
class Task(ABC):
    """The base class of training tasks: a distribution of prompts, a loss, and an evaluation."""

    kind: ClassVar[str]
    kinds: ClassVar[dict[str, type[Task]]] = {}
    models: ClassVar[tuple[str, ...]] = ("transformer",)  # admissible kinds of models
    taught: ClassVar[bool] = False  # whether there can be a curriculum
    fresh: ClassVar[bool] = True  # whether `evaluate` draws new prompts, or takes all inputs
    whole_log: ClassVar[bool] = False  # whether a claim reads every line of the log
    one_shape: ClassVar[bool] = True  # whether the loss can be compiled for batches of one shape

    def __init_subclass__(cls, kind: str = "") -> None:
        if kind:
            cls.kind = kind
            Task.kinds[kind] = cls

    @abstractmethod
    def words(self, name: str, size: str, layers: str) -> list[str]:
        """The parts of a checkpoint's name that stand between the preset and the seed."""

    @abstractmethod
    def form(self, shape: Shape) -> Form:
        """The properties that a model of this shape must have for the prompts of the task."""

    @abstractmethod
    def draw(self, made: Training, count: int, seed: int | Generator, *, step: int) -> Batch:
        """Returns `count` random prompts for the steps of a run from step `step` on.

        They are on the device of `seed` if `seed` is a generator, and otherwise on the CPU.
        """

    @abstractmethod
    def loss(self, model: Model, *batch: Tensor) -> Tensor:
        """The training loss of a batch, or of a part of a batch.

        The loss is a sum over predictions, divided by a number that does not depend on the data. So
        the loss of a batch is the mean of the losses of its parts, if these have equal sizes.
        """

    @abstractmethod
    def evaluate(self, model: Model, prompts: int, seed: int) -> Iterator[str]:
        """Yields lines of text: results of the model on new prompts, and best possible values."""

    def learnt(self, model: Model) -> bool:
        """Whether training can end before its last step; the training loop calls this regularly."""
        return False


class Labelling(Task):
    """The base class of tasks with a target for each token of a sequence.

    A batch consists of tokens and targets, both (count, T) for sequences of T tokens; a target of
    −1 means no target.
    """

    @abstractmethod
    def sequences(self, count: int, seed: int | Generator) -> Batch:
        """Returns `count` new random sequences with their targets, on the device of `seed`."""

    @abstractmethod
    def best(self, tokens: Tensor, wanted: Tensor) -> str:
        """The best possible values of accuracy or loss on these sequences, as text."""

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return [layers]

    def draw(self, made: Training, count: int, seed: int | Generator, *, step: int) -> Batch:
        return self.sequences(count, seed)

    def loss(self, model: Model, *batch: Tensor) -> Tensor:
        """The sum of the cross-entropies of the targets, divided by the number of all tokens."""
        tokens, wanted = batch
        logits = model.run(model.interface.write(torch, tokens)).flatten(0, -2)
        total = cross_entropy(logits, wanted.flatten(), ignore_index=-1, reduction="sum")
        return total / wanted.numel()

    @checked
    def evaluate(self, model: Model, prompts: FreshPrompts, seed: Steps) -> Iterator[str]:
        """Yields the accuracy and the cross-entropy at positions with a target."""
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
    """The base class of tasks with sequences of `length` tokens whose targets are tokens."""

    vocabulary_size: Annotated[Count, Within(below=2**63)]  # tokens are int64
    length: Count

    def form(self, shape: Shape) -> Form:
        V, T = self.vocabulary_size, self.length
        return Form(Tokens(V, T), V, V, positions=T)

    def fits(self, count: int, each: int) -> None:
        """Raises ValueError if `count` sequences of `each` bytes do not fit in memory."""
        machine.fits_in_memory(
            f"sequences of length = {shown(self.length)} with vocabulary_size = "
            f"{shown(self.vocabulary_size)}",
            count * each,
            "give smaller numbers",
        )


class Corpus(Task):
    """The base class of tasks with a fixed set of prompts, traversed in epochs.

    In each epoch the prompts have a new random order, which the seed of the run and the number of
    the epoch determine. So the number of the step determines the next batch of a resumed run.
    """

    @property
    @abstractmethod
    def corpus(self) -> Batch:
        """All prompts of the task as one batch, on the CPU."""

    def draw(self, made: Training, count: int, seed: int | Generator, *, step: int) -> Batch:
        generator = torch_generator(seed)
        size, first = len(self.corpus[0]), step * made.batch_size
        epochs = range(first // size, -(-(first + count) // size))
        orders = [np.random.default_rng((made.seed, epoch)).permutation(size) for epoch in epochs]
        rows = torch.from_numpy(np.concatenate(orders)[first % size :][:count])
        return tuple(part[rows].to(generator.device) for part in self.corpus)
