"""What a trained model is: its task, its shape and how it is trained, in one record.

A configuration and a seed determine the weights, up to the rounding of the machine.  It is written
beside every checkpoint as JSON, with the version of this record.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from constructions.interface import Model
from constructions.trained.models import SHAPES, Shape
from constructions.trained.tasks.task import Curriculum, Task
from theory.kinds import Count, InputError, NonNegative, Positive, Steps, Within, checked

VERSION = 1  # of the record; another one is refused
SEEDS = 2**63 - 1  # the largest that torch and numpy take


@checked
@dataclass(frozen=True)
class Configuration:
    """A model and its training: AdamW (β = 0.9, 0.98) with `weight_decay`, at `learning_rate` after
    `warmup` steps, along a half cosine down to `final_rate` of it at the last of `steps`, on
    `batch_size` prompts a step, gradients clipped to length `clip`."""

    task: Task
    shape: Shape
    steps: Count
    learning_rate: Positive
    batch_size: Count = 64
    warmup: Steps = 0
    final_rate: NonNegative = 1.0
    weight_decay: NonNegative = 0.0
    clip: Positive = 1.0
    curriculum: Curriculum | None = None
    seed: Annotated[Steps, Within(most=SEEDS)] = 0

    def __post_init__(self) -> None:
        if self.shape.kind not in self.task.models:
            raise InputError(
                f"the shape is of kind {self.shape.kind}, which does not read {self.task.kind}: "
                f"give one of kind {' or '.join(self.task.models)}"
            )
        if self.curriculum is not None and not self.task.taught:
            raise InputError("a curriculum is for regression: leave it out")

    def rate(self, step: int) -> float:
        """The learning rate of a step, as a fraction of `learning_rate`."""
        if step < self.warmup:
            return (step + 1) / self.warmup
        done = (step - self.warmup) / max(1, self.steps - self.warmup)
        return self.final_rate + (1 - self.final_rate) * (1 + math.cos(math.pi * done)) / 2

    def to_json(self) -> dict[str, Any]:
        """The record as JSON holds it; `from_json` reads it back."""
        kinds = {"task": self.task.kind, "shape": self.shape.kind}
        inner = {name: {"kind": kind} | asdict(getattr(self, name)) for name, kind in kinds.items()}
        return {"version": VERSION, **asdict(self), **inner}

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> Configuration:
        """The configuration that `to_json` wrote.

        Raises `ValueError` for a record of another version, or one that is none.
        """
        if not isinstance(record, Mapping):
            raise InputError(f"not a configuration of version {VERSION}: {record!r}")
        if record.get("version") != VERSION or isinstance(record["version"], bool):
            raise InputError(
                f"the configuration is of version {record.get('version')!r} and this is version "
                f"{VERSION}: train the model again, or use the release that wrote it"
            )
        try:
            values = {name: value for name, value in record.items() if name != "version"}
            for name in ("task", "shape"):
                inner = dict(values[name])
                values[name] = (Task.kinds | SHAPES)[inner.pop("kind")](**inner)
            if values["curriculum"] is not None:
                values["curriculum"] = Curriculum(**values["curriculum"])
            return Configuration(**values)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"not a configuration of version {VERSION}: {error}") from None


@checked
def untrained(configuration: Configuration) -> Model:
    """The model of a configuration with random weights, float32, that its seed determines."""
    task, shape = configuration.task, configuration.shape
    return shape.build(task.form(shape), configuration.seed, task.kind).float()


def presets(
    **rows: tuple[Task, dict[str, Any], *tuple[Shape, ...]],
) -> dict[tuple[str, str], Configuration]:
    """Configurations by size and kind of model, from a task, how it is learned, and shapes."""
    return {
        (size, shape.kind): Configuration(task, shape, **training)
        for size, (task, training, *shapes) in rows.items()
        for shape in shapes
    }


LEARNING = {"steps": 6_000, "learning_rate": 1e-3, "warmup": 200, "final_rate": 0.01}
"""How small models learn."""
