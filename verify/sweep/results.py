"""The results of a sweep: counts, a table of its numbers, and a plot of one of them.

A number has the name of its finding, `direct/float`.  If the finding has several numbers, the name
also has a key, `direct/size:layers`, or an index, `interval:0`.  `seconds` is the time of the run.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from statistics import median
from typing import Any

from theory.kinds import InputError
from verify.finding import Verdict, shown
from verify.output.sentences import compared
from verify.sweep.folder import RUNS, read_plan, records
from verify.sweep.workers import REFUSED

MOST_LISTED = 20  # the number of printed runs that do not hold
MOST_LINES = 8  # the number of lines in a picture, one for each combination of the other parameters

Record = dict[str, Any]


@dataclass(frozen=True)
class Swept:
    """The results of a sweep: the plan and the runs in its folder."""

    out: Path
    plan: dict[str, Any]
    records: list[Record]

    @classmethod
    def read(cls, out: Path) -> Swept:
        """Returns the results in a folder, with the runs in the order of the plan.

        Raises InputError if `out` is not the folder of a sweep.
        """
        plan = read_plan(out)
        return cls(out, plan, sorted(records(out, plan), key=lambda record: record["run"]))

    @property
    def planned(self) -> int:
        """The number of planned runs."""
        return math.prod(map(len, self.plan["values"].values())) * int(self.plan["seeds"])

    @property
    def verdict(self) -> Verdict:
        """The common verdict of all runs; the verdict is undecided while runs are missing."""
        verdicts = [Verdict(record["verdict"]) for record in self.records]
        missing = len(self.records) < self.planned
        return Verdict.together([*verdicts, *[Verdict.UNDECIDED] * missing])

    def counts(self) -> list[str]:
        """The number of runs with each outcome, on one line."""
        ways = Counter(_way(record) for record in self.records)
        each = ", ".join(f"{ways[way]} {way}" for way in WAYS if ways[way])
        runs = f"{len(self.records)} of {self.planned} runs"
        return [f"{self.plan['claim']} {self.verdict}: {runs}" + f": {each}" * bool(each)]

    def summary(self) -> list[str]:
        """The summary in lines: counts, findings with their numbers, and runs that do not hold."""
        rows: list[tuple[str, ...]] = [
            ("finding", "holds", "fails", "undecided", "least", "median", "largest")
        ]
        verdicts: dict[str, Counter[str]] = defaultdict(Counter)
        numbers: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for record in self.records:
            for finding in record["findings"]:
                verdicts[finding["id"]][finding["verdict"]] += 1
                for name, value in _numbers(finding, "measured"):
                    numbers[finding["id"]][name].append(value)
        for id, counted in verdicts.items():
            ways = [str(counted[verdict]) for verdict in Verdict]
            measured = numbers[id] or {id: []}
            if [*measured] != [id]:
                rows.append((id, *ways, "", "", ""))
                ways = [""] * len(ways)
            rows += [(name, *ways, *_spread(values)) for name, values in measured.items()]
        listed = [line for record in self.records if (line := self._described(record))]
        more = len(listed) - MOST_LISTED
        tail = [f"… and {more} more: see {self.out / RUNS}"] * (more > 0)
        return [*aligned(rows), "", *listed[:MOST_LISTED], *tail, *self.counts()]

    def _described(self, record: Record) -> str:
        """The description of a run that does not hold; empty for a run that holds."""
        if record["verdict"] == Verdict.HOLDS:
            return ""
        what = [
            f"{finding['id']} {compared(finding['measured'], finding['bound'], finding['verdict'])}"
            for finding in record["findings"]
            if finding["verdict"] != Verdict.HOLDS
        ]
        error = record["error"].removeprefix(REFUSED).strip()
        reasons = [error] if error else what or ["no findings"]
        chosen = {name: _of(record, name) for name in (*self.plan["values"], "seed")}
        at = " ".join(f"{name}={value}" for name, value in chosen.items())
        return f"{_way(record)}  {at}: {'; '.join(reasons)}"

    def table(self, x: str, y: str) -> list[str]:
        """The table of the number y by the parameter x, and the number of runs without y."""
        rows = [(x, "runs", f"{y}: least", "median", "largest")]
        values = defaultdict(list)
        for record, value in self._values(y):
            values[_of(record, x)].append(value)
        rows += [
            (shown(at), str(len(found)), *_spread(found))
            for at, found in sorted(values.items(), key=lambda item: _order(item[0]))
        ]
        lacking = len(self.records) - sum(map(len, values.values()))
        return [
            *aligned(rows),
            *[f"{lacking} of {len(self.records)} runs have no such number"][:lacking],
        ]

    def _values(self, y: str, what: str = "measured") -> list[tuple[Record, float]]:
        """The runs that have a number of this name, measured or bound, each with the number."""
        numbers = [(record, dict(_all_numbers(record, what))) for record in self.records]
        found = [(record, own[y]) for record, own in numbers if y in own]
        if not self.records:
            raise InputError(f"the sweep in {self.out} has no runs yet: run `verify sweep` first")
        if not found and what == "measured":
            names = [*dict.fromkeys(name for _, own in numbers for name in own)]
            near = [name for name in names if name.startswith(f"{y}:")]
            near = near or get_close_matches(y, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names[:12])}"
            raise InputError(f"no run in {self.out} has a number named {y!r}: {hint}")
        return found

    def draw(self, path: Path, x: str, y: str) -> None:
        """Plots the number y of every run against the parameter x.

        Lines connect the medians over seeds.

        If the other parameters have few combinations of values, each combination has its own line.
        Lines of bounds are dashed.
        """
        from verify.evidence.picture import save  # matplotlib is slow to import

        save(path, self._figure, x, y)

    def _figure(self, x: str, y: str) -> Any:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator

        figure = Figure(figsize=(7, 4.5))
        panel = figure.subplots()
        others = [name for name, values in self.plan["values"].items() if len(values) > 1]
        others = [name for name in others if name != x]
        if math.prod(len(self.plan["values"][name]) for name in others) > MOST_LINES:
            others = []
        measured, bounds = self._values(y), self._values(y, "bound")
        values = [value for _, value in measured if math.isfinite(value)]
        if not values:
            raise InputError(
                f"{y} is not finite in any run, so there is nothing to draw: choose another "
                "number with --y"
            )
        drawn, ticks = len(values), _ticks([_of(record, x) for record, _ in (*measured, *bounds)])
        colours: dict[str, str] = {}
        for label, points in self._lines(measured, x, others, ticks):
            colours[label] = f"C{len(colours)}"
            panel.plot(*_medians(points), "-", color=colours[label], label=label or "median")
            panel.plot(
                *zip(*points, strict=True), "o", color=colours[label], alpha=0.3, markersize=4
            )
        for label, points in self._lines(bounds, x, others, ticks):
            panel.plot(*_medians(points), "--", color=colours.get(label), linewidth=1)
        values += [value for _, value in bounds if math.isfinite(value)]
        if min(values) > 0 and max(values) > 100 * min(values):
            panel.set_yscale("log")
        if ticks:
            panel.set_xticks([*ticks.values()], [*ticks])
        elif all(isinstance(_of(record, x), int) for record, _ in measured):
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.set_xlabel(x)
        panel.set_ylabel(y)
        dashed = " (dashed: the bound)" if bounds else ""
        lacking = len(self.records) - drawn
        without = f", {lacking} without a finite number" * bool(lacking)
        panel.set_title(f"{self.plan['claim']}: {drawn} runs{without}{dashed}")
        panel.grid()
        panel.legend()
        return figure

    def _lines(
        self,
        found: Sequence[tuple[Record, float]],
        x: str,
        others: Sequence[str],
        ticks: dict[str, int],
    ) -> Iterator[tuple[str, list[tuple[float, float]]]]:
        """The points of each combination of the other parameters, with its label."""
        lines = defaultdict(list)
        for record, value in found:
            at = _of(record, x)
            label = ", ".join(f"{name} = {_of(record, name)}" for name in others)
            if math.isfinite(value):
                lines[label].append((ticks[str(at)] if ticks else _float(at), value))
        yield from lines.items()


STOPPED = REFUSED.rstrip(":"), "stopped by an error"
WAYS = (*map(str, Verdict), *STOPPED)


def _way(record: Record) -> str:
    """The outcome of a run: its verdict, unless it was stopped."""
    by_its_claim, by_an_error = STOPPED
    if record["error"].startswith(REFUSED):
        return by_its_claim
    return by_an_error if record["error"] else str(record["verdict"])


def _of(record: Record, parameter: str) -> Any:
    """The value of a parameter in a run."""
    return record["seed"] if parameter == "seed" else record["parameters"].get(parameter)


def _all_numbers(record: Record, what: str) -> Iterator[tuple[str, float]]:
    if what == "measured":
        yield "seconds", record["seconds"]
    for finding in record["findings"]:
        yield from _numbers(finding, what)


def _numbers(finding: Record, what: str) -> Iterator[tuple[str, float]]:
    """The measured numbers of a finding, or their bounds, by name."""
    value, id = finding[what], finding["id"]
    parts = dict(enumerate(value)) if isinstance(value, list) else value
    for key, each in parts.items() if isinstance(parts, dict) else ():
        if _is_number(each):
            yield f"{id}:{key}", _float(each)
    if _is_number(value):
        yield id, _float(value)


def _is_number(value: Any) -> bool:
    """Whether a JSON value is a number, or the text of a number that JSON lacks."""
    return isinstance(value, int | float) or value in ("inf", "-inf", "nan")


def _float(value: Any) -> float:
    """A number of a JSON document; integers beyond the range of floats are infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _spread(values: Sequence[float]) -> tuple[str, str, str]:
    """The smallest, the median and the largest value; "nan" if a value is NaN."""
    if not values:
        return "", "", ""
    if any(map(math.isnan, values)):
        return "nan", "nan", "nan"
    return f"{min(values):.3g}", f"{median(values):.3g}", f"{max(values):.3g}"


def _order(value: Any) -> tuple[bool, float, str]:
    """A sort key: numbers by size, before other values by name."""
    number = isinstance(value, int | float)
    return not number, _float(value) if number else 0.0, str(value)


def _ticks(values: Sequence[Any]) -> dict[str, int]:
    """Positions on the axis for values that are not all numbers; empty for numbers."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return {}
    return {str(value): place for place, value in enumerate(sorted({*values}, key=_order))}


def _medians(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """The abscissas of points, sorted, and the median of the points at each."""
    at = defaultdict(list)
    for x, y in points:
        at[x].append(y)
    return sorted(at), [median(at[x]) for x in sorted(at)]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table: the first column is left-aligned, all other columns right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        ).rstrip()
        for row in rows
    ]
