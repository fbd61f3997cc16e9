"""Every construction: its layer invariants, those of the saved model, and softmax."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from leaks import leaks

from constructions import computation as build
from constructions import load, save
from constructions.computation.circuit_examples import contains_aa, marked_majority
from theory.computation import (
    MACHINES,
    S3,
    adder,
    list_ranking,
    random_circuit,
)
from theory.computation.boolean_circuits import NAND
from theory.computation.random_program import random_inputs, random_program

BEAVER = MACHINES["busy-beaver-3"]
SINCE = "a and yesterday a or once (a and yesterday a)"
COUNTS = "#(#a = 2 & #b > 0) - #b < 1 | b"


def drawn(least, end, *shape):
    return np.random.default_rng(0).integers(least, end, shape)


def words(V):
    return np.vstack([drawn(0, V, 5, 12), np.repeat([[0], [V - 1]], 12, axis=1)])


def values(prompts):
    """Prompts of circuits with 6 gates, and any values behind them."""
    return np.hstack([prompts, drawn(0, 2, len(prompts), 5)])


def beaver(addressed):
    model = build.turing_machine(BEAVER, 12, addressed=addressed)
    return model, np.array([model.interface.tokens(BEAVER.run(12))])


def circuit(nand):
    model = build.circuit_evaluator(2, 6, nand=nand)
    of = random_circuit(2, 6, 0, [NAND]) if nand else adder(1)
    return model, values(model.interface.prompt(of, [[0, 1], [1, 1]]))


PROGRAM = random_program(3)
CASES = {
    "maps": lambda: (build.semiautomaton(S3, 12), words(2)),
    "maps of a larger radix": lambda: (build.semiautomaton(S3, 12, radix=3), words(2)),
    "shortcut": lambda: (build.shortcut(S3, 12), words(2)),
    "compact": lambda: (
        build.shortcut("all-maps-2", 12, compact=True),
        words(2),
    ),
    "stacks": lambda: (build.shortcut("dyck-4", 12, form="robust"), words(2)),
    "scratchpad": lambda: (
        build.scratchpad(S3, 5),
        np.hstack([drawn(0, 2, 5, 5), drawn(2, 5, 5, 3)]),
    ),
    "dyck-1": lambda: (build.dyck(1, 12), words(2)),
    "dyck-2": lambda: (build.dyck(2, 12), words(4)),
    "bounded dyck": lambda: (build.dyck(2, 12, depth=2), words(4)),
    "parity": lambda: (build.parity(12), words(2)),
    "causal parity": lambda: (build.parity(12, causal=True), words(2)),
    "majority": lambda: (build.majority(12, gate=True), words(2)),
    "first": lambda: (build.first_symbol(12), words(2)),
    "gridworld": lambda: (build.gridworld_walk(3, 12, start=2), words(2)),
    "aa": lambda: (contains_aa(12), words(2)),
    "marked": lambda: (marked_majority(12), words(2)),
    "counting": lambda: (build.from_formula(COUNTS, "ab", 12), words(2)),
    "since": lambda: (build.from_formula("(a or b) since c", "abc", 12), words(3)),
    "robust since": lambda: (
        build.from_formula("(a or b) since c", "abc", 12, form="robust"),
        words(3),
    ),
    "turing": lambda: beaver(addressed=False),
    "addressed": lambda: beaver(addressed=True),
    "circuit": lambda: circuit(nand=False),
    "nand": lambda: circuit(nand=True),
    "sums": lambda: (build.prefix_sums(12, 3), words(9)),
    "components": lambda: (build.connected_components(5, 4), drawn(1, 6, 3, 4, 2)),
    "ranks": lambda: (build.pram(list_ranking(6)), drawn(0, 7, 3, 6)),
    "program": lambda: (build.pram(PROGRAM), *random_inputs(PROGRAM, 3, 0)),
}


@pytest.mark.parametrize("name", CASES)
def test_registers_hold_what_is_stated(name, tmp_path):
    model, *inputs = CASES[name]()
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    streams, answers = list(model.streams(*inputs)), model.prompt(*inputs).answers
    assert model.stages
    for stage, saved in zip(model.stages, again.stages, strict=True):
        held = streams[stage.after][..., answers, model.stream[stage.register]].double().numpy()
        assert np.array_equal(stage.times * held, stage.holds(*inputs)), stage
        assert np.array_equal(saved.holds(*inputs), stage.holds(*inputs)), stage


@pytest.mark.parametrize("name", [name for name in CASES if name != "sums"])
def test_softmax_at_the_least_sharpness_gives_the_same_answers(name):
    model, *inputs = CASES[name]()
    soft = model.sharpened(model.least_sharpness())
    assert torch.equal(soft(*inputs), model(*inputs))


@pytest.mark.parametrize("sharpness", [1.0, 3.0, 6.0])
@pytest.mark.parametrize("name", CASES)
def test_no_head_leaks_more_than_its_margin_allows(name, sharpness):
    model, *inputs = CASES[name]()
    for leaked, bound in leaks(model, sharpness, *inputs):
        assert leaked <= bound + 1e-12
