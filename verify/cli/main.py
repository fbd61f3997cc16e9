"""The command line: `python -m verify list | show NAME | NAME [options] | all | report | …`.

Exit codes: 0 holds · 1 fails · 2 usage · 3 undecided · 4 internal error · 130 interrupted.
"""

from __future__ import annotations

import errno
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from theory.kinds import Count, InputError, Steps, read
from theory.terminal import Once, in_words
from verify.claim import Claim, Run, option
from verify.cli.parallel import Task, at_once
from verify.cli.running import (
    Checked,
    Output,
    among_others,
    certified,
    check,
    news,
    not_run,
    summary,
)
from verify.finding import Verdict
from verify.ledger.claims import COMMANDS, installed, loaded
from verify.ledger.theorems import entries_of, ledger, no_claim, option_sets, theorem
from verify.ledger.written import described, in_bibtex, in_latex, in_markdown, listing
from verify.output.files import (
    SCREEN,
    differ,
    drawn,
    file_target,
    files_of,
    folder_target,
    json_target,
    picture_target,
    write,
)
from verify.output.options import (
    EXIT,
    Certificate,
    Json,
    Plot,
    Quick,
    Quiet,
    Seed,
    Verbose,
    progress_bar,
)
from verify.output.report import SCHEMA, environment
from verify.sweep.commands import summarise, sweep_command

USAGE, INTERNAL, INTERRUPTED = 2, 4, 130
NO_MEMORY = "there is not enough memory: give smaller sizes"
MOST_JOBS = 1024  # processes at once


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; an error is one line on standard error."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if os.environ.get("COLUMNS", "").strip("0") == "":  # rich would print nothing in 0 columns
        os.environ.pop("COLUMNS", None)
    try:
        words = _with_json_target(words)
        if words == ["--version"]:
            print(f"weightwright {environment()['weightwright']}")
            return 0
        code = _app(words)(args=words, prog_name="verify", standalone_mode=False) or 0
        if code == INTERRUPTED:  # typer returns this code for Ctrl-C
            raise KeyboardInterrupt
        return int(code)
    except TyperException as error:
        return _complain(in_words(error))
    except InputError as error:
        return _complain(str(error))
    except MemoryError:
        return _complain(NO_MEMORY)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if "can't allocate memory" in str(error):  # torch's error is no MemoryError
            return _complain(NO_MEMORY)
        if isinstance(error, OSError) and error.errno == errno.ENOSPC and not error.filename:
            print(f"error: cannot write the output: {error.strerror}", file=sys.stderr)
            return INTERNAL
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
    """The words with `--json -` in place of a `--json` without a file."""
    for i, word in enumerate(words):
        following = words[i + 1] if i + 1 < len(words) else "--"
        if word == "--json=" or (word == "--json" and not following):
            raise InputError(
                "--json has no file name: give a file, or write `--json -` for standard output"
            )
        if word == "--json" and following in installed():
            raise InputError(
                f"--json has no file name, since {following} is a claim: write `--json - "
                f"{following}` for standard output"
            )
        if word == "--json" and following.startswith("-") and following != "-":
            return [*words[: i + 1], "-", *words[i + 1 :]]
    return words


def _app(words: Sequence[str]) -> typer.Typer:
    """The commands; only the claim that was named is imported."""
    app = typer.Typer(
        add_completion=False,
        no_args_is_help=False,
        rich_markup_mode=None,
        help="Evidence for theorems about transformers. `verify --version` prints the version.",
    )
    app.callback()(lambda: None)
    functions: list[Callable[..., Any]] = [
        list_statements,
        show,
        build,
        check_all,
        sweep_command(None),
        summarise,
        report,
        self_test,
        show_environment,
    ]
    own = dict(zip(COMMANDS, functions, strict=True))
    name = next((word for word in words if not word.startswith("-")), None)
    if name == "sweep":
        following = words[words.index(name) + 1 :][:1]
        if following and not following[0].startswith("-"):
            own["sweep"] = sweep_command(_named(following[0]))
        elif following not in ([], ["--help"]):
            raise InputError(
                "an option stands before the name of the claim: write `verify sweep NAME --k "
                "1..12 …`"
            )
    for own_name, command in own.items():
        app.command(own_name, cls=Once, help=inspect.getdoc(command))(command)
    if name is None:
        if words and "--help" not in words:
            raise InputError(
                f"the option {words[0]} has no command: write a command before it "
                "(`verify --help` lists the commands)"
            )
        if not words:
            raise InputError(f"no command is given: give one of {', '.join([*own, *installed()])}")
        for claim_name in installed():
            stated = [entry.statement for entry in entries_of(claim_name)][:1]
            app.command(claim_name, help="".join(stated) or None)(lambda: None)
    elif name not in own:
        claim = _named(name, own)
        app.command(name, cls=Once, help=inspect.getdoc(claim.check))(_command(name, claim))
    return app


def _named(name: str, own: Iterable[str] | None = None) -> Claim:
    """The claim of this name.

    Raises ValueError with the most similar name, also of the `own` commands if they are given.
    """
    points = installed()
    if name not in points:
        kind = "claim" if own is None else "claim or command"
        raise no_claim(name, [*points, *(own or [])], kind)
    return loaded(points[name])


def _command(name: str, claim: Claim) -> Callable[..., int]:
    """A claim as a typer command, with the options of the claim and the common options."""

    def run_claim(
        context: typer.Context,
        quick: Quick = False,
        seed: Seed = 0,
        json: Json = "",
        plot: Plot = None,
        certificate: Certificate = None,
        quiet: Quiet = False,
        verbose: Verbose = False,
        **options: Any,
    ) -> int:
        typed = {key for key in options if _is_typed(context, key)}
        claim.check_options(options, typed)
        to_screen, documents = json_target(json) == SCREEN, list[str]()
        output = Output("" if to_screen else json, quiet, verbose, silent=to_screen)
        target, file = picture_target(plot), file_target(certificate)
        outputs = {"--json": json, "--plot": target, "--certificate": file}
        own = {f"--{key.replace('_', '-')}": files_of(value) for key, value in options.items()}
        differ({name: [Path(each)] for name, each in outputs.items() if each} | own)
        stated = None if file is None else list[dict[str, Any]]()
        with drawn(target) as picture:
            bar = progress_bar(quiet)
            run = Run(seed, quick, plot=picture, certificates=stated, progress=bar)
            aside = redirect_stdout(sys.stderr) if to_screen else nullcontext()
            try:
                with aside:  # what a user's own program prints is not part of the JSON
                    verdict = check(name, claim, run, options, output, documents.append).verdict
            finally:
                if to_screen:
                    for document in documents:
                        write(SCREEN, document)
        if file is not None:
            lines = certified(file, name, run, verdict)
            if not (quiet or output.silent):
                print(*lines, sep="\n")
        return EXIT[verdict]

    offered = {"plot": claim.draws, "certificate": claim.certifies}
    context, *common = [
        p
        for p in inspect.signature(run_claim, eval_str=True).parameters.values()
        if p.kind is p.POSITIONAL_OR_KEYWORD and offered.get(p.name, True)
    ]
    own = [p.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) for p in claim.options.values()]
    run_claim.__signature__ = inspect.Signature([context, *own, *common])  # type: ignore[attr-defined]
    run_claim.__annotations__ = {p.name: p.annotation for p in [context, *own, *common]}
    return run_claim


def _is_typed(context: Any, option: str) -> bool:
    """Whether an option is given on the command line, by the context of typer."""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def list_statements(
    topic: Annotated[
        str | None, typer.Argument(help="list only the statements of this topic")
    ] = None,
    markdown: Annotated[bool, option("print all statements as Markdown", "--markdown")] = False,
) -> None:
    """List the statements by topic: theorems, bounds, errata, replications, open questions."""
    if markdown:
        if topic is not None:
            raise InputError(
                f"--markdown prints the statements of all topics: omit --markdown or {topic}"
            )
        print(in_markdown(), end="")
        return
    for line in listing(topic):
        print(line)
    others = [name for name in installed() if not entries_of(name)] if topic is None else []
    for name in others:
        print(f"  {name:28} {'claim':12} of another package: run `verify {name}`")


def show(
    name: Annotated[str, typer.Argument(help="name of a statement or of a claim")],
    latex: Annotated[bool, option("print the statement as LaTeX", "--latex")] = False,
    bibtex: Annotated[bool, option("print the sources as BibTeX", "--bibtex")] = False,
) -> None:
    """Show a statement with its hypotheses, source, status, sizes and files.

    The files contain the theory, the proof, the weights, the claim and the test.
    """
    if latex and bibtex:
        raise InputError("--latex and --bibtex exclude each other: give only one of them")
    entries = [theorem(name)] if name in ledger() else entries_of(name) or [theorem(name)]
    if bibtex:
        print(*in_bibtex(entries), sep="\n\n")
        return
    for entry in entries:
        print(*(in_latex(entry) if latex else described(entry)), sep="\n")


def build(
    name: Annotated[str, typer.Argument(help="name of a statement")],
    at: Annotated[
        list[str] | None, option("value of a parameter, such as k=5; may be repeated", "--at")
    ] = None,
    save: Annotated[
        Path | None,
        option("write the model to this file, NAME.safetensors, and a sidecar to NAME.json"),
    ] = None,
) -> None:
    """Print the model of a statement and, with --save, save the model to a file."""
    from constructions import save as save_model
    from constructions.files import target
    from verify.ledger.build import built, parameters_of, statement

    entry = theorem(name)
    if save is not None:
        file_target(target(save))
    model = built(entry, **parameters_of(at or []))
    print(model)
    if save is not None:
        print(f"written: {save} and {save_model(model, save, statement(entry)).name}")


def check_all(
    quick: Quick = False,
    jobs: Annotated[int, option("number of claims that run in parallel")] = 1,
    seed: Seed = 0,
    json: Json = "",
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> int:
    """Check all claims that need no option, with the options of the statement index."""
    checked, documents = list[tuple[str, Checked]](), list[str]()
    if read(Count, "jobs", jobs) > MOST_JOBS:
        raise InputError(f"jobs is {jobs}: give at most {MOST_JOBS} jobs")
    read(Steps, "seed", seed)  # before claims are loaded, and a file is written
    output = Output("", quiet, verbose, silent=json_target(json) == SCREEN)
    claims = {name: among_others(point) for name, point in installed().items()}
    tasks = [
        Task(name, options, quick, seed, output)
        for name, claim in claims.items()
        if not claim.needs_options
        for options in option_sets(name)
    ]
    try:
        if jobs == 1:
            for task in tasks:
                claim, run = claims[task.name], Run(seed, quick, progress=progress_bar(quiet))
                chosen = {**claim.defaults, **task.options}
                done = check(task.name, claim, run, chosen, output, documents.append)
                checked.append((task.name, done))
        else:
            for task, done in zip(tasks, at_once(jobs, tasks), strict=True):
                documents.append(done.document)
                checked.append((task.name, done))
    finally:
        if json:
            complete = "true" if len(documents) == len(tasks) == len(checked) else "false"
            start = f'{{"schema": {SCHEMA}, "complete": {complete}, "claims": ['
            write(json, start + ",\n".join(documents) + "]}")
    strictly = not quick and seed == 0
    outcomes = [(name, *news(done, strictly)) for name, done in checked]
    left_out = {name for name, done in checked if not_run(done)}
    verdict = Verdict.together(verdict for _, verdict, _ in outcomes)
    if not output.silent:
        count = len({name for name, _ in checked} - left_out)
        print(*summary(outcomes, left_out), f"all: {verdict}, {count} claims", sep="\n")
    return EXIT[verdict]


def report(
    runs: Annotated[list[Path], typer.Argument(help="files that `verify NAME --json` wrote")],
    out: Annotated[str, option("a new folder for the pages", "--out", metavar="<path>")],
) -> None:
    """Write HTML pages of your runs: statements, models with their weights, and evidence."""
    from verify.site.build import report as write_pages

    print(f"written: {write_pages(runs, folder_target(out))}")


def self_test(
    claims: Annotated[list[str] | None, typer.Argument(help="test only these claims")] = None,
    random: Annotated[
        int | None,
        option("instead, test this number of mutants that have one changed entry", "--random"),
    ] = None,
    trained: Annotated[bool, option("test the claims on trained models", "--trained")] = False,
    seed: Seed = 0,
    json: Json = "",
    quiet: Quiet = False,
) -> int:
    """Run claims on mutants of constructions and functions; each must make a finding fail."""
    from verify.selftest.commands import check_claims, check_entries

    names, target, progress = claims or [], json_target(json), progress_bar(quiet)
    if random is None:
        passed = check_claims(names, seed, trained, target, quiet, progress)
    elif random < 1 or trained:
        raise InputError(
            f"--random is {random}{' with --trained' * trained}: give a number of mutants of at "
            "least 1, without --trained"
        )
    else:
        passed = check_entries(names, random, seed, target, quiet, progress)
    return EXIT[Verdict.of(passed)]


def show_environment() -> None:
    """Print the versions of the packages that compute the evidence."""
    for name, value in environment().items():
        print(f"{name:14} {value}")
