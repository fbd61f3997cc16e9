"""The training loop for all tasks and models.

The folder of a run contains the state and the log `model.jsonl`, and after training
`model.safetensors` with its sidecar.  A run that is started again in the same folder resumes from
the last state.

The loop trains a `group` of runs that differ in their seeds alone, often of one run.

Under torchrun every process draws the whole batch, which is cheap, and computes the gradient of its
part: the weights are those of a single process, up to rounding.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from os.path import realpath
from pathlib import Path
from typing import Annotated

import torch
from torch import Tensor

from constructions.trained.checkpoint import is_whole, save
from constructions.trained.configuration import Configuration
from constructions.trained.folder import LOG, alone, cut_log, snapshot_of, weights_of
from constructions.trained.group import Group, Loss
from constructions.trained.process import Process
from constructions.trained.state import State
from theory.kinds import Choice, Count, FilePath, InputError, NonNegative, checked

AT_ONCE = 20  # steps whose prompts are drawn together
LINES = 500  # approximate number of lines of the log
SAVE_EVERY = 30.0  # seconds between saved states
WORTH_COMPILING = 2000  # number of steps beyond which compiling (half a minute) saves time

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

    Raises ValueError if the folder contains another run, a damaged state, or weights without a
    state, or if another process trains in the folder. Also raises ValueError if a step of `keep` is
    not in the run or has passed without a snapshot, if the number of processes does not divide the
    batch size, if there are more processes than GPUs, or if the environment variables of torchrun
    are invalid. Raises Diverged, with the number of the step, if the loss or a weight becomes
    infinite or NaN. The last state before that step is not overwritten.
    """
    [path] = train_together(
        [configuration],
        [folder],
        device=device,
        progress=progress,
        save_every=save_every,
        commands=[command],
        keep=keep,
    )
    return path


@checked
def train_together(
    configurations: Sequence[Configuration],
    folders: Sequence[FilePath],
    *,
    device: Annotated[str, Choice(("cpu", "cuda"))] = "cpu",
    progress: Progress = lambda step, loss: None,
    save_every: NonNegative = SAVE_EVERY,
    commands: Sequence[str] = (),
    keep: Collection[Count] = (),
) -> list[Path]:
    """Trains models of several seeds in one computation; returns the paths of their weights.

    The configurations differ in their seeds alone. Each run draws the prompts that it draws alone,
    and has the weights, up to rounding, the folder, the state and the log that `train` gives it: a
    run can be begun alone and resumed together with others, and the other way round. Runs that are
    behind are trained first, until they reach the others. `commands` are the commands in the
    sidecars; all other parameters are those of `train`. `progress` is called with the number of
    steps of the runs that are furthest behind, and the mean of their latest losses.

    If the products of a step take less than 3·10⁸ operations, all losses are evaluated at once by
    `torch.func.vmap`, and the operations of a step are traced once, which saves overhead.
    Otherwise, and for compiled models, for LSTMs, for linear attention and for the task chomsky,
    the losses of a step are evaluated one after the other.

    Raises ValueError for configurations that differ in more than their seeds, for equal seeds, for
    other numbers of folders or commands, and for equal folders. Otherwise errors are those of
    `train`. If a run diverges, the other runs are trained to their ends before Diverged is raised.
    """
    configuration = _agreed(configurations, folders, commands)
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
    with ExitStack() as stack:
        # The joint vector is not the chunk that cuDNN's LSTM wants: it copies the weights.
        stack.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", "RNN module weights are not part of single contiguous")
        for folder in folders:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(
                    f"cannot make the folder {folder} ({error.strerror}): choose another folder"
                ) from None
            stack.enter_context(alone(folder) if process.rank == 0 else nullcontext())
        pairs = zip(configurations, folders, strict=True)
        runs = [State.begin(made, folder, process) for made, folder in pairs]
        for run in runs:
            for step in keep:
                if step <= run.step and not is_whole(snapshot_of(run.folder, step)):
                    raise InputError(
                        f"the parameter keep is {step}, but the run in {run.folder} is at step "
                        f"{run.step} and has no snapshot of step {step}: omit {step} from `keep`, "
                        "or choose another folder"
                    )
        _train(runs, progress, save_every, commands or [""] * len(runs), keep)
    return [weights_of(folder) for folder in folders]


def _agreed(
    configurations: Sequence[Configuration], folders: Sequence[Path], commands: Sequence[str]
) -> Configuration:
    """The first configuration, if runs of these configurations can be trained together."""
    if not configurations:
        raise InputError("configurations is []: give at least one configuration")
    first, *others = configurations
    for other in others:
        if replace(other, seed=first.seed) != first:
            raise InputError(
                f"configurations contains {first} and {other}: give configurations that differ in "
                "their seeds alone"
            )
    given = {"folders": len(folders), "commands": len(commands) or len(configurations)}
    for name, count in given.items():
        if count != len(configurations):
            raise InputError(
                f"{name} has {count} entries for {len(configurations)} configurations: give one "
                "for each configuration"
            )
    seeds = [made.seed for made in configurations]
    if len(set(seeds)) < len(seeds):
        raise InputError(f"the seeds of configurations are {seeds}: give different seeds")
    if len({realpath(folder) for folder in folders}) < len(folders):
        raise InputError(f"folders contains {folders[0]} or another twice: give different folders")
    return first


def _train(
    runs: Sequence[State],
    progress: Progress,
    save_every: float,
    commands: Sequence[str],
    keep: Collection[int],
) -> None:
    process, made = runs[0].process, runs[0].configuration
    first = process.rank == 0
    if process.device.type == "cuda":
        torch.set_float32_matmul_precision("high")
    active = [run for run in runs if not _ended(run)]
    loss = compiled(active[0]) if active else None

    def checkpoint(run: State, path: Path, latest: float) -> None:
        device = process.device
        record = {
            "configuration": run.configuration.to_json(),
            "command": commands[runs.index(run)],
            "steps": run.step,
            "loss": latest,
            "seconds": round(run.seconds, 1),
            "environment": {
                "torch": torch.__version__,
                "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU",
                "processes": process.size,
                "threads": torch.get_num_threads(),
                "compiled": loss is not None,
            },
        }
        if first:
            save(run.model, path, record)

    def finish(run: State) -> None:
        if first:
            run.save()
            checkpoint(run, weights_of(run.folder), run.loss)

    for run in runs:
        if first:
            cut_log(run.folder, run.step)
        if run not in active and not is_whole(weights_of(run.folder)):
            finish(run)
    saved = last = time.monotonic()
    group, failed = None, None
    while active:
        behind = min(run.step for run in active)
        now = tuple(run for run in active if run.step == behind)
        if group is None or group.runs != now:
            group = Group(now, loss)
        losses = []
        for values in advance(group, min(AT_ONCE, made.steps - behind)):
            losses.append(values)
            if (
                group.step in keep
            ):  # before the state is saved, so that no state is ahead of the log
                last = _share(now, last)
                for run, value in zip(now, process.mean(values.clone()).tolist(), strict=True):
                    if not _diverged(run, [value]):
                        checkpoint(run, snapshot_of(run.folder, run.step), value)
        last = _share(now, last)
        latest = []
        means = process.mean(torch.stack(losses, dim=-1)).tolist()
        for run, found in zip(now, means, strict=True):
            if error := _diverged(run, found):
                failed = failed or error
                active.remove(run)
                continue
            latest.append(found[-1])
            ended = _ended(run)
            _note(run, found, ended)
            if ended:
                active.remove(run)
                finish(run)
        if latest:
            progress(group.step, sum(latest) / len(latest))
        if first and time.monotonic() - saved >= save_every:
            for run in active:
                run.save()
            saved = time.monotonic()
    if failed:
        raise failed


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


def advance(group: Group, steps: int) -> Iterator[Tensor]:
    """Performs training steps of S runs, and yields the losses (S,) of each step.

    The losses are those of this process's part of the batches.
    """
    made, process = group.configuration, group.process
    drawn = group.draw(steps)
    for whole in zip(*(part.split(made.batch_size, dim=1) for part in drawn), strict=True):
        for parameters in group.optimizer.param_groups:
            parameters["lr"] = made.learning_rate * made.rate(group.step)
        group.optimizer.zero_grad(set_to_none=False)
        values = group.backward(*(part[:, process.rank :: process.size] for part in whole))
        assert group.weights.grad is not None
        process.mean(group.weights.grad)
        group.clip(made.clip)
        group.optimizer.step()
        if made.shape.nonnegative:
            group.weights.detach().clamp_(min=0)
        for run in group.runs:
            run.step += 1
        yield values


def _diverged(run: State, losses: list[float]) -> Diverged | None:
    """The error, if one of the latest losses of whole batches or a weight is not finite."""
    stopped = (
        f"training stopped; {run.folder} contains the last state saved before, if any; use a "
        "smaller learning rate"
    )
    for step, value in enumerate(losses, start=run.step - len(losses) + 1):
        if not abs(value) < float("inf"):
            return Diverged(f"the loss of step {step} is {value}: {stopped}")
    if not bool(torch.isfinite(run.weights).all()):
        return Diverged(f"weights are NaN or infinite after step {run.step}: {stopped}")
    return None


def _share(runs: Sequence[State], last: float) -> float:
    """Divides the time since `last` among the runs, and returns the present time."""
    now = time.monotonic()
    for run in runs:
        run.seconds += (now - last) / len(runs)
    return now


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
