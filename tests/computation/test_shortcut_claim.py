"""The claim `shortcut`: other automata, what every head meets, and what has no shortcut."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from refusals import rejects

from constructions import shortcut as construction
from theory.computation import (
    NotSolvable,
    Semiautomaton,
    cascade,
    random_semiautomaton,
)
from verify.claim import Run
from verify.computation.shortcut import (
    free_of_length,
    given_after,
    head_states,
    perfect_core,
    refused,
    shortcut,
    simulates,
    tabled,
    walked,
)
from verify.evidence.gaps import gap_finding
from verify.finding import Verdict

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS


def verdicts(run=None, **options):
    findings = shortcut.findings(run or Run(quick=True), max_length=5, samples=3, **options)
    return {finding.id: finding.verdict for finding in findings}


@pytest.mark.parametrize("seed", range(3))
def test_it_holds_for_automata_that_nobody_chose(seed, tmp_path):
    path = tmp_path / "drawn.json"
    path.write_text(json.dumps(random_semiautomaton(2, 2, seed).transitions), encoding="utf-8")
    assert FAILS not in verdicts(file=path).values()


def test_the_least_automaton_of_an_expression():
    found = verdicts(regex="(ab)+")
    assert len({id.split("/")[0] for id in found}) == 1
    assert {*found.values()} == {HOLDS}


def test_a_random_automaton_of_too_many_joint_states_has_too_many_states(monkeypatch, tmp_path):
    monkeypatch.setattr(import_module("theory.computation.cascade"), "MOST_STATES", 500)
    with rejects("states", "5", "seed"):
        verdicts(Run(quick=True, seed=2), states=5)
    path = tmp_path / "own.json"
    path.write_text(json.dumps(random_semiautomaton(5, 2, 2).transitions), encoding="utf-8")
    with rejects("stages", "own"):
        verdicts(file=path)


def test_one_state_is_known_without_looking(tmp_path):
    path = tmp_path / "one.json"
    path.write_text("[[0], [0]]", encoding="utf-8")
    assert {*verdicts(file=path).values()} == {HOLDS}


def test_a_group_that_is_not_solvable_is_told(tmp_path):
    assert verdicts(automaton="A5") == {"A5/refused": HOLDS}
    # A5 on five of six states, the sixth leads into them: the holonomy group is on a smaller set.
    path = tmp_path / "six.json"
    path.write_text(json.dumps([[1, 2, 0, 3, 4, 0], [1, 2, 3, 4, 0, 1]]), encoding="utf-8")
    assert verdicts(file=path) == {"six/refused": HOLDS}
    with pytest.raises(NotSolvable) as reason:
        cascade("A5")
    finding = refused(reason.value)
    assert (finding.measured, finding.bound) == (60, 60)
    assert "order 60 with a perfect core of order 60" in finding.words
    reason.value.core = 59
    assert refused(reason.value).verdict is FAILS
    assert perfect_core([(1, 0, 2), (1, 2, 0)]) == 1  # S3 is solvable


def test_a_cascade_that_is_too_large_is_rejected_before_the_first_finding(monkeypatch):
    module = import_module("theory.computation.cascade")  # its function has the same name
    monkeypatch.setattr(module, "MOST_STATES", 300)  # enough for the automata of NAMES
    for given in ({}, {"compact": True}):
        with rejects("states", "5", "seed"):
            next(shortcut.findings(Run(seed=2), states=5, **given))


@pytest.mark.parametrize("name", ["mod-3-with-reset", "S4", "all-maps-3"])
def test_every_head_is_listed_once(name):
    of = cascade(name)
    model = construction(name, 6)
    listed = list(head_states(model, of))
    places = [(states.layer, states.head) for states in listed]
    heads = [(n, h) for n, b in enumerate(model.blocks, 1) if b.attn for h in range(b.attn.n_heads)]
    assert sorted(places) == heads
    assert all(gap_finding("", model, states).verdict is HOLDS for states in listed)
    assert set(given_after(model, of).values()) <= set(range(model.n_layers))


def test_a_compact_cascade_and_one_that_cannot_be_drawn(tmp_path):
    run = Run(quick=True, plot=tmp_path / "cascade.png")
    assert {*verdicts(run, automaton="S3", compact=True).values()} == {HOLDS}
    with rejects("--plot"):  # before there is a finding
        next(shortcut.findings(run, automaton="A5"))


def test_table_stages_are_written_one_layer_before_they_are_read():
    of = cascade("all-maps-3", compact=True)
    model = construction("all-maps-3", 6, compact=True)
    assert tabled(model, of).verdict is HOLDS
    number = next(i for i, stage in enumerate(of.stages, start=1) if stage.kind == "table")
    column = model.stream[f"is{number}"].start
    writer = next(b for b in model.blocks if b.mlp is not None and b.mlp.W_out[:, column].any())
    writer.mlp.W_out.data[:, column] = 0
    assert tabled(model, of).verdict is not HOLDS


def test_stages_that_no_answer_needs_are_left_out():
    A = Semiautomaton(((2, 2, 0), (1, 1, 1)))
    of = cascade(A)
    assert of.disagreements() == 0
    reads = {v for table in (of.answer, *(s.table for s in of.stages)) for v in table.reads}
    assert reads - {0} == set(range(1, len(of.stages) + 1))
    words = np.array([[0, 1, 0, 0, 1]])
    assert (construction(A, 5)(words).numpy() == A.run(words)).all()


def test_a_state_that_differs_and_a_size_that_grows_fail():
    of = cascade("S3")
    assert walked(of).verdict is HOLDS
    same = replace(of.automaton, transitions=of.automaton.transitions[:1] * 2)
    assert walked(replace(of, automaton=same)).verdict is FAILS
    statement = simulates(Run(), of, "robust", False)
    deeper = replace(statement, build=lambda V, n: shortest if n < 9 else longest)
    shortest, longest = construction("S3", 4, form="robust"), construction("S4", 32)
    assert free_of_length(statement, shortest).verdict is HOLDS
    assert free_of_length(deeper, shortest).verdict is FAILS
