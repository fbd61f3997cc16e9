"""The commands `verify sweep NAME --k 1..12 --out DIR` and `verify summary DIR`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, get_args

import typer

from theory.kinds import Choice, Count, InputError, read
from verify.claim import Claim, option
from verify.output.files import drawn, folder_target, picture_target
from verify.output.options import EXIT, Quiet, progress_bar
from verify.sweep.folder import read_plan, sweep
from verify.sweep.plan import planned
from verify.sweep.results import Swept
from verify.sweep.workers import on_dask

Plot = Annotated[Path | None, option("draw a plot of --y by --x to this file (.png, .pdf or .svg)")]
X = Annotated[str | None, option("the parameter against which --y is shown", metavar="PARAM")]
Y = Annotated[
    str | None,
    option(
        "the number shown: that of FINDING, or FINDING:KEY if it has several numbers, or seconds"
    ),
]


def sweep_command(claim: Claim | None) -> Callable[..., int]:
    """Returns the sweep of a claim as a typer command; the claim's options take lists of values."""

    def run_sweep(
        name: Annotated[str, typer.Argument(help="the claim")],
        out: Annotated[
            str,
            option(
                "folder of the runs; if it contains this sweep, the sweep is continued",
                metavar="<path>",
            ),
        ],
        seeds: Annotated[int, option("number of seeds 0, 1, … for each combination")] = 1,
        jobs: Annotated[
            int | None, option("number of processes on this machine; default: number of cores")
        ] = None,
        scheduler: Annotated[
            str | None, option("address of a Dask scheduler, whose workers run the claim")
        ] = None,
        plot: Plot = None,
        x: X = None,
        y: Y = None,
        quiet: Quiet = False,
        **texts: list[str] | None,
    ) -> int:
        """Run a claim with all combinations of values, such as --k 1..12 --d 2,5,10 --seeds 20."""
        assert claim is not None
        folder = folder_target(out)
        given = {option: _once(option, each) for option, each in texts.items() if each}
        plan = planned(name, claim, given, seeds)
        asked = _asked(plot, x, y, [*claim.options, "seed"])
        engine = on_dask(None if jobs is None else read(Count, "jobs", jobs), scheduler)
        sweep(plan, folder, engine, progress_bar(quiet))
        return _summarised(folder, *asked, quiet)

    common = [
        p
        for p in inspect.signature(run_sweep, eval_str=True).parameters.values()
        if p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    own = [
        inspect.Parameter(
            p.name,
            p.POSITIONAL_OR_KEYWORD,
            default=None,
            annotation=Annotated[list[str] | None, option(_help(p), metavar="VALUES")],
        )
        for p in (claim.options.values() if claim else ())
    ]
    run_sweep.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*common[:2], *own, *common[2:]]
    )
    run_sweep.__annotations__ = {p.name: p.annotation for p in [*common, *own]}
    return run_sweep


def _once(option: str, texts: Sequence[str]) -> str:
    """The text of an option; raises InputError if it was given several times."""
    if len(texts) > 1:
        both = ",".join(texts)
        raise InputError(
            f"{option} is given {len(texts)} times: give the option once, with all its "
            f"values: {both}"
        )
    return texts[0]


def _help(parameter: inspect.Parameter) -> str:
    """The help text of a claim's option."""
    _, *notes = get_args(parameter.annotation) or (None,)
    return "".join(getattr(note, "help", "") for note in notes)


def summarise(
    out: Annotated[Path, typer.Argument(help="the folder of a sweep")],
    plot: Plot = None,
    x: X = None,
    y: Y = None,
    quiet: Quiet = False,
) -> int:
    """Print the results of a sweep in tables, and plot a number against a parameter."""
    parameters = [*read_plan(out)["values"], "seed"]
    return _summarised(out, *_asked(plot, x, y, parameters), quiet)


def _asked(
    plot: Path | None, x: str | None, y: str | None, parameters: Sequence[str]
) -> tuple[Path | None, str | None, str | None]:
    """The checked options of the plot."""
    if (x is None) != (y is None) or (plot and not x):
        raise InputError(
            "a plot needs a parameter and a finding: give both --x PARAM and --y FINDING"
        )
    if x is not None:
        x = x.replace("-", "_")
        Choice(tuple(parameters)).read("x", x)
    return picture_target(plot), x, y


def _summarised(out: Path, plot: Path | None, x: str | None, y: str | None, quiet: bool) -> int:
    """Print the results of a folder, and plot them if requested; returns the exit code."""
    found = Swept.read(out)
    table = ["", *found.table(x, y)] if x is not None and y is not None else []
    print(*(found.counts() if quiet else found.summary()), sep="\n")
    if x is not None and y is not None:
        print(*table, sep="\n")
        with drawn(plot) as picture:
            if picture is not None:
                found.draw(picture, x, y)
    return EXIT[found.verdict]
