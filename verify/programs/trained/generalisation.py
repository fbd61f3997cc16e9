"""Accuracies by length on a task of the Chomsky hierarchy, of trained models and of null models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from constructions.programs import chomsky_task
from constructions.trained.tasks.chomsky import Chomsky
from constructions.trained.tasks.task import CHUNK, Batch
from theory.programs.chomsky import TASKS

OTHERS = 500  # inputs of each length from which the best constant output is estimated

Answers = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Inputs:
    """Fresh inputs of a task at each length 1, …, 5T, and the accuracies of models on them.

    `within` is the number of inputs of each length up to T, and `beyond` the number of inputs of
    each longer length.  An accuracy is the fraction of symbols of an output that are right.
    """

    task: Chomsky
    within: int
    beyond: int
    seed: int

    @cached_property
    def drawn(self) -> list[Batch]:
        """The inputs (count, n) and outputs (count, m) at each length."""
        T = self.task.length
        return [
            self.task.inputs(n, self.within if n <= T else self.beyond, self._rng(n))
            for n in self.lengths
        ]

    @property
    def lengths(self) -> range:
        """The lengths 1, …, 5T."""
        return range(1, self.task.longest + 1)

    def accuracies(self, answers: Answers) -> list[np.ndarray]:
        """The accuracy on each input, in one array (count,) for each length."""
        found = []
        for x, wanted in self.drawn:
            outputs = torch.cat([answers(part) for part in x.split(CHUNK)])
            found.append((outputs == wanted).double().mean(1).numpy(force=True))
        return found

    @cached_property
    def of_constant(self) -> list[np.ndarray]:
        """The accuracies of the best output that depends only on the length.

        Its symbol at each place is the most frequent one there, in other inputs of this length.
        """
        found = []
        for n, (_, wanted) in zip(self.lengths, self.drawn, strict=True):
            _, others = self.task.inputs(n, OTHERS, self._rng(n, 1))
            found.append((others.mode(0).values == wanted).double().mean(1).numpy(force=True))
        return found

    @cached_property
    def of_built(self) -> list[np.ndarray]:
        """The accuracies of the hand-built model for inputs of 5T tokens."""
        return self.accuracies(chomsky_task(self.task.problem, self.task.longest))

    def _rng(self, *stream: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, [*TASKS].index(self.task.problem), *stream))


@dataclass(frozen=True)
class Accuracies:
    """The accuracies of a trained model and of the untrained model, on the same inputs."""

    inputs: Inputs
    of_model: list[np.ndarray]
    of_untrained: list[np.ndarray]

    @classmethod
    def measured(cls, inputs: Inputs, model: Any, null: Any) -> Accuracies:
        """Measures a trained model and the untrained one."""
        return cls(inputs, inputs.accuracies(model), inputs.accuracies(null))

    @property
    def of_constant(self) -> list[np.ndarray]:
        """The accuracies of the best constant output of each length."""
        return self.inputs.of_constant

    def at(self, where: str, of: list[np.ndarray]) -> np.ndarray:
        """The accuracies on the inputs of at most T tokens (`within`) or of more (`beyond`)."""
        T = self.inputs.task.length
        return np.concatenate(of[:T] if where == "within" else of[T:])
