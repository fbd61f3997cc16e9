"""The claims on sensitivity: what they find, what they refuse, and their pictures."""

import json

import numpy as np
import pytest

from theory import computation
from theory.checks import InputError
from theory.sensitivity import tabulated
from verify.claim import Run
from verify.cli import main
from verify.finding import Verdict
from verify.sensitivity import random_weights as random
from verify.sensitivity.retrieval_profiles import retrieval_profiles
from verify.sensitivity.sensitivity import all_figures, sensitivity
from verify.sensitivity.spectral_bias import spectral_bias


def verdicts(claim, run, **options):
    return {finding.id: finding.verdict for finding in claim.findings(run, **options)}


def test_the_standard_functions_are_as_stated(tmp_path):
    picture = tmp_path / "s.png"
    found = verdicts(sensitivity, Run(quick=True, plot=picture), d=5, samples=5000, table=None)
    assert set(found.values()) == {Verdict.HOLDS}
    assert {"majority-5/figures", "3-parity/gap", "all/degree-s2", "estimate/torch-module"} <= set(
        found
    )
    assert picture.stat().st_size > 1000


@pytest.mark.slow
def test_the_profiles_and_the_lemma_hold(tmp_path):
    for claim, options in ((retrieval_profiles, {}), (spectral_bias, {"d": 8, "draws": 30})):
        picture = tmp_path / "p.png"
        found = verdicts(claim, Run(quick=True, plot=picture), **options)
        assert set(found.values()) == {Verdict.HOLDS}
        assert picture.stat().st_size > 1000
        picture.unlink()


def test_an_estimate_wider_than_half_of_it_is_undecided():
    found = verdicts(sensitivity, Run(quick=True), d=5, samples=100, table=None)
    assert found["estimate/and-3"] is Verdict.UNDECIDED
    assert found["estimate/coverage"] is Verdict.HOLDS


def test_all_functions_of_two_letters_have_the_figures_of_each():
    figures = all_figures(2)
    assert len(figures["Var"]) == 16
    assert figures["degree"].max() == 2 * 4**2
    assert (figures["Var"] <= figures["I"]).all()


def test_a_function_of_ones_own(tmp_path):
    path, picture = tmp_path / "vote.json", tmp_path / "vote.png"
    values = tabulated(lambda words: computation.majority(words)[..., -1], 3)
    path.write_text(json.dumps({"table": values.tolist(), "name": "vote"}))
    run = Run(quick=True, plot=picture)
    found = {each.id: each for each in sensitivity.findings(run, d=9, samples=100, table=path)}
    assert {each.verdict for each in found.values()} == {Verdict.HOLDS}
    assert found["Var-I"].words == "Sens 1/2, I 3/2, Var 1, degree 3, s 2"
    assert found["model/figures"].words == found["Var-I"].words
    assert picture.stat().st_size > 1000
    path.write_text("[0, 1, 1, 0]")
    assert verdicts(sensitivity, Run(), d=9, samples=100, table=path)["model/words"] == "holds"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, -1, 1]", "shape (3,)"),
        ("[1, 2]", "contain 2"),
        ("[0, -1]", "contain −1 and 0"),
        ("[]", "shape (0,)"),
        ("[[1, -1], [1, 1]]", "shape (2, 2)"),
        ("[[1, -1], [1]]", "different lengths"),
        ('["a", "b"]', "real numbers"),
        ("[null, 1]", "real numbers"),
        ("[NaN, 1]", "contain nan"),
        ("[1" + "0" * 400 + ", 1]", "beyond float64"),
        ("7", "shape ()"),
        ("{}", "no table"),
        ('{"table": [1, -1], "more": 1}', "more"),
        ("not JSON", "not JSON"),
    ],
)
def test_tables_that_are_none_are_refused_in_one_line(text, message, tmp_path, capsys):
    path = tmp_path / "f.json"
    path.write_text(text)
    assert main(["sensitivity", "--table", str(path)]) == 2
    printed = capsys.readouterr()
    assert message in printed.err + printed.out
    assert "Traceback" not in printed.err + printed.out


def test_a_missing_table_is_refused(tmp_path, capsys):
    assert main(["sensitivity", "--table", str(tmp_path / "none.json")]) == 2
    assert "cannot read" in capsys.readouterr().err
    assert main(["sensitivity", "--table", str(tmp_path)]) == 2
    printed = capsys.readouterr().err
    assert "is no file" in printed
    assert "JSON" not in printed


@pytest.mark.parametrize("options", [{"d": 4}, {"samples": 10}])
def test_options_that_are_too_small_are_refused(options):
    with pytest.raises(InputError, match="at least"):
        next(sensitivity.findings(Run(), **options))


def test_more_words_than_can_be_run_are_refused():
    with pytest.raises(InputError, match="at most 14"):
        next(sensitivity.findings(Run(), d=15, samples=100, table=None))


def test_half_spaces_are_told_from_others():
    words = tabulated(lambda words: computation.majority(words)[..., -1], 5) < 0
    parity = tabulated(lambda words: computation.parity(words)[..., -1], 3) < 0
    assert random.linear_threshold(words)
    assert not random.linear_threshold(parity)
    assert random.linear_share(np.array([parity, np.zeros(8, bool)])) == 0.5


def test_rows_have_constants_and_leave_out_what_does_not_vary():
    said = np.array([np.arange(8) - 3.5, np.full(8, 2.0)])
    row = random.row_of(said)
    assert row.constant == 0.5
    assert row.at["0"].tolist() == [1 / 3, 0]
    assert row.at["median"].tolist() == [1 / 3]


def test_differences_of_means_have_the_errors_of_both():
    low, high = np.array([0.0, 0.2]), np.array([0.4, 0.6, 0.5])
    found = random.difference(low, high)
    assert found.mean == pytest.approx(0.4)
    assert found.error == pytest.approx(np.hypot(0.1, 0.1 / np.sqrt(3)))
    assert found.freedom == 1
    assert np.isnan(random.difference(low[:1], high).mean)


@pytest.mark.parametrize("law", random.LAWS)
def test_networks_are_drawn_by_their_seed(law):
    from verify.sensitivity.random_networks import ARCHITECTURES, outputs

    for kind, layers in ARCHITECTURES:
        first, again, other = (outputs(kind, layers, law, 3, seed) for seed in (0, 0, 1))
        assert first.shape == (8,)
        assert (first == again).all()
        assert (first != other).any()


@pytest.mark.slow
def test_random_weights_come_out_as_recorded(tmp_path):
    picture = tmp_path / "r.png"
    found = verdicts(random.random_weights, Run(quick=True, plot=picture), draws=10)
    assert found["control"] is Verdict.HOLDS
    assert found["uniform/0/deep"] is Verdict.HOLDS
    assert found["normal/median/shallow"] is Verdict.FAILS
    assert picture.stat().st_size > 1000
