"""The claim `star-free`, and the evidence that truth tables are written and restored."""

from __future__ import annotations

import numpy as np
import pytest

from constructions.computation import from_formula
from theory.checks import InputError
from theory.computation import formula, formula_of, language_of, regular_expression
from theory.computation.temporal_program import program
from verify.claim import Run
from verify.computation.aperiodic import aperiodic_iff_latches, has_latches_only
from verify.computation.automata import automata
from verify.computation.options import chosen
from verify.computation.star_free import star_free
from verify.computation.temporal import (
    bits_restored,
    head_states,
    language_of_program,
    tables_written,
)
from verify.evidence.gaps import gap_finding
from verify.finding import Verdict

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS
TEXT = "once (a and not yesterday b) and yesterday a"


def verdicts(**options):
    findings = star_free.findings(Run(quick=True), length=5, samples=3, **options)
    return {finding.id: finding.verdict for finding in findings}


def test_it_holds_for_named_and_random_languages():
    found = verdicts()
    assert {id.split("/")[0] for id in found} == {"alternating", "random", "aperiodic"}
    assert {*found.values()} == {HOLDS}


@pytest.mark.parametrize(
    "options",
    [
        {"formula": "c since once a", "letters": "abc"},
        {"formula": "a"},
        {"formula": "true", "letters": "a"},
        {"regex": "a*"},
        {"regex": "a", "letters": "abc"},
        {"regex": "(ab)*", "formula": "b and yesterday a and historically "
         "(a and not yesterday a or b and yesterday a)"},
    ],
)  # fmt: skip
def test_it_holds_for_ones_own(options):
    assert {*verdicts(**options).values()} == {HOLDS}


def test_a_formula_that_says_something_else_than_the_expression_fails():
    found = verdicts(formula="once b", regex="(ab)*")
    assert found["formula/expression"] is FAILS
    assert found["formula/tables/formula"] is HOLDS


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"regex": "(aa)*"}, r"\(aa\)\* is not star-free: in its least automaton the word a leads"),
        ({"regex": "(a"}, "the end at character 3"),
        ({"formula": "a and"}, "the end at character 6"),
        ({"formula": "a", "depth": 2}, "depth has no part in formula 'a'"),
        ({"regex": "a", "depth": 2}, "depth has no part in regex 'a'"),
        ({"depth": -1}, "depth is -1: give a number at least 0"),
        ({"depth": 21}, "depth is 21: give one of at most 20"),
        ({"letters": ""}, "letters are ''"),
        ({"letters": "aa"}, "letters contain 'a' 2 times"),
        ({"formula": ""}, "the formula is ''"),
        ({"regex": ""}, "the regular expression is ''"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        list(star_free.findings(Run(quick=True), **options))


def test_automata_take_expressions():
    found = automata.findings(Run(quick=True), length=4, samples=2, regex="(aa)*")
    assert {finding.verdict for finding in found} == {HOLDS}
    with pytest.raises(InputError, match=r"automaton S3 and regex a: give one of them"):
        chosen(Run(), "S3", None, (), 4, "a")


def test_aperiodic_iff_latches_on_pairs_of_maps_of_two_states(monkeypatch):
    assert aperiodic_iff_latches(2).verdict is HOLDS
    monkeypatch.setattr(
        "verify.computation.aperiodic.is_aperiodic", lambda A: not has_latches_only(A)
    )
    assert aperiodic_iff_latches(2).verdict is FAILS


def test_formulas_of_expressions():
    language = regular_expression(".*ab", "ab")
    assert language_of(formula_of(language), "ab").differs(language) is None


def test_the_row_of_tables_is_an_automaton():
    of = formula(TEXT, "ab")
    found = language_of_program(program(of, "ab"), "ab")
    assert found.differs(language_of(of, "ab")) is None


@pytest.mark.parametrize("form", ["lean", "robust"])
def test_weights_beside_truth_tables(form):
    of = formula(TEXT, "ab")
    by, model = program(of, "ab"), from_formula(of, "ab", 6, form=form)
    (finding,) = tables_written(model, of, by)
    assert (finding.verdict, finding.evidence) == (HOLDS, "proved")
    model.blocks[-1].mlp.b_in.data[0] += 1
    (finding,) = tables_written(model, of, by)
    assert finding.verdict is FAILS


def test_a_unit_that_reads_what_its_table_does_not_fails():
    of = formula(TEXT, "ab")
    by, model = program(of, "ab"), from_formula(of, "ab", 6)
    model.blocks[-1].mlp.W_in.data[model.stream["j"], 0] = 1.0
    (finding,) = tables_written(model, of, by)
    assert finding.verdict is FAILS
    assert "read j" in finding.detail


def test_bits_that_are_off_together_leave_no_trace():
    of = formula(TEXT, "ab")
    by, model = program(of, "ab"), from_formula(of, "ab", 6, form="robust")
    (finding,) = bits_restored(model, by)
    assert (finding.verdict, finding.evidence) == (HOLDS, "proved")
    # Each by itself is within its quarter, and both together are not.
    model.blocks[-1].restores = tuple(
        type(made)(made.into, dict.fromkeys(made.within, 0.25))
        for made in model.blocks[-1].restores
    )
    (finding,) = bits_restored(model, by)
    assert finding.verdict is FAILS


@pytest.mark.parametrize("text", [TEXT, "(a or b) since c", "yesterday c", "once once (a or c)"])
@pytest.mark.parametrize("form", ["lean", "robust"])
def test_gaps_of_all_heads(text, form):
    of = formula(text, "abc")
    model = from_formula(of, "abc", 7, form=form)
    states = list(head_states(model, program(of, "abc")))
    assert len(states) == sum(block.attn.n_heads for block in model.blocks)
    for each in states:
        assert gap_finding("label", model, each).verdict is HOLDS
    model.pos_embed.W_pos.data *= 0.5
    states = list(head_states(model, program(of, "abc")))
    assert {gap_finding("label", model, each).verdict for each in states} == {FAILS}


def test_a_picture(tmp_path):
    run = Run(quick=True, plot=tmp_path / "picture.png")
    assert all(f.verdict is HOLDS for f in star_free.findings(run, formula="a since b", length=5))
    assert run.plot.stat().st_size > 10_000


def test_states_of_heads_are_all_that_can_stand_there():
    of = formula("a since b", "ab")
    model = from_formula(of, "ab", 3)
    (states,) = head_states(model, program(of, "ab"))
    assert states.position.tolist() == [0, 1, 1, 2, 2, 3, 3]
    assert np.argmax(states.preference[0]) == 6
