"""The configuration of a trained model: task, shape and hyperparameters in one record.

A configuration determines the weights, up to rounding.  The sidecar of every checkpoint contains
it as JSON, with the version of this record.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from constructions.interface import Model
from constructions.seeds import LARGEST as LARGEST_SEED
from constructions.trained.models import SHAPES, Shape
from constructions.trained.tasks.task import Curriculum, Task
from theory.kinds import Count, InputError, NonNegative, Positive, Steps, Within, checked

VERSION = 1  # version of the record


@checked
@dataclass(frozen=True)
class Configuration:
    """The configuration of a training run: a task, the shape of a model, and hyperparameters.

    The optimiser is AdamW with β = (0.9, 0.98) and `weight_decay`.

    The learning rate grows linearly to `learning_rate` in the first `warmup` of `steps` steps. Then
    it decays along a half cosine to `final_rate`·`learning_rate` at the last step. Each step uses
    `batch_size` prompts, and gradients are clipped to norm `clip`. `curriculum`, if given,
    determines how the numbers of coordinates and points of the prompts grow during training. `seed`
    determines the random numbers of the run.
    """

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
    seed: Annotated[Steps, Within(most=LARGEST_SEED)] = 0

    def __post_init__(self) -> None:
        if self.shape.kind not in self.task.models:
            raise InputError(
                f"a shape of kind {self.shape.kind} does not fit the task {self.task.kind}: "
                f"give a shape of kind {' or '.join(self.task.models)}"
            )
        if self.curriculum is not None and not self.task.taught:
            raise InputError(
                f"curriculum is {self.curriculum}, but only the task regression has a "
                "curriculum: omit `curriculum`"
            )

    @checked
    def rate(self, step: Steps) -> float:
        """The learning rate at a step, divided by `learning_rate`."""
        if step < self.warmup:
            return (step + 1) / self.warmup
        done = (step - self.warmup) / max(1, self.steps - self.warmup)
        return self.final_rate + (1 - self.final_rate) * (1 + math.cos(math.pi * done)) / 2

    def to_json(self) -> dict[str, Any]:
        """Returns the configuration as a JSON object, from which `from_json` restores it."""
        kinds = {"task": self.task.kind, "shape": self.shape.kind}
        inner = {name: {"kind": kind} | asdict(getattr(self, name)) for name, kind in kinds.items()}
        return {"version": VERSION, **asdict(self), **inner}

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> Configuration:
        """Returns the configuration from a JSON object that `to_json` returned.

        Raises `ValueError` for a JSON object of another version, and for one that is not a
        configuration.
        """
        if not isinstance(record, Mapping):
            raise InputError(
                f"{record!r} is not a configuration: give a configuration of version {VERSION}"
            )
        if record.get("version") != VERSION or isinstance(record["version"], bool):
            raise InputError(
                f"the configuration has version {record.get('version')!r}, not {VERSION}: "
                "train the model again, or use the release of the library that wrote the "
                "configuration"
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
            raise InputError(
                "the sidecar (.json file beside the weights) does not contain a configuration of "
                f"version {VERSION} "
                f"({error}): restore the sidecar"
            ) from None


@checked
def untrained(configuration: Configuration) -> Model:
    """Returns the untrained model of a configuration, with random float32 weights from its seed."""
    task, shape = configuration.task, configuration.shape
    return shape.build(task.form(shape), configuration.seed, task.kind).float()


def presets(
    **rows: tuple[Task, dict[str, Any], *tuple[Shape, ...]],
) -> dict[tuple[str, str], Configuration]:
    """Returns configurations by size and kind of model.

    Each keyword is a size, and its value contains a task, hyperparameters and shapes of models.
    """
    return {
        (size, shape.kind): Configuration(task, shape, **training)
        for size, (task, training, *shapes) in rows.items()
        for shape in shapes
    }


LEARNING = {"steps": 6_000, "learning_rate": 1e-3, "warmup": 200, "final_rate": 0.01}
"""The hyperparameters of small models."""
