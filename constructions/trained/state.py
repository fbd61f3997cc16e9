"""The state of a training run: a model and all other inputs of its next step, and its file.

`state.safetensors` contains weights, moments, step and random state, so a resumed run ends with
exactly the weights of an uninterrupted one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save as save_tensors
from torch import Tensor, nn
from torch.nn.functional import pad

from constructions.interface import Model
from constructions.trained.checkpoint import write
from constructions.trained.configuration import Configuration, untrained
from constructions.trained.folder import weights_of
from constructions.trained.process import Process
from theory.kinds import InputError

MOMENTS = "exp_avg", "exp_avg_sq"  # names of torch's AdamW
ALIGNED = 4  # float32 numbers in 16 bytes, to which every weight is aligned


@dataclass(eq=False)
class State:
    """A training run in its folder, after `step` steps that took `seconds` seconds.

    `weights` is the vector of all trained weights, of which the parameters of the model are views;
    `moments` are the two vectors of AdamW. `loss` is the last loss in the log, and `recent`
    contains the losses since that entry of the log.
    """

    configuration: Configuration
    folder: Path
    process: Process
    model: Model
    generator: torch.Generator
    weights: Tensor
    moments: tuple[Tensor, Tensor]
    step: int = 0
    seconds: float = 0.0
    loss: float = float("nan")
    recent: tuple[float, ...] = ()

    @staticmethod
    def begin(configuration: Configuration, folder: Path, process: Process) -> State:
        """Returns the run that the folder contains, or a new run.

        Raises ValueError if the run in the folder has another configuration or is damaged, and for
        a folder that contains weights but no state of a run.
        """
        model = untrained(configuration).to(process.device)
        generator = torch.Generator(process.device).manual_seed(configuration.seed)
        weights = _joined(trained(model))
        moments = torch.zeros_like(weights), torch.zeros_like(weights)
        run = State(configuration, folder, process, model, generator, weights, moments)
        if run.path.exists():
            run._restore()
        elif found := [path.name for path in _written_last(folder) if path.exists()]:
            raise InputError(
                f"{folder} contains {' and '.join(found)} and no state of a run: choose another "
                "folder"
            )
        run.move(weights, torch.zeros_like(weights), moments)
        return run

    @property
    def path(self) -> Path:
        """The path of the file to which the state is saved."""
        return self.folder / "state.safetensors"

    def move(self, weights: Tensor, gradient: Tensor, moments: tuple[Tensor, Tensor]) -> None:
        """Moves the weights and moments of the run to other vectors.

        The parameters of the model become views of the new weights, and their gradients views of
        the vector `gradient`.
        """
        for new, old in zip((weights, *moments), (self.weights, *self.moments), strict=True):
            if new is not old:
                new.copy_(old)
        self.weights, self.moments = weights, moments
        parts = trained(self.model)
        for W, values, slope in zip(
            parts, views(weights, parts), views(gradient, parts), strict=True
        ):
            W.data, W.grad = values, slope

    def save(self) -> None:
        """Write the state to its file."""
        tensors = {"weights": self.weights.cpu()}
        if self.step:
            tensors |= {name: part.cpu() for name, part in zip(MOMENTS, self.moments, strict=True)}
        tensors["generator"] = self.generator.get_state()
        tensors["recent"] = torch.tensor(self.recent, dtype=torch.float64)
        words = {
            "configuration": json.dumps(self.configuration.to_json()),
            "step": str(self.step),
            "seconds": str(self.seconds),
            "loss": str(self.loss),
            "device": self.process.device.type,
        }
        write(self.path, save_tensors(tensors, words))

    def _restore(self) -> None:
        try:
            with safe_open(self.path, framework="pt") as file:
                words = file.metadata()
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            configuration = Configuration.from_json(json.loads(words["configuration"]))
            step, seconds, loss = int(words["step"]), float(words["seconds"]), float(words["loss"])
            joint = [tensors[name] for name in ("weights", *MOMENTS)[: 3 if step else 1]]
            recent = tuple(tensors["recent"].tolist())
            if words["device"] != self.process.device.type:
                raise InputError(
                    f"{self.folder} contains a run on {words['device']}, and the random numbers "
                    f"of other devices differ: give --device {words['device']}, or another folder"
                )
            self.generator.set_state(tensors["generator"])
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"{self.path} is not a training state ({error}): choose another folder, or remove "
                "this one"
            ) from None
        if configuration != self.configuration:
            raise InputError(
                f"{self.folder} contains another run, with "
                f"{', '.join(_differences(configuration, self.configuration))}: choose another "
                "folder"
            )
        fits = all(part.shape == self.weights.shape for part in joint)
        numbers = all(bool(torch.isfinite(part).all()) for part in joint)
        if not (fits and numbers and 0 <= step <= configuration.steps):
            raise InputError(
                f"{self.path} does not fit its configuration (step {step}): remove this file"
            )
        for part, saved in zip((self.weights, *self.moments), joint, strict=False):
            part.copy_(saved)
        self.step, self.seconds, self.loss, self.recent = step, seconds, loss, recent


def _written_last(folder: Path) -> tuple[Path, Path]:
    """The files that a run writes at its end, after its state."""
    return (path := weights_of(folder)), path.with_suffix(".json")


def trained(model: Model) -> list[nn.Parameter]:
    """The parameters of a model that are trained, in order."""
    return [W for W in model.parameters() if W.requires_grad]


def views(vectors: Tensor, parts: Sequence[Tensor]) -> list[Tensor]:
    """The views (…, *shape) of vectors (…, P) of weights, one for each of the parts.

    P is the sum of the sizes of the parts, each rounded up to a multiple of 4.
    """
    each = vectors.split([W.numel() + -W.numel() % ALIGNED for W in parts], dim=-1)
    leading = vectors.shape[:-1]
    return [
        vector[..., : W.numel()].view(*leading, *W.shape)
        for vector, W in zip(each, parts, strict=True)
    ]


def _joined(parts: Sequence[Tensor]) -> Tensor:
    """Concatenates weights in one vector.

    The padding, which aligns every weight for vector instructions, stays 0.
    """
    return torch.cat([pad(W.detach().flatten(), (0, -W.numel() % ALIGNED)) for W in parts])


def _differences(one: Configuration, other: Configuration) -> Iterator[str]:
    """The fields of the first configuration, its task and its shape, that differ in the other."""
    for a, b in ((one, other), (one.task, other.task), (one.shape, other.shape)):
        if type(a) is not type(b):
            yield f"a {type(a).__name__} instead of a {type(b).__name__}"
            continue
        for name in (each.name for each in fields(a)):
            before, now = getattr(a, name), getattr(b, name)
            if before != now and name not in ("task", "shape"):
                yield f"{name} {before} instead of {now}"
