"""The command line: `python -m verify list | NAME [options] | all | selftest | env`.

Exit codes: 0 holds · 1 fails · 2 usage · 3 undecided · 4 internal error.
"""

from __future__ import annotations

import inspect
import os
import shlex
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from typer.exceptions import TyperException

from theory.checks import InputError
from verify.claim import Claim, Run, installed, option, statement
from verify.finding import Finding, Verdict
from verify.report import Report, as_json, environment

EXIT = {Verdict.HOLDS: 0, Verdict.FAILS: 1, Verdict.UNDECIDED: 3}
USAGE, INTERNAL, INTERRUPTED = 2, 4, 130

Seed = Annotated[int, option("seed of every random choice", min=0)]
Json = Annotated[
    str, option("write JSON to FILE, or to the screen if no FILE is given", metavar="[FILE]")
]
Plot = Annotated[Path | None, option("draw the claim's picture into FILE (.png, .pdf, .svg)")]
Quiet = Annotated[bool, option("print the verdict only", "-q", "--quiet")]
Verbose = Annotated[bool, option("print times, details and tracebacks", "-v", "--verbose")]
Quick = Annotated[bool, option("smaller sizes and fewer samples", "--quick")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; every error is one line on standard error."""
    words = _with_json_target(list(sys.argv[1:] if arguments is None else arguments))
    try:
        return _app(words)(args=words, prog_name="verify", standalone_mode=False) or 0
    except TyperException as error:
        return _complain(" ".join(error.format_message().split()))
    except InputError as error:
        return _complain(str(error))
    except MemoryError:
        return _complain("there is not enough memory for so much: ask for less")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if {"-v", "--verbose"} & set(words):
            traceback.print_exc()
        print(
            f"internal error: {type(error).__name__}: {error} (run again with -v to see where)",
            file=sys.stderr,
        )
        return INTERNAL


def _complain(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)
    return USAGE


def _with_json_target(words: list[str]) -> list[str]:
    """`--json` may stand alone; then it means the screen, written `--json -`."""
    for i, word in enumerate(words):
        following = words[i + 1] if i + 1 < len(words) else "--"
        if word == "--json" and following.startswith("-") and following != "-":
            return [*words[: i + 1], "-", *words[i + 1 :]]
    return words


def _app(words: Sequence[str]) -> typer.Typer:
    """The commands; of the claims, only the one that was named is imported."""
    app = typer.Typer(
        add_completion=False,
        no_args_is_help=False,
        rich_markup_mode=None,
        help="Evidence for theorems about transformers.",
    )
    app.callback()(lambda: None)
    for own_name, command in (
        ("list", list_claims),
        ("all", check_all),
        ("selftest", self_test),
        ("env", show_environment),
    ):
        app.command(own_name, help=inspect.getdoc(command))(command)
    name = next((word for word in words if not word.startswith("-")), None)
    own = ["list", "all", "selftest", "env"]
    if name is None:
        if "--help" not in words:
            raise InputError(f"no command: choose one of {', '.join([*own, *installed()])}")
        for claim_name, point in installed().items():
            app.command(claim_name, help=statement(point))(lambda: None)
    elif name not in own:
        points = installed()
        if name not in points:
            near = get_close_matches(name, [*points, *own], n=1)
            hint = f"did you mean '{near[0]}'?" if near else "`verify list` shows them all"
            raise InputError(f"no claim or command '{name}': {hint}")
        claim: Claim = points[name].load()
        app.command(name, help=inspect.getdoc(claim.check))(_command(name, claim))
    return app


def _command(name: str, claim: Claim) -> Callable[..., int]:
    """The claim as a typer command: its own options, then the common ones."""

    def run_claim(
        seed: Seed = 0,
        json: Json = "",
        plot: Plot = None,
        quiet: Quiet = False,
        verbose: Verbose = False,
        **options: Any,
    ) -> int:
        run = Run(seed=seed, plot=_writable(plot), progress=_progress(quiet))
        _json_target(json)
        return EXIT[check_one(name, claim, run, options, json, quiet, verbose)]

    common = [
        p
        for p in inspect.signature(run_claim, eval_str=True).parameters.values()
        if p.kind is p.POSITIONAL_OR_KEYWORD and (claim.draws or p.name != "plot")
    ]
    own = [
        p.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
        for p in inspect.signature(claim.check, eval_str=True).parameters.values()
        if p.kind is p.KEYWORD_ONLY
    ]
    run_claim.__signature__ = inspect.Signature([*own, *common])  # type: ignore[attr-defined]
    run_claim.__annotations__ = {p.name: p.annotation for p in [*own, *common]}
    return run_claim


def check_one(
    name: str,
    claim: Claim,
    run: Run,
    options: dict[str, Any],
    json: str,
    quiet: bool,
    verbose: bool,
    silent: bool = False,
) -> Verdict:
    """Run a claim, show its findings as they come, and write JSON if asked to."""
    silent = silent or json == "-"
    report = Report(Console(highlight=False, soft_wrap=True), quiet or silent, verbose)
    findings: list[Finding] = []
    start = time.perf_counter()
    report.statement(name, claim.statement, claim.source)
    try:
        for finding in claim.findings(run, **options):
            findings.append(finding)
            report.finding(finding)
    except BaseException as error:
        # What was found so far may all hold, but the claim was not checked to its end.
        if findings or isinstance(error, KeyboardInterrupt):
            what, why = "interrupted", "stopped before the end"
            if not isinstance(error, KeyboardInterrupt):
                what, why = "stopped by an error", f"{type(error).__name__}: {error}"
            findings.append(Finding(what, "float", why, "", Verdict.UNDECIDED))
        raise
    finally:
        seconds = time.perf_counter() - start
        if json and (findings or sys.exception() is None):
            parameters = {**options, "seed": run.seed}
            text = as_json(name, claim.statement, claim.source, parameters, findings, seconds)
            _write(json, text)
    verdict = Verdict.together([finding.verdict for finding in findings])
    if not silent:
        report.verdict(name, verdict, len(findings), seconds)
        if verdict is Verdict.FAILS and not quiet:
            report.console.print(f"repeat with: {_repeat(name, claim, run, options)}", markup=False)
    return verdict


def _repeat(name: str, claim: Claim, run: Run, options: dict[str, Any]) -> str:
    defaults = inspect.signature(claim.check).parameters
    changed = []
    for key, value in options.items():
        if value != defaults[key].default:
            word = key.replace("_", "-")
            own = {True: f" --{word}", False: f" --no-{word}"}
            changed.append(
                own[value] if isinstance(value, bool) else f" --{word} {shlex.quote(str(value))}"
            )
    return f"python -m verify {name}{''.join(changed)} --seed {run.seed}"


def list_claims() -> None:
    """The claims, with what each states."""
    for name, point in installed().items():
        print(f"{name:18} {statement(point)}")


def check_all(
    quick: Quick = False,
    seed: Seed = 0,
    json: Json = "",
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Check every claim with its default options."""
    verdicts = []
    _json_target(json)
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, name) for name in installed()}
        try:
            for name, point in installed().items():
                run = Run(seed=seed, quick=quick, progress=_progress(quiet))
                target, claim = str(files[name]) if json else "", point.load()
                options, silent = _defaults(claim), json == "-"
                verdicts.append(
                    check_one(name, claim, run, options, target, quiet, verbose, silent)
                )
        finally:
            if json:
                parts = [file.read_text("utf-8") for file in files.values() if file.exists()]
                _write(json, '{"schema": 1, "claims": [' + ",\n".join(parts) + "]}")
    verdict = Verdict.together(verdicts)
    if json != "-":
        print(f"all: {verdict}, {len(verdicts)} claims")
    return EXIT[verdict]


def self_test(seed: Seed = 0, quiet: Quiet = False) -> int:
    """Plant faults in copies of the constructions; every claim must notice every one."""
    from verify.faults import FAULTS

    missed = tests = 0
    for name, point in installed().items():
        claim: Claim = point.load()
        for chosen in claim.faults_seen:
            options = {**_defaults(claim), **chosen}
            words = " ".join(f"{key}={value}" for key, value in chosen.items())
            healthy = claim.verdict(Run(seed=seed, quick=True), **options)
            unseen = [] if healthy is Verdict.HOLDS else [f"it {healthy} without a fault"]
            for fault_name, fault in FAULTS.items():
                tests += 1
                if (
                    claim.verdict(Run(seed=seed, quick=True, fault=fault), **options)
                    is not Verdict.FAILS
                ):
                    unseen.append(f"missed: {fault_name}")
            missed += len(unseen)
            if unseen or not quiet:
                print(f"{'MISSED' if unseen else 'seen':7} {name} {words} {'; '.join(unseen)}")
    print(f"selftest: {tests - missed} of {tests} planted faults seen")
    return EXIT[Verdict.of(missed == 0 and tests > 0)]


def show_environment() -> None:
    """Versions of what computes the evidence."""
    for name, value in environment().items():
        print(f"{name:14} {value}")


def _defaults(claim: Claim) -> dict[str, Any]:
    parameters = inspect.signature(claim.check).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def _progress(quiet: bool) -> Callable[[Iterable[Any], str], Iterable[Any]]:
    """A progress bar on standard error, if someone is looking at it."""
    screen = Console(stderr=True)
    if quiet or not screen.is_terminal:
        return lambda items, _: items
    return lambda items, what: track(items, what, console=screen, transient=True)


def _writable(path: Path | None) -> Path | None:
    if path is not None and not path.parent.is_dir():
        raise InputError(f"no folder {path.parent}: make it first, or choose another file")
    if path is not None and path.suffix not in (".png", ".pdf", ".svg"):
        raise InputError(f"cannot draw into {path.name}: end the name in .png, .pdf or .svg")
    return path


def _json_target(target: str) -> None:
    """Complain before the work and not after it."""
    path = Path(target)
    if target in ("", "-"):
        return
    if path.is_dir():
        raise InputError(f"{target} is a folder: name a file for the JSON")
    if not path.parent.is_dir():
        raise InputError(f"no folder {path.parent} for {path.name}: make it first")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"cannot write into {path.parent}: choose another folder for {path.name}")


def _write(target: str, text: str) -> None:
    """Write the whole text or nothing: to the screen for "-", else to a file by way of a copy."""
    if target == "-":
        print(text)
        return
    path = Path(target)
    copy = path.with_name(path.name + ".part")
    copy.write_text(text + "\n", encoding="utf-8")
    copy.replace(path)
