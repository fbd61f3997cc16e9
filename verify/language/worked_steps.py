"""The claim `worked-steps`: circuits learned gate by gate from the values of their wires."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated

import numpy as np

from theory.language import (
    Circuit,
    GateLearner,
    enough_examples,
    hypotheses,
    random_circuit,
)
from theory.sequences import all_sequences
from verify.claim import Run, claim, option
from verify.finding import Finding, at_least, at_most, labelled
from verify.language.bounds import never_wrong

SMALL = 6, 8  # inputs and gates of circuits that are asked on all inputs
FEW = 0, 1, 3, 10, 30  # examples after which all answers are compared
SIZES = 3, 2, 0.2, 0.01  # inputs, gates, ε and δ of circuits that are learned from enough examples
ASKED = 500  # random inputs of large circuits
SEEDS = 5
CIRCUITS, LARGE, FEWER = 10, (32, 64, 80), (8, 10, 60)  # inputs, gates and examples


@claim(
    source="[RivestSloan1988] for the model of learning; sizes proved in theory/language/gates.py",
    picture="verify.language.worked_steps_picture:draw",
    faults_seen=[{"inputs": 8, "gates": 10, "examples": 60}],
)
def worked_steps(
    run: Run,
    *,
    inputs: Annotated[int, option("inputs of a random circuit", min=2, max=64)] = 32,
    gates: Annotated[int, option("gates of the circuit", min=1, max=128)] = 64,
    examples: Annotated[int, option("examples of all of its wires", min=1)] = 80,
) -> Iterator[Finding]:
    """A circuit is learned gate by gate from the values of its wires, without a wrong output.

    The learner outputs a value where all hypotheses of a gate that agree with the examples agree;
    it is right whatever the examples are.  After N ≥ (G|H|/ε) ln(G|H|/δ) random examples it
    outputs the values of all G gates on all but a fraction ε of the inputs, with probability at
    least 1 − δ, |H| the number of hypotheses of a gate.
    """
    yield from labelled("gates", _gates(run, inputs, gates, examples))
    run.draw(run.rng, inputs, gates)


def _gates(run: Run, inputs: int, gates: int, examples: int) -> Iterator[Finding]:
    wrong, said = 0, 0
    everything = all_sequences(SMALL[0], 2)
    for _ in range(SEEDS):
        circuit = random_circuit(*SMALL, run.rng)
        truth = circuit.wires(everything)
        for n in FEW:
            answers = learned(circuit, truth[run.rng.permutation(len(truth))[:n]])(everything)
            wrong += wrong_ones(answers, truth)
            said += int((answers >= 0).sum())
    yield never_wrong("right", f"values of gates, {SEEDS} circuits, all inputs", wrong, said)
    few, size, epsilon, delta = SIZES
    N = enough_examples(few, size, epsilon, delta)
    shares = [decided(run, random_circuit(few, size, run.rng), N, 2**few) for _ in range(SEEDS)]
    yield at_least(
        "enough",
        f"inputs that are decided after N = {N} examples, {few} inputs and {size} gates",
        "statistical",
        min(shares),
        1 - epsilon,
        words=f"a share of {min(shares):g} at least, {SEEDS} circuits",
        wanted=f"1 − ε = {1 - epsilon:g}, each with probability ≥ {1 - delta:g}",
    )
    circuit = random_circuit(inputs, gates, run.rng)
    shares = growing(run, circuit, examples)
    bound = enough_examples(inputs, gates, epsilon, delta)
    yield at_most(
        "grows",
        f"values of {gates} gates over {inputs} inputs that more examples leave open again",
        "exact",
        reopened(shares),
        0.0,
        words=f"shares of {', '.join(f'{share:.2f}' for share in shares)} are decided after "
        f"⅛, ¼, ½ and all of {examples} examples",
        wanted=f"none; with |H| = {hypotheses(inputs, gates)} the bound asks {bound:.2g} examples",
    )
    yield from _spread(run, *(FEWER if run.quick else LARGE))


def _spread(run: Run, inputs: int, gates: int, examples: int) -> Iterator[Finding]:
    """From how many examples circuits of one size are decided, of every one of them."""
    circuits = [random_circuit(inputs, gates, run.rng) for _ in range(CIRCUITS)]
    grown = np.array([growing(run, circuit, examples) for circuit in circuits])
    each = [f"{found.mean():.2f} ({found.min():.2f} to {found.max():.2f})" for found in grown.T]
    for id, compare, seen, shares, words in (
        ("few", at_most, examples // 8, grown[:, 0], each[0]),
        ("most", at_least, examples, grown[:, 3], f"{each[3]}; after ¼ and ½ {each[1]}, {each[2]}"),
    ):
        yield compare(
            id,
            f"values of {gates} gates over {inputs} inputs that {seen} examples decide, a share",
            "statistical",
            (float(shares.min()), float(shares.max())),
            0.5,
            words=f"{words}, {CIRCUITS} circuits",
        )


def reopened(shares: list[float]) -> float:
    """By how much a share falls from one to the next, at most; below 0 if all rise."""
    return max((before - after for before, after in pairwise(shares)), default=np.nan)


def growing(run: Run, circuit: Circuit, examples: int) -> list[float]:
    """The share of values of gates that is decided, as examples are added."""
    seen = circuit.wires(run.rng.integers(2, size=(examples, circuit.n_inputs)))
    words = run.rng.integers(2, size=(ASKED, circuit.n_inputs))
    answers = [learned(circuit, seen[: examples // part])(words) for part in (8, 4, 2, 1)]
    return [float((each[:, circuit.n_inputs :] >= 0).mean()) for each in answers]


def learned(circuit: Circuit, wires: np.ndarray) -> GateLearner:
    """The learner after examples of all wires."""
    return GateLearner(circuit.n_inputs, wires)


def wrong_ones(answers: np.ndarray, truth: np.ndarray) -> int:
    """How many answers are given and not right."""
    return int(((answers >= 0) & (answers != truth)).sum())


def decided(run: Run, circuit: Circuit, examples: int, asked: int) -> float:
    """The share of random inputs on which every gate is decided."""
    seen = run.rng.integers(2, size=(examples, circuit.n_inputs))
    words = run.rng.integers(2, size=(asked, circuit.n_inputs))
    answers = learned(circuit, circuit.wires(seen))(words)
    return float((answers >= 0).all(axis=1).mean())
