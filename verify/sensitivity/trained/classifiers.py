"""Trained classifiers by seed, and the fractions of their predictions that change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from constructions.trained import configuration_of, untrained
from theory.sensitivity.estimate import Change
from verify.evidence.checkpoints import models_of
from verify.finding import Finding, at_least

STREAM = 0x7A1  # distinguishes this stream from others of the run's seed


class Seen(NamedTuple):
    """A trained model with the name of its checkpoint and the task of the model."""

    name: str
    model: Any
    task: Any

    @property
    def seed(self) -> int:
        """The seed with which the model was trained."""
        return int(self.name.rsplit("-seed", 1)[1])


Seeds = Mapping[str, Sequence[Seen]]
"""The models of all seeds, by the kind of model or training."""


def seeds_of(names: Mapping[str, tuple[str, str]]) -> dict[str, list[Seen]]:
    """The trained models of all seeds, for each label in `names`.

    `names` maps a label to a pair: the common name of the checkpoints, and the kind of model.
    """
    return {label: [Seen(*m) for m in models_of(*which)] for label, which in names.items()}


def before_training(seen: Seen) -> Any:
    """The model of a checkpoint with the initial weights of its training."""
    return untrained(configuration_of(seen.name)).requires_grad_(False)


def changes(
    model: Any, inputs: np.ndarray, change: Change, seed: int, times: int = 1
) -> np.ndarray:
    """The fraction of random changes of each place that change the prediction, (m, places).

    Each place of each of the m inputs is changed `times` times. The changes are the same for all
    models, because they depend only on `seed`. For noise on images, noise of different standard
    deviations differs only by a factor.
    """
    before = np.asarray(model(inputs))
    total: Any = 0
    for i in range(times):
        rng = np.random.default_rng(np.random.SeedSequence([seed, STREAM, i]))
        after = [np.asarray(model(changed)) != before for changed in change(inputs, rng)]
        total = total + np.stack(after, axis=1)
    return np.asarray(total / times)


def learnt(seen: Seen, words: str) -> Finding:
    """The finding that the training accuracy reaches the accuracy at which training stops."""
    accuracy, _ = seen.task.measured(seen.model)
    return at_least(
        "learnt",
        "accuracy on the inputs of training",
        "trained",
        accuracy,
        seen.task.until,
        words=f"{accuracy:.2%}; the accuracy on held-out inputs is {held_out(seen):.1%}; {words}",
        wanted=f"at least {seen.task.until:.0%}, the accuracy at which training stops",
    )


def held_out(seen: Seen) -> float:
    """The accuracy of a trained model on held-out inputs."""
    accuracy, _ = seen.task.measured(seen.model, held_out=True)
    return float(accuracy)
