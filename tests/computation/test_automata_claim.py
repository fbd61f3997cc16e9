"""The claim `automata`, and the evidence that MLPs restore registers as declared."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from refusals import rejected, rejects

from constructions.blocks import MLP
from constructions.computation import semiautomaton, shortcut
from constructions.margins import Restores
from constructions.stream import Stream
from theory.computation import S3, random_semiautomaton
from verify.claim import Run
from verify.computation.automata import automata, composes
from verify.computation.options import chosen
from verify.evidence.restoring import (
    all_maps_of,
    leak_bound,
    makes,
    restored,
    sharpness_at_two_lengths,
    traces,
)
from verify.finding import Verdict

HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED


def verdicts(run=None, **options):
    findings = automata.findings(run or Run(quick=True), max_length=5, samples=3, **options)
    return {finding.id: finding.verdict for finding in findings}


def test_the_seed_draws_the_automaton():
    first, second = (chosen(Run(seed=s), None, None, (), 4, None)[0] for s in (1, 2))
    assert first != second
    assert first == chosen(Run(seed=1), None, None, (), 4, None)[0]


def test_an_automaton_of_ones_own(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([[1, 2, 0], [0, 0, 0]]), encoding="utf-8")
    found = verdicts(file=path)
    assert {id.split("/")[0] for id in found} == {"mine"}
    assert {*found.values()} == {HOLDS}
    path.write_text("[[0]]", encoding="utf-8")  # one state: nothing to distinguish
    assert FAILS not in verdicts(file=path).values()


def test_an_automaton_of_one_state_has_no_certificate(tmp_path, capsys):
    path = tmp_path / "one.json"
    path.write_text("[[0], [0]]", encoding="utf-8")
    target = tmp_path / "certificate.json"
    words = ["automata", "--file", str(path), "--certificate", str(target), "--max-length", "4"]
    rejected(capsys, words, "certificate", "one")
    assert not target.exists()
    run = Run(quick=True, certificates=[])
    assert {*verdicts(run, states=1).values()} == {HOLDS}
    assert len(run.certificates) == 2  # lean and robust, of S3 only


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"automaton": "S9"}, "automaton"),
        ({"automaton": "S3", "file": Path("x.json")}, "automaton file"),
    ],
)
def test_bad_options_are_refused(options, names):
    with rejects(*names.split()):
        list(automata.findings(Run(quick=True), **options))


def composed_in(model, n=3):
    """`makes` for the first layer of a composing model: all maps, all states."""
    f, g = np.repeat(all_maps_of(n), n, axis=0), np.tile(np.arange(n)[:, None], (n**n, n))
    after = {"map": np.take_along_axis(f, g, axis=1), "fetched": np.zeros_like(g)}
    return makes("id", "name", model, {1: ({"map": f, "fetched": g}, after)})


def test_an_automaton_of_one_state_holds():
    """It has one answer, and no margin between logits."""
    assert set(verdicts(regex="a**").values()) == {HOLDS}


def test_lean_units_restore_nothing_and_robust_ones_no_more_than_a_quarter():
    robust = semiautomaton(S3, 5, form="robust")
    assert composed_in(robust).verdict is HOLDS
    assert composed_in(robust).words.startswith("0 of 81 ")
    assert "errors" in composed_in(robust).words
    lean = semiautomaton(S3, 5)
    assert "errors" not in composed_in(lean).words  # it declares no restored registers
    lean.blocks[0].restores = robust.blocks[0].restores
    assert composed_in(lean).verdict is FAILS
    robust.blocks[0].restores = (Restores(("map", "fetched"), {"map": 0.0, "fetched": 0.5}),)
    assert composed_in(robust).verdict is FAILS


def test_what_may_be_off_by_any_amount_is_not_restored():
    robust = semiautomaton(S3, 5, form="robust")
    robust.blocks[0].restores = (Restores(("map", "fetched"), {"fetched": 0.25}),)
    assert (
        composed_in(robust).verdict is FAILS
    )  # the error of map is not bounded, and neurons read it


def test_a_register_that_is_not_listed_or_not_to_be_changed_fails():
    model = semiautomaton(S3, 5)
    model.blocks[0].mlp.W_in.data[model.stream["j"], 0] = 1.0
    assert "reads register j" in composed_in(model).words
    model = semiautomaton(S3, 5)
    model.blocks[0].mlp.b_out.data[model.stream["norm"]] = 1.0
    assert composed_in(model).verdict is FAILS


def test_a_kink_between_the_ends_is_a_trace():
    """relu(x − 1 − 1/8) − … that is 0 at both ends of an error and not between."""
    model = semiautomaton(S3, 5, form="robust")
    mlp = model.blocks[0].mlp
    bump = torch.zeros(3, model.d_model, dtype=torch.float64)
    bump[:, model.stream["fetched"].start] = 1.0
    at = torch.tensor([-0.875, -1.0, -1.125], dtype=torch.float64)
    added = torch.zeros(3, model.d_model, dtype=torch.float64)
    added[:, model.stream["map"].start] = torch.tensor([1.0, -2.0, 1.0], dtype=torch.float64)
    mlp.W_in.data = torch.cat([mlp.W_in, bump.T], dim=1)
    mlp.b_in.data = torch.cat([mlp.b_in, at])
    mlp.W_out.data = torch.cat([mlp.W_out, added])
    assert composed_in(model).verdict is FAILS


STREAM = Stream(x=1, y=1, other=1, out=1)
BITS = np.array([[0.0, 0, 0, 0], [1.0, 0, 0, 0]])  # what x holds in two states


def units_of(*each: tuple[float, float, str, float]) -> MLP:
    """relu(slope·x + b)·times into a register, for each (slope, b, into, times)."""
    W_in, W_out = torch.zeros(4, len(each)).double(), torch.zeros(len(each), 4).double()
    for unit, (slope, _, into, times) in enumerate(each):
        W_in[0, unit], W_out[unit, STREAM[into].start] = slope, times
    b_in = torch.tensor([b for _, b, _, _ in each]).double()
    return MLP(W_in, b_in, W_out, torch.zeros(4).double())


@pytest.mark.parametrize(
    ("units", "into", "bad"),
    [
        # A kink within a quarter above 0, or below 1, of the first unit alone.
        ([(1, -3 / 16, "out", 1), (1, -5 / 16, "out", -1)], "out", [True, False]),
        ([(-1, 13 / 16, "out", 1), (-1, 11 / 16, "out", -1)], "out", [False, True]),
        # No error takes x below the least of its values, or above the largest.
        ([(1, 1 / 8, "out", 1), (1, 0, "out", -1)], "out", [False, False]),
        ([(-1, 1, "out", 1), (-1, 9 / 8, "out", -1)], "out", [False, False]),
        # Linear, and not 0, where x is 1, or where it is 0.
        ([(1, -1 / 2, "out", 1)], "out", [False, True]),
        ([(-1, 1 / 2, "out", 1)], "out", [True, False]),
        ([(1, -1 / 2, "other", 1)], "out", [False, False]),
        # What is to be restored itself has to be cleared.
        ([], "x", [True, True]),
        ([(1, -1 / 2, "x", -1)], "x", [True, False]),
        ([(1, 0, "x", -1)], "x", [False, False]),
    ],
)
def test_traces_state_by_state(units, into, bad):
    for names in ((into,), (into, "y"), ("y", into)):
        made = Restores(names, {"x": 0.25})
        found, exact = traces(units_of(*units), STREAM, BITS, made)
        assert found.tolist() == bad
        assert exact


@pytest.mark.parametrize(
    "unit", [(2.0**60, 2.0**-10, "out", 1), (1 / 3, 0, "out", 1), (1, 0, "out", 1 / 3)]
)
def test_what_float64_rounds_is_not_said_to_leave_no_trace(unit):
    slope, b, into, times = unit
    both = units_of(unit, (slope, b, into, -times))
    states = np.array([[0.0, 0, 0, 0], [1 - 2.0**-20, 0, 0, 0]])
    _, exact = traces(both, STREAM, states, Restores(("out",), {"x": 0.25}))
    assert not exact


def test_where_nothing_is_restored_nothing_is_shown():
    robust, lean = semiautomaton(S3, 5, form="robust"), semiautomaton(S3, 5)
    states = {"map": all_maps_of(3), "fetched": all_maps_of(3)}
    assert restored("id", "name", robust, 1, states).verdict is HOLDS
    assert restored("id", "name", lean, 1, states).verdict is UNDECIDED
    lean.blocks[0].restores = robust.blocks[0].restores
    assert restored("id", "name", lean, 1, states).verdict is FAILS
    right, wrong = Restores(("map",), {"map": 0.0, "fetched": 0.0}), robust.blocks[0].restores[0]
    for several in ((right, wrong), (wrong, right)):
        lean.blocks[0].restores = several
        assert restored("id", "name", lean, 1, states).verdict is FAILS
        assert composed_in(lean).verdict is FAILS


def test_pairs_of_maps_that_are_not_composed():
    model = semiautomaton(S3, 5)
    assert composes(model, 3).verdict is HOLDS
    model.blocks[1].mlp.b_in.data[0] += 1
    assert composes(model, 3).verdict is FAILS
    model = semiautomaton(S3, 5)
    model.blocks[2].mlp.W_out.data[-1, model.stream["map"].start] = 1.0
    assert composes(model, 3).words.startswith("layer 3: ")


def test_a_sharpness_above_the_bound_fails():
    def found(build):
        bound = leak_bound(1 / 16)
        return sharpness_at_two_lengths("id", build, 20, bound, "bound").verdict

    assert found(lambda T: semiautomaton(S3, T, form="robust")) is HOLDS
    assert found(lambda T: shortcut(S3, T, form="robust")) is FAILS  # more registers are read


def test_the_bound_on_what_leaks():
    for graded in (0.5, 0.1, 1e-3):
        q = np.exp(-leak_bound(graded))
        assert 0.9 * graded < 4 * q / (1 - q) ** 2 <= graded


def test_what_is_restored_is_exact_only_within_its_bounds():
    model = semiautomaton(random_semiautomaton(4, 2, 0), 33, form="robust")
    assert model.softmax_error(model.least_sharpness()).logits == 0
    assert model.softmax_error(1.0).logits > 1


@pytest.mark.parametrize(
    "words",
    [
        ["automata", "--automaton=S3", "--states=3"],
        ["automata", "--regex=(ab)+", "--states=3"],
        ["counting", "--formula=#a > #b", "--depth=4"],
    ],
    ids=" ".join,
)
def test_an_option_without_effect_is_rejected(words, capsys):
    rejected(capsys, words, words[-1].partition("=")[0].removeprefix("--"))


def test_an_automaton_with_many_symbols(tmp_path):
    """There are more than 2^27 sequences of 4 symbols."""
    path = tmp_path / "parity.json"
    path.write_text(json.dumps({"transitions": [[0, 1], [1, 0]] * 150, "start": 0}))
    assert {*verdicts(file=path).values()} == {HOLDS}


def test_an_automaton_of_many_states_is_refused_or_announced(tmp_path, capsys):
    path = tmp_path / "cycle.json"
    for n, refused in ((64, False), (65, True)):
        path.write_text(json.dumps([[*range(1, n), 0]]))
        found = automata.findings(Run(quick=True), file=path, max_length=2, samples=1)
        if refused:
            with rejects("65"):
                next(found)
        else:
            next(found)
    assert capsys.readouterr().err == ""  # a quick run of less than a minute
    found = automata.findings(Run(), states=64, max_length=2, samples=1)
    next(found)
    assert "64 states" in capsys.readouterr().err
