"""The training loop, one for all tasks and models.

A run lives in a folder: `state.safetensors` (weights, moments, step and random state in one file),
`model.jsonl`, the log, and at the end `model.safetensors` with its sidecar.  Started again in the
same folder it goes on from the last state, and since everything that matters is part of the state,
it ends with the very weights of an uninterrupted run on the same machine.

Under torchrun every process draws the whole batch, which costs little, and computes the gradient of
its part: the weights are those of one process, up to rounding.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save as save_tensors
from torch import Tensor, nn
from torch.nn.functional import pad

from constructions.trained import objective
from constructions.trained.checkpoint import is_whole, save, write
from constructions.trained.configuration import Configuration, TransformerShape
from constructions.trained.models import Model, untrained
from constructions.trained.process import Process
from theory.checks import InputError

AT_ONCE = 20  # steps whose prompts are drawn together
LINES = 500  # of the log, about
SAVE_EVERY = 30.0  # seconds between states
BETAS = (0.9, 0.98)
MOMENTS = "exp_avg", "exp_avg_sq"  # as torch's AdamW calls them
WORTH_COMPILING = 2000  # steps, in which the half minute that compiling takes is won back
ALIGNED = 4  # numbers of float32 in 16 bytes, at which every weight begins

Loss = Callable[[Model, Tensor, Tensor, Tensor], Tensor]


class Diverged(RuntimeError):
    """The loss is no longer a number."""


def train(
    configuration: Configuration,
    folder: Path,
    *,
    device: str = "cpu",
    progress: Callable[[int, float], None] = lambda step, loss: None,
    save_every: float = SAVE_EVERY,
    command: str = "",
) -> Path:
    """Train the model of a configuration, or go on with it, in `folder`; the path of its weights.

    A state is saved after so many seconds; `progress` is called with the steps done and the latest
    loss.  Transformers are compiled where a run is long enough for that to pay and the machine has
    a compiler that works; on a GPU float32 products are rounded to TF32.

    Raises ValueError where the folder holds another run or a damaged state, or another process
    trains in it, where the batch cannot be divided among the processes, and as `Process.join`; and
    Diverged, naming the step, if the loss becomes infinite or NaN: the last state before that
    stays.
    """
    process = Process.join(device)
    if configuration.batch_size % process.size:
        raise InputError(
            f"batch_size is {configuration.batch_size} and there are {process.size} processes: "
            "give a multiple of it"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder) if process.rank == 0 else nullcontext():
        return _train(Training.begin(configuration, folder, process), progress, save_every, command)


def _train(
    run: Training, progress: Callable[[int, float], None], save_every: float, command: str
) -> Path:
    first = run.process.rank == 0
    if run.process.device.type == "cuda":
        torch.set_float32_matmul_precision("high")
    path = run.folder / "model.safetensors"
    finished = run.step == run.configuration.steps and is_whole(path)
    compiled = run.compiled() if run.step < run.configuration.steps else None
    loss = compiled or objective.loss
    saved = time.monotonic()
    while run.step < run.configuration.steps:
        began = time.monotonic()
        losses = run.advance(min(AT_ONCE, run.configuration.steps - run.step), loss)
        run.seconds += time.monotonic() - began
        _check(losses, run.step - len(losses), run.folder)
        if not bool(torch.isfinite(run.weights).all()):
            raise Diverged(
                f"the weights are no numbers after step {run.step}: training stopped, and "
                f"{run.folder} keeps the last state before it, if there was one; try a smaller "
                "learning rate"
            )
        run.note(losses)
        progress(run.step, losses[-1])
        if first and time.monotonic() - saved >= save_every:
            run.save()
            saved = time.monotonic()
    if first and not finished:
        run.save()
        save(run.model, path, run.record(command, compiled=compiled is not None))
    return path


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which the system takes back from a process that ends."""
    import fcntl  # where there is none, checkpoints can still be loaded

    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"another process trains in {folder}: wait for it, or choose another folder"
            ) from None
        yield


@dataclass
class Training:
    """A model in training, with all that its next step depends on."""

    configuration: Configuration
    folder: Path
    process: Process
    model: Model
    weights: nn.Parameter
    optimizer: torch.optim.Optimizer
    generator: torch.Generator
    step: int = 0
    seconds: float = 0.0
    loss: float = float("nan")  # as the log has it last
    recent: tuple[float, ...] = ()

    @staticmethod
    def begin(configuration: Configuration, folder: Path, process: Process) -> Training:
        """A new run, or the one in the folder."""
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
        run = Training(configuration, folder, process, model, weights, optimizer, generator)
        if run.state_path.exists():
            run.restore()
        if process.rank == 0:
            run.cut_log()
        return run

    def compiled(self) -> Loss | None:
        """The loss compiled, if that pays and succeeds on a batch that is not trained on.

        It does not pay for an LSTM, whose recurrence torch has in one piece.
        """
        configuration, process = self.configuration, self.process
        transformer = isinstance(configuration.shape, TransformerShape)
        if configuration.steps < WORTH_COMPILING or not transformer:
            return None
        made = torch.compile(objective.loss, dynamic=False)
        generator = torch.Generator(process.device).manual_seed(0)
        batch = configuration.batch_size // process.size
        inputs, wanted = objective.draw(configuration, batch, generator, step=0)
        counted = objective.counted(configuration, 0).to(process.device)
        try:
            made(self.model, inputs, wanted, counted).backward()
        except RuntimeError:  # whatever a compiler that is missing or broken comes to
            return None
        return made

    def advance(self, steps: int, loss: Loss) -> list[float]:
        """Make so many steps; their losses."""
        configuration, batch, rank = self.configuration, self.configuration.batch_size, self.process
        inputs, wanted = objective.draw(
            configuration, steps * batch, self.generator, step=self.step
        )
        counted = objective.counted(configuration, self.step).to(inputs.device)
        losses = []
        for x, y in zip(inputs.split(batch), wanted.split(batch), strict=True):
            for group in self.optimizer.param_groups:
                group["lr"] = configuration.learning_rate * configuration.rate(self.step)
            value = loss(self.model, x[rank.rank :: rank.size], y[rank.rank :: rank.size], counted)
            self.optimizer.zero_grad(set_to_none=False)
            value.backward()
            assert self.weights.grad is not None
            rank.mean(self.weights.grad)
            torch.nn.utils.clip_grad_norm_(self.weights, configuration.clip)
            self.optimizer.step()
            losses.append(value.detach())
            self.step += 1
        found = torch.stack(losses)
        return rank.mean(found).tolist()

    def note(self, losses: list[float]) -> None:
        """Add to the log what is complete."""
        self.recent = (*self.recent, *losses)
        every = AT_ONCE * max(1, self.configuration.steps // (LINES * AT_ONCE))
        if self.step % every and self.step < self.configuration.steps:
            return
        self.loss = sum(self.recent) / len(self.recent)
        line = {
            "step": self.step,
            "loss": self.loss,
            "rate": self.configuration.learning_rate * self.configuration.rate(self.step - 1),
            "seconds": round(self.seconds, 2),
        }
        self.recent = ()
        if self.process.rank == 0:
            with self.log_path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    @property
    def state_path(self) -> Path:
        return self.folder / "state.safetensors"

    @property
    def log_path(self) -> Path:
        return self.folder / "model.jsonl"

    def save(self) -> None:
        """Write the state, in one file."""
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
        write(self.state_path, save_tensors(tensors, words))

    def restore(self) -> None:
        """Read the state; ValueError if it is one of another run."""
        try:
            with safe_open(self.state_path, framework="pt") as file:
                words = file.metadata()
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            configuration = Configuration.from_json(json.loads(words["configuration"]))
            step, seconds, loss = int(words["step"]), float(words["seconds"]), float(words["loss"])
            joint = [tensors[name] for name in ("weights", *MOMENTS)[: 3 if step else 1]]
            recent = tuple(tensors["recent"].tolist())
            if words["device"] != self.process.device.type:
                raise InputError(
                    f"{self.folder} holds a run that was begun on {words['device']}, whose random "
                    f"numbers are others: give --device {words['device']}, or another folder"
                )
            self.generator.set_state(tensors["generator"])
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"{self.state_path} is not a state of training ({error}): remove it"
            ) from None
        if configuration != self.configuration:
            raise InputError(
                f"{self.folder} holds another run (seed {configuration.seed}, "
                f"{configuration.steps} steps, {configuration.shape}): choose another folder"
            )
        fits = all(part.shape == self.weights.shape for part in joint)
        numbers = all(bool(torch.isfinite(part).all()) for part in joint)
        if not (fits and numbers and 0 <= step <= configuration.steps):
            raise InputError(
                f"{self.state_path} does not fit its configuration (step {step}): remove it"
            )
        weights, *moments = (part.to(self.weights.device) for part in joint)
        with torch.no_grad():
            self.weights.copy_(weights)
        if step:
            count = torch.tensor(float(step), device=self.weights.device)
            self.optimizer.state[self.weights] = {
                "step": count,
                **dict(zip(MOMENTS, moments, strict=True)),
            }
        self.step, self.seconds, self.loss, self.recent = step, seconds, loss, recent

    def cut_log(self) -> None:
        """Leave only what the log says up to the present step, of what can be read of it."""
        path, kept = self.log_path, []
        if path.exists() and self.step:
            for line in path.read_text("utf-8", errors="replace").splitlines():
                with suppress(ValueError, KeyError, TypeError):
                    if json.loads(line)["step"] <= self.step:
                        kept.append(line + "\n")
        write(path, "".join(kept).encode())

    def record(self, command: str, *, compiled: bool) -> dict[str, Any]:
        """What the sidecar says."""
        return {
            "configuration": self.configuration.to_json(),
            "command": command,
            "steps": self.step,
            "loss": self.loss,
            "seconds": round(self.seconds, 1),
            "environment": {
                "torch": torch.__version__,
                "device": _described(self.process.device),
                "processes": self.process.size,
                "threads": torch.get_num_threads(),
                "compiled": compiled,
            },
        }


def _joined(model: Model) -> nn.Parameter:
    """Lay the model's weights side by side in one vector, and their gradients in another.

    Clipping, the optimiser and the mean over processes then are one operation each.  What lies
    between two of them, so that each begins where vector instructions like it, stays 0.
    """
    parts = list(model.parameters())
    padded = [pad(W.detach().flatten(), (0, -W.numel() % ALIGNED)) for W in parts]
    joint = nn.Parameter(torch.cat(padded))
    joint.grad = torch.zeros_like(joint)
    sizes = [len(part) for part in padded]
    for W, values, gradient in zip(
        parts, joint.detach().split(sizes), joint.grad.split(sizes), strict=True
    ):
        W.data = values[: W.numel()].view_as(W)
        W.grad = gradient[: W.numel()].view_as(W)
    return joint


def _check(losses: list[float], before: int, folder: Path) -> None:
    for number, value in enumerate(losses, start=before + 1):
        if not abs(value) < float("inf"):
            raise Diverged(
                f"the loss of step {number} is {value}: training stopped, and {folder} keeps the "
                "last state before it, if there was one; try a smaller learning rate"
            )


def _described(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return "CPU"
