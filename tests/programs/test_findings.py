"""What the claims on programs run and compare: sequences, inputs, sharpness, gaps and registers."""

from __future__ import annotations

import numpy as np
import pytest
from by_id import findings

from verify import program_checker
from verify.claim import Run
from verify.finding import Verdict
from verify.programs import chomsky as tasks
from verify.programs import program as programs
from verify.programs.certified import computes_program
from verify.programs.program import Case


def recorded(monkeypatch, owner, name, note):
    """A dict to which each call of a function adds `note(*arguments)`, and which it is."""
    seen, function = {}, getattr(owner, name)

    def called(*arguments, **options):
        seen.update(note(*arguments))
        return function(*arguments, **options)

    monkeypatch.setattr(owner, name, called)
    return seen


def shapes(batches):
    return [rows.shape for rows in batches]


@pytest.mark.parametrize(
    ("name", "vocabulary", "length"), [("parity", "01", 30), ("detect_pattern", "ab", 2)]
)
def test_selectors_that_select_nothing_are_verified_to(name, vocabulary, length):
    """No head computes their widths and means, which are constants."""
    program, _ = programs.PROGRAMS[name]
    model = programs.compiled(program, vocabulary, length)
    statement = computes_program(model, program, name, causal=False)
    assert program_checker.computed(statement, 10**7)["contents"] > 0
    for change in statement["operations"]:
        if change["op"] == "select":
            change["pairs"] = "true"
    with pytest.raises(ArithmeticError):
        program_checker.computed(statement, 10**7)


def test_a_program_that_is_not_verified_is_undecided(monkeypatch):
    def rejects(*given):
        raise ArithmeticError("its reason")

    monkeypatch.setattr(program_checker, "computed", rejects)
    for length, verdicts in ((1, []), (2, [Verdict.UNDECIDED])):
        found = findings(programs.program, program="reverse", max_length=length, samples=3)
        every = [each for id, each in found.items() if id.endswith("/all-sequences")]
        assert [each.verdict for each in every] == verdicts
        assert all("its reason" in each.words for each in every)


def test_sequences_of_one_token_are_all_run():
    """One of two selectors selects the token, so that their widths have a constant sum."""
    for length, ids in ((1, set()), (2, {"all-sequences"})):
        found = findings(programs.program, program="histogram", max_length=length, samples=3)
        every = {id.split("/")[1]: finding for id, finding in found.items()}
        assert every.keys() & {"all-sequences"} == ids
        assert every["all-short"].verdict is Verdict.HOLDS


def test_sequences_and_sharpness(monkeypatch):
    answers = recorded(
        monkeypatch,
        Case,
        "answers",
        lambda case, id, what, batches: {id: (shapes(batches), case.model.attentions[0].scale)},
    )
    few = {
        name: recorded(monkeypatch, Case, name, lambda case, batches: {"few": shapes(batches)})
        for name in ("heads", "gaps", "registers", "over_q")
    }
    findings(programs.program, program="sort", max_length=4)
    short, drawn = [(3**n, n) for n in (1, 2, 3, 4)], [(20, 2), (20, 4)]
    assert answers["all-short"][0] == short
    assert answers["random"][0] == drawn
    model = programs.compiled(*programs.PROGRAMS["sort"], 4)
    beta = pytest.approx(1.001 * model.least_sharpness(), rel=1e-6)
    assert answers["softmax/answers"] == ([*short, *drawn], beta)
    some = [(3, 1), (9, 2), (27, 3), (21, 4), *drawn]
    for name in ("heads", "gaps", "registers"):
        assert few[name]["few"] == some
    assert few["over_q"]["few"] == [(1, n) for _, n in some]


def test_inputs_of_tasks(monkeypatch):
    seen = recorded(
        monkeypatch,
        tasks,
        "_right",
        lambda id, what, name, model, answers, batches: {
            id: [np.shape(inputs) for inputs in batches]
        },
    )
    findings(tasks.chomsky, task="reverse string", max_length=8)
    short, drawn = [(2**n, n) for n in range(1, 7)], [(5, n) for n in (4, 7, 8)]
    assert seen == {
        "all-short": short,
        "random": drawn,
        "softmax": [*short, *drawn],
        "longer": [(2, 32)],
    }


@pytest.mark.parametrize(
    ("owner", "name", "result", "finding"),
    [
        (programs, "_gap", lambda gap: 0.3, "gaps"),
        (Case, "content", lambda content: content + 0.003 * (content == 2), "registers"),
    ],
)
def test_small_differences_fail(monkeypatch, owner, name, result, finding):
    function = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *given: result(function(*given)))
    found = findings(programs.program, program="sort", max_length=4)
    assert found[f"sort/{finding}"].verdict is Verdict.FAILS


@pytest.mark.parametrize("n", [1, 2, 9, 60])
def test_random_sequences_are_as_long_as_the_model_takes_or_half_as_long(n, monkeypatch):
    seen = {}
    for name in ("sizes", "heads", "gaps", "registers", "over_q"):
        monkeypatch.setattr(Case, name, lambda *given: None)
    monkeypatch.setattr(Case, "softmax", lambda *given: ())
    monkeypatch.setattr(programs, "_enumerated", lambda *given: None)
    monkeypatch.setattr(
        Case, "answers", lambda case, id, what, batches: seen.update({id: shapes(batches)})
    )
    program, vocabulary = programs.PROGRAMS["histogram"]
    model = programs.compiled(program, vocabulary, n)
    arguments = Run(), "histogram", program, model, vocabulary, n, False, 5
    assert {*programs._compiled(*arguments)} == {None}
    assert seen["random"] == [(5, length) for length in sorted({(n + 1) // 2, n})]
