"""The training loop for all tasks and models.

The folder of a run contains the state and the log `model.jsonl`, and after training
`model.safetensors` with its sidecar.  A run that is started again in the same folder resumes from
the last state.

Under torchrun every process draws the whole batch, which is cheap, and computes the gradient of its
part: the weights are those of a single process, up to rounding.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Annotated

import torch
from torch import Tensor

from constructions.trained.checkpoint import is_whole, save, write
from constructions.trained.configuration import Configuration
from constructions.trained.process import Process
from constructions.trained.state import State
from theory.kinds import Choice, Count, FilePath, InputError, NonNegative, checked

AT_ONCE = 20  # steps whose prompts are drawn together
LOG = "model.jsonl"
LINES = 500  # approximate number of lines of the log
SAVE_EVERY = 30.0  # seconds between saved states
WORTH_COMPILING = 2000  # number of steps from which on compiling (half a minute) saves time

Loss = Callable[..., Tensor]
Progress = Callable[[int, float], None]


class Diverged(RuntimeError):
    """The error for a training run whose loss, or one of whose weights, is NaN or infinite."""


@checked
def train(
    configuration: Configuration,
    folder: FilePath,
    *,
    device: Annotated[str, Choice(("cpu", "cuda"))] = "cpu",
    progress: Progress = lambda step, loss: None,
    save_every: NonNegative = SAVE_EVERY,
    command: str = "",
    keep: Collection[Count] = (),
) -> Path:
    """Trains a model, or resumes its training, in `folder`; returns the path of the weights.

    Training ends after the last step, or when the method `learnt` of the task returns True. This
    method is called every 20 steps. The state of the run is saved every `save_every` seconds.
    `progress` is called with the number of steps and the latest loss. After each of the steps in
    `keep`, the weights are also saved as `model-step….safetensors` (a snapshot). Transformers are
    compiled if the run is long enough and the machine has a working compiler. On a GPU float32
    products are rounded to TF32.

    Raises ValueError if the folder contains another run or a damaged state, or if another process
    trains in the folder. Also raises ValueError if a step of `keep` is not in the run or has passed
    without a snapshot, if the number of processes does not divide the batch size, if there are more
    processes than GPUs, or if the environment variables of torchrun are invalid. Raises Diverged,
    with the number of the step, if the loss or a weight becomes infinite or NaN. The last state
    before that step is not overwritten.
    """
    for step in keep:
        if step > configuration.steps:
            raise InputError(
                f"the parameter keep is {step}: give a step from 1 to {configuration.steps}"
            )
    process = Process.join(device)
    if configuration.batch_size % process.size:
        raise InputError(
            f"batch_size is {configuration.batch_size}: give a multiple of the number of "
            f"processes, {process.size}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder) if process.rank == 0 else nullcontext(), warnings.catch_warnings():
        # The joint vector is not the chunk that cuDNN's LSTM wants: it copies the weights.
        warnings.filterwarnings("ignore", "RNN module weights are not part of single contiguous")
        run = State.begin(configuration, folder, process)
        for step in keep:
            if step <= run.step and not is_whole(_snapshot(folder, step)):
                raise InputError(
                    f"the parameter keep is {step}, but the run in {folder} is at step {run.step} "
                    "and has no "
                    f"snapshot of step {step}: omit {step} from `keep`, or choose another folder"
                )
        return _train(run, progress, save_every, command, keep)


def _train(
    run: State, progress: Progress, save_every: float, command: str, keep: Collection[int]
) -> Path:
    total, first = run.configuration.steps, run.process.rank == 0
    if run.process.device.type == "cuda":
        torch.set_float32_matmul_precision("high")
    if first:
        _cut_log(run)
    path = run.folder / "model.safetensors"
    ended = _ended(run)
    finished = ended and is_whole(path)
    made = None if ended else compiled(run)
    loss = made or run.configuration.task.loss

    def checkpoint(path: Path, loss: float) -> None:
        device = run.process.device
        record = {
            "configuration": run.configuration.to_json(),
            "command": command,
            "steps": run.step,
            "loss": loss,
            "seconds": round(run.seconds, 1),
            "environment": {
                "torch": torch.__version__,
                "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU",
                "processes": run.process.size,
                "threads": torch.get_num_threads(),
                "compiled": made is not None,
            },
        }
        if first:
            save(run.model, path, record)

    saved = time.monotonic()
    began = saved - run.seconds
    while not ended:
        losses = []
        for value in advance(run, min(AT_ONCE, total - run.step), loss):
            losses.append(value)
            if run.step in keep:  # before the state is saved, so that no state is ahead of the log
                [latest] = _finite(run, [value])
                run.seconds = time.monotonic() - began
                checkpoint(_snapshot(run.folder, run.step), latest)
        found = _finite(run, losses)
        run.seconds = time.monotonic() - began
        ended = _ended(run)
        _note(run, found, ended)
        progress(run.step, found[-1])
        if first and time.monotonic() - saved >= save_every:
            run.save()
            saved = time.monotonic()
    if first and not finished:
        run.save()
        checkpoint(path, run.loss)
    return path


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """A context that holds the folder's lock, which the system releases when the process ends.

    If the run is rejected, a new lock is removed, and the folder too if it is empty.
    """
    import fcntl  # imported here, so that checkpoints can be loaded on systems without it

    lock = folder / "lock"
    new = not lock.exists()
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"another process trains in {folder}: wait for its end, or choose another folder"
            ) from None
        try:
            yield
        except InputError:
            if new:
                lock.unlink()
                with suppress(OSError):  # the folder contains other files
                    folder.rmdir()
            raise


def compiled(run: State) -> Loss | None:
    """The compiled loss function, or None if the run is short or if compilation fails."""
    made, process = run.configuration, run.process
    if made.steps <= WORTH_COMPILING or not (made.shape.compiles and made.task.one_shape):
        return None
    loss = torch.compile(made.task.loss, dynamic=False)
    generator = torch.Generator(process.device).manual_seed(0)
    batch = made.task.draw(made, made.batch_size // process.size, generator, step=0)
    try:
        loss(run.model, *batch).backward()
    except RuntimeError:  # the compiler is missing or broken
        return None
    return loss


def advance(run: State, steps: int, loss: Loss) -> Iterator[Tensor]:
    """Performs training steps, and yields the loss of each on this process's part of the batch."""
    made, process = run.configuration, run.process
    batch = made.batch_size
    drawn = made.task.draw(made, steps * batch, run.generator, step=run.step)
    for whole in zip(*(part.split(batch) for part in drawn), strict=True):
        for group in run.optimizer.param_groups:
            group["lr"] = made.learning_rate * made.rate(run.step)
        value = loss(run.model, *(part[process.rank :: process.size] for part in whole))
        run.optimizer.zero_grad(set_to_none=False)
        value.backward()
        assert run.weights.grad is not None
        process.mean(run.weights.grad)
        torch.nn.utils.clip_grad_norm_(run.weights, made.clip)
        run.optimizer.step()
        if made.shape.nonnegative:
            run.weights.detach().clamp_(min=0)
        run.step += 1
        yield value.detach()


def _finite(run: State, losses: list[Tensor]) -> list[float]:
    """The latest losses of whole batches; Diverged if they or the weights are not finite."""
    found = run.process.mean(torch.stack(losses)).tolist()
    stopped = (
        f"training stopped; {run.folder} contains the last state saved before, if any; use a "
        "smaller learning rate"
    )
    for step, value in enumerate(found, start=run.step - len(found) + 1):
        if not abs(value) < float("inf"):
            raise Diverged(f"the loss of step {step} is {value}: {stopped}")
    if not bool(torch.isfinite(run.weights).all()):
        raise Diverged(f"weights are NaN or infinite after step {run.step}: {stopped}")
    return found


def _ended(run: State) -> bool:
    """Whether the last step is done or the task is learnt."""
    return run.step == run.configuration.steps or run.configuration.task.learnt(run.model)


def _note(run: State, losses: list[float], ended: bool) -> None:
    """Appends a line to the log if an interval of steps is complete."""
    made = run.configuration
    run.recent = (*run.recent, *losses)
    every = AT_ONCE * max(1, made.steps // (LINES * AT_ONCE))
    if run.step % every and not ended:
        return
    run.loss, run.recent = sum(run.recent) / len(run.recent), ()
    line = {
        "step": run.step,
        "loss": run.loss,
        "rate": made.learning_rate * made.rate(run.step - 1),
        "seconds": round(run.seconds, 2),
    }
    if run.process.rank == 0:
        with (run.folder / LOG).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _cut_log(run: State) -> None:
    """Removes damaged lines of the log and those after the present step."""
    path, lines = run.folder / LOG, []
    if path.exists() and run.step:
        for line in path.read_text("utf-8", errors="replace").splitlines():
            with suppress(ValueError, KeyError, TypeError):
                if json.loads(line)["step"] <= run.step:
                    lines.append(line + "\n")
    write(path, "".join(lines).encode())


def _snapshot(folder: Path, step: int) -> Path:
    return folder / f"model-step{step}.safetensors"
