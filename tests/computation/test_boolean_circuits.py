"""Boolean circuits: their definition, and the transformer that evaluates all of one size."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.computation import circuit_evaluator
from theory.computation import Circuit, Gate, adder, all_circuits, random_circuit
from theory.computation.boolean_circuits import AND, NAND, NOR, OR, XNOR, XOR, adversarial
from theory.computation.circuit_prompts import read_gates


def every_input(n):
    return np.array([*product((0, 1), repeat=n)])


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        (AND, lambda x, y: x and y),
        (OR, lambda x, y: x or y),
        (XOR, lambda x, y: x != y),
        (NAND, lambda x, y: not (x and y)),
        (NOR, lambda x, y: not (x or y)),
        (XNOR, lambda x, y: x == y),
        (0, lambda x, y: 0),
        (15, lambda x, y: 1),
        (12, lambda x, y: x),
        (10, lambda x, y: y),
        (4, lambda x, y: x and not y),
    ],
)
def test_tables(table, wanted):
    gate = Circuit(2, (Gate(table, 0, 1),))
    for x, y in product((0, 1), repeat=2):
        assert gate.run([x, y]).tolist() == [int(wanted(x, y))]


@pytest.mark.parametrize("bits", [1, 2, 4, 40])
def test_an_adder_adds(bits):
    circuit = adder(bits)
    random = np.random.default_rng(0).integers(2, size=(50, 2 * bits))
    inputs = every_input(2 * bits) if bits < 5 else random
    values, powers = circuit.run(inputs), 2 ** np.arange(bits)
    sums = values[:, 4::6] @ powers + 2**bits * values[:, -1]
    assert (sums == inputs[:, :bits] @ powers + inputs[:, bits:] @ powers).all()


def test_there_are_so_many_circuits():
    assert len({circuit.gates for circuit in all_circuits(2, 2)}) == 16 * 4 * 16 * 9
    assert len(list(all_circuits(1, 1))) == 16


@pytest.mark.parametrize(("n", "G"), [(1, 1), (2, 1), (3, 1), (1, 2)])
def test_every_small_circuit_is_evaluated(n, G):
    model, inputs = circuit_evaluator(n, G), every_input(n)
    circuits = list(all_circuits(n, G))
    prompts = np.array([model.interface.prompt(circuit, inputs) for circuit in circuits])
    wanted = np.array([circuit.run(inputs) for circuit in circuits])
    assert (model.generate(prompts, G).numpy() == wanted).all()


@settings(max_examples=10)
@given(n=st.integers(1, 5), G=st.integers(1, 12), seed=st.integers(0, 10**6))
def test_random_circuits(n, G, seed):
    circuit, inputs = random_circuit(n, G, seed), every_input(n)
    model = circuit_evaluator(n, G)
    assert (
        model.generate(model.interface.prompt(circuit, inputs), G).numpy() == circuit.run(inputs)
    ).all()
    assert (model.n_layers, model.n_heads, model.d_model) == (2, 3, 13)
    assert [len(block.mlp.b_in) for block in model.blocks if block.mlp] == [4]


def test_circuits_of_nand():
    for n, G in ((1, 1), (2, 1), (1, 2), (2, 2)):
        model, inputs = circuit_evaluator(n, G, nand=True), every_input(n)
        circuits = list(all_circuits(n, G, [NAND]))
        assert len(circuits) == np.prod([(n + g) ** 2 for g in range(G)])
        prompts = np.array([model.interface.prompt(circuit, inputs) for circuit in circuits])
        assert prompts.shape[-1] == n + 2 * G
        wanted = np.array([circuit.run(inputs) for circuit in circuits])
        assert (model.generate(prompts, G).numpy() == wanted).all()
    assert (model.n_layers, model.n_heads, model.d_model) == (2, 2, 9)
    assert [len(block.mlp.b_in) for block in model.blocks if block.mlp] == [1]


def test_an_exclusive_or_of_four_nands():
    circuit = Circuit(2, [Gate(NAND, *wires) for wires in ((0, 1), (0, 2), (1, 2), (3, 4))])
    model, inputs = circuit_evaluator(2, 4, nand=True), every_input(2)
    outputs = model.generate(model.interface.prompt(circuit, inputs), 4)[:, -1]
    assert outputs.tolist() == [0, 1, 1, 0]


def test_extreme_circuits():
    model, inputs = circuit_evaluator(3, 40), every_input(3)
    for circuit in adversarial(3, 40):
        prompts = model.interface.prompt(circuit, inputs)
        assert (model.generate(prompts, 40).numpy() == circuit.run(inputs)).all(), circuit


def test_values_before_are_read_as_they_stand():
    """A gate is that of the values that stand there, right or wrong."""
    circuit = Circuit(2, (Gate(XOR, 0, 1), Gate(OR, 2, 2), Gate(NAND, 3, 0)))
    model = circuit_evaluator(2, 3)
    for values in product((0, 1), repeat=2):
        row = np.array([*model.interface.prompt(circuit, [1, 0]), *values])
        outputs = model(row)[-3:].tolist()
        assert outputs == [1, values[0], 1 - values[1]]
        assert (model(row).numpy() == read_gates(row)["value"][..., 0]).all()


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: Circuit(1, ()), "gates"),
        (lambda: Circuit(1, (Gate(16, 0, 0),)), "gates 0 table 16 15"),
        (lambda: Circuit(1, (Gate(8, 1, 0),)), "gates 0 left 1"),
        (lambda: Circuit(2, (Gate(8, 0, -1),)), "gates 0 right -1"),
        (lambda: Circuit(2, (Gate(8, 0, 1), Gate(8, 3, 0))), "gates 1 left 3 2"),
        (lambda: random_circuit(1, 1, 0, ()), "tables"),
        (lambda: adder(1).run([0, 2]), "inputs"),
        (lambda: adder(1).run([0]), "inputs 1 2"),
        (lambda: circuit_evaluator(2, 2, sharpness=0.1), "sharpness 0.1"),
        (lambda: circuit_evaluator(2, 6, nand=True).interface.prompt(adder(1), [0, 1]), "gate 0 7"),
        (lambda: circuit_evaluator(2, 2, nand=True)([1, 0, 2]), "3 6 right 0 2"),
        (lambda: circuit_evaluator(1, 1, nand=True)([1, 0, 2]), "token 0 2"),
        (lambda: circuit_evaluator(2, 2).interface.prompt(adder(1), [0, 1]), "inputs gates 6"),
        (lambda: circuit_evaluator(2, 6).interface.prompt(adder(1), [0, 1, 1]), "inputs 3 2"),
        (lambda: circuit_evaluator(2, 6).interface.prompt(adder(1), [0, 2]), "inputs"),
        (lambda: circuit_evaluator(1, 1).generate([1, 2 + 8, 18, 19], 1), "tokens"),
        (
            lambda: circuit_evaluator(1, 2).generate([1, 2 + 8, 18, 19, 2, 18, 18], 2),
            "token 19 4 18",
        ),
        (lambda: circuit_evaluator(1, 1)([1, 0, 18, 18]), "token 0 2 17"),
        (lambda: circuit_evaluator(2, 2).generate([1], 1), "prompt 1 8 bit 2"),
        (lambda: circuit_evaluator(2, 2)([1, 0, 2, 18, 18]), "5 8 table 1 2"),
        (lambda: circuit_evaluator(2, 2)([[1, 0, 2, 18, 18, 3, 20]]), "7 8 right 1 2"),
        (lambda: circuit_evaluator(1, 1).generate([1, 2, 18, 18], 2), "2 5 4 1"),
    ],
)
def test_what_is_no_circuit_is_rejected(call, names):
    with rejects(*names.split()):
        call()
