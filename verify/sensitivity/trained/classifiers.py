"""Models trained to classify: how often their answers change with one place, and groups of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from constructions.trained import configuration_of, untrained
from theory.sensitivity.estimate import Change
from verify.evidence.checkpoints import models_of
from verify.finding import Finding, at_least

STREAM = 0x7A1  # beside the run's seed


class Seen(NamedTuple):
    """A trained model by the name of its checkpoint, and its task."""

    name: str
    model: Any
    task: Any

    @property
    def seed(self) -> int:
        """The seed of its training."""
        return int(self.name.rsplit("-seed", 1)[1])


Seeds = Mapping[str, Sequence[Seen]]
"""By the kind of model or training."""


def seeds_of(names: Mapping[str, tuple[str, str]]) -> dict[str, list[Seen]]:
    """All seeds of checkpoints, whose names and kinds (in words) are given by label."""
    return {label: [Seen(*m) for m in models_of(*which)] for label, which in names.items()}


def before_training(seen: Seen) -> Any:
    """The model of a checkpoint with the weights that training began with."""
    return untrained(configuration_of(seen.name)).requires_grad_(False)


def changes(
    model: Any, inputs: np.ndarray, change: Change, seed: int, times: int = 1
) -> np.ndarray:
    """The share of `times` changes of each place after which the answer is another, (m, places).

    Two models see the same changes, and of two changes by noise that differ in size the same noise.
    """
    before = np.asarray(model(inputs))
    total: Any = 0
    for i in range(times):
        rng = np.random.default_rng(np.random.SeedSequence([seed, STREAM, i]))
        after = [np.asarray(model(changed)) != before for changed in change(inputs, rng)]
        total = total + np.stack(after, axis=1)
    return np.asarray(total / times)


def learnt(seen: Seen, words: str) -> Finding:
    """Whether the accuracy at which training was to end was reached."""
    accuracy, _ = seen.task.measured(seen.model)
    return at_least(
        "learnt",
        "right on the inputs of training",
        "trained",
        accuracy,
        seen.task.until,
        words=f"{accuracy:.2%}, on those held out {held_out(seen):.1%}; {words}",
        wanted=f"at least {seen.task.until:.0%}, where training was to end",
    )


def held_out(seen: Seen) -> float:
    """The accuracy on inputs held out."""
    accuracy, _ = seen.task.measured(seen.model, held_out=True)
    return float(accuracy)
