"""Classification of a fixed set of inputs, of which some are held out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from constructions.interface import Model
from constructions.trained.tasks.task import Batch, Corpus, FreshPrompts
from theory.kinds import InputError, Positive, Steps, checked

STOPS = "accuracy", "loss"


@checked
@dataclass(frozen=True)
class Classification(Corpus):
    """The base class of classification tasks, whose training ends at a given accuracy or loss.

    If `stop` is "accuracy", training ends when the accuracy on all training inputs is at least
    `until`. If `stop` is "loss", training ends when their cross-entropy is at most `until`.
    """

    stop: Literal["accuracy", "loss"] = "accuracy"
    until: Positive = 0.99

    fresh = False

    def __post_init__(self) -> None:
        if self.until > 1 and self.stop == "accuracy":
            raise InputError(
                f"the parameter until is {self.until}: for stop = 'accuracy', give an accuracy of "
                "at most 1"
            )

    @property
    @abstractmethod
    def examples(self) -> tuple[Batch, Batch]:
        """All inputs with their labels, those for training and those held out, on the CPU."""

    @property
    def corpus(self) -> Batch:
        return self.examples[0]

    def scores(self, model: Model, inputs: Tensor) -> Tensor:
        """The logits (count, labels) of the model on inputs (count, …)."""
        return model.run(model.interface.write(torch, inputs.to(model.like.device))).mean(-2)

    def loss(self, model: Model, *batch: Tensor) -> Tensor:
        """The mean cross-entropy of the labels of a batch."""
        inputs, labels = batch
        return cross_entropy(self.scores(model, inputs), labels)

    @torch.no_grad()
    def measured(self, model: Model, *, held_out: bool = False) -> tuple[float, float]:
        """The model's accuracy and cross-entropy on all training or all held-out inputs."""
        inputs, labels = self.examples[held_out]
        scores = self.scores(model, inputs).cpu()
        right = (scores.argmax(-1) == labels).double().mean()
        return float(right), float(cross_entropy(scores, labels))

    def learnt(self, model: Model) -> bool:
        accuracy, entropy = self.measured(model)
        return accuracy >= self.until if self.stop == "accuracy" else entropy <= self.until

    @checked
    def evaluate(self, model: Model, prompts: FreshPrompts, seed: Steps) -> Iterator[str]:
        """Yields accuracy and cross-entropy on all training inputs and on all held-out inputs.

        `prompts` and `seed` have no effect.
        """
        for name, held_out in (("of training", False), ("held out", True)):
            accuracy, entropy = self.measured(model, held_out=held_out)
            labels = self.examples[held_out][1]
            always = float(labels.bincount().max() / len(labels))
            yield (
                f"{len(labels)} inputs {name}: {accuracy:.2%} right, {entropy:.4f} nats; "
                f"constant prediction: {always:.2%}"
            )
