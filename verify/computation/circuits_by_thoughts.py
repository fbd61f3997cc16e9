"""The claim `circuits-by-thoughts`: every Boolean circuit in two layers, a gate after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Annotated

import numpy as np

from constructions.blocks import plural
from constructions.computation import circuit_evaluator
from constructions.transformer import Transformer
from theory.computation import Circuit, adder, all_circuits, random_circuit
from theory.computation.boolean_circuits import NAND, TABLES, adversarial
from theory.computation.circuit_prompts import read_gates
from theory.kinds import InputError
from verify.claim import Run, claim, option
from verify.computation.decoding import Runs, decoded, softened
from verify.computation.options import MOST_DRAWN
from verify.evidence.gaps import States, at_positions, at_tokens, gap_finding, looking_up
from verify.evidence.restoring import makes
from verify.evidence.sequences import equal_over_q, margin_kept, registers_hold
from verify.evidence.size import size, units
from verify.evidence.statement import OverTokens
from verify.finding import Finding, same

SMALL = ((1, 1), (2, 1), (3, 1), (1, 2), (2, 2))
UNITS, UNITS_OF_NAND = 4, 1
MOST = 2**12  # inputs of a circuit, all of which are run


@claim(
    source="[Li2024]; sizes proved in constructions/computation/boolean_circuits.py",
    faults_seen=[
        {"inputs": 2, "gates": 2, "samples": 3},
        {"inputs": 2, "gates": 2, "samples": 3, "nand": True},
    ],
)
def circuits_by_thoughts(
    run: Run,
    *,
    inputs: Annotated[int, option("input bits of the larger circuits", min=1)] = 4,
    gates: Annotated[int, option("gates of the larger circuits", min=1)] = 60,
    samples: Annotated[
        int, option("larger circuits, drawn by the seed", min=1, max=MOST_DRAWN)
    ] = 10,
    nand: Annotated[bool, option("circuits of NAND gates, by a smaller transformer")] = False,
) -> Iterator[Finding]:
    """For all n and G, two layers of at most three heads, width 13 and four ReLUs evaluate every
    Boolean circuit of n inputs and G gates of fan-in 2, with a chain-of-thought token a gate.

    The circuit is in the prompt, and the values of its gates are decoded behind it; n and G are in
    biases and in the tables of tokens and positions.  For NAND gates alone two heads, width 9 and
    one ReLU suffice.
    """
    if 2**inputs > MOST:
        raise InputError(f"{inputs} inputs have 2^{inputs} values, which are all run: give ≤ 12")
    statement, tables = evaluates(run, nand), [NAND] if nand else range(TABLES)
    model = statement.at(inputs, gates).model
    yield size(model, "circuits-of-nand" if nand else "circuits-by-thoughts", n=inputs, G=gates)
    yield same("units", "ReLU units", units(model)[1], UNITS_OF_NAND if nand else UNITS)
    small = [sizes for sizes in SMALL if sizes[0] <= inputs and sizes[1] <= gates]
    small = small[:2] if run.quick else small
    yield decoded(
        "all-small",
        f"every circuit of {', '.join(_sizes(n, G) for n, G in small)}, all inputs",
        (runs(statement.at(n, G).model, [*all_circuits(n, G, tables)]) for n, G in small),
    )
    many = range(2 if run.quick else samples)
    drawn = [random_circuit(inputs, gates, run.rng, tables) for _ in many]
    hard = [*drawn, *adversarial(inputs, gates, nand)]
    yield decoded(
        "large",
        f"random and adversarial circuits of {_sizes(inputs, gates)}, all inputs",
        [runs(model, hard)],
    )
    if not nand:
        added = adder(1 if run.quick else 4)
        adds = statement.at(added.n_inputs, added.n_gates).model
        yield decoded("adder", f"an {added.name}, all inputs", [runs(adds, [added])])
    for states in head_states(model):
        yield gap_finding("circuits", model, states)
    yield makes("table", "the MLP says what every table says", model, {2: _cases(tables)})
    rows = histories(run, model, drawn)
    yield margin_kept(statement, [(model, rows)])
    few = statement.at(inputs, fewer := min(gates, 12)).model
    some = histories(run, few, [random_circuit(inputs, fewer, run.rng, tables) for _ in range(2)])
    yield equal_over_q(statement, few, some, f"({fewer} gates, any values before)")
    yield registers_hold(statement, model, rows, f"({gates} gates, any values before)")
    short = statement.at(2, 2).model
    some = histories(run, short, [random_circuit(2, 2, run.rng, tables) for _ in range(2)])
    yield from softened(model, *runs(model, hard[:4])[1:], short, some)


def _sizes(n: int, G: int) -> str:
    return f"{plural(n, 'input')} and {plural(G, 'gate')}"


def evaluates(run: Run, nand: bool) -> OverTokens:
    """The construction beside the circuit: for inputs and gates, so many; values may be any."""
    return OverTokens(
        "circuits",
        lambda n, G: run.build(circuit_evaluator, n, G, nand=nand),
        lambda tokens: read_gates(tokens, nand)["value"][..., 0].astype(int),
    )


def runs(model: Transformer, circuits: list[Circuit]) -> Runs:
    """The prompts of circuits of one size on all inputs, and the values of their gates."""
    bits = np.array([*product((0, 1), repeat=model.interface.n_inputs)])
    prompts = np.concatenate([model.interface.prompt(circuit, bits) for circuit in circuits])
    return model, prompts, np.concatenate([circuit.run(bits) for circuit in circuits])


def histories(run: Run, model: Transformer, circuits: list[Circuit]) -> np.ndarray:
    """Prompts, and behind them any values, whatever the gates would say."""
    n, G = model.interface.n_inputs, model.interface.n_gates
    bits = run.rng.integers(2, size=(len(circuits), n + G - 1))
    prompts = [
        model.interface.prompt(circuit, row[:n])
        for circuit, row in zip(circuits, bits, strict=True)
    ]
    return np.concatenate([prompts, bits[:, n:]], axis=-1)


def head_states(model: Transformer) -> Iterator[States]:
    """Three heads that look up 3t − (2n + 9G) + c, or, of NAND gates, two that look up
    2t − (n + 4G) + c; and two that follow an address."""
    asking, line = at_positions(model, "j"), ("j", "square")
    n, G, parts = model.interface.n_inputs, model.interface.n_gates, len(model.interface.parts)
    for c in range(1, parts + 1):
        due = parts * np.arange(len(asking["j"])) - (parts - 1) * n - parts**2 * G + c
        yield looking_up(model, 1, asking, np.maximum(due, 0), c - 1, line=line)
    addresses = at_tokens(model, "address")["address"]
    for head, side in enumerate(("left", "right")):
        yield looking_up(model, 2, {side: addresses}, addresses[:, 0], head, line=line)


def _cases(tables: Sequence[int]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """All tables and values of two wires, and what the table says of them; one table alone is in
    the weights, and in no register."""
    which, x, y = np.indices((len(tables), 2, 2)).reshape(3, -1)
    table = np.array(tables)[which]
    held = {"x": x[:, None], "y": y[:, None]}
    if len(tables) > 1:
        held["table"] = table[:, None] >> np.arange(4) & 1
    said = table >> (2 * x + y) & 1
    return held, {"result": 2 * said[:, None] - 1}
