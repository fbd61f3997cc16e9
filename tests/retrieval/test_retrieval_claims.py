"""The claims about retrieval: they hold, notice every planted fault, and say no to bad options."""

import functools
import json
import re

import numpy as np
import pytest

from theory.checks import InputError
from verify.claim import Claim, Run
from verify.cli import main as cli
from verify.finding import Verdict
from verify.retrieval.attention_patterns import attention_patterns
from verify.retrieval.composition import composition
from verify.retrieval.hop import hop
from verify.retrieval.induction import induction
from verify.retrieval.nearest_neighbour import nearest_neighbour
from verify.retrieval.ngram import in_context_ngram
from verify.selftest.tensor_mutations import FAULTS

SMALL: dict[str, tuple[Claim, dict]] = {
    "attention-patterns": (attention_patterns, {"n": 9, "vocabulary": 3, "samples": 4}),
    "induction": (induction, {"n": 9, "vocabulary": 3, "samples": 4}),
    "ngram": (in_context_ngram, {"n": 9, "vocabulary": 3, "samples": 4}),
    "nearest-neighbour": (nearest_neighbour, {"d": 2, "n": 4, "samples": 4}),
    "composition": (composition, {"size": 4, "samples": 4, "texts": 4}),
    "hop": (hop, {"k": 3, "n": 9, "vocabulary": 3, "samples": 4}),
}
each_claim = pytest.mark.parametrize("name", SMALL)


def check(name, seed=0, fault=None, **chosen):
    made, options = SMALL[name]
    run = Run(quick=True, seed=seed, fault=fault)
    return list(made.findings(run, **{**options, **chosen}))


once = functools.cache(check)


def not_holding(findings):
    return [(f.id, f.measured, f.detail) for f in findings if f.verdict is not Verdict.HOLDS]


@each_claim
def test_every_claim_holds(name):
    findings = once(name, seed=1)
    assert not_holding(findings) == []
    assert len({finding.id for finding in findings}) == len(findings)
    assert not any("nan" in json.dumps(finding.as_json()) for finding in findings)


@pytest.mark.parametrize(
    ("name", "size"),
    [
        *((name, {"n": 1, "vocabulary": 1}) for name in ("attention-patterns", "ngram", "hop")),
        *((name, {"n": 2, "vocabulary": 5}) for name in ("induction", "hop")),
    ],
    ids=str,
)
def test_claims_hold_at_the_smallest_sizes(name, size):
    made, options = SMALL[name]
    findings = made.findings(Run(quick=True), **{**options, **size})
    assert not_holding(findings) == []


@pytest.mark.parametrize("options", [{"size": 1}, {"size": 2}], ids=str)
def test_tables_of_one_and_two_entries(options):
    findings = composition.findings(Run(quick=True), samples=2, texts=2, **options)
    assert not_holding(findings) == []


@pytest.mark.parametrize("name", ["ngram", "nearest-neighbour", "composition"])
def test_the_same_seed_gives_the_same_evidence(name):
    runs = once(name, seed=1), check(name, seed=1)
    first, second = ([(f.id, f.measured, f.bound) for f in run] for run in runs)
    assert first == second


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    ("name", "options"),
    [(name, options) for name, (made, _) in SMALL.items() for options in made.faults_seen],
    ids=str,
)
def test_every_claim_sees_every_fault(name, options, fault):
    run = Run(seed=1, quick=True, fault=FAULTS[fault])
    assert SMALL[name][0].verdict(run, **options) is Verdict.FAILS


def failures(name, fault, **chosen):
    findings = check(name, fault=FAULTS[fault], **chosen)
    return {f.id: f for f in findings if f.verdict is Verdict.FAILS}


def test_a_failing_claim_shows_the_sequence_the_answers_and_the_register():
    first = next(iter(failures("induction", "wrong sign", match="latest").values()))
    assert "answer" in first.detail
    assert "by definition" in first.detail
    assert "after layer 2, register answer, token" in first.detail


def test_a_fault_that_leaves_the_answers_right_is_seen_in_the_registers():
    """Twice the code decodes to the same token."""
    ids = failures("induction", "wrong power of two", match="latest")
    assert "latest/registers" in ids
    assert "latest/all-short" not in ids


def test_a_fault_in_the_reader_is_seen_in_what_it_answers_and_in_its_registers():
    found = failures("composition", "wrong sign")
    assert {"tables/registers", "facts/talk", "facts/texts", "facts/registers"} <= {*found}
    assert re.search(r"\?: answer -?\d+, by definition \d+\n", found["facts/texts"].detail)
    assert "after layer 4, register answer, token" in found["facts/registers"].detail


@pytest.mark.parametrize(
    ("made", "options", "message"),
    [
        (induction, {"sharpness": 0.5}, "sharpness 0.5 is too small for prompts of 129 tokens"),
        (
            induction,
            {"error": 9.0},
            "error is 9: give a number from 1e-09, .* below 0.75",
        ),
        (induction, {"error": 0.0}, "error is 0: give a number from 1e-09"),
        (hop, {"k": 0}, "k is 0: give a number at least 1"),
        (hop, {"n": 0}, "n is 0: give a number at least 1"),
        (in_context_ngram, {"order": 0}, "order is 0: give a number at least 1"),
        (composition, {"size": 0}, "size is 0: give a number at least 1"),
        (composition, {"prompt": "Jane is a wizard. What is Jane's mother?"}, "'wizard' is not in"),
        (composition, {"prompt": "Jane is a doctor."}, "ends without a question"),
        (nearest_neighbour, {"sharpness": 0.0}, "sharpness is 0.0: give a finite number"),
        (attention_patterns, {"pattern": "next-token"}, "pattern is 'next-token': give"),
    ],
)
def test_bad_options_are_refused(made, options, message, unchecked):
    with pytest.raises(InputError, match=message):
        list(made.findings(Run(quick=True), **options))


def test_the_sharpness_in_the_message_works():
    with pytest.raises(InputError, match="give at least") as refused:
        list(induction.findings(Run(quick=True), match="latest", sharpness=1.0, samples=2))
    enough = float(str(refused.value).rpartition(" ")[2])
    options = {"match": "latest", "sharpness": enough, "samples": 2}
    assert not_holding(induction.findings(Run(quick=True), **options)) == []


def test_words_through_the_induction_head(capsys):
    words = "the cat saw the dog and the"
    assert cli.main(["induction", "--prompt", words, "--match", "latest"]) == 0
    assert "after 'the': 'dog'" in capsys.readouterr().out.replace("(bound: 'dog')", "").strip()


def test_words_through_the_fact_lookup(capsys):
    text = (
        "The mother of John is Helen. Helen is a doctor. What is the profession of John's mother?"
    )
    assert cli.main(["composition", "--prompt", text]) == 0
    assert "John's mother?: doctor" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["composition", "--prompt", "Who is Jon's mother?"], "did you mean John"),
        (["induction", "--prompt", ""], "error: "),
        (["hop", "--k", "0"], "k is 0: give a number at least 1"),
        (["induction", "--sharpness", "0.1"], "give at least"),
    ],
)
def test_bad_input_on_the_command_line_is_one_line_and_exit_2(words, message, capsys):
    assert cli.main(words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_json(tmp_path):
    target = tmp_path / "nearest.json"
    words = ["nearest-neighbour", "--d", "2", "--n", "4", "--samples", "4", "-q"]
    assert cli.main([*words, "--json", str(target)]) == 0
    document = json.loads(target.read_text(encoding="utf-8"))
    assert document["claim"] == "nearest-neighbour"
    assert document["verdict"] == "holds"
    assert {"exact", "float", "enclosure"} == {f["evidence"] for f in document["findings"]}


@pytest.mark.parametrize("name", ["attention-patterns", "hop"])
def test_pictures_are_drawn(name, tmp_path):
    import matplotlib.image

    made, options = SMALL[name]
    target = tmp_path / "picture.png"
    list(made.findings(Run(quick=True, plot=target), **options))
    assert np.ptp(matplotlib.image.imread(target)) > 0


@pytest.mark.parametrize("name", ["induction", "ngram", "composition"])
def test_pictures_of_the_same_kind_are_asked_for(name, tmp_path, monkeypatch):
    from verify.retrieval import pictures

    drawn = []
    monkeypatch.setattr(pictures, "draw", lambda *given: drawn.append(given))
    made, options = SMALL[name]
    list(made.findings(Run(quick=True, plot=tmp_path / "picture.png"), **options))
    ((path, model, row, words),) = drawn
    assert path == tmp_path / "picture.png"
    assert len(words) == len(row) == len(model(row))
