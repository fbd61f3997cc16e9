"""The toy theorem of docs/adding-a-theorem.md works as it is printed, and is short."""

import re
from itertools import product, zip_longest
from pathlib import Path

import pytest

import constructions
import theory.regression
from verify.claim import Run
from verify.finding import Verdict
from verify.ledger.theorems import entries
from verify.selftest.run import report_on

TEXT = (Path(__file__).parents[2] / "docs" / "adding-a-theorem.md").read_text(encoding="utf-8")
CODE, DATA = (
    re.findall(rf"^```{kind}\n(.*?)^```$", TEXT, re.M | re.S) for kind in ("python", "toml")
)


EXPORTED = (
    (theory.regression, ("mean_label", "mean_label_by_definition")),
    (constructions, ("mean_of_labels",)),
)


@pytest.fixture
def toy(monkeypatch):
    """What each of the four files defines, with the packages exporting what is new."""
    files: list[dict] = []
    for part, (package, exported) in zip_longest(CODE, EXPORTED, fillvalue=(None, ())):
        exec(part, names := {})
        files.append(names)
        for name in exported:
            monkeypatch.setattr(package, name, names[name], raising=False)
    return files


def test_it_takes_less_than_sixty_lines_of_code():
    lines = [line for part in CODE for line in part.splitlines() if line.strip()]
    assert len(lines) < 60


def test_its_test_passes(toy):
    (test,) = (each for name, each in toy[3].items() if name.startswith("test_"))
    test()


def test_the_claim_holds_and_notices_every_fault(toy):
    claim = toy[2]["mean_label"]
    assert claim.name == "mean-label"
    findings = list(claim.findings(Run(), d=2))
    assert [finding.id for finding in findings] == ["rational", "registers"]
    assert {finding.verdict for finding in findings} == {Verdict.HOLDS}
    report = report_on("mean-label", claim, 0)
    assert report.missed == report.dead == []
    assert report.seen > 0


def test_the_entry_of_the_ledger_is_one_and_states_the_size(toy):
    (made,) = entries(DATA[0]).values()
    for values in product(*made.over.values()):
        parameters = dict(zip(made.over, values, strict=True))
        model = eval(made.build, {**toy[1], **parameters})
        built = {"layers": model.n_layers, "heads": model.n_heads, "width": model.d_model}
        assert all(made.sizes[what].admits(built[what], **parameters) for what in built)
