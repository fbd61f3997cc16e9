"""The command line: `python -m constructions.trained train | evaluate | ship | list`.

Exit codes: 0 done · 1 training diverged · 2 usage · 130 interrupted (start again to go on).
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from typer.exceptions import TyperException

from constructions.trained.checkpoint import configuration_of, load, ship, shipped, sidecar
from constructions.trained.configuration import SEEDS, Configuration, untrained
from constructions.trained.presets import PRESETS, SIZES, name_of, preset
from constructions.trained.process import is_first
from constructions.trained.training import SAVE_EVERY, Diverged, train
from theory.kinds import Choice, InputError
from theory.terminal import run

DIVERGED, USAGE, INTERRUPTED = 1, 2, 130
DAY = 86_400

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    help="Train the counterparts of the constructions, and look at those that were trained.",
)


@app.command("train")
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
            help="if not the preset's: lstm (regression, digits, text), mlp or cnn (digits)"
        ),
    ] = None,
    covariance: Annotated[
        str, typer.Option(help="isotropic or ill-conditioned (regression)")
    ] = "isotropic",
    noise: Annotated[float, typer.Option(help="noise of the labels (regression)")] = 0.0,
    layers: Annotated[int | None, typer.Option(help="depth, if not the preset's")] = None,
    k: Annotated[int | None, typer.Option(help="hops, 4 if none are given (hop)")] = None,
    automaton: Annotated[
        str, typer.Option(help="one of the zoo, such as S3 or flip-flop (automata)")
    ] = "parity",
    stay: Annotated[
        float | None, typer.Option(help="share of letters that change no state (automata)")
    ] = None,
    graphs: Annotated[
        str | None, typer.Option(help="all, or those within or beyond distance 3 (connectivity)")
    ] = None,
    say: Annotated[str | None, typer.Option(help="steps or answer (parity)")] = None,
    training: Annotated[
        str | None, typer.Option(help="plain, regularised or augmented (digits)")
    ] = None,
    read: Annotated[str | None, typer.Option(help="at token, last or mean (text)")] = None,
    seed: Annotated[int, typer.Option(min=0, max=SEEDS, help="of weights and prompts")] = 0,
    steps: Annotated[int | None, typer.Option(help="if not the preset's")] = None,
    keep: Annotated[
        list[int] | None, typer.Option(help="a step whose model is kept too; can be repeated")
    ] = None,
    out: Annotated[str | None, typer.Option(help="folder of the run, if not runs/NAME")] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, or auto")] = "auto",
) -> None:
    """Train a model, or go on where an earlier run in the same folder stopped."""
    values, usual = locals(), inspect.signature(train_command).parameters
    chosen = [name for name in values if name not in ("task", "keep", "out", "device")]
    given = {name: values[name] for name in chosen if values[name] != usual[name].default}
    if out == "":  # which Path takes for the folder that one is in
        raise InputError("--out is empty: give a folder, or leave it out for runs/NAME")
    Choice(SIZES).read("--preset", size)
    configuration = preset(task, **given)
    name, kept = name_of(task, size, configuration), keep or []
    words = [f"--{'preset' if name == 'size' else name} {value}" for name, value in given.items()]
    words += [f"--keep {step}" for step in kept]
    command = " ".join(["python -m constructions.trained train", task, *words])
    on = _device(device, size, configuration)
    folder = Path("runs") / name if out is None else Path(out)
    with _bar(name, configuration.steps) as show:
        path = train(configuration, folder, device=on, progress=show, command=command, keep=kept)
    if is_first():
        print(f"{name}: {sidecar(path)['steps']} steps; {path}")


@app.command("evaluate")
def evaluate_command(
    name: Annotated[str, typer.Argument(help="a shipped checkpoint, or a file ….safetensors")],
    prompts: Annotated[int, typer.Option(min=2, max=100_000, help="fresh prompts")] = 1000,
    seed: Annotated[int, typer.Option(min=0, max=SEEDS, help="of the prompts")] = 1_000_000,
) -> None:
    """Measure a trained model on fresh prompts, beside what is best possible."""
    for line in configuration_of(name).task.evaluate(load(name), prompts, seed):
        print(line)


@app.command("ship")
def ship_command(
    name: Annotated[str, typer.Argument(help="the file of a run, runs/NAME/model.safetensors")],
) -> None:
    """Put a trained model among the checkpoints of this package, in float16."""
    print(ship(name))


@app.command("list")
def list_command() -> None:
    """The checkpoints that come with the package."""
    for name in shipped():
        record = sidecar(name)
        print(
            f"{name:48} {record['steps']:>7} steps  loss {record['loss']:.4f}  "
            f"{record['bytes'] / 2**20:5.2f} MiB"
        )


def _device(device: str, size: str, configuration: Configuration) -> str:
    """The device to use; where none was asked for and there is no GPU, what is as large as in a
    paper is refused."""
    Choice(("auto", "cpu", "cuda")).read("device", device)
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("no GPU is visible to torch: leave --device out, or give --device cpu")
    if device != "auto":
        return device
    if torch.cuda.is_available():
        return "cuda"
    if size.startswith("paper"):
        days = configuration.steps * _seconds_of_a_step(configuration) / DAY
        raise InputError(
            f"preset {size} wants a GPU and there is none: here it would take about {days:.0f} "
            "days; give --device cpu to train all the same, or another preset"
        )
    return "cpu"


def _seconds_of_a_step(configuration: Configuration) -> float:
    """Forward and backward of an eighth of a batch, times eight; the fastest of a few."""
    model, generator = untrained(configuration), torch.Generator().manual_seed(0)
    task, count = configuration.task, max(1, configuration.batch_size // 8)
    batch = task.draw(configuration, count, generator, step=0)

    def once() -> float:
        began = time.perf_counter()
        task.loss(model, *batch).backward()
        return time.perf_counter() - began

    return min(once() for _ in range(4)) * configuration.batch_size / count


@contextmanager
def _bar(name: str, steps: int) -> Iterator[Callable[[int, float], None]]:
    """A progress bar on standard error, if someone is looking at it."""
    screen = Console(stderr=True)
    columns = TextColumn(name), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}")
    if not screen.is_terminal or not is_first():  # rich 13 ends a bar that is not shown with a line
        yield lambda step, loss: None
        return
    with Progress(*columns, TimeRemainingColumn(), console=screen) as bar:
        task = bar.add_task("", total=steps)
        yield lambda step, loss: bar.update(task, completed=step, description=f"loss {loss:.4f}")


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; every error is one line on standard error."""
    try:
        code = app(args=arguments, prog_name="constructions.trained", standalone_mode=False) or 0
        again = f"training goes on from its last state, one every {SAVE_EVERY:g} s"
        message = f"interrupted; given the same command again, {again}"
        if code != INTERRUPTED:
            return int(code)
    except TyperException as error:
        message, code = " ".join(error.format_message().split()), USAGE
    except InputError as error:
        message, code = str(error), USAGE
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        message, code = f"{place}{error.strerror or error}; give another place", USAGE
    except MemoryError:
        message, code = "there is not enough memory for so much: ask for less", USAGE
    except Diverged as error:
        message, code = str(error), DIVERGED
    if is_first():
        print(f"error: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(run(main))
