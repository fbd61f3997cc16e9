"""The claim `circuits-by-chain-of-thought`: Boolean circuits with one CoT token for each gate."""

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
MOST_INPUTS = 12  # inputs of a circuit, since all 2^12 values of the inputs are run


@claim(
    faults_seen=[
        {"n_inputs": 2, "n_gates": 2, "samples": 3},
        {"n_inputs": 2, "n_gates": 2, "samples": 3, "nand": True},
    ],
)
def circuits_by_chain_of_thought(
    run: Run,
    *,
    n_inputs: Annotated[
        int, option("number of inputs of the larger circuits", min=1, max=MOST_INPUTS)
    ] = 4,
    n_gates: Annotated[int, option("number of gates of the larger circuits", min=1, max=1000)] = 60,
    samples: Annotated[int, option("number of random larger circuits", min=1, max=MOST_DRAWN)] = 10,
    nand: Annotated[
        bool, option("evaluate circuits with only NAND gates, by a smaller transformer")
    ] = False,
) -> Iterator[Finding]:
    """For all n and G, a transformer of two layers evaluates every Boolean circuit of n inputs and
    G gates of fan-in 2, with one chain-of-thought token for each gate.  It has width 13, at most
    three heads per layer, and four ReLUs in layer 2.

    The prompt contains the input bits and the circuit.  The values of the gates are decoded after
    the prompt.  The numbers n and G occur only in biases and in the embeddings of tokens and
    positions.  For circuits with only NAND gates, width 9, two heads per layer and one ReLU
    suffice.
    """
    statement, tables = evaluates(run, nand), [NAND] if nand else range(TABLES)
    model = statement.at(n_inputs, n_gates).model
    yield size(
        model, "circuits-of-nand" if nand else "circuits-by-chain-of-thought", n=n_inputs, G=n_gates
    )
    yield same(
        "units", "number of ReLUs in layer 2", units(model)[1], UNITS_OF_NAND if nand else UNITS
    )
    small = [sizes for sizes in SMALL if sizes[0] <= n_inputs and sizes[1] <= n_gates]
    small = small[:2] if run.quick else small
    yield decoded(
        "all-small",
        f"every circuit of {', or of '.join(_sizes(n, G) for n, G in small)}, on all inputs",
        (runs(statement.at(n, G).model, [*all_circuits(n, G, tables)]) for n, G in small),
    )
    many = range(run.limited(2, samples=samples))
    drawn = [random_circuit(n_inputs, n_gates, run.rng, tables) for _ in many]
    hard = [*drawn, *adversarial(n_inputs, n_gates, nand)]
    yield decoded(
        "large",
        f"random and adversarial circuits of {_sizes(n_inputs, n_gates)}, on all inputs",
        [runs(model, hard)],
    )
    if not nand:
        added = adder(1 if run.quick else 4)
        adds = statement.at(added.n_inputs, added.n_gates).model
        yield decoded("adder", f"the {added.name}, on all inputs", [runs(adds, [added])])
    for states in head_states(model):
        yield gap_finding("circuits", model, states)
    yield makes(
        "table", "the MLP computes gates with every truth table", model, {2: _cases(tables)}
    )
    rows = histories(run, model, drawn)
    yield margin_kept(statement, [(model, rows)])
    few = statement.at(n_inputs, fewer := min(n_gates, 12)).model
    some = histories(run, few, [random_circuit(n_inputs, fewer, run.rng, tables) for _ in range(2)])
    random = "with random bits as the values of earlier gates"
    yield equal_over_q(statement, few, some, f"(circuits of {fewer} gates, {random})")
    yield registers_hold(statement, model, rows, f"(circuits of {n_gates} gates, {random})")
    short = statement.at(2, 2).model
    some = histories(run, short, [random_circuit(2, 2, run.rng, tables) for _ in range(2)])
    yield from softened(model, *runs(model, hard[:4])[1:], short, some)


def _sizes(n: int, G: int) -> str:
    return f"{plural(n, 'input')} and {plural(G, 'gate')}"


def evaluates(run: Run, nand: bool) -> OverTokens:
    """The statement that each gate is computed from earlier tokens, for arbitrary values."""
    return OverTokens(
        "circuits",
        lambda n, G: run.build(circuit_evaluator, n, G, nand=nand),
        lambda tokens: read_gates(tokens, nand)["value"][..., 0].astype(int),
    )


def runs(model: Transformer, circuits: list[Circuit]) -> Runs:
    """The model, the prompts for circuits of one size on all inputs, and the gates' values."""
    bits = np.array([*product((0, 1), repeat=model.interface.n_inputs)])
    prompts = np.concatenate([model.interface.prompt(circuit, bits) for circuit in circuits])
    return model, prompts, np.concatenate([circuit.run(bits) for circuit in circuits])


def histories(run: Run, model: Transformer, circuits: list[Circuit]) -> np.ndarray:
    """Prompts for circuits, followed by random bits that need not be the values of the gates."""
    n, G = model.interface.n_inputs, model.interface.n_gates
    bits = run.rng.integers(2, size=(len(circuits), n + G - 1))
    prompts = [
        model.interface.prompt(circuit, row[:n])
        for circuit, row in zip(circuits, bits, strict=True)
    ]
    return np.concatenate([prompts, bits[:, n:]], axis=-1)


def head_states(model: Transformer) -> Iterator[States]:
    """Yields the possible queries and keys of each head, for the findings on score gaps.

    For circuits of n inputs and G gates, the three heads c = 1, 2, 3 of layer 1 at position t look
    up position 3t − (2n + 9G) + c. If all gates are NAND, two heads c = 1, 2 look up position 2t −
    (n + 4G) + c. Each of the two heads of layer 2 looks up the position of a wire.
    """
    queries, line = at_positions(model, "j"), ("j", "square")
    n, G, parts = model.interface.n_inputs, model.interface.n_gates, len(model.interface.parts)
    for c in range(1, parts + 1):
        due = parts * np.arange(len(queries["j"])) - (parts - 1) * n - parts**2 * G + c
        yield looking_up(model, 1, queries, np.maximum(due, 0), c - 1, line=line)
    addresses = at_tokens(model, "address")["address"]
    for head, side in enumerate(("left", "right")):
        yield looking_up(model, 2, {side: addresses}, addresses[:, 0], head, line=line)


def _cases(tables: Sequence[int]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """All tables and values of two wires, with the value of the gate.

    A single table has no register, since it is in the weights.
    """
    which, x, y = np.indices((len(tables), 2, 2)).reshape(3, -1)
    table = np.array(tables)[which]
    inputs = {"x": x[:, None], "y": y[:, None]}
    if len(tables) > 1:
        inputs["table"] = table[:, None] >> np.arange(4) & 1
    value = table >> (2 * x + y) & 1
    return inputs, {"result": 2 * value[:, None] - 1}
