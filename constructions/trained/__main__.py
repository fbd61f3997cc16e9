"""The command line: `python -m constructions.trained train | evaluate | ship | list`.

Exit codes: 0 success · 1 training diverged · 2 usage · 4 the output cannot be written ·
130 interrupted (the same command resumes a training).
"""

from __future__ import annotations

import errno
import inspect
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from typer.exceptions import TyperException

from constructions.seeds import LARGEST as LARGEST_SEED
from constructions.trained.checkpoint import configuration_of, load, ship, shipped, sidecar
from constructions.trained.presets import PRESETS, name_of, preset, sizes_of
from constructions.trained.process import is_first
from constructions.trained.tasks.task import MOST_FRESH
from constructions.trained.training import SAVE_EVERY, Diverged, train_together
from theory.kinds import Choice, InputError
from theory.terminal import FULL, Once, in_words, run
from theory.waiting import Pace

DIVERGED, USAGE, INTERRUPTED = 1, 2, 130
PROMPTS, SEED = 1000, 1_000_000  # of an evaluation, by default

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    help="Train counterparts of the constructions; evaluate, list and ship trained models.",
)


@app.command("train", cls=Once)
def train_command(
    task: Annotated[
        str,
        typer.Argument(help=", ".join(PRESETS)),
    ],
    size: Annotated[
        str,
        typer.Option(
            "--preset",
            help="small; ten, medium, paper or linear (regression); channels or dense "
            "(connectivity); minilm, scratch, shuffled, gaussian or fourier (addition); p7, p11 or "
            "p23 (modular); level (digits); uniform-16, compare-7, hard-15, paper-plane and others "
            "(search); sketch-32 (counts)",
        ),
    ] = "small",
    model: Annotated[
        str | None,
        typer.Option(
            help="kind of model, if not the preset's: lstm (regression, digits, text), mlp or cnn "
            "(digits)"
        ),
    ] = None,
    covariance: Annotated[
        str | None,
        typer.Option(help="of the inputs: isotropic (default) or ill-conditioned (regression)"),
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option(help="standard deviation of the label noise, by default 0 (regression)"),
    ] = None,
    n_layers: Annotated[
        int | None,
        # The commands recorded in sidecars have --layers.
        typer.Option("--n-layers", "--layers", help="number of layers, instead of the preset's"),
    ] = None,
    k: Annotated[int | None, typer.Option(help="number of hops, 4 by default (hop)")] = None,
    automaton: Annotated[
        str | None,
        typer.Option(help="a benchmark automaton, such as S3, by default parity (automata)"),
    ] = None,
    stay: Annotated[
        float | None,
        typer.Option(help="probability of the symbols that change no state (automata)"),
    ] = None,
    graphs: Annotated[
        str | None,
        typer.Option(
            help="all; within: every connected pair is within distance 3; beyond: some connected "
            "pair is not (connectivity)"
        ),
    ] = None,
    say: Annotated[
        str | None,
        typer.Option(help="output of the model: steps (a chain of thought) or answer (parity)"),
    ] = None,
    training: Annotated[
        str | None, typer.Option(help="objective: plain, regularised or augmented (digits)")
    ] = None,
    read: Annotated[
        str | None, typer.Option(help="position of the output: token, last or mean (text)")
    ] = None,
    problem: Annotated[
        str | None,
        typer.Option(help="a task of the Chomsky hierarchy, 'reverse string' by default (chomsky)"),
    ] = None,
    seed: Annotated[
        list[int] | None,
        typer.Option(
            min=0,
            max=LARGEST_SEED,
            help="seed of weights and prompts, by default 0; can be repeated: models of several "
            "seeds are trained together",
        ),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help="number of steps, instead of the preset's")
    ] = None,
    keep: Annotated[
        list[int] | None,
        typer.Option(help="a step after which a snapshot is saved; can be repeated"),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            help="folder of the run instead of runs/NAME; of several seeds: folder instead of runs"
        ),
    ] = None,
    device: Annotated[
        str, typer.Option(help="device of the training: cpu, cuda, or auto")
    ] = "auto",
) -> None:
    """Train models, one for each seed, or resume earlier runs in the same folders."""
    values, usual = locals(), inspect.signature(train_command).parameters
    if out == "":  # Path("") is the current folder
        raise InputError("--out is '': give a folder, or omit --out to use the folder runs/NAME")
    if task in PRESETS:
        sizes_of(task).read("--preset", size)
    if len(set(seed or [])) < len(seed or []):
        raise InputError(f"--seed is {', '.join(map(str, seed or []))}: give each seed once")
    chosen = [name for name in values if name not in ("task", "keep", "out", "device")]
    given = {name: values[name] for name in chosen if values[name] != usual[name].default}
    snapshots, made, commands = keep or [], [], []
    for each in seed or [0]:
        own = given | {"seed": each} if seed else given
        made.append(preset(task, **own))
        commands.append(_command(task, own, snapshots))
    names = [name_of(task, size, configuration) for configuration in made]
    on = _device(device, size)
    if len(made) == 1:
        folders = [Path("runs") / names[0] if out is None else Path(out)]
    else:
        folders = [Path("runs" if out is None else out) / name for name in names]
    title = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    with _bar(title, made[0].steps) as show:
        paths = train_together(
            made, folders, device=on, progress=show, commands=commands, keep=snapshots
        )
    for name, path in zip(names, paths, strict=True):
        if is_first():
            print(f"{name}: {sidecar(path)['steps']} steps; {path}")


def _command(task: str, given: dict[str, Any], snapshots: list[int]) -> str:
    """The command that trains one model with these options."""
    options = {"size": "preset", "n_layers": "n-layers"}
    words = [
        f"--{options.get(name, name)} {shlex.quote(str(value))}"
        for name, value in given.items()
        if (name, value) != ("seed", 0)
    ]
    words += [f"--keep {step}" for step in snapshots]
    return " ".join(["python -m constructions.trained train", task, *words])


@app.command("evaluate", cls=Once)
def evaluate_command(
    name: Annotated[str, typer.Argument(help="a shipped checkpoint, or a file ….safetensors")],
    prompts: Annotated[
        int | None,
        typer.Option(min=2, max=MOST_FRESH, help=f"fresh prompts, by default {PROMPTS}"),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=LARGEST_SEED, help=f"seed of the prompts, by default {SEED}"),
    ] = None,
) -> None:
    """Evaluate a trained model on new random prompts, and print the best possible values."""
    task = configuration_of(name).task
    for option, value in (("--prompts", prompts), ("--seed", seed)):
        if value is not None and not task.fresh:
            raise InputError(
                f"{option} has no effect on {name}, which is evaluated on all inputs: omit {option}"
            )
    count, drawn_by = PROMPTS if prompts is None else prompts, SEED if seed is None else seed
    for line in task.evaluate(load(name), count, drawn_by):
        print(line)


@app.command("ship", cls=Once)
def ship_command(
    name: Annotated[str, typer.Argument(help="the file of a run, runs/NAME/model.safetensors")],
) -> None:
    """Add a trained model to the checkpoints of this package, in float16."""
    print(ship(name))


@app.command("list", cls=Once)
def list_command() -> None:
    """List the trained models that the package contains."""
    for name in shipped():
        record = sidecar(name)
        print(
            f"{name:48} {record['steps']:>7} steps  loss {record['loss']:.4f}  "
            f"{record['bytes'] / 2**20:5.2f} MiB"
        )


def _device(device: str, size: str) -> str:
    """The device to use.

    Raises ValueError for a preset of published size on "auto" without a GPU.
    """
    Choice(("auto", "cpu", "cuda")).read("device", device)
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError(
            "--device is cuda, but torch finds no GPU: omit --device, or give --device cpu"
        )
    if device != "auto":
        return device
    if torch.cuda.is_available():
        return "cuda"
    if size.startswith("paper"):
        raise InputError(
            f"--preset is {size}, but torch finds no GPU, and training on a CPU takes days: give "
            "another preset, or give --device cpu"
        )
    return "cpu"


@contextmanager
def _bar(name: str, steps: int) -> Iterator[Callable[[int, float], None]]:
    """A progress bar if standard error is a terminal; else more than a minute is announced."""
    screen = Console(stderr=True)
    columns = TextColumn(name), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}")
    if not screen.is_terminal or not is_first():  # rich 13 prints a newline for a hidden bar
        yield _announcing(name, steps) if is_first() else lambda step, loss: None
        return
    with Progress(*columns, TimeRemainingColumn(), console=screen) as bar:
        task = bar.add_task("", total=steps)
        yield lambda step, loss: bar.update(task, completed=step, description=f"loss {loss:.4f}")


def _announcing(name: str, steps: int) -> Callable[[int, float], None]:
    """A function of the number of steps so far that announces a training of more than a minute."""
    pace: Pace | None = None
    before = 0

    def show(step: int, loss: float) -> None:
        nonlocal pace, before
        if pace is None:  # the first steps include the start
            pace = Pace(f"training of {name}", steps - step)
        else:
            pace.done(step - before)
        before = step

    return show


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and returns its exit code; an error is one line on standard error."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        code = app(args=words, prog_name="constructions.trained", standalone_mode=False) or 0
        if code != INTERRUPTED:
            return int(code)
        message = "interrupted"
        if words[:1] == ["train"]:
            message += (
                "; the same command resumes from the last state, if there is one; a state is "
                f"saved every {SAVE_EVERY:g} s"
            )
    except TyperException as error:
        message, code = in_words(error), USAGE
    except InputError as error:
        message, code = str(error), USAGE
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        message, code = f"{place}{error.strerror or error}; give another path", USAGE
        if error.errno == errno.ENOSPC and not error.filename:
            message, code = f"cannot write the output: {error.strerror}", FULL
    except MemoryError:
        message, code = "memory is exhausted: give a smaller model or fewer prompts", USAGE
    except Diverged as error:
        message, code = str(error), DIVERGED
    if is_first():
        print(f"error: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(run(main))
