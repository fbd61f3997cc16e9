"""The self-test: claims are run on mutants, which must make findings fail.

A check that cannot fail is no evidence.  For every claim and each of its option sets for the
self-test (`faults_seen`), at quick sizes:

tensors    every mutant of `tensor_mutations.py`, in every head, MLP, embedding, position table and
           unembedding of the models that the claim builds and runs, must make a finding fail, or be
           shown to be equivalent, or equal at random points (`equivalence.py`).
functions  every entry of a `faults.toml` (see `function_mutations.py`) must change the verdict of
           exactly the findings that it names; a hand-made model in place of a trained model may
           make findings hold.
findings   every finding must fail for one of these mutants; a finding that never fails is dead.
entries    `selftest --random N`: one entry of one tensor is changed, anywhere.

If an error stops a run, the mutant counts as noticed, but no finding counts as failed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import numpy as np

from constructions.transformer import Transformer
from theory.kinds import InputError
from verify.claim import Claim, Fault, Run
from verify.finding import Verdict
from verify.selftest.equivalence import same_answers
from verify.selftest.function_mutations import FunctionFault
from verify.selftest.tensor_mutations import faults_in, fingerprint, random_entry

MODELS = 256  # the number of cached models
AS_IT_IS = "what is observed"  # for findings that fail for the trained models themselves

Claims = dict[str, Claim]
Options = dict[str, Any]
Verdicts = dict[str, Verdict]


class Planted(Run):
    """A run of a claim on tensor mutants of the claim's models; models are cached between runs."""

    def build(self, construction: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        try:
            model = _built(construction, *args, **kwargs)
        except TypeError:  # arrays cannot be looked up
            return super().build(construction, *args, **kwargs)
        faulty = self.fault(model) if self.fault else model
        return deepcopy(model) if faulty is model else faulty


@lru_cache(maxsize=MODELS, typed=True)
def _built(construction: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return construction(*args, **kwargs)


@dataclass
class Healthy:
    """The run of a claim without mutants: the verdicts of the findings, and the models built."""

    verdicts: Verdicts
    models: list[Transformer]


@dataclass
class Report:
    """The results of a claim's mutants and findings.

    `seen` counts the mutants that make a finding fail, `unchanged` lists the equivalent mutants
    with the evidence, and `missed` lists the other mutants. `killed` maps each finding to a mutant
    for which the finding fails, or to "". `absent` is True if the claim has no findings because an
    optional package is missing.
    """

    claim: str
    seen: int = 0
    absent: bool = False
    unchanged: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    killed: dict[str, str] = field(default_factory=dict)

    @property
    def dead(self) -> list[str]:
        """The findings that did not fail for any mutant."""
        return [id for id, fault in self.killed.items() if not fault]

    @property
    def passed(self) -> bool:
        """Whether no mutant was missed and every finding fails for some mutant.

        The result is False if there were no mutants, unless an optional package is missing.
        """
        return (bool(self.seen) or self.absent) and not self.missed and not self.dead


def report_on(
    name: str,
    claim: Claim,
    seed: int,
    faults: Iterable[FunctionFault] = (),
    *,
    trained: bool = False,
    by_default: Iterable[str] | None = None,
    progress: Callable[[Iterable[Any], str], Iterable[Any]] = lambda items, _: items,
) -> Report:
    """Runs all mutants of a claim; returns the results.

    Mutants of functions are run first, then mutants of weights. With `trained`, only mutants of
    functions are run. `by_default` has the ids of the findings of a run with default options; if it
    is None, the claim is run with them.
    """
    report = Report(name)
    cases = () if trained else claim.faults_seen
    own = [fault for fault in faults if fault.trained == trained and fault.claim in (name, "*")]
    for fault in progress(own, f"{name}, functions"):
        if fault.claim == name:
            given = next(iter(claim.faults_seen), {}) if fault.options is None else fault.options
            _plant_in_function(report, claim, seed, fault, dict(given))
        else:
            for options in cases:
                _plant_in_function(report, claim, seed, fault, options)
    for options in cases:
        healthy = run_healthy(claim, seed, options, report)
        if healthy is not None:
            _plant_in_tensors(report, claim, seed, options, healthy, progress)
    if (report.killed or report.missed) and not claim.needs_options and not trained:
        _with_defaults(report, claim, seed, by_default)
    return report


def _with_defaults(report: Report, claim: Claim, seed: int, ids: Iterable[str] | None) -> None:
    """Adds as dead the findings of a run with default options whose kind was not tested.

    Ids of the same kind differ only in sizes: "k=16/size" and "k=2/size".
    """

    def kind(id: str) -> str:
        return re.sub(r"\d+", "#", id)

    if ids is None:
        default = Report(report.claim)
        run_healthy(claim, seed, {}, default)
        report.missed += default.missed
        ids = default.killed
    tested = {kind(id) for id in report.killed}
    report.killed |= {id: "" for id in ids if kind(id) not in tested}


def _plant_in_function(
    report: Report, claim: Claim, seed: int, fault: FunctionFault, options: Options
) -> None:
    healthy = run_healthy(claim, seed, options, report, fault.quick)
    if healthy is None:
        return
    left = [id for id, verdict in healthy.verdicts.items() if verdict is not Verdict.FAILS]
    named = [id for id in left if any(fnmatchcase(id, p) for p in fault.fails)]
    if fault.claim == "*" and all(report.killed[id] for id in named):
        return
    found, error = _run(
        claim,
        Run(seed=seed, quick=fault.quick, explains=False, extends=False),
        options,
        fault.planted(),
    )
    changed = _changed(healthy.verdicts, found)
    _kill(report, changed, str(fault))
    absent = [p for p in fault.fails if not any(fnmatchcase(id, p) for id in healthy.verdicts)]
    wrong = [f"not {id}" for id in named if id not in changed]
    wrong += [f"not {id}, which is not there" for id in absent if fault.claim != "*"]
    wrong += [f"also {id}" for id in changed if id not in named] + [error] * bool(error)
    gained = _gained(healthy.verdicts, found, fault.holds) if fault.holds else []
    if wrong:
        report.missed.append(f"{_shown(options)}: {fault} makes fail {'; '.join(wrong)}")
    elif gained:
        report.missed.append(f"{_shown(options)}: {fault} makes hold {'; '.join(gained)}")
    else:
        report.seen += 1


def _plant_in_tensors(
    report: Report,
    claim: Claim,
    seed: int,
    options: Options,
    healthy: Healthy,
    progress: Callable[[Iterable[Any], str], Iterable[Any]],
) -> None:
    for fault in progress(faults_in(healthy.models), f"{report.claim} {_shown(options)}"):
        outcome = _noticed(claim, seed, options, healthy, fault, report)
        if outcome == "seen":
            report.seen += 1
        elif outcome:
            report.unchanged.append(f"{_shown(options)}: {fault}: equal on {outcome}")
        else:
            report.missed.append(f"{_shown(options)}: {fault}")


def _noticed(
    claim: Claim, seed: int, options: Options, healthy: Healthy, fault: Fault, report: Report
) -> str:
    """ "seen", the inputs on which all answers are equal, or "" for a missed mutant."""
    left = {id for id in healthy.verdicts if not report.killed.get(id)}

    def fails(found: Verdicts) -> bool:
        return any(found[id] is Verdict.FAILS for id in _changed(healthy.verdicts, found))

    run = Planted(seed=seed, quick=True, fault=fault, explains=False, extends=False)
    found, error = _run(
        claim, run, options, enough=lambda so_far: left <= {*so_far} and fails(so_far)
    )
    _kill(report, _changed(healthy.verdicts, found), str(fault))
    return "seen" if error or fails(found) else _unchanged(healthy.models, fault, seed)


def _unchanged(models: list[Transformer], fault: Fault, seed: int) -> str:
    """The inputs on which mutants and models have equal answers, or "" if they differ."""
    rng, shown = np.random.default_rng(seed), dict[str, None]()
    for model in models:
        faulty = fault(model)
        if faulty is not model:
            shown[same_answers(model, faulty, rng)] = None
    return "" if "" in shown else ", ".join(shown)


def _changed(healthy: Verdicts, found: Verdicts) -> list[str]:
    """The findings whose verdict is worse than without the mutant."""
    return [
        id
        for id, verdict in healthy.items()
        if verdict is not Verdict.FAILS and found.get(id, verdict) not in (verdict, Verdict.HOLDS)
    ]


def _gained(healthy: Verdicts, found: Verdicts, patterns: tuple[str, ...]) -> list[str]:
    """The differences between the findings that hold only in the mutant and the named findings."""
    now = [id for id, verdict in healthy.items() if verdict is not found.get(id) is Verdict.HOLDS]
    absent = [p for p in patterns if not any(fnmatchcase(id, p) for id in now)]
    also = [id for id in now if not any(fnmatchcase(id, p) for p in patterns)]
    return [f"not {p}" for p in absent] + [f"also {id}" for id in also]


def _kill(report: Report, changed: list[str], fault: str) -> None:
    for id in changed:
        report.killed[id] = report.killed.get(id) or fault


def run_healthy(
    claim: Claim, seed: int, options: Options, report: Report, quick: bool = True
) -> Healthy | None:
    """The cached run of a claim without mutants, or None if the run is not possible.

    In that case, a line is added to the report.
    """
    key = claim.check, seed, repr(sorted(options.items())), quick
    if key not in _healthy:
        recorder = _Recorder()
        verdicts, error = _run(
            claim, Planted(seed=seed, quick=quick, fault=recorder, extends=False), options
        )
        if error or not verdicts:
            report.missed.append(f"{_shown(options)}: without a fault, {error or 'no findings'}")
            return None
        if verdicts == {"package": Verdict.UNDECIDED}:
            report.absent = True
            return None
        _healthy[key] = Healthy(verdicts, recorder.models())
    for id, verdict in _healthy[key].verdicts.items():
        report.killed.setdefault(id, AS_IT_IS if verdict is Verdict.FAILS else "")
    return _healthy[key]


_healthy: dict[Any, Healthy] = {}


def _run(
    claim: Claim,
    run: Run,
    options: Options,
    planted: AbstractContextManager[None] | None = None,
    enough: Callable[[Verdicts], bool] = lambda found: False,
) -> tuple[Verdicts, str]:
    """The verdicts of a run, which ends as soon as they suffice, and the error that stopped it."""
    verdicts: Verdicts = {}
    try:
        with planted or nullcontext():
            for finding in claim.findings(run, **{**claim.defaults, **options}):
                verdicts[finding.id] = finding.verdict
                if enough(verdicts):
                    break
    except Exception as error:  # any error counts as noticed
        return verdicts, f"stopped by {type(error).__name__}: {error}"
    return verdicts, ""


class _Recorder:
    """The identity as a mutation, which records the models that are built and run."""

    def __init__(self) -> None:
        self.built: list[tuple[Any, list[bool]]] = []

    def __call__(self, model: Any) -> Any:
        model = deepcopy(model)
        interface, ran = model.interface, list[bool]()
        write = interface.write

        def recorded(*inputs: Any, **named: Any) -> Any:
            ran.append(True)
            return write(*inputs, **named)

        interface.write = recorded
        self.built.append((model, ran))
        return model

    def models(self) -> list[Any]:
        """The models that were run, each once."""
        ran = [model for model, runs in self.built if runs]
        for model, _ in self.built:
            model.interface.__dict__.pop("write", None)
        return list({fingerprint(model): model for model in ran}.values())


def _shown(options: Options) -> str:
    return " ".join(f"{name}={value}" for name, value in options.items()) or "its defaults"


@dataclass(frozen=True)
class Entry:
    """A mutant with one changed entry, and its outcome.

    The outcome is "seen", the inputs on which answers are equal, or "" if the mutant was missed.
    """

    claim: str
    options: str
    model: str
    fault: str
    outcome: str
    seed: int

    def __str__(self) -> str:
        return f"{self.claim} {self.options}: {self.fault} of {self.model}"


def random_entries(
    claims: Claims, count: int, seed: int, passed_over: set[str] | None = None
) -> Iterator[Entry]:
    """Yields `count` mutants, each with one changed entry of a random model of a random claim.

    Mutant number i (from 0) of a seed is mutant number 0 of seed + i, so that each mutant can be
    repeated separately. Claims that build no models, and claims without their optional package, are
    added to `passed_over`.  Raises ValueError for a claim that cannot be run, and if no claim
    builds models.
    """
    for each in range(seed, seed + count):
        rng = np.random.default_rng(each)
        name, options, healthy = _case(rng, claims, set() if passed_over is None else passed_over)
        model, fault = random_entry(rng, healthy.models)
        outcome = _noticed(claims[name], 0, options, healthy, fault, Report(name))
        yield Entry(name, _shown(options), model, str(fault), outcome, each)


def _case(
    rng: np.random.Generator, claims: Claims, passed_over: set[str]
) -> tuple[str, Options, Healthy]:
    """A random claim that builds models, the options of its self-test, and its run."""
    cases = [(name, options) for name, claim in claims.items() for options in claim.faults_seen]
    while cases:
        name, options = cases.pop(rng.integers(len(cases)))
        report = Report(name)
        healthy = run_healthy(claims[name], 0, options, report)
        if report.missed:
            raise InputError(f"{name}, {'; '.join(report.missed)}")
        if healthy is not None and healthy.models:
            return name, options, healthy
        passed_over.add(name)
    raise InputError(
        f"the self-tests of {', '.join(claims)} build no models that could be changed: "
        "give other claims"
    )
