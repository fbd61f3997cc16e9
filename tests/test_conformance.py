"""What every claim has to do, whatever it is about; a topic's own tests are about its mathematics.

At quick sizes and with the option sets of the ledger it comes out as the ledger has it, finds the
same again with the same seed, draws the picture that it offers, shows the sizes of all statements
of the ledger that it is about, and is written as JSON of the documented schema.  Every option out
of range is rejected in one line that names it, from Python and from the command line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import matplotlib.image
import numpy as np
import pytest
import record
from refusals import rejected, rejects
from report_schema import RUN, RUNS, violations

from verify.claim import MOST, Claim, Run, installed
from verify.cli.report import as_json
from verify.cli.running import Checked, news
from verify.finding import Finding, Verdict
from verify.ledger.theorems import ledger, option_sets, theorem

CLAIMS = [*installed()]
DATA = Path(__file__).parent.parent / "examples" / "data"
GIVEN = {"newton-on-data": {"data": DATA / "longley.csv", "target": "employed"}}
"""What claims are about that are about what a user gives."""
each_claim = pytest.mark.parametrize("name", CLAIMS)


@each_claim
def test_a_claim_comes_out_as_recorded_draws_and_repeats(name, tmp_path, monkeypatch):
    shown = set()
    monkeypatch.setattr("verify.evidence.size.theorem", lambda n: shown.add(n) or theorem(n))
    claim = installed()[name].load()
    for number, options in enumerate(option_sets(name)):
        plot = tmp_path / f"{number}.png" if claim.draws else None
        given = {**claim.defaults, **GIVEN.get(name, {}), **options}
        found = [*claim.findings(Run(quick=True, plot=plot), **given)]
        document = written(name, claim, given, found)
        assert news(Checked(name, found, ""), strictly=False) == (Verdict.HOLDS, []), options
        assert [*violations(document, RUN)] == []
        assert_same(document["findings"], again(name, claim, given)["findings"])
        if plot is not None and [finding.id for finding in found] != ["package"]:
            assert is_drawn(plot), options
    built = {entry.name for entry in ledger().values() if entry.build and entry.claim == name}
    assert shown >= built


def test_the_record_is_of_the_documented_schema():
    if (runs := record.runs()) is not None:
        assert [*violations({"schema": 2, "claims": runs}, RUNS)] == []


def written(name: str, claim: Claim, given: dict[str, Any], found: list[Finding]) -> dict[str, Any]:
    """What `--json` writes of a run."""
    parameters = {**given, "seed": 0, "quick": True}
    text = as_json(name, claim.statement, claim.source, parameters, found, 0.0)
    document: dict[str, Any] = json.loads(text)
    return document


def again(name: str, claim: Claim, given: dict[str, Any]) -> dict[str, Any]:
    """The same run as it is on record; if there is no record of these sources, it is run again."""
    parameters = json.loads(json.dumps({**given, "seed": 0, "quick": True}, default=str))
    for run in recorded():
        if (run["claim"], run["parameters"]) == (name, parameters):
            return run
    return written(name, claim, given, [*claim.findings(Run(quick=True), **given)])


@cache
def recorded() -> list[dict[str, Any]]:
    return record.runs() or []


def assert_same(found: list[dict[str, Any]], others: list[dict[str, Any]]) -> None:
    """Requires the same findings, up to the last digits: sums may be made in another order."""
    for key in ("id", "evidence", "verdict"):
        assert [each[key] for each in found] == [each[key] for each in others]
    for one, other in zip(found, others, strict=True):
        for key in ("measured", "bound"):
            assert is_close(one[key], other[key]), (one["id"], one[key], other[key])


def is_close(one: Any, other: Any) -> bool:
    """Equal, or numbers that differ by 10⁻⁵ of their size or by rounding, one by one."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_close(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_close, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-5, abs=1e-13)
    return bool(one == other)


def is_drawn(picture: Path) -> bool:
    """Whether a picture shows more than one colour on a hundredth of its pixels."""
    pixels = matplotlib.image.imread(picture)[..., :3].reshape(-1, 3)
    most_common = np.median(pixels, axis=0)  # if any colour is on half of them
    return bool((pixels == most_common).all(axis=1).mean() < 0.99)


@pytest.mark.parametrize(("dots", "drawn"), [(0, False), (99, False), (101, True)])
def test_a_picture_of_one_colour_is_not_drawn(dots, drawn, tmp_path):
    pixels = np.ones((100, 100, 3))
    pixels.reshape(-1, 3)[:dots] = 0.5
    matplotlib.image.imsave(tmp_path / "dots.png", pixels)
    assert is_drawn(tmp_path / "dots.png") == drawn


@each_claim
def test_every_option_out_of_range_is_rejected_by_its_name(name, capsys):
    claim = installed()[name].load()
    for option, wrong in wrong_options(claim):
        options = {**GIVEN.get(name, {}), **wrong}
        with rejects(option):
            next(claim.findings(Run(quick=True), **{**claim.defaults, **options}))
        words = [f"--{key.replace('_', '-')}={value}" for key, value in options.items()]
        rejected(capsys, [name, *words], option)


def wrong_options(claim: Claim) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each option with values of its type that it does not take, by its annotation."""
    for name, parameter in claim.options.items():
        kind, *notes = get_args(parameter.annotation) or (parameter.annotation,)
        if get_origin(kind) is Literal:
            yield name, {name: "no such word"}
        if kind in (float, float | None):
            yield from ((name, {name: float(value)}) for value in ("nan", "inf"))
        for note in notes:
            least, most = getattr(note, "least", None), getattr(note, "most", None)
            if least is not None:
                yield name, {name: kind(least - 1)}
            if kind in (int, int | None):
                yield name, {name: (most or MOST) + 1}
            only = getattr(note, "only", None) or {}
            for other, allowed in ((each, only[each]) for each in only if each in claim.options):
                yield name, {name: another(claim, name), other: outside(claim, other, allowed)}


def another(claim: Claim, name: str) -> Any:
    """A value of an option that is not its default, and in range."""
    default = claim.options[name].default
    return 0.5 if default is None else default / 2 if isinstance(default, float) else default + 1


def outside(claim: Claim, name: str, allowed: tuple[Any, ...]) -> Any:
    """A value of an option that is none of these."""
    kind, *_ = get_args(claim.options[name].annotation)
    words = get_args(kind) if get_origin(kind) is Literal else ("a b a",)
    return next(word for word in words if word not in allowed)
