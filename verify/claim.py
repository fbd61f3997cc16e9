"""Claims: runnable checks, functions that yield the evidence for a statement.

    @claim()
    def doubling(run: Run, *, k: Annotated[int, option("steps")] = 3) -> Iterator[Finding]:
        '''Twice k is even.'''
        yield same("parity", "even", 2 * k % 2, 0)

The keyword parameters of the function become the options of `python -m verify doubling`, and the
docstring becomes the statement.  Claims are found through the entry-point group `verify.claims`, in
which other packages register their claims.  The statement index, `theorems.toml`, contains the
statements that a claim shows, with their sources.
"""

from __future__ import annotations

import inspect
import shlex
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral, Real
from pkgutil import resolve_name
from typing import Any, Literal, TypeVar, get_args, get_origin

import numpy as np
import typer

from theory.kinds import Choice, FilePath, InputError, Steps, checked, shown
from theory.waiting import tell
from verify.finding import Finding, Verdict

__all__ = ["Run", "claim", "option"]

COMMON = {"context", "quick", "seed", "json", "plot", "certificate", "quiet", "verbose"}
"""Parameters of the command of every claim, which a claim's own options do not repeat."""

NUMBERS = {int: "an integer", float: "a number"}

T = TypeVar("T")
Check = Callable[..., Iterator[Finding]]
Fault = Callable[[Any], Any]


@checked
@dataclass
class Run:
    """One run of a claim, with its seed, its size and its outputs.

    `rng` is the only source of randomness.  `build` calls the construction under test; in a
    self-test it returns a mutant, changed by `fault`. `plot` is the file of the claim's picture, if
    a picture is requested, and `shown` contains the data of the picture. `certificates` collects
    the statements of a certificate. If `explains` is False, findings that fail may omit the place
    of the failure. If `extends` is False, findings omit the models that are larger than the options
    require: a self-test proves mutants equivalent on all inputs, which larger models have too many
    of.
    """

    seed: Steps = 0
    quick: bool = False
    plot: FilePath | None = None
    certificates: list[dict[str, Any]] | None = None
    fault: Fault | None = None
    explains: bool = True
    extends: bool = True
    progress: Callable[[Iterable[Any], str], Iterable[Any]] = lambda items, _: items
    rng: np.random.Generator = field(init=False)
    shown: tuple[Any, ...] | None = field(init=False, default=None)
    runs: tuple[Claim, dict[str, Any]] | None = field(init=False, default=None)
    told: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def build(self, construction: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Returns the model that the construction builds or, in a self-test, a mutant of this
        model.
        """
        model = construction(*args, **kwargs)
        return self.fault(model) if self.fault else model

    def limited(self, few: int, **option: int) -> int:
        """The value of an option, such as a number of samples: in a quick run at most `few`.

        The option is given by its name, as in `run.limited(8, samples=samples)`. If a user has
        given a value above `few`, a line on standard error states that `few` is used. Raises
        ValueError unless one option is given.
        """
        if len(option) != 1:
            raise InputError(f"limited has {len(option)} options: give one, such as samples=8")
        ((name, number),) = option.items()
        if not self.quick or number <= few:
            return number
        claim, options = self.runs or (None, {})
        if claim and name in options and number != claim.defaults[name] and name not in self.told:
            self.told.add(name)
            tell(f"--quick: at most {few} instead of --{name.replace('_', '-')} {number}")
        return few

    def draw(self, *shown: Any) -> None:
        """Sets the data of the claim's picture, if a picture is requested."""
        if self.plot is not None:
            self.shown = shown

    def command(self, **changes: Any) -> str:
        """The command that repeats this run, with these changes of the claim's options."""
        if self.runs is None:
            return "the same call"
        claim, options = self.runs
        known = {name: value for name, value in changes.items() if name in claim.options}
        return claim.command(claim.name, {**options, **known}, self)

    def has_no_files(self, option: str) -> None:
        """Raises InputError if a run with this option of the claim is to draw or to certify."""
        for file, wanted in (("--plot", self.plot), ("--certificate", self.certificates)):
            if wanted is not None:
                raise InputError(f"{file} has no effect with {option}: omit {file} or {option}")

    def certify(self, state: Callable[[], dict[str, Any]]) -> None:
        """Adds a statement to the certificate, if a certificate is requested.

        `state` returns the statement as JSON values; see `verify.evidence.certificates`.
        """
        if self.certificates is not None:
            self.certificates.append(state())


@dataclass(frozen=True)
class Claim:
    """A runnable check of a statement.

    `picture` names the function that returns the claim's figure as "module:name", or is empty.
    `faults_seen` contains the sets of options with which the self-test runs the claim, and
    `certifies` states whether the claim has certificates.
    """

    check: Check
    picture: str
    faults_seen: tuple[dict[str, Any], ...]
    certifies: bool = False

    @property
    def name(self) -> str:
        """The name of the claim's function; the claim's command has the same name."""
        return self.check.__name__.replace("_", "-")

    @property
    def draws(self) -> bool:
        """Whether the claim has a picture."""
        return bool(self.picture)

    @property
    def statement(self) -> str:
        """The docstring's first paragraph, on one line."""
        return _first_paragraph(inspect.getdoc(self.check))

    def findings(self, run: Run, **options: Any) -> Iterator[Finding]:
        """Yields pairs of a finding and the seconds that the finding took.

        Afterwards the picture is drawn, if requested.

        Raises InputError in the cases in which `check_options` does.
        """
        self.check_options(options)
        run.shown, run.runs = None, (self, options)
        start = time.perf_counter()
        for finding in self._yielded(run, options):
            finding.seconds = time.perf_counter() - start
            yield finding
            start = time.perf_counter()
        if run.plot is not None and run.shown is not None:
            from verify.evidence.picture import save  # matplotlib is slow to import

            save(run.plot, resolve_name(self.picture), *run.shown)

    def _yielded(self, run: Run, options: dict[str, Any]) -> Iterator[Finding]:
        """The findings; raises InputError for what is no finding."""
        what = "yield findings, such as those of the functions in `verify.finding`"
        found: Any = self.check(run, **options)
        if not isinstance(found, Iterable):
            raise InputError(f"the claim {self.name} returns {shown(found)}: {what}")
        for finding in found:
            if not isinstance(finding, Finding):
                raise InputError(f"the claim {self.name} yields {shown(finding)}: {what}")
            yield finding

    def command(self, name: str, options: Mapping[str, Any], run: Run) -> str:
        """The command line of a run of this claim with these options.

        Values below the minimum of an option are replaced by the minimum, and options that have no
        effect are omitted.
        """
        changed, values = [], {**self.defaults, **options}
        for key, value in options.items():
            parameter = self.options[key]
            for note in get_args(parameter.annotation)[1:]:
                for other, allowed in (getattr(note, "only", None) or {}).items():
                    value = value if values.get(other) in allowed else parameter.default
                if getattr(note, "least", None) is not None and value is not None:
                    value = max(value, note.least)
            if value != parameter.default:
                word = key.replace("_", "-")
                own = {True: f" --{word}", False: f" --no-{word}"}
                given = f" --{word} {shlex.quote(str(value))}"
                changed.append(own[value] if isinstance(value, bool) else given)
        quick = " --quick" * run.quick
        return f"python -m verify {name}{''.join(changed)}{quick} --seed {run.seed}"

    def check_options(self, options: dict[str, Any], typed: Container[str] = ()) -> None:
        """Raises InputError for a wrong option, given on the command line or from Python.

        An option is wrong if it is outside its limits or its choices, has a wrong type, or has no
        effect with the value of another option. `typed` contains the options that a user has given;
        they may have their default values.
        """
        for name in options.keys() & self.options.keys():
            kind, *notes = get_args(self.options[name].annotation) or (None,)
            if get_origin(kind) is Literal:
                Choice(get_args(kind)).read(name, options[name])
            value, number = options[name], _number(kind)
            if number is not None and not _is_a(number, value):
                if value is not None or kind is number:
                    raise InputError(f"{name} is {shown(value)}: give {NUMBERS[number]}")
                notes = []  # an optional number is not given
            for note in notes:
                for other, allowed in (getattr(note, "only", None) or {}).items():
                    chosen = {**self.defaults, **options}.get(other)
                    given = name in typed or value != self.options[name].default
                    if given and chosen not in allowed:
                        raise InputError(
                            f"{name} has no effect if {other} is {str(chosen)!r}: omit {name} "
                            f"or change {other}"
                        )
                least, most = getattr(note, "least", None), getattr(note, "most", None)
                if least is not None and not value >= least:
                    raise InputError(f"{name} is {shown(value)}: give a number of at least {least}")
                if most is not None and not value <= most:
                    raise InputError(f"{name} is {shown(value)}: give a number of at most {most}")

    @cached_property
    def options(self) -> dict[str, inspect.Parameter]:
        """The options of the claim: its keyword parameters, with evaluated annotations."""
        parameters = inspect.signature(self.check, eval_str=True).parameters
        return {name: p for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}

    @property
    def defaults(self) -> dict[str, Any]:
        """The default values of the claim's options."""
        return {name: parameter.default for name, parameter in self.options.items()}

    @property
    def needs_options(self) -> bool:
        """Whether the claim has an option without a default, such as a file."""
        return inspect.Parameter.empty in self.defaults.values()

    def verdict(self, run: Run, **options: Any) -> Verdict:
        """The verdict of all findings together; the run ends at the first finding that fails."""
        verdicts = []
        for finding in self.findings(run, **options):
            verdicts.append(finding.verdict)
            if finding.verdict is Verdict.FAILS:
                break
        return Verdict.together(verdicts)


def claim(
    *,
    picture: str = "",
    certifies: bool = False,
    faults_seen: Iterable[dict[str, Any]] = (),
) -> Callable[[Check], Claim]:
    """Decorates a function that yields findings, and returns the function as a claim.

    `picture` names the function that returns the claim's figure, as "module:name". `certifies`
    states whether the claim has certificates, and `faults_seen` contains the sets of options with
    which the self-test runs the claim.

    Raises InputError for a function without the parameter `run`, with another parameter that is
    not keyword-only, or with an option of every claim, such as `seed`.
    """

    def made(check: Check) -> Claim:
        parameters = [*inspect.signature(check).parameters.values()]
        name = getattr(check, "__name__", shown(check))
        if not parameters or parameters[0].kind is inspect.Parameter.KEYWORD_ONLY:
            raise InputError(f"{name} does not take the run: write `def {name}(run, *, …)`")
        for parameter in parameters[1:]:
            if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
                raise InputError(
                    f"{parameter} of {name} is no option, which is keyword-only: write "
                    f"`def {name}(run, *, …)`"
                )
            if parameter.name in COMMON:
                raise InputError(
                    f"every claim has the option {parameter.name}: rename that of {name}"
                )
        return Claim(check, picture, tuple(faults_seen), certifies)

    return made


def option(
    help_text: str,
    *names: str,
    min: int | None = None,
    max: float | None = None,
    only: Mapping[str, Sequence[Any]] | None = None,
    **settings: Any,
) -> Any:
    """Describes a command-line option of a claim by help text, names and settings of typer.

    By default, the option has the name of the parameter.

    `min` and `max` are limits of the value. The library itself checks these limits, because typer's
    message omits the value and typer does not check calls from Python. `only` maps other options to
    the values with which this option has an effect; with all other values, the option raises
    InputError.
    """
    text = help_text if min is None else f"{help_text}, at least {min}"
    if max is not None:
        text += f"{',' if min is None else ' and'} at most {max}"
    made = typer.Option(*names, help=text, **settings)
    made.least, made.most, made.only = min, max, only
    return made


def _number(kind: Any) -> type | None:
    """The type of a number, also of an optional one, as `int` for `int | None`; otherwise None."""
    return next((each for each in NUMBERS if kind in (each, each | None)), None)


def _is_a(number: type, value: Any) -> bool:
    """Whether the value is a number of this type; a bool is none."""
    return isinstance(value, Integral if number is int else Real) and not isinstance(value, bool)


def _first_paragraph(docstring: str | None) -> str:
    return " ".join((docstring or "").split("\n\n")[0].split())
