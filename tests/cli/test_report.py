"""Lines for people: equal ones of layers that follow each other are one."""

import io

import pytest
from rich.console import Console

from verify.cli.report import Report
from verify.finding import Finding, at_most, same
from verify.finding import Verdict as V


def lines(*findings: Finding, verbose: bool = False) -> list[str]:
    screen = io.StringIO()
    report = Report(Console(file=screen, soft_wrap=True), quiet=False, verbose=verbose)
    for finding in findings:
        report.finding(finding)
    report.verdict("it", V.HOLDS, len(findings), 1.0)
    *found, empty, last = screen.getvalue().splitlines()
    assert (empty, last.startswith("it holds: ")) == ("", True)
    return [line[22:] for line in found]


def gap(layer: int, value: float = 1.0) -> Finding:
    return at_most(f"gap/layer-{layer}", f"[a] layer {layer}, gap", "exact", value, 2.0)


OTHER = same("other", "another", 1, 1)


@pytest.mark.parametrize(
    ("findings", "layers"),
    [
        ([gap(1), gap(2), gap(3)], ["layers 1 to 3"]),
        ([gap(1), gap(1), gap(2)], ["layers 1 to 2"]),  # two heads of layer 1
        ([gap(4)], ["layer 4"]),
        ([gap(1), gap(2), gap(4)], ["layers 1 to 2", "layer 4"]),
        ([gap(2), gap(1)], ["layer 2", "layer 1"]),
        ([gap(1), OTHER, gap(2)], ["layer 1", "another", "layer 2"]),
        ([gap(1), gap(2, 1.5), gap(3, 1.5)], ["layer 1", "layers 2 to 3"]),
        ([gap(1), gap(2, 3.0), gap(3)], ["layer 1", "layer 2", "layer 3"]),  # it fails
    ],
)
def test_equal_lines_of_layers_are_joined(findings, layers):
    starts = [line.removeprefix("[a] ").split(",")[0].split(":")[0] for line in lines(*findings)]
    assert starts == layers


def test_with_times_each_has_its_line():
    assert len(lines(gap(1), gap(2), verbose=True)) == 2


def test_details_follow_their_line():
    told = gap(2, 3.0)
    told.detail = "why"
    starts = [line.removeprefix("[a] ").split(",")[0] for line in lines(gap(1), told, gap(3))]
    assert starts == ["layer 1", "layer 2", "why", "layer 3"]
