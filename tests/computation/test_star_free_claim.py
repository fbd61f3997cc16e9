"""The claim `star-free`, and the evidence that truth tables are written and restored."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions.computation import from_formula
from theory.computation import (
    BENCHMARK_AUTOMATA,
    Semiautomaton,
    benchmark_automaton,
    formula,
    formula_of,
    language_of,
    regular_expression,
)
from theory.computation.star_free import has_flip_flops_only
from theory.computation.temporal_program import language_of_program, program
from verify.claim import Run
from verify.computation.aperiodic import aperiodic_iff_flip_flops
from verify.computation.automata import automata
from verify.computation.options import chosen
from verify.computation.star_free import star_free
from verify.computation.temporal_logic import (
    bits_restored,
    head_states,
    tables_written,
)
from verify.evidence.gaps import gap_finding
from verify.finding import Verdict

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS
TEXT = "once (a and not yesterday b) and yesterday a"


def verdicts(**options):
    findings = star_free.findings(Run(quick=True), max_length=5, samples=3, **options)
    return {finding.id: finding.verdict for finding in findings}


@pytest.mark.parametrize(
    "options",
    [
        {"formula": "c since once a", "alphabet": "abc"},
        {"formula": "a"},
        {"formula": "true", "alphabet": "a"},
        {"regex": "a*"},
        {"regex": "a", "alphabet": "abc"},
        {"regex": "(ab)*", "formula": "b and yesterday a and historically "
         "(a and not yesterday a or b and yesterday a)"},
    ],
)  # fmt: skip
def test_it_holds_for_ones_own(options):
    assert {*verdicts(**options).values()} == {HOLDS}


def test_a_formula_of_another_language_than_the_expression_fails():
    found = verdicts(formula="once b", regex="(ab)*")
    assert found["formula/expression"] is FAILS
    assert found["formula/tables/formula"] is HOLDS


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"regex": "(aa)*"}, "star-free a"),
        ({"regex": "(a"}, "character 3"),
        ({"formula": "a and"}, "character 6"),
        ({"formula": "a", "depth": 2}, "depth formula"),
        ({"regex": "a", "depth": 2}, "depth regex"),
        ({"depth": 21}, "depth"),
        ({"alphabet": ""}, "alphabet"),
        ({"formula": ""}, "formula"),
        ({"regex": ""}, "expression"),
    ],
)
def test_bad_options_are_rejected(options, names):
    with rejects(*names.split()):
        list(star_free.findings(Run(quick=True), **options))


def test_automata_take_expressions():
    found = automata.findings(Run(quick=True), max_length=4, samples=2, regex="(aa)*")
    assert {finding.verdict for finding in found} == {HOLDS}
    with rejects("automaton", "regex"):
        chosen(Run(), "S3", None, (), 4, "a")


def test_all_small_automata_are_compared_and_each_counts(monkeypatch):
    """With quick answers in place of both sides, which differ on one automaton."""
    seen = list[Semiautomaton]()
    compared = "verify.computation.aperiodic"
    monkeypatch.setattr(f"{compared}.has_flip_flops_only", lambda A: A.n_states > 2)
    monkeypatch.setattr(
        f"{compared}.is_aperiodic", lambda A: bool(seen.append(A)) or A.n_states > 2
    )
    found = aperiodic_iff_flip_flops(2)
    assert "(10 automata" in found.name
    assert "18 benchmark" in found.name
    assert (found.verdict, found.measured) == (HOLDS, 0)
    pairs, named = seen[:10], seen[10:]
    assert {frozenset(A.transitions) for A in pairs} == {
        frozenset(both) for both in product(product(range(2), repeat=2), repeat=2)
    }
    assert {*named} == {
        benchmark_automaton(name) for name in BENCHMARK_AUTOMATA if name != "all-maps-4"
    }
    for wrong in (0, 9, 10, 27):
        monkeypatch.setattr(
            f"{compared}.is_aperiodic", lambda A, odd=seen[wrong]: (odd == A) != (A.n_states > 2)
        )
        found = aperiodic_iff_flip_flops(2)
        assert (found.verdict, found.measured) == (FAILS, 1)


def test_where_all_or_none_are_aperiodic_nothing_is_compared(monkeypatch):
    for always in (True, False):
        for name in ("is_aperiodic", "has_flip_flops_only"):
            monkeypatch.setattr(f"verify.computation.aperiodic.{name}", lambda _, v=always: v)
        assert aperiodic_iff_flip_flops(2).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("name", "flip_flops"),
    [("flip-flop", True), ("mod-3-with-reset", False), ("parity", False), ("A5", False)],
)
def test_what_counts_has_not_flip_flops_only(name, flip_flops):
    assert has_flip_flops_only(benchmark_automaton(name)) == flip_flops


def test_formulas_of_expressions():
    language = regular_expression(".*ab", "ab")
    assert language_of(formula_of(language), "ab").differs(language) is None


def test_the_row_of_tables_is_an_automaton():
    of = formula(TEXT, "ab")
    found = language_of_program(program(of, "ab"), "ab")
    assert found.differs(language_of(of, "ab")) is None


@pytest.mark.parametrize("form", ["lean", "robust"])
@pytest.mark.parametrize("part", ["part1", "part2"])
@pytest.mark.parametrize("change", ["everywhere", "at BOS", "reads", "rounded"])
def test_every_table_is_compared_in_all_its_states(form, part, change):
    of = formula(TEXT, "ab")
    by, model = program(of, "ab"), from_formula(of, "ab", 6, form=form)
    (layer,) = (stage.after for stage in model.stages if stage.register == part)
    mlp, at = model.blocks[layer - 1].mlp, model.stream[part]
    if change == "everywhere":
        mlp.b_out.data[at] += 1
    elif change == "at BOS":  # where no symbol is
        W_in, W_out = (torch.zeros(model.d_model).double() for _ in range(2))
        W_in[model.stream["symbol"]], W_out[at] = -1, 1
        mlp.W_in.data = torch.cat([mlp.W_in, W_in[:, None]], dim=1)
        mlp.b_in.data = torch.cat([mlp.b_in, torch.ones(1).double()])
        mlp.W_out.data = torch.cat([mlp.W_out, W_out[None]])
    elif change == "reads":
        mlp.W_in.data[model.stream["j"]] = 1
    else:
        mlp.b_in.data[0] += 2.0**-60 if mlp.b_in[0] == 0 else 2.0**-52
        mlp.W_out.data *= 1 + 2.0**-52
    (finding,) = tables_written(model, by)
    assert finding.verdict is (Verdict.UNDECIDED if change == "rounded" else FAILS)
    assert ("read j" in finding.detail) == (change == "reads")


def test_a_table_of_the_symbol_alone_is_compared_too():
    of = formula("once (a or c)", "abc")
    by = program(of, "abc")
    for token in range(4):  # the last one is BOS
        model = from_formula(of, "abc", 6, form="robust")
        (register,) = (s.register for s in model.stages if s.after == 0 and s.register != "symbol")
        model.embed.W_E.data[token, model.stream[register]] += 1
        (finding,) = tables_written(model, by)
        assert (finding.verdict, finding.measured) == (FAILS, 1)


@pytest.mark.parametrize("layer", [0, 1])
def test_every_block_has_to_restore(layer):
    of = formula(TEXT, "ab")
    by, model = program(of, "ab"), from_formula(of, "ab", 6, form="robust")
    (made,) = model.blocks[layer].restores
    wide = type(made)(made.into, dict.fromkeys(made.within, 0.5))
    for several in ((wide,), (made, wide), (wide, made)):
        model.blocks[layer].restores = several
        (finding,) = bits_restored(model, by)
        assert finding.verdict is FAILS


def test_too_many_bits_to_list_decide_nothing(monkeypatch):
    of = formula(TEXT, "ab")
    by, model = program(of, "ab"), from_formula(of, "ab", 6, form="robust")
    monkeypatch.setattr("verify.computation.temporal_logic.MOST_STATES", 7)
    (finding,) = bits_restored(model, by)  # 4 and 8 states
    assert (finding.verdict, finding.measured) == (Verdict.UNDECIDED, 0)
    assert "0 of 4 " in finding.words
    monkeypatch.setattr("verify.computation.temporal_logic.MOST_STATES", 8)
    (finding,) = bits_restored(model, by)
    assert (finding.verdict, finding.measured) == (HOLDS, 0)


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
    assert all(gap_finding("label", model, each).verdict is HOLDS for each in states)


def test_states_of_heads_are_all_that_can_stand_there():
    of = formula("a since b", "ab")
    model = from_formula(of, "ab", 3)
    (states,) = head_states(model, program(of, "ab"))
    assert states.position.tolist() == [0, 1, 1, 2, 2, 3, 3]
    assert np.argmax(states.preference[0]) == 6
    assert states.preference[0].tolist() == [0, 1, 5, 2, 6, 3, 7]
    held = states.keys["symbol"].argmax(1)
    assert held.tolist() == [0, 0, 1, 0, 1, 0, 1]
