"""The claim `shortcut`: certificates, what every head meets, pictures, and refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest

from constructions import shortcut as construction
from theory.checks import InputError
from theory.computation import (
    NotSolvable,
    Semiautomaton,
    cascade,
    named,
    random_semiautomaton,
)
from theory.computation.cascade import Cascade
from verify.claim import Run
from verify.computation.shortcut import (
    given_after,
    head_states,
    perfect_core,
    refused,
    shortcut,
    tabled,
    walked,
)
from verify.evidence.gaps import gap_finding
from verify.finding import Verdict

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS


def verdicts(run=None, **options):
    findings = shortcut.findings(run or Run(quick=True), length=5, samples=3, **options)
    return {finding.id: finding.verdict for finding in findings}


def test_it_holds_for_automata_of_the_zoo_and_random_ones():
    found = verdicts(states=3)
    assert {id.split("/")[0] for id in found} == {"mod-3-with-reset", "random(3,-2)", "smallest"}
    assert {*found.values()} == {HOLDS}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["S4", "all-maps-3", "dyck-4"])
def test_it_holds_for_larger_ones(name):
    assert {*verdicts(automaton=name).values()} == {HOLDS}


@pytest.mark.parametrize("seed", range(3))
def test_it_holds_for_automata_that_nobody_chose(seed, tmp_path):
    path = tmp_path / "drawn.json"
    path.write_text(json.dumps(random_semiautomaton(2, 2, seed).transitions), encoding="utf-8")
    assert FAILS not in verdicts(file=path).values()


def test_the_least_automaton_of_an_expression():
    found = verdicts(regex="(ab)+")
    assert len({id.split("/")[0] for id in found}) == 1
    assert {*found.values()} == {HOLDS}
    with pytest.raises(InputError, match=r"automaton S3 and regex \(ab\)\+: give one of them"):
        verdicts(regex="(ab)+", automaton="S3")


def test_one_state_is_known_without_looking(tmp_path):
    path = tmp_path / "one.json"
    path.write_text("[[0], [0]]", encoding="utf-8")
    assert FAILS not in verdicts(file=path).values()


def test_a_group_that_is_not_solvable_is_told(tmp_path):
    assert verdicts(automaton="A5") == {"A5/refused": HOLDS}
    # A5 on five of six states, the sixth leads into them: the holonomy group is on a smaller set.
    path = tmp_path / "six.json"
    path.write_text(json.dumps([[1, 2, 0, 3, 4, 0], [1, 2, 3, 4, 0, 1]]), encoding="utf-8")
    assert verdicts(file=path) == {"six/refused": HOLDS}
    with pytest.raises(NotSolvable) as reason:
        cascade(named("A5"))
    finding = refused(reason.value)
    assert (finding.measured, finding.bound) == (60, 60)
    assert "order 60 with a perfect core of order 60" in finding.words
    assert perfect_core([(1, 0, 2), (1, 2, 0)]) == 1  # S3 is solvable


def test_a_wrong_cascade_and_a_wrong_table_are_noticed():
    found = cascade(named("S3"))
    model = construction(named("S3"), 5)
    assert walked(found).verdict is HOLDS
    assert tabled(model, found).verdict is HOLDS
    rows = dict(found.answer.rows)
    key = next(iter(rows))
    rows[key] = (rows[key] + 1) % 3
    wrong = Cascade(found.automaton, found.stages, type(found.answer)(found.answer.reads, rows))
    assert walked(wrong).verdict is FAILS
    assert tabled(model, wrong).verdict is FAILS


@pytest.mark.parametrize("name", ["mod-3-with-reset", "S4", "all-maps-3"])
def test_every_head_is_listed_once(name):
    of = cascade(named(name))
    model = construction(named(name), 6)
    listed = list(head_states(model, of))
    places = [(states.layer, states.head) for states in listed]
    heads = [(n, h) for n, b in enumerate(model.blocks, 1) if b.attn for h in range(b.attn.n_heads)]
    assert sorted(places) == heads
    assert all(gap_finding("", model, states).verdict is HOLDS for states in listed)
    assert set(given_after(model, of).values()) <= set(range(model.n_layers))


def test_heads_whose_gaps_are_too_small_fail():
    A = named("mod-3-with-reset")
    of, model = cascade(A), construction(A, 6)
    average, count, latch = head_states(model, of)
    for states, weights in ((count, "W_K"), (latch, "W_K")):
        broken = construction(A, 6)
        getattr(broken.blocks[states.layer - 1].attn, weights).data *= 0.5
        assert gap_finding("", broken, states).verdict is FAILS
    broken = construction(A, 6)
    broken.blocks[0].attn.W_K.data[0, model.stream["in1"]] = 1.0
    broken.blocks[0].attn.W_Q.data[0, model.stream["bos"]] = 1.0
    assert gap_finding("", broken, average).verdict is FAILS


def test_the_picture(tmp_path):
    path = tmp_path / "cascade.png"
    found = verdicts(Run(quick=True, plot=path), automaton="S3", compact=True)
    assert {*found.values()} == {HOLDS}
    assert path.stat().st_size > 5000
    with pytest.raises(InputError, match="A5 has no cascade to draw: leave --plot out"):
        verdicts(Run(quick=True, plot=path), automaton="A5")


def test_stages_that_no_answer_needs_are_left_out():
    A = Semiautomaton(((2, 2, 0), (1, 1, 1)))
    of = cascade(A)
    assert of.disagreements() == 0
    reads = {v for table in (of.answer, *(s.table for s in of.stages)) for v in table.reads}
    assert reads - {0} == set(range(1, len(of.stages) + 1))
    words = np.array([[0, 1, 0, 0, 1]])
    assert (construction(A, 5)(words).numpy() == A.run(words)).all()
