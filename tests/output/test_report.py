"""Lines for people: sentences with relation and evidence, equal ones joined."""

import io
from typing import get_args

import pytest
from rich.console import Console

from verify.evidence.enclosure import all_hold
from verify.finding import Evidence, Finding, at_least, at_most, each_at_most, equal, same, within
from verify.finding import Verdict as V
from verify.output.report import Report
from verify.output.sentences import sentence


def lines(*findings: Finding, verbose: bool = False) -> list[str]:
    screen = io.StringIO()
    report = Report(Console(file=screen, soft_wrap=True), quiet=False, verbose=verbose)
    for finding in findings:
        report.finding(finding)
    report.verdict("it", V.HOLDS, len(findings), 1.0)
    *found, empty, last = screen.getvalue().splitlines()
    assert (empty, last.startswith("it holds: ")) == ("", True)
    return [line[10:] for line in found]


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


def test_each_line_begins_with_its_verdict():
    screen = io.StringIO()
    report = Report(Console(file=screen, soft_wrap=True), quiet=False, verbose=False)
    overlap = at_most("a", "a", "enclosure", (1.0, 2.0), 1.5)
    for finding in (gap(1), overlap, gap(2), gap(3, 3.0)):
        report.finding(finding)
    report.flush()
    verdicts = [line.split()[0] for line in screen.getvalue().splitlines()]
    assert verdicts == ["holds", "undecided", "holds", "fails"]


def test_findings_of_different_evidence_are_not_joined():
    names = lines(gap(1), at_most("gap/layer-2", "[a] layer 2, gap", "statistical", 1.0, 2.0))
    assert len(names) == 2


def test_with_times_each_has_its_line():
    assert len(lines(gap(1), gap(2), verbose=True)) == 2


def test_details_follow_their_line():
    told = gap(2, 3.0)
    told.detail = "why"
    starts = [line.removeprefix("[a] ").split(",")[0] for line in lines(gap(1), told, gap(3))]
    assert starts == ["layer 1", "layer 2", "why", "layer 3"]


def named(name: str, measured: float = 1.0, bound: float = 2.0) -> Finding:
    return at_most("id", name, "float", measured, bound)


@pytest.mark.parametrize(
    ("names", "joined"),
    [
        (["k = 1", "k = 2", "k = 3"], ["k = 1 … 3"]),
        (["k = 1, n = 4", "k = 2, n = 4"], ["k = 1 … 2, n = 4"]),
        (["k = 1, n = 4", "k = 2, n = 5"], ["k = 1, n = 4", "k = 2, n = 5"]),
        (["k = 1, n = 4", "k = 2, n = 4", "k = 2, n = 5"], ["k = 1 … 2, n = 4", "k = 2, n = 5"]),
        (["β = 1.5", "β = 1.6"], ["β = 1.5", "β = 1.6"]),
        (["β = 1", "β = 1e5"], ["β = 1", "β = 1e5"]),
        (["a", "a"], ["a", "a"]),
    ],
)
def test_findings_that_differ_in_one_integer_are_joined(names, joined):
    assert [line.split(":")[0] for line in lines(*map(named, names))] == joined


@pytest.mark.parametrize(
    ("finding", "found"),
    [
        (named("a", 0.001, 2.0), "0.001 ≤ 2 (0.05 % of the bound)"),
        (named("a", 1e-9, 2.0), "1e-09 ≤ 2 (below 0.01 % of the bound)"),
        (named("a", 1.999999, 2.0), "1.999999 ≤ 2 (100 % of the bound)"),
        (named("a", 0.0, 2.0), "0 ≤ 2"),
        (named("a", -0.5, 2.0), "-0.5 ≤ 2"),
        (named("a", 3.0, 2.0), "3 > 2"),
        (named("a", float("nan"), 2.0), "nan  (required: 2)"),
        (Finding("a", "a", "float", 1.0, 2.0, V.UNDECIDED), "1  (required: 2)"),
        (at_least("a", "a", "float", 3.0, 2.0), "3 ≥ 2"),
        (at_least("a", "a", "enclosure", (3.0, 4.0), 2.0), "3 ≥ 2"),
        (at_most("a", "a", "enclosure", (3.0, 4.0), 5), "4 ≤ 5 (80 % of the bound)"),
        (at_most("a", "a", "float", 1.0, 2.0, words="one"), "one  (required: ≤ 2)"),
        (same("a", "a", [3, 4], [3, 4], words="two"), "two"),
        (at_least("a", "a", "float", 1.0, 2.0), "1 < 2"),
        (within("a", "a", "float", 3.0, (2.0, 4.0)), "2 ≤ 3 ≤ 4"),
        (within("a", "a", "float", 5.0, (2.0, 4.0)), "5  (required: from 2 to 4)"),
        (each_at_most("a", "a", "exact", {"x": 1, "y": 2}, {"x": 2, "y": 3}), "x: 1 ≤ 2, y: 2 ≤ 3"),
        (same("a", "a", 3, 3), "3"),
        (same("a", "a", 3, 4), "3 < 4"),
        (same("a", "a", 3, 3, wanted="n"), "3  (required: n)"),
        (at_most("a", "a", "float", 1.0, 2.0, wanted="≤ 2ε"), "1 ≤ 2ε"),
        (at_most("a", "a", "float", 1.0, 2.0, words="one", wanted="≤ 2ε"), "one  (required: ≤ 2ε)"),
        (same("a", "a", {"n = 1": 2, "n = 3": 4}, {"n = 1": 2, "n = 3": 4}), "n = 1: 2; n = 3: 4"),
        (all_hold("a", "a", [V.HOLDS] * 3, words="all do"), "all do"),
        (at_most("a", "a", "float", 3.0, 2.0, wanted="≤ 2ε"), "3  (required: ≤ 2ε)"),
        (
            at_most("a", "a", "float", 3.0, 2.0, words="up to 3", wanted="≤ 2"),
            "up to 3  (required: ≤ 2)",
        ),
        (at_most("a", "a", "float", float("nan"), 2.0, wanted="≤ 2"), "nan  (required: ≤ 2)"),
        (equal("a", "a", None), "equal"),
        (equal("a", "a", "at 0", words="all"), "they differ"),
        (equal("a", "a", None, words="a, and b, on 3 pairs"), "a, and b"),
        (all_hold("a", "a", [V.HOLDS] * 2, words="so", wanted="≤ 1"), "so  (required: ≤ 1)"),
        (
            all_hold("a", "a", [V.HOLDS, V.FAILS]),
            "not all hold (1 of 2 comparisons)  (required: 2)",
        ),
    ],
)
def test_measured_values_are_related_to_their_bounds(finding, found):
    assert sentence(finding).found == found


def given(words: str) -> Finding:
    return equal("a", "a", None, words=words)


@pytest.mark.parametrize(
    ("finding", "evidence"),
    [
        (
            equal("a", "a", None, words="all equal on 154 sequences"),
            "exact arithmetic, 154 sequences",
        ),
        (
            equal("a", "a", None, words="so (26 of 26 comparisons)"),
            "exact arithmetic, 26 comparisons",
        ),
        (equal("a", "a", None, words="so (25 of 26 comparisons)"), "exact arithmetic"),
        (equal("a", "a", None, evidence="identity"), "identity, all inputs of these sizes"),
    ],
)
def test_evidence_is_printed_with_its_scope(finding, evidence):
    assert sentence(finding).evidence == evidence


def test_every_kind_of_evidence_has_its_own_words():
    printed = {kind: sentence(given_by(kind)).evidence for kind in get_args(Evidence)}
    assert len({*printed.values()}) == len(printed)
    assert [kind for kind, words in printed.items() if "proved" in words] == ["proved"]
    assert [kind for kind, words in printed.items() if "all inputs" in words] == ["identity"]
    assert [kind for kind, words in printed.items() if "exact" in words] == ["exact"]
    assert "sample" in printed["statistical"]


def given_by(kind: Evidence) -> Finding:
    return equal("a", "a", None, evidence=kind)
