"""The claims `rounds`, `components` and `prefix-sums`."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions.computation import pram
from constructions.exactness import Exactness
from theory.computation.components import settled_after, slowest
from theory.computation.edge_lists import all_graphs, families
from theory.computation.list_ranking import all_lists, list_ranking
from theory.computation.pram import Program
from verify.claim import Run
from verify.computation import components as components_module
from verify.computation import rounds as rounds_module
from verify.computation.components import (
    components,
    enough,
)
from verify.computation.components_picture import draw
from verify.computation.pram import (
    differences,
    gaps,
    over_q,
    reading,
    registers_follow,
    units,
    whole_evidence,
    works_locally,
    writing,
)
from verify.computation.prefix_sums import prefix_sums
from verify.computation.rounds import rounds
from verify.finding import Verdict


@pytest.mark.parametrize(
    ("claim", "options"),
    [
        (prefix_sums, {"length": 2}),
        (rounds, {"n": 2, "programs": 1}),
        (components, {"n_nodes": 2, "samples": 1}),
    ],
)
def test_they_hold_at_the_least_sizes(claim, options):
    assert claim.verdict(Run(quick=True), **options) is Verdict.HOLDS


def test_all_graphs_and_lists_are_all():
    assert sum(len(rows) for rows in all_graphs(3)) == 2 * 2**6
    sets = {
        frozenset(map(tuple, np.sort(edges, axis=1).tolist()))
        for rows in all_graphs(3)
        for edges in rows
    }
    assert len(sets) == 2**6
    assert len(all_lists(3)) == 16  # (n + 1)^(n − 1) rooted forests
    assert len(all_lists(4)) == 125


@pytest.mark.parametrize("n", [2, 3, 8, 11])
def test_the_families_are_graphs_of_n_nodes(n):
    for name, edges in families(n, 3, 0).items():
        assert edges.shape[1] <= n, name
        assert edges.shape[2] == 2
        assert ((edges >= 1) & (edges <= n)).all(), name


@pytest.fixture
def machine():
    """A node pair with an edge, at a size where all contents can be listed."""
    from constructions.computation import connected_components as construction
    from theory.computation import components

    return construction(2, 1), components(2, 1)


ROWS = np.array([[0, 0, 1], [0, 0, 2]]), np.array([[0, 0, 2], [0, 0, 2]])
OTHERS = np.array([[0, 0, 1]]), np.array([[0, 0, 1]])


def test_an_equivalent_program_is_followed(machine):
    model, program = machine
    assert over_q(model, program, ROWS).verdict is Verdict.HOLDS
    cases = [(model, program, rows) for rows in (ROWS, OTHERS)]
    assert registers_follow("name", cases).verdict is Verdict.HOLDS


@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize("row", [0, 1])
@pytest.mark.parametrize("register", ["p", "u", "lo"])
def test_every_step_of_every_row_is_compared(machine, monkeypatch, after, row, register):
    """With a program in which one register is 1 larger, after one step of one row."""
    model, program = machine
    run, chosen = Program.run, np.stack([each[row] for each in ROWS])

    def other(self, *inputs):
        there = (np.stack(inputs, axis=-2) == chosen).all((-1, -2))
        for step, held in enumerate(run(self, *inputs)):
            more = np.zeros_like(held[register])
            more[..., 2] = there * (step == after)
            yield {**held, register: held[register] + more}

    monkeypatch.setattr(Program, "run", other)
    assert over_q(model, program, ROWS).verdict is Verdict.FAILS
    right, wrong = (model, program, OTHERS), (model, program, ROWS)
    for cases in ([right, wrong], [wrong, right]):
        assert registers_follow("name", cases).verdict is Verdict.FAILS


@pytest.mark.parametrize("register", ["bos", "index", "index²", "node", "p", "p²", "m", "hi²"])
@pytest.mark.parametrize("token", [0, 3])
def test_all_of_the_stream_is_compared(machine, register, token):
    model, program = machine
    model.pos_embed.W_pos.data[token, model.stream[register]] += 1
    found = next(differences(model, program, ROWS))
    assert f"after layer 0 register {register} of processor {token}" in found


def test_the_output_is_compared(machine):
    model, program = machine
    model.unembed.W_U.data[model.stream["p"]] = 0
    model.unembed.W_U.data[model.stream["lo"]] = 1
    assert "the output is not register p" in next(differences(model, program, ROWS))


@pytest.mark.parametrize(
    ("bits", "largest", "evidence"),
    [
        (53, 2.0**49, "exact"),
        (54, 2.0**49, "float"),
        (53, 2.0**50, "float"),  # 4 tokens: a mean of these is rounded
    ],
)
def test_when_runs_are_exact(machine, monkeypatch, bits, largest, evidence):
    needs = Exactness(bits, largest, 1.0)
    monkeypatch.setattr("verify.computation.pram.exact_in", lambda model: needs)
    assert machine[0].interface.context == 4
    assert whole_evidence(machine[0]) == evidence


def test_units_of_every_model_are_compared(machine):
    model = machine[0]
    assert units([(model, 18), (model, 18)]).verdict is Verdict.HOLDS
    for other in (17, 19):
        assert units([(model, 18), (model, other)]).verdict is Verdict.FAILS
        assert units([(model, other), (model, 18)]).verdict is Verdict.FAILS


def with_a_unit(model, reads, b, into):
    """The first layer with relu(Σ reads + b) added to a register."""
    mlp = model.blocks[0].mlp
    W_in, W_out = (torch.zeros(model.d_model).double() for _ in range(2))
    for register, factor in reads.items():
        W_in[model.stream[register]] = factor
    W_out[model.stream[into]] = 1.0
    mlp.W_in.data = torch.cat([mlp.W_in, W_in[:, None]], dim=1)
    mlp.b_in.data = torch.cat([mlp.b_in, torch.tensor([b]).double()])
    mlp.W_out.data = torch.cat([mlp.W_out, W_out[None]])
    return model


@pytest.mark.parametrize(
    ("reads", "b", "into"),
    [
        *(({name: 1.0}, -2.0, "p") for name in ("p", "a", "m")),  # at 3, the most
        *(({"p": 1.0}, -2.0, into) for into in ("p²", "lo²", "hi²", "a", "b", "m", "u", "bos")),
        *(({name: -1.0}, 1.0, "p") for name in ("b", "m")),  # at 0
        ({"node": 1.0}, 0.0, "lo"),
        ({"node": -1.0, "bos": -1.0}, 1.0, "lo"),
        ({"bos": 1.0}, 0.0, "p"),
        ({"u": 1.0}, 0.0, "p"),
    ],
)
def test_local_work_is_compared_for_all_contents(machine, reads, b, into):
    model, program = machine
    assert works_locally(with_a_unit(model, reads, b, into), program).verdict is Verdict.FAILS


def test_states_of_heads_are_all_that_can_be(machine):
    model, program = machine
    (step,), N = program.steps, 3
    for read in step.reads:
        states = reading(model, program, read, 1)
        assert len(states.preference) == 1 + (N + 1) ** 2
        wanted = sorted(np.argmax(states.preference, axis=1).tolist())
        assert [wanted.count(a) for a in range(N + 1)] == [2, 2, 3, 10]  # sums cut off at 3
    states = writing(model, program, step.writes[0], 1, 2)
    assert states.preference.shape == (N + 1, 1 + 2 * (N + 1) ** 2)
    assert (states.preference > -np.inf).sum(1).tolist() == [1, *[1 + 2 * (N + 1)] * N]
    found = list(gaps("label", model, program))
    assert len(found) == model.n_heads == 3
    assert {each.verdict for each in found} == {Verdict.HOLDS}


@pytest.mark.parametrize(
    ("quick", "slowest_of_4"),
    [(True, {}), pytest.param(False, {"n = 4": 5}, marks=pytest.mark.slow)],
)
def test_the_slowest_graphs(quick, slowest_of_4):
    def slowest_of(n):
        pairs = [*combinations(range(1, n + 1), 2)]
        chosen = chain.from_iterable(combinations(pairs, m) for m in range(len(pairs) + 1))
        graphs_of = (np.array(edges, dtype=int).reshape(-1, 2) for edges in chosen)
        return max(settled_after(edges, n) for edges in graphs_of)

    found = enough(Run(quick=quick))
    assert found.measured == {f"n = {n}": slowest_of(n) for n in range(1, 4)} | slowest_of_4
    assert found.bound == {f"n = {n}": 2 * (n - 1) for n in range(1, 4 + len(slowest_of_4))}


def test_the_slowest_graph_of_several_counts():
    path, none = np.array([[[1, 2], [2, 3]]]), np.array([[[1, 1], [2, 2]]])
    for several in (path, np.concatenate([none, path]), np.concatenate([path, none])):
        assert slowest(several, 3) == slowest(path, 3) > slowest(none, 3) == 0


def test_what_is_too_large_is_rejected_with_its_size():
    from constructions.computation import connected_components as construction
    from theory.computation import components, shuffled_path

    with rejects("registers"):
        works_locally(construction(9, 9, 1), components(9, 9))
    with rejects("201"):
        draw(construction(201, 200, 1), shuffled_path(201, 0))


def planted(right, change):
    """The function, with its result changed."""
    return lambda *given, **options: change(right(*given, **options))


def two_lists(run):
    return rounds_module._ranking(run, run.build(pram, list_ranking(4)), 4)


FAULTS = {
    "ranks": (rounds_module, "ranks", lambda found: [*found[:-1], found[-1] + 1], two_lists),
    "sums": (
        rounds_module,
        "block_sums",
        lambda found: found + (np.arange(found.shape[-1]) == 4),
        lambda run: rounds_module._messages(run, 5),
    ),
    "hardmax": (
        rounds_module,
        "attention_in_rounds",
        lambda found: ([[z + 1 for z in row] for row in found[0]], found[1]),
        rounds_module._in_rounds,
    ),
    "softmax": (
        rounds_module,
        "attention_by_definition",
        lambda found: [*found[:-1], [z + 1 for z in found[-1]]],
        rounds_module._in_rounds,
    ),
    "rounds": (
        rounds_module,
        "rounds_of_a_layer",
        lambda count: count - 1,
        rounds_module._in_rounds,
    ),
    "steps": (
        components_module,
        "settled_after",
        lambda count: count + 8,  # too many for 8 nodes alone
        lambda run: [components_module.steps(run)],
    ),
    "all-small": (
        components_module,
        "least_labels",
        lambda labels: np.where(np.arange(labels.shape[1]) == 2, 1, labels),
        lambda run: [components_module.small_graphs(run)],
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_of_these_findings_can_fail(fault, monkeypatch):
    module, name, change, find = FAULTS[fault]
    monkeypatch.setattr(module, name, planted(getattr(module, name), change))
    found = {f.id: f for f in find(Run(quick=True))}
    assert found[fault].verdict is Verdict.FAILS
