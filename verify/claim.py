"""Claims: a statement, its source, and a function that yields the evidence.

    @claim(source="[Fu2024, Theorem 5.1]")
    def doubling(run: Run, *, k: Annotated[int, option("steps")] = 3) -> Iterator[Finding]:
        '''Twice k is even.'''
        yield same("parity", "even", 2 * k % 2, 0)

Its keyword parameters become the options of `python -m verify doubling`, its docstring the
statement.  Claims are found through the entry-point group `verify.claims`, so another package adds
its own by naming it there; what a claim of this package shows is in the ledger, `theorems.toml`.
"""

from __future__ import annotations

import inspect
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from numbers import Integral, Real
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal, TypeVar, get_args, get_origin

import numpy as np
import typer

from theory.kinds import Choice, InputError, Steps, read
from verify.finding import Finding, Verdict
from verify.ledger import plugins

__all__ = ["Run", "claim", "option"]

COMMANDS = ("list", "show", "build", "all", "sweep", "summary", "report", "selftest", "env")
MOST = 10**9  # of any number of things: beyond, no claim has an end

NUMBERS = {int: "a whole number", float: "a number"}

T = TypeVar("T")
Check = Callable[..., Iterator[Finding]]
Fault = Callable[[Any], Any]


@dataclass
class Run:
    """What a claim may use while it gathers evidence.

    `rng` is the only source of randomness.  `build` makes the construction under test; the
    self-test runs the same claim with a `fault` planted in what it returns.  `plot` is where the
    claim's picture goes, if one is wanted, and `shown` what it is drawn from; `certificates` takes
    what a certificate is to state.  Unless it `explains`, findings that fail need not show where.
    """

    seed: int = 0
    quick: bool = False
    plot: Path | None = None
    certificates: list[dict[str, Any]] | None = None
    fault: Fault | None = None
    explains: bool = True
    progress: Callable[[Iterable[Any], str], Iterable[Any]] = lambda items, _: items
    rng: np.random.Generator = field(init=False)
    shown: tuple[Any, ...] | None = field(init=False, default=None)
    runs: tuple[Claim, dict[str, Any]] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        read(Steps, "seed", self.seed)
        self.rng = np.random.default_rng(self.seed)

    def build(self, construction: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """The construction, with the planted fault if there is one."""
        model = construction(*args, **kwargs)
        return self.fault(model) if self.fault else model

    def draw(self, *shown: Any) -> None:
        """Hand this over to the picture that is named in `@claim`, if one is wanted."""
        if self.plot is not None:
            self.shown = shown

    def command(self, **changes: Any) -> str:
        """The command that runs this claim again, with those of its options changed that it has."""
        if self.runs is None:
            return "the same call"
        claim, options = self.runs
        known = {name: value for name, value in changes.items() if name in claim.options}
        return claim.command(claim.name, {**options, **known}, self)

    def certify(self, state: Callable[[], dict[str, Any]]) -> None:
        """State this in the certificate, if one is wanted; see `verify.evidence.certificates`."""
        if self.certificates is not None:
            self.certificates.append(state())


@dataclass(frozen=True)
class Claim:
    """A check with its statement and source; `picture` names the function "module:name" that
    returns its figure, if it has one, `faults_seen` are the options of the self-test, and
    `certifies` says that it has certificates."""

    check: Check
    source: str
    picture: str
    faults_seen: tuple[dict[str, Any], ...]
    certifies: bool = False

    @property
    def name(self) -> str:
        """Its command: the name of its function."""
        return self.check.__name__.replace("_", "-")

    @property
    def draws(self) -> bool:
        """Whether it has a picture."""
        return bool(self.picture)

    @property
    def statement(self) -> str:
        """The docstring's first paragraph, on one line."""
        return _first_paragraph(inspect.getdoc(self.check))

    def findings(self, run: Run, **options: Any) -> Iterator[Finding]:
        """The findings one by one, each with the seconds that it took; then the picture, if one is
        wanted, of what the check has handed over.

        Raises InputError as `refuse` does.
        """
        self.refuse(options)
        run.shown, run.runs = None, (self, options)
        start = time.perf_counter()
        for finding in self.check(run, **options):
            finding.seconds = time.perf_counter() - start
            yield finding
            start = time.perf_counter()
        if run.plot is not None and run.shown is not None:
            from verify.evidence.picture import save  # matplotlib is slow to import

            save(run.plot, resolve_name(self.picture), *run.shown)

    def command(self, name: str, options: Mapping[str, Any], run: Run) -> str:
        """The command line of a run with these options; a number below what an option takes is its
        least, and an option that has no part beside the others is left out."""
        changed, values = [], {**self.defaults, **options}
        for key, value in options.items():
            parameter = self.options[key]
            for note in get_args(parameter.annotation)[1:]:
                for other, allowed in (getattr(note, "only", None) or {}).items():
                    value = value if values[other] in allowed else parameter.default
                if getattr(note, "least", None) is not None and value is not None:
                    value = max(value, note.least)
            if value != parameter.default:
                word = key.replace("_", "-")
                own = {True: f" --{word}", False: f" --no-{word}"}
                given = f" --{word} {shlex.quote(str(value))}"
                changed.append(own[value] if isinstance(value, bool) else given)
        quick = " --quick" * run.quick
        return f"python -m verify {name}{''.join(changed)}{quick} --seed {run.seed}"

    def refuse(self, options: dict[str, Any]) -> None:
        """Raise InputError, from the command line and from Python alike, for an option below its
        least value, for a word that is not among its choices, and for an option that has no part in
        what another one asks for.
        """
        for name in options.keys() & self.options.keys():
            kind, *notes = get_args(self.options[name].annotation) or (None,)
            if get_origin(kind) is Literal:
                Choice(get_args(kind)).read(name, options[name])
            if not _is_number(options[name], kind):
                raise InputError(f"{name} is {options[name]!r}: give {NUMBERS[kind]}")
            for note in notes:
                least, most = getattr(note, "least", None), getattr(note, "most", None)
                end = max(MOST, most or 0)  # more only where an option says so
                if isinstance(options[name], int) and options[name] > end:
                    shown = f"{options[name]:.3g}" if options[name] < 1e300 else "above 1e300"
                    raise InputError(f"{name} is {shown}: a claim takes at most {end:g}")
                if least is not None and not options[name] >= least:
                    raise InputError(f"{name} is {options[name]}: give a number at least {least}")
                if most is not None and not options[name] <= most:
                    raise InputError(f"{name} is {options[name]}: give at most {most}")
                for other, allowed in (getattr(note, "only", None) or {}).items():
                    chosen = {**self.defaults, **options}.get(other)
                    if options[name] != self.options[name].default and chosen not in allowed:
                        raise InputError(
                            f"{name} has no part in {other} {str(chosen)!r}: "
                            "leave one of the two out"
                        )

    @cached_property
    def options(self) -> dict[str, inspect.Parameter]:
        """Its options: the keyword parameters, with what their annotations say."""
        parameters = inspect.signature(self.check, eval_str=True).parameters
        return {name: p for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}

    @property
    def defaults(self) -> dict[str, Any]:
        """Its options and their values where none are given."""
        return {name: parameter.default for name, parameter in self.options.items()}

    @property
    def asks(self) -> bool:
        """Whether it cannot be run without options: it is about something that one has to give."""
        return inspect.Parameter.empty in self.defaults.values()

    def verdict(self, run: Run, **options: Any) -> Verdict:
        """What all findings together say; one that fails settles it."""
        verdicts = []
        for finding in self.findings(run, **options):
            verdicts.append(finding.verdict)
            if finding.verdict is Verdict.FAILS:
                break
        return Verdict.together(verdicts)


def claim(
    *,
    source: str,
    picture: str = "",
    certifies: bool = False,
    faults_seen: Iterable[dict[str, Any]] = (),
) -> Callable[[Check], Claim]:
    """Make a claim of a function that yields findings; see the module's example."""
    return lambda check: Claim(check, source, picture, tuple(faults_seen), certifies)


def option(
    help_text: str,
    *names: str,
    min: int | None = None,
    max: int | None = None,
    only: Mapping[str, Sequence[Any]] | None = None,
    **settings: Any,
) -> Any:
    """A command-line option: its help text, its names if not the parameter's, typer's settings.

    `min` is the least value and `max` the largest; they are checked
    here and not by typer, whose message leaves out the value that was given and which Python
    callers would not see.  `only` names other options and the values of theirs beside which this
    one is used: beside others it is refused, not ignored.
    """
    text = help_text if min is None else f"{help_text}, at least {min}"
    text = text if max is None else f"{text} and at most {max}"
    made = typer.Option(*names, help=text, **settings)
    made.least, made.most, made.only = min, max, only
    return made


def _is_number(value: Any, kind: Any) -> bool:
    """Whether an option that is to be a number is one; others pass."""
    if isinstance(value, bool):
        return kind not in NUMBERS
    return isinstance(value, Integral if kind is int else Real) or kind not in NUMBERS


def _first_paragraph(docstring: str | None) -> str:
    return " ".join((docstring or "").split("\n\n")[0].split())


def installed() -> dict[str, EntryPoint]:
    """The entry points of all claims by name, without importing any of them.

    A claim of another package that has the name of one of ours, of a command, or of one that is
    there already is left out, with a line on standard error.
    """
    points = sorted(
        entry_points(group="verify.claims"),
        key=lambda point: (point.name, not plugins.is_ours(point), point.value),
    )
    if not points:
        raise InputError("no claims are installed: run `pip install -e .` in the project's folder")
    found = dict[str, EntryPoint]()
    for point in points:
        taken = found.setdefault(point.name, point)
        if point.name in COMMANDS or taken.value != point.value:
            of = "a command" if taken is point else f"a claim of {plugins.package(taken)}"
            plugins.warn(
                f"the claim {point.name} of {plugins.package(point)} is left out: {of} has this "
                "name, give it another"
            )
    return {name: point for name, point in found.items() if name not in COMMANDS}


def loaded(point: EntryPoint) -> Claim:
    """The claim of an entry point; InputError for one of another package that cannot be imported,
    with its file and line, and for what is no claim."""
    try:
        made = point.load()
        if not isinstance(made, Claim):
            raise TypeError(f"{point.value} is no claim: write @claim(source=…) above it")
        made.defaults  # noqa: B018 its annotations are read
    except (Exception, SystemExit) as error:
        if plugins.is_ours(point):
            raise
        raise plugins.broken(point, "cannot be imported", error) from None
    return made


def standing(point: EntryPoint) -> Claim:
    """As `loaded`; in place of a claim that cannot be imported one that says so when it is run."""
    try:
        return loaded(point)
    except InputError as error:
        said = str(error)

    def stops(run: Run, **options: Any) -> Iterator[Finding]:
        raise InputError(said)
        yield

    return Claim(stops, "", picture="", faults_seen=({},))
