"""The claims on language: what they find, what they refuse, and their pictures."""

import pytest

from theory.checks import InputError
from theory.language import world
from verify.claim import Run
from verify.cli import main
from verify.finding import Verdict
from verify.language.bounds import told, unless_vacuous
from verify.language.good_turing import good_turing
from verify.language.hallucination import hallucination, in_a_sentence
from verify.language.log_linear import log_linear_claim
from verify.language.sampling_or_argmax import sampling_or_argmax
from verify.language.tiny_worlds import corpora, parts

SMALL = {"facts": 4000, "strings": 4 * 10**8, "documents": 2000, "law": "uniform", "samples": 200}


def found(claim, run, **options):
    return {finding.id: finding for finding in claim.findings(run, **{**claim.defaults, **options})}


@pytest.mark.parametrize(
    ("claim", "options"),
    [(log_linear_claim, {"draws": 2}), (good_turing, {"facts": 500}), (sampling_or_argmax, {})],
    ids=["log-linear", "good-turing", "sampling-or-argmax"],
)
def test_they_hold_and_draw(claim, options, tmp_path):
    picture = tmp_path / "p.png"
    run = Run(quick=True, plot=picture if claim.draws else None)
    assert {each.verdict for each in found(claim, run, **options).values()} == {Verdict.HOLDS}
    assert not claim.draws or picture.stat().st_size > 1000


@pytest.mark.slow
def test_calibrated_models_hallucinate(tmp_path):
    picture = tmp_path / "p.png"
    findings = found(hallucination, Run(quick=True, plot=picture), **SMALL)
    assert {each.verdict for each in findings.values()} == {Verdict.HOLDS}
    assert findings["tiny/forty-strings"].words.startswith("19/39")
    assert findings["tiny/forty-answers"].words.startswith("117/320")
    assert picture.stat().st_size > 1000


@pytest.mark.slow
def test_where_a_bound_says_nothing_it_is_undecided():
    few = {**SMALL, "strings": 8000, "documents": 20}
    findings = found(hallucination, Run(quick=True), **few)
    assert findings["world/printed"].verdict is Verdict.UNDECIDED
    assert "vacuous" in findings["world/printed"].wanted
    assert findings["world/corpus"].verdict is Verdict.UNDECIDED
    assert findings["world/sure"].verdict is Verdict.HOLDS  # half of p(U) is left of it
    assert findings["world/sure"].words.endswith("(vacuous)")  # for the memoriser
    assert findings["built/memoriser/sure"].verdict is Verdict.HOLDS


def test_bounds_are_told():
    from verify.finding import at_least

    assert told(0.25) == "0.2500"
    assert told(-0.25) == "−0.2500 (vacuous)"
    for bound, verdict in ((0.1, Verdict.HOLDS), (-0.1, Verdict.UNDECIDED)):
        holds = at_least("a", "a", "exact", 1, bound)
        assert unless_vacuous(holds, bound).verdict is verdict
    assert unless_vacuous(at_least("a", "a", "exact", -1, -0.1), -0.1).verdict is Verdict.FAILS


def test_corpora_and_grids_are_all_there():
    assert len({*parts(4, 3)}) == 15
    assert {sum(each) for each in parts(4, 3)} == {1}
    of = corpora(3, 2)
    assert sum(of.values()) == 1
    assert float(of[1, 0]) == pytest.approx(1 / 3)
    assert set(of) == {(1, 0), (2, 2)}


@pytest.mark.parametrize(
    ("claim", "options", "message"),
    [
        (hallucination, {"facts": 1}, "at least 2"),
        (hallucination, {"documents": 0}, "at least 1"),
        (hallucination, {"strings": 0}, "at least 4"),
        (hallucination, {"strings": 2**60}, "a claim takes at most 9.0072e"),
        (hallucination, {"facts": 10, "strings": 5}, "10 facts among 5 strings"),
        (hallucination, {"law": "normal"}, "'zipf'"),
        (good_turing, {"worlds": 5}, "at least 20"),
        (good_turing, {"documents": 1}, "at least 2"),
        (log_linear_claim, {"draws": 1}, "at least 2"),
        (sampling_or_argmax, {"draws": 10**5}, "at most 10000"),
    ],
)
def test_options_out_of_range_are_refused(claim, options, message):
    with pytest.raises(InputError, match=message):
        next(claim.findings(Run(), **{**claim.defaults, **options}))


def test_what_is_said_of_sizes_in_a_sentence():
    rich = in_a_sentence(world(100, 10**9, 50, "uniform", 0))
    assert rich.startswith("in the mean at least")
    assert rich.endswith("of what a calibrated model of 50 documents on 100 facts says is no fact")
    assert "nothing follows" in in_a_sentence(world(100, 100, 2, "uniform", 0))


def test_worlds_that_are_too_large_are_refused_in_one_line(capsys):
    assert main(["hallucination", "--facts", "1000000000"]) == 2
    assert "at most" in capsys.readouterr().err
