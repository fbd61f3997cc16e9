"""The claim `learned-gates`: a circuit is learned gate by gate from the values of its wires."""

from __future__ import annotations

import math
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
from verify.finding import Finding, as_stated, at_least, at_most, labelled
from verify.language.bounds import never_wrong

SMALL = 6, 8  # inputs and gates of circuits that are tested on all inputs
FEW = 0, 1, 3, 10, 30  # examples after which all outputs are checked
SIZES = 3, 2, 0.2, 0.01  # inputs, gates, ε and δ of circuits learned from the sufficient examples
QUERIES = 500  # random inputs of large circuits
SEEDS = 5
CIRCUITS, LARGE, FEWER = 10, (32, 64, 80), (8, 10, 60)  # inputs, gates and examples


@claim(
    picture="verify.language.learned_gates_picture:draw",
    faults_seen=[{"n_inputs": 8, "n_gates": 10, "n_examples": 60}],
)
def learned_gates(
    run: Run,
    *,
    n_inputs: Annotated[int, option("number of inputs of a random circuit", min=2, max=64)] = 32,
    n_gates: Annotated[int, option("number of gates of the circuit", min=1, max=128)] = 64,
    n_examples: Annotated[
        int, option("number of examples of all wire values", min=1, max=10**4)
    ] = 80,
) -> Iterator[Finding]:
    """A circuit is learned gate by gate from the values of its wires, and no wrong value is output.

    An example is a random input of the circuit with the values of all its wires.  For each gate, a
    finite set H of hypotheses contains the right one.  A hypothesis is a choice of the function of
    the gate and of the wires that it reads.  On a new input, the learner goes through the gates in
    order.  For each gate, it evaluates all hypotheses that agree with the examples.  If a
    hypothesis reads an earlier gate for which no value was output, it is evaluated for both values
    of that gate.  If all results are equal, the learner outputs this value, and otherwise no value.
    So the values that it outputs are right, whatever the examples are.  Let there be G gates with
    |H| hypotheses each.  After N ≥ (G|H|/ε) ln(G|H|/δ) random examples, with probability at least 1
    − δ, the learner outputs the values of all G gates on all inputs except a fraction of at most ε.
    """
    yield from labelled("gates", _gates(run, n_inputs, n_gates, n_examples))
    run.draw(run.rng, n_inputs, n_gates)


def _gates(run: Run, n_inputs: int, n_gates: int, n_examples: int) -> Iterator[Finding]:
    """Decided values are right, and circuits are learned from the sufficient examples."""
    wrong, outputs = 0, 0
    everything = all_sequences(SMALL[0], 2)
    for _ in range(SEEDS):
        circuit = random_circuit(*SMALL, run.rng)
        truth = circuit.wires(everything)
        for n in FEW:
            answers = learned(circuit, truth[run.rng.permutation(len(truth))[:n]])(everything)
            wrong += wrong_ones(answers, truth)
            outputs += int((answers >= 0).sum())
    yield never_wrong(
        "right",
        f"wire values that the learner outputs, for {SEEDS} circuits and all inputs",
        wrong,
        outputs,
    )
    few, size, epsilon, delta = SIZES
    N = enough_examples(few, size, epsilon, delta)
    fractions = [decided(run, random_circuit(few, size, run.rng), N, 2**few) for _ in range(SEEDS)]
    finding = at_least(
        "enough",
        f"fraction of inputs on which the learner outputs the values of all gates after {N} "
        f"examples, for circuits with {few} inputs and {size} gates",
        "statistical",
        min(fractions),
        1 - epsilon,
        words=f"at least {min(fractions):g} for {SEEDS} circuits",
        wanted=f"at least {1 - epsilon:g}, for each circuit with probability ≥ {1 - delta:g}",
    )
    wires = few + size - 1  # the last gate is one of ten functions of two earlier wires
    total = size * 10 * math.comb(wires, 2)
    stated = math.ceil(total * (math.log(total) - math.log(delta)) / epsilon)
    yield as_stated(finding, N, stated)
    circuit = random_circuit(n_inputs, n_gates, run.rng)
    fractions = growing(run, circuit, n_examples)
    bound = enough_examples(n_inputs, n_gates, epsilon, delta)
    yield at_most(
        "grows",
        "largest decrease of the fraction of gate values that the learner outputs, as examples are "
        f"added, for {n_gates} gates over {n_inputs} inputs",
        "exact",
        reopened(fractions),
        0.0,
        words=f"the fraction is {', '.join(f'{each:.2f}' for each in fractions)} after ⅛, ¼, ½ and "
        f"all of {n_examples} examples",
        wanted=f"no decrease; for {hypotheses(n_inputs, n_gates)} hypotheses, {bound:.2g} examples "
        "suffice to learn all gates",
    )
    yield from _spread(run, *(FEWER if run.quick else LARGE))


def _spread(run: Run, n_inputs: int, n_gates: int, n_examples: int) -> Iterator[Finding]:
    """The range over circuits of the fraction of decided values, from few and many examples."""
    circuits = [random_circuit(n_inputs, n_gates, run.rng) for _ in range(CIRCUITS)]
    grown = np.array([growing(run, circuit, n_examples) for circuit in circuits])
    each = [
        f"mean {found.mean():.2f}, range {found.min():.2f} to {found.max():.2f}"
        for found in grown.T
    ]
    later = f"{each[3]}; after ¼ of the examples: {each[1]}; after ½ of the examples: {each[2]}"
    for id, compare, seen, fractions, words, side in (
        ("few", at_most, n_examples // 8, grown[:, 0], each[0], "at most"),
        ("most", at_least, n_examples, grown[:, 3], later, "at least"),
    ):
        yield compare(
            id,
            f"fraction of gate values that the learner outputs after {seen} examples, for "
            f"{CIRCUITS} circuits with {n_gates} gates and {n_inputs} inputs",
            "statistical",
            (float(fractions.min()), float(fractions.max())),
            0.5,
            words=words,
            wanted=f"{side} 0.5 for every circuit",
        )


def reopened(fractions: list[float]) -> float:
    """The largest decrease between adjacent fractions; negative if all fractions increase."""
    return max((before - after for before, after in pairwise(fractions)), default=np.nan)


def growing(run: Run, circuit: Circuit, n_examples: int) -> list[float]:
    """The fractions of decided gate values after ⅛, ¼, ½ and all of the random examples."""
    seen = circuit.wires(run.rng.integers(2, size=(n_examples, circuit.n_inputs)))
    words = run.rng.integers(2, size=(QUERIES, circuit.n_inputs))
    answers = [learned(circuit, seen[: n_examples // part])(words) for part in (8, 4, 2, 1)]
    return [float((each[:, circuit.n_inputs :] >= 0).mean()) for each in answers]


def learned(circuit: Circuit, wires: np.ndarray) -> GateLearner:
    """A learner of the circuit's gates, after examples of the values of all `wires`."""
    return GateLearner(circuit.n_inputs, wires)


def wrong_ones(answers: np.ndarray, truth: np.ndarray) -> int:
    """The number of values of `answers` other than −1 (undecided) that differ from `truth`."""
    return int(((answers >= 0) & (answers != truth)).sum())


def decided(run: Run, circuit: Circuit, n_examples: int, n_queries: int) -> float:
    """The fraction of random inputs on which a learner decides all gates, after random examples."""
    seen = run.rng.integers(2, size=(n_examples, circuit.n_inputs))
    words = run.rng.integers(2, size=(n_queries, circuit.n_inputs))
    answers = learned(circuit, circuit.wires(seen))(words)
    return float((answers >= 0).all(axis=1).mean())
