"""What every claim has to do, whatever it is about; a topic's own tests are about its mathematics.

At quick sizes and with the option sets of the ledger it comes out as the ledger has it, compares as
much as recorded and with the same bounds, draws the picture that it offers and is written as JSON
of the documented schema, which the recorded run shows; run again with the same seed it finds the
same, and it shows the sizes of all statements of the ledger that it is about.  Every option out of
range is rejected in one line that names it, from Python and from the command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import figures
import matplotlib.image
import numpy as np
import other_options
import pytest
import record
import work
from PIL import Image
from refusals import rejected, rejects
from report_schema import RUN, violations

from verify.claim import Claim, Run
from verify.cli.running import Checked, news, not_run
from verify.finding import Finding, Verdict
from verify.ledger.claims import installed
from verify.ledger.theorems import entries_of, ledger, option_sets, theorem

CLAIMS = [*installed()]
DATA = Path(__file__).parent.parent / "examples" / "data"
GIVEN = {"newton-on-data": {"data": DATA / "longley.csv", "target": "employed"}}
"""What claims are about that are about what a user gives."""
FIGURES = figures.recorded()
OTHERS = other_options.recorded()
OF_FILES = {
    "automata": {"file"},
    "graph-search": {"edges"},
    "newton-on-data": {"predictions"},
    "scratchpad": {"file"},
    "sensitivity": {"table"},
    "shortcut": {"file"},
    "squaring": {"edges"},
}
"""Options whose other values are files of users, by claim: tests of the claim give them."""
each_claim = pytest.mark.parametrize("name", CLAIMS)


def first_runs(name: str, folder: Path) -> list[tuple[dict[str, Any], Path]]:
    """A claim's runs and their pictures: those on record, or new ones where there are none."""
    if name in record.recorded():
        return record.recorded()[name]
    pictures = [folder / f"{number}.png" for number, _ in enumerate(option_sets(name))]
    return [
        (record.run(name, GIVEN.get(name, {}) | options, picture), picture)
        for options, picture in zip(option_sets(name), pictures, strict=True)
    ]


@each_claim
def test_a_claim_comes_out_as_the_ledger_has_it_and_is_drawn(name, tmp_path):
    draws = installed()[name].load().draws
    for number, (document, picture) in enumerate(first_runs(name, tmp_path)):
        found = [
            Finding(**each | {"verdict": Verdict(each["verdict"])}) for each in document["findings"]
        ]
        checked = Checked(name, found, "")
        assert len({each.id for each in found}) == len(found)
        assert [*violations(document, RUN)] == []
        if not_run(checked):
            pytest.skip(found[0].words)
        assert news(checked, strictly=False) == (Verdict.HOLDS, [])
        if recorded := FIGURES.get((name, number)):
            assert figures.differences(figures.figures(document), recorded) == []
        if draws:
            assert is_drawn(picture), document["parameters"]


@pytest.mark.slow
@pytest.mark.parametrize("line", OTHERS)
def test_a_claim_with_other_options_compares_as_much_as_recorded(line):
    """If this fails on purpose, write again what is recorded with `python tests/other_options.py`,
    or, where less or more is done than before, with `python tests/work.py CLAIM`."""
    found, done = work.of(lambda: other_options.found(line))
    if ("package" in found) != ("package" in OTHERS[line]):
        pytest.skip("recorded where other packages are installed")
    assert figures.differences(found, OTHERS[line]) == []
    assert "package" in found or work.same(line, done), (done, work.recorded()[line])


@each_claim
def test_every_option_has_another_value_in_a_recorded_run(name):
    lines = [line for line, found in OTHERS.items() if "refused" not in found]
    runs = [given for line in lines if (given := other_options.parsed(line))[0] == name]
    defaults = installed()[name].load().defaults
    same = {
        option
        for option, value in defaults.items()
        if all(options.get(option, value) == value for _, options in runs)
    }
    assert same <= OF_FILES.get(name, set())


@pytest.mark.slow
@each_claim
def test_the_findings_that_a_statement_lists_are_found(name, tmp_path):
    """In quick runs, or, where those leave them out, at full sizes."""
    listed = {id for entry in entries_of(name) for id in entry.findings}
    runs = (document["findings"] for document, _ in first_runs(name, tmp_path))
    missing = listed - beginnings(listed, (each["id"] for found in runs for each in found))
    claim = installed()[name].load()
    for options in option_sets(name) if missing else ():
        found = claim.findings(Run(), **claim.defaults | options)
        missing -= beginnings(listed, (finding.id for finding in found))
    assert missing == set()


def beginnings(of: set[str], ids: Iterable[str]) -> set[str]:
    """Those with which an id begins."""
    every = [*ids]
    return {each for each in of if any(id.startswith(each) for id in every)}


@pytest.mark.slow
@each_claim
def test_the_same_seed_does_and_finds_the_same_and_sizes_are_shown(name, tmp_path, monkeypatch):
    first, shown = first_runs(name, tmp_path), set()
    monkeypatch.setattr("verify.evidence.size.theorem", lambda n: shown.add(n) or theorem(n))
    for number, ((document, _), options) in enumerate(zip(first, option_sets(name), strict=True)):
        given = GIVEN.get(name, {}) | options
        again, done = work.of(lambda given=given: record.run(name, given))
        assert again["parameters"] == document["parameters"]
        assert_same(again["findings"], document["findings"])
        if name not in GIVEN and "package" not in [each["id"] for each in again["findings"]]:
            run = f"{name} #{number}"
            assert work.same(run, done), (done, work.recorded()[run])
    built = {entry.name for entry in ledger().values() if entry.build and entry.claim == name}
    assert shown >= built


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
    pixels = np.asarray(Image.open(picture).convert("RGBA")).view(np.uint32).ravel()
    most = np.partition(pixels, pixels.size // 2)[pixels.size // 2]  # a colour of most is median
    return bool(np.mean(pixels == most) < 0.99)


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


@each_claim
def test_every_integer_option_has_limits_that_are_checked(name):
    claim = installed()[name].load()
    for option, parameter in claim.options.items():
        kind, *notes = get_args(parameter.annotation) or (parameter.annotation,)
        if kind in (int, int | None):
            (note,) = notes
            assert None not in (note.least, note.most), option
            for wrong in (note.least - 1, note.most + 1, 10**5000):
                with rejects(option):
                    claim.check_options({option: wrong})
            for right in (note.least, note.most):
                claim.check_options({option: right})


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
            number = int if kind in (int, int | None) else float
            if least is not None:
                yield name, {name: number(least - 1)}
            if most is not None:
                yield name, {name: most + 1 if number is int else 2.0 * most}
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
