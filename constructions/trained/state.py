"""The state of a training run: a model and all other inputs of its next step, and its file.

`state.safetensors` contains weights, moments, step and random state, so a resumed run ends with
exactly the weights of an uninterrupted one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save as save_tensors
from torch import nn
from torch.nn.functional import pad

from constructions.interface import Model
from constructions.trained.checkpoint import write
from constructions.trained.configuration import Configuration, untrained
from constructions.trained.process import Process
from theory.kinds import InputError

BETAS = (0.9, 0.98)
MOMENTS = "exp_avg", "exp_avg_sq"  # names of torch's AdamW
ALIGNED = 4  # float32 numbers in 16 bytes, to which every weight is aligned


@dataclass
class State:
    """A training run in its folder, after `step` steps that took `seconds` seconds.

    `loss` is the last loss in the log, and `recent` contains the losses since that entry of the
    log.
    """

    configuration: Configuration
    folder: Path
    process: Process
    model: Model
    weights: nn.Parameter
    optimizer: torch.optim.Optimizer
    generator: torch.Generator
    step: int = 0
    seconds: float = 0.0
    loss: float = float("nan")
    recent: tuple[float, ...] = ()

    @staticmethod
    def begin(configuration: Configuration, folder: Path, process: Process) -> State:
        """Returns the run that the folder contains, or a new run.

        Raises ValueError if the run in the folder has another configuration or is damaged.
        """
        model = untrained(configuration).to(process.device)
        weights = _joined(model)
        optimizer = torch.optim.AdamW(
            [weights],
            lr=configuration.learning_rate,
            betas=BETAS,
            weight_decay=configuration.weight_decay,
            fused=True,
        )
        generator = torch.Generator(process.device).manual_seed(configuration.seed)
        run = State(configuration, folder, process, model, weights, optimizer, generator)
        if run.path.exists():
            run._restore()
        return run

    @property
    def path(self) -> Path:
        """The path of the file to which the state is saved."""
        return self.folder / "state.safetensors"

    def save(self) -> None:
        """Write the state to its file."""
        tensors = {"weights": self.weights.detach().cpu()}
        for moment in MOMENTS if self.step else ():
            tensors[moment] = self.optimizer.state[self.weights][moment].cpu()
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
                f"{self.path} is not a training state ({error}): remove this file"
            ) from None
        if configuration != self.configuration:
            raise InputError(
                f"{self.folder} contains another run (seed {configuration.seed}, "
                f"{configuration.steps} steps, {configuration.shape}): choose another folder"
            )
        fits = all(part.shape == self.weights.shape for part in joint)
        numbers = all(bool(torch.isfinite(part).all()) for part in joint)
        if not (fits and numbers and 0 <= step <= configuration.steps):
            raise InputError(
                f"{self.path} does not fit its configuration (step {step}): remove this file"
            )
        weights, *moments = (part.to(self.weights.device) for part in joint)
        with torch.no_grad():
            self.weights.copy_(weights)
        if step:
            self.optimizer.state[self.weights] = {
                "step": torch.tensor(float(step), device=self.weights.device),
                **dict(zip(MOMENTS, moments, strict=True)),
            }
        self.step, self.seconds, self.loss, self.recent = step, seconds, loss, recent


def _joined(model: Model) -> nn.Parameter:
    """Concatenates all trained weights in one vector, and their gradients in another.

    Clipping, the optimiser and the mean over processes are then one operation each.  The padding,
    which aligns every weight for vector instructions, stays 0.
    """
    parts = [W for W in model.parameters() if W.requires_grad]
    padded = [pad(W.detach().flatten(), (0, -W.numel() % ALIGNED)) for W in parts]
    joint = nn.Parameter(torch.cat(padded))
    joint.grad = torch.zeros_like(joint)
    sizes = [len(part) for part in padded]
    views = joint.detach().split(sizes), joint.grad.split(sizes)
    for W, values, gradient in zip(parts, *views, strict=True):
        W.data = values[: W.numel()].view_as(W)
        W.grad = gradient[: W.numel()].view_as(W)
    return joint
