"""The training loop, one for all tasks and models.

A run lives in a folder: the state, `model.jsonl`, the log, and at the end `model.safetensors` with
its sidecar.  Started again in the same folder it goes on from the last state.

Under torchrun every process draws the whole batch, which costs little, and computes the gradient of
its part: the weights are those of one process, up to rounding.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import torch
from torch import Tensor

from constructions.trained.checkpoint import is_whole, save, write
from constructions.trained.configuration import Configuration
from constructions.trained.process import Process
from constructions.trained.state import State
from theory.kinds import Count, FilePath, InputError, NonNegative, checked

AT_ONCE = 20  # steps whose prompts are drawn together
LOG = "model.jsonl"
LINES = 500  # of it, about
SAVE_EVERY = 30.0  # seconds between states
WORTH_COMPILING = 2000  # steps, in which the half minute that compiling takes is won back

Loss = Callable[..., Tensor]
Progress = Callable[[int, float], None]


class Diverged(RuntimeError):
    """The loss is no longer a number."""


@checked
def train(
    configuration: Configuration,
    folder: FilePath,
    *,
    device: str = "cpu",
    progress: Progress = lambda step, loss: None,
    save_every: NonNegative = SAVE_EVERY,
    command: str = "",
    keep: Collection[Count] = (),
) -> Path:
    """Train the model of a configuration, or go on with it, in `folder`; the path of its weights.

    Training ends with the last step, or before, where the task, asked every `AT_ONCE` steps, is
    learnt.  A state is saved after so many seconds; `progress` is called with the steps done and
    the latest loss.  The model after each of the steps `keep` stays beside the last one, in the
    checkpoint `model-step….safetensors`.  Transformers are compiled where a run is long enough for
    that to pay and the machine has a compiler that works; on a GPU float32 products are rounded to
    TF32.

    Raises ValueError where the folder holds another run or a damaged state, or another process
    trains in it, for a step to keep that is past, where the batch cannot be divided
    among the processes, and as `Process.join`; and Diverged, naming the step, if the loss becomes
    infinite or NaN: the last state before that stays.
    """
    for step in keep:
        if step > configuration.steps:
            raise InputError(f"keep is {step}: give steps from 1 to {configuration.steps}")
    process = Process.join(device)
    if configuration.batch_size % process.size:
        raise InputError(
            f"batch_size is {configuration.batch_size} and there are {process.size} processes: "
            "give a multiple of it"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder) if process.rank == 0 else nullcontext():
        run = State.begin(configuration, folder, process)
        for step in keep:
            if step <= run.step and not is_whole(_kept(folder, step)):
                raise InputError(
                    f"{folder} is at step {run.step} and holds no model of step {step}: do not "
                    "keep that one, or choose another folder"
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
            if run.step in keep:  # before the state, so that no state is ahead of it
                [latest] = _numbers(run, [value])
                run.seconds = time.monotonic() - began
                checkpoint(_kept(run.folder, run.step), latest)
        found = _numbers(run, losses)
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


def compiled(run: State) -> Loss | None:
    """The loss compiled, if that pays and succeeds on a batch that is not trained on."""
    made, process = run.configuration, run.process
    if made.steps <= WORTH_COMPILING or not made.shape.compiles:
        return None
    loss = torch.compile(made.task.loss, dynamic=False)
    generator = torch.Generator(process.device).manual_seed(0)
    batch = made.task.draw(made, made.batch_size // process.size, generator, step=0)
    try:
        loss(run.model, *batch).backward()
    except RuntimeError:  # whatever a compiler that is missing or broken comes to
        return None
    return loss


def advance(run: State, steps: int, loss: Loss) -> Iterator[Tensor]:
    """Make so many steps, and yield the loss of each, of this process's part of the batch."""
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


def _numbers(run: State, losses: list[Tensor]) -> list[float]:
    """The latest losses, of whole batches; Diverged if they or the weights are no numbers."""
    found = run.process.mean(torch.stack(losses)).tolist()
    stopped = (
        f"training stopped, and {run.folder} keeps the last state before it, if there was one; try "
        "a smaller learning rate"
    )
    for step, value in enumerate(found, start=run.step - len(found) + 1):
        if not abs(value) < float("inf"):
            raise Diverged(f"the loss of step {step} is {value}: {stopped}")
    if not bool(torch.isfinite(run.weights).all()):
        raise Diverged(f"the weights are no numbers after step {run.step}: {stopped}")
    return found


def _ended(run: State) -> bool:
    """Whether all steps are made, or the task is learnt."""
    return run.step == run.configuration.steps or run.configuration.task.learnt(run.model)


def _note(run: State, losses: list[float], ended: bool) -> None:
    """Add to the log what is complete."""
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
    """Leave only what the log says up to the present step, of what can be read of it."""
    path, kept = run.folder / LOG, []
    if path.exists() and run.step:
        for line in path.read_text("utf-8", errors="replace").splitlines():
            with suppress(ValueError, KeyError, TypeError):
                if json.loads(line)["step"] <= run.step:
                    kept.append(line + "\n")
    write(path, "".join(kept).encode())


def _kept(folder: Path, step: int) -> Path:
    return folder / f"model-step{step}.safetensors"
