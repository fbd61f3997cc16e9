"""Turing machines: their definition, tables in files, and the transformers that decode them."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.computation import turing_machine
from constructions.tokens import Tokens
from theory.computation import MACHINES, TuringMachine, machine_of, random_machine, read_machine
from theory.computation.histories import after_each_step
from theory.computation.turing import LEFT, RIGHT, Step
from verify.claim import Run
from verify.computation.turing import longest

both = pytest.mark.parametrize("addressed", [False, True])


def decoded(model, word, steps):
    interface = model.interface
    return interface.steps(model.generate(interface.prompt(word), steps))


@pytest.mark.parametrize(
    ("name", "steps", "ones"),
    [("busy-beaver-2", 6, 4), ("busy-beaver-3", 21, 5), ("busy-beaver-4", 107, 13)],
)
def test_busy_beavers_of_the_literature(name, steps, ones):
    machine = MACHINES[name]
    made = machine.run(1000)
    tape, _, state = machine.configuration([*machine.writing(), *made])
    assert (len(made), sum(tape.values()), machine.names[state]) == (steps, ones, "H")


@both
@pytest.mark.parametrize("name", MACHINES)
def test_machines_are_decoded_step_by_step(name, addressed):
    machine = MACHINES[name]
    model = turing_machine(machine, 120, addressed=addressed)
    assert decoded(model, (), 120) == machine.run(120)
    n, m = machine.n_states, machine.n_symbols
    size = (1, 1, n + 2 * m + 7) if addressed else (3, 4, n + 2 * m + 15)
    assert (model.n_layers, model.n_heads, model.d_model) == size
    assert len(model.blocks[-1].mlp.b_in) == machine.n_rules
    assert model.interface.vocabulary_size == 2 * n * m * (241 if addressed else 1)


@pytest.mark.slow
@both
def test_a_thousand_steps(addressed):
    machine = MACHINES["wolfram-2-3"]
    model = turing_machine(machine, 1000, addressed=addressed)
    assert decoded(model, (), 1000) == machine.run(1000)


def test_what_is_decoded_after_the_end_is_no_token():
    machine = MACHINES["busy-beaver-2"]
    model = turing_machine(machine, 12)
    said = model.generate(model.interface.prompt(), 12).tolist()
    assert said[:6] == model.interface.tokens([*machine.writing(), *machine.run(6)])[1:]
    assert said[6:] == [-1] * 6


@both
@settings(max_examples=15)
@given(
    n=st.integers(1, 4),
    m=st.integers(1, 3),
    seed=st.integers(0, 10**6),
    length=st.integers(0, 5),
    steps=st.integers(0, 25),
)
def test_random_machines_on_random_words(addressed, n, m, seed, length, steps):
    machine = random_machine(n, m, seed)
    word = np.random.default_rng(seed).integers(m, size=length).tolist()
    model = turing_machine(machine, length + 1 + steps, addressed=addressed)
    assert decoded(model, word, steps) == machine.run(steps, word)


@both
@settings(max_examples=15)
@given(n=st.integers(1, 4), m=st.integers(1, 3), seed=st.integers(0, 10**6), T=st.integers(1, 12))
def test_any_history_goes_on_as_the_rules_say(addressed, n, m, seed, T):
    """Whatever steps stand there, whether the machine would have made them or not."""
    machine, rng = random_machine(n, m, seed), np.random.default_rng(seed)
    steps = [
        Step(int(rng.integers(n)), int(rng.integers(m)), int(rng.choice([LEFT, RIGHT])))
        for _ in range(T)
    ]
    model = turing_machine(machine, T, addressed=addressed)
    tokens = model.interface.tokens(steps)
    assert model.interface.steps(tokens) == steps
    rule = machine.following(steps)
    said = model.interface.steps(model(tokens)[-1:])
    assert said == ([] if rule is None else [rule])
    wanted = after_each_step(machine, np.array(tokens), addressed)["next"][..., 0]
    assert model(tokens).tolist() == wanted.tolist()


def increment():
    """Adds one to a binary number: to its end, then ones become zeros."""
    rules = {"right": ["0Lcarry", "1Rright", "2Rright"], "carry": ["2Ldone", "2Ldone", "1Lcarry"]}
    return machine_of(rules, "increment")


@both
def test_a_machine_that_counts(addressed):
    """Symbols: 0 blank, 1 the digit 0, 2 the digit 1."""
    machine = increment()
    model = turing_machine(machine, 40, addressed=addressed)
    for number in (0, 1, 5, 12, 63):
        word = [1 + int(digit) for digit in f"{number:b}"]
        steps = decoded(model, word, 20)
        tape = machine.configuration([*machine.writing(word), *steps]).tape
        digits = [tape[cell] - 1 for cell in sorted(tape) if tape[cell]]
        assert int("".join(map(str, digits)), 2) == number + 1
        assert len(steps) < 20


@both
def test_cells_that_were_never_written(addressed):
    """To the right for ever; to and fro over one cell; a cell to the left as far as one to the
    right; and a blank that was written where something else had been."""
    right = TuringMachine(((Step(0, 1, RIGHT), None),), "right")
    fro = TuringMachine(((Step(1, 1, RIGHT),) * 2, (Step(0, 1, LEFT),) * 2), "fro")
    for machine in (right, fro):
        model = turing_machine(machine, 60, addressed=addressed)
        assert decoded(model, (), 60) == machine.run(60)
        assert len(machine.run(60)) == 60
    model = turing_machine(right, 9, addressed=addressed)
    token = model.interface.tokens
    R, L = Step(0, 1, RIGHT), Step(0, 1, LEFT)
    # At cell 0, which no step wrote, with writes at −1 and 1: visible if tokens contain cells.
    assert model(token([R, R, L, L]))[-1] == -1  # the head reads 1 at cell 0
    assert model(token([L, L, R]))[-1] == -1
    assert model.interface.steps(model(token([R, L, L]))[-1:]) == [R]  # −1 is blank
    assert model.interface.steps(model(token([R, L, Step(0, 0, RIGHT), L]))[-1:]) == [R]
    if addressed:
        kinds = model.interface.kinds
        left, here = 3 + 2 * kinds, 1 * kinds + 2  # a write at −1 and then one at 1, moving left
        assert model([3, left, here])[-1] == -1  # cell 0 holds what the first step wrote


@both
@pytest.mark.parametrize("out", [LEFT, RIGHT])
def test_symbols_written_far_from_cell_0(addressed, out):
    machine, rng = random_machine(2, 3, 0), np.random.default_rng(0)
    moves = [out] * 60 + [-out] * 60
    steps = [Step(int(rng.integers(2)), int(rng.integers(3)), move) for move in moves]
    model = turing_machine(machine, 120, addressed=addressed)
    tokens = model.interface.tokens(steps)
    wanted = after_each_step(machine, np.array(tokens), addressed)["next"][..., 0]
    assert model(tokens).tolist() == wanted.tolist()


def test_cells_are_told_apart_beyond_the_squares_that_float32_holds():
    """Logits of neighbouring cells differ by 1, at h² = 6000²; a model of so many tokens is large,
    so that only its reading is looked at."""
    logits = torch.tensor([6000.0**2 + 2, 6000.0**2 + 3], dtype=torch.float64)
    assert Tokens(2, 1).read(logits[None]).tolist() == [1]


@both
def test_a_machine_that_halts_at_once(addressed):
    """No rule for the blank in the start state: ⊥ is the first token."""
    machine = machine_of({"A": [None, "1RA"]}, "stops")
    assert machine.run(5) == []
    model = turing_machine(machine, 5, addressed=addressed)
    assert model.generate(model.interface.prompt(), 5).tolist() == [-1] * 5
    assert decoded(model, [1, 1], 3) == [Step(0, 1, RIGHT)] * 2  # and on ones it goes on


def test_a_table_in_a_file(tmp_path):
    path = tmp_path / "mine.json"
    rows = {"A": ["1RB", "1LB"], "B": ["1LA", None]}
    path.write_text(json.dumps({"rules": rows, "start": "B"}), encoding="utf-8")
    machine = read_machine(path)
    assert (machine.name, machine.start, machine.names) == ("mine", 1, ("A", "B"))
    assert machine.rules[1] == (Step(0, 1, LEFT), None)
    assert machine_of({"A": ["12RA"] + ["0LH"] * 12}, "wide").rules[0][0] == Step(0, 12, RIGHT)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{", "JSON"),
        ("[]", "rules"),
        ('{"rules": {}}', "rules"),
        ('{"rules": []}', "rules"),
        ('{"rules": {"A": []}}', "state A"),
        ('{"rules": {"A": "1RB"}}', "state A"),
        ('{"rules": {"A": ["1RB"], "B": ["1UB"]}}', "state B 1UB"),
        ('{"rules": {"A": [5]}}', "state A 5"),
        ('{"rules": {"A": [["1", "R", "A"]]}}', "state A"),
        ('{"rules": {"A": [false]}}', "state A False"),
        ('{"rules": {"A": ["1RA"]}}', "symbol 1 state 0"),
        ('{"rules": {"A": ["0RA"], "B": ["0RA", "0RA"]}}', "rules 1 2"),
        ('{"rules": {"A": ["0RA"]}, "start": "C"}', "start A"),
        ('{"rules": {"A": ["0RA"]}, "start": [0]}', "start"),
        ('{"rules": {"A": ["1111111111RA"]}}', "state A"),
        ('{"rules": {"A": ["0RA"]}, "blank": 0}', "blank"),
    ],
)
def test_tables_that_are_none_are_refused(tmp_path, text, names):
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    with rejects(*names.split()):
        read_machine(path)


HALTS = TuringMachine(((None,),), "idle")
BB2 = MACHINES["busy-beaver-2"]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: TuringMachine(()), "rules"),
        (lambda: TuringMachine(((),)), "rules"),
        (lambda: TuringMachine(((None,), (None, None))), "rules 1 2"),
        (lambda: TuringMachine((((0, 0, 0),),)), "rules 0"),
        (lambda: TuringMachine((((1, 0, 1),),)), "rules symbol 0 state 1"),
        (lambda: TuringMachine((((0, -1, 1),),)), "rules symbol -1"),
        (lambda: TuringMachine(((None,),), start=1), "start 0"),
        (lambda: TuringMachine(((None,),), names=("A", "B")), "state 1 names 2"),
        (lambda: BB2.run(3, [2]), "word"),
        (lambda: BB2.writing(None), "word"),
        (lambda: BB2.writing(np.array(1)), "word"),
        (lambda: turing_machine(BB2, 4).interface.steps("RL"), "tokens"),
        (lambda: turing_machine(HALTS, 5), "idle"),
        (lambda: turing_machine(BB2, 10**9, addressed=True), "GiB"),
        (lambda: turing_machine(BB2, 5, sharpness=0.1), "sharpness"),
        (lambda: turing_machine(BB2, 5).interface.prompt([2]), "word"),
        (lambda: turing_machine(BB2, 5)([12]), "tokens"),
        (lambda: turing_machine(BB2, 5, addressed=True)([0, 36]), "token 36 2 35"),
        (lambda: decoded(turing_machine(BB2, 5), (), 6), "max_length"),
    ],
)
def test_what_it_does_not_take_is_refused(call, names):
    with rejects(*names.split()):
        call()


def test_a_token_that_is_no_step_is_refused():
    with rejects("token", "99", "12"):
        turing_machine(MACHINES["busy-beaver-2"], 10).interface.steps([0, 99])


def test_space_time():
    machine = MACHINES["busy-beaver-2"]
    tape, heads, states, first = machine.space_time(machine.run(9))
    assert tape.tolist()[0] == [0] * 6
    assert tape.tolist()[-1] == [0, 1, 1, 1, 1, 0]
    assert heads == [0, 1, 0, -1, -2, -1, 0]
    assert [machine.names[q] for q in states] == ["A", "B", "A", "B", "A", "B", "H"]
    assert first == -3


@pytest.mark.parametrize(
    "step", [(9, 0, 1), (-1, 0, 1), (0, 9, 1), (0, 1, 5), (0, 1, 10**9), "abc"]
)
def test_steps_of_a_history_are_in_range(step, unchecked):
    machine = MACHINES["busy-beaver-2"]
    for reads in (machine.configuration, machine.following, machine.space_time):
        assert reads([(1, 1, 1)]) is not None
        with rejects():
            reads([Step(0, 1, RIGHT), step])


def test_a_machine_is_given_by_its_name_or_as_such():
    name = "turing_machine(machine=busy-beaver-2, max_length=4)"
    assert turing_machine("busy-beaver-2", 4).name == name
    assert turing_machine(MACHINES["busy-beaver-2"], 4).name == name
    with rejects("machine", "busy-beaver-4"):
        turing_machine("busy-beaver-9", 4)


@pytest.mark.parametrize(("states", "length"), [(1, 3), (2, 2), (50, 1), (51, 1), (300, 1)])
def test_all_histories_of_at_least_one_step_are_run(states, length):
    """A step is to one of the states and writes one of two symbols on either side: 200 in all."""
    M = TuringMachine(rules=((None, None),) * states)
    assert longest(Run(quick=True), M) == length
    assert (4 * states) ** (length + 1) > 200
