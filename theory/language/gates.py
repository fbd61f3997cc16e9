"""Learning a circuit gate by gate, by a learner whose outputs are all right [RivestSloan1988].

The wires of a circuit are its inputs and its gates 1, …, G.  Each gate is a function of two earlier
wires.  An example consists of the values of all wires, as a chain of thought.  The version space of
a gate is the set of hypotheses (two earlier wires and one of the allowed functions) that agree with
all examples.  On a new input the learner computes the gates in order.  A gate is decided if all
hypotheses in its version space have the same value, for all values of the undecided wires.  The
version space always contains the true gate, so **every decided value is right**, for any examples.

Let there be |H| hypotheses for each gate.  After N ≥ (G|H|/ε) ln(G|H|/δ) random examples, with
probability ≥ 1 − δ, no version space contains a hypothesis that differs from the true gate on more
than the fraction ε/(G|H|) of the inputs.  Then on all but a fraction ε of the inputs all remaining
hypotheses agree, and every gate is decided (`enough_examples`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from theory.kinds import Count, InputError, Integers, OpenUnit, Seed, Steps, Within, checked

FUNCTIONS = tuple(f for f in range(16) if f not in (0, 3, 5, 10, 12, 15))
"""The ten functions f of two bits that depend on both; bit 2a + b of the code f is f(a, b)."""

MOST_PAIRS = 10**5  # pairs of wires that a gate may read
InputCount: TypeAlias = Annotated[Count, Within(least=2, most=10**9)]
"""An integer from 2 to 10^9: a gate reads two wires."""
GateCount: TypeAlias = Annotated[Count, Within(most=10**9)]
"""An integer from 1 to 10^9."""


@dataclass(frozen=True)
class Circuit:
    """A Boolean circuit whose gates each read two earlier wires.

    The wires are the inputs, followed by the outputs of the gates.  A gate is a triple (wire, wire,
    function).  The function is one of the ten functions of two bits that depend on both bits, and
    is given by its code f: bit 2a + b of f is the value of the function at the bits a and b.  The
    fields are not checked: `circuit` checks them.
    """

    n_inputs: int
    gates: tuple[tuple[int, int, int], ...]

    def wires(self, inputs: ArrayLike) -> np.ndarray:
        """The values (N, n_inputs + G) of all wires, for N input vectors of a circuit of G gates.

        `inputs` (N, n_inputs) has one input vector in each row, with entries 0 and 1.  The wires
        are the inputs of the circuit, followed by the outputs of the gates.  Raises `ValueError`
        for other entries or shapes.
        """
        array = Integers(f"N {self.n_inputs}", Within(least=0, most=1)).read("inputs", inputs)
        wires = list(array.T)
        for a, b, function in self.gates:
            wires.append(function >> (2 * wires[a] + wires[b]) & 1)
        return np.stack(wires, axis=1)


@checked
def circuit(n_inputs: Count, gates: Sequence[Sequence[Steps]]) -> Circuit:
    """The Boolean circuit with the given gates.

    A gate is a triple (wire, wire, function).  The wires are the inputs, followed by the outputs of
    the gates.  The function is one of the codes f in `FUNCTIONS`: bit 2a + b of f is the value at
    the bits a and b.  Raises `ValueError` unless each gate reads two earlier wires, the first
    before the second, and has a function in `FUNCTIONS`.
    """
    made = []
    for number, gate in enumerate(gates):
        if len(gate) != 3:
            raise InputError(f"gate {number} is {gate}: give two wires and a function")
        a, b, function = gate
        if not a < b < n_inputs + number:
            raise InputError(
                f"gate {number} reads wires {a} and {b}: give two different wires from 0 to "
                f"{n_inputs + number - 1}, the smaller wire first"
            )
        if function not in FUNCTIONS:
            raise InputError(f"gate {number} has function {function}: give one of {FUNCTIONS}")
        made.append((a, b, function))
    return Circuit(n_inputs, tuple(made))


@checked
def random_circuit(n_inputs: InputCount, n_gates: GateCount, seed: Seed) -> Circuit:
    """A random Boolean circuit: each gate reads two random earlier wires by a random function.

    The wires are the inputs, followed by the outputs of the gates.  The two wires of a gate are
    uniformly drawn, and its function is uniform among the ten functions of two bits that depend on
    both bits.  Raises `ValueError` if there are more than 10^5 wires.
    """
    if n_inputs + n_gates > MOST_PAIRS:
        raise InputError(
            f"n_inputs is {n_inputs} and n_gates is {n_gates}: give two numbers with a sum of at "
            f"most {MOST_PAIRS}"
        )
    rng, made = np.random.default_rng(seed), []
    for number in range(n_gates):
        a, b = sorted(rng.choice(n_inputs + number, 2, replace=False).tolist())
        made.append((a, b, int(rng.choice(FUNCTIONS))))
    return circuit(n_inputs, made)


@checked
class GateLearner:
    """A learner that outputs only those values of a Boolean circuit that the examples determine.

    Each of the G gates of the circuit computes an unknown function of two unknown earlier wires.
    The wires are the inputs, followed by the outputs of the gates.  `wires` (N, n_inputs + G) has
    the values of all wires in N examples.

    A hypothesis for a gate consists of two earlier wires and a function of two bits.  For each
    gate, the learner stores all hypotheses that agree with the examples.  Calling the learner on
    input vectors returns the values of all wires, with −1 where the stored hypotheses disagree.
    Raises `ValueError` for more than 10^5 pairs of wires.
    """

    def __init__(
        self,
        n_inputs: Annotated[InputCount, Within(most="w")],
        wires: Annotated[Any, Integers("N w", Within(least=0, most=1), empty=True)],
    ) -> None:
        self.n_inputs, count = n_inputs, wires.shape[1]
        if math.comb(count, 2) > MOST_PAIRS:
            raise InputError(f"{count} wires have more than {MOST_PAIRS} pairs: give fewer wires")
        self.version_spaces = [_version_space(wires, gate) for gate in range(n_inputs, count)]

    def __call__(self, inputs: ArrayLike) -> np.ndarray:
        """The values (N, n_inputs + G) of all wires, −1 where the value is not decided.

        Raises `ValueError` unless all entries of `inputs` (N, n_inputs) are 0 or 1.
        """
        array = Integers(f"N {self.n_inputs}", Within(least=0, most=1)).read("inputs", inputs)
        wires = list(array.T)
        for first, second, functions in self.version_spaces:
            values = np.stack(wires)
            # Which of the values (0, 0), (0, 1), (1, 0), (1, 1) the two wires may have, as four
            # bits.
            may = MAY_BE[values[first], values[second]]
            one = (functions[:, None] & may).any(axis=0)
            zero = (~functions[:, None] & may).any(axis=0)
            wires.append(np.where(one & zero, -1, one.astype(np.int64)))
        return np.stack(wires, axis=1)


MAY_BE = np.array(
    [
        [
            sum(1 << (2 * a + b) for a in (0, 1) for b in (0, 1) if i in (a, -1) and j in (b, -1))
            for j in (0, 1, -1)
        ]
        for i in (0, 1, -1)
    ]
)


def _version_space(wires: np.ndarray, gate: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The wires and the function of each hypothesis that agrees with all examples."""
    first, second = np.array(list(combinations(range(gate), 2))).T
    seen = np.zeros((2, len(first)), dtype=np.int64)  # patterns after which the gate was 0, 1
    for row in np.unique(wires[:, : gate + 1], axis=0):
        seen[row[gate]] |= 1 << (2 * row[first] + row[second])
    functions = np.array(FUNCTIONS)
    agrees = (functions & seen[0][:, None] == 0) & (~functions & seen[1][:, None] == 0)
    pair, which = np.nonzero(agrees)
    return first[pair], second[pair], functions[which]


@checked
def hypotheses(n_inputs: InputCount, n_gates: GateCount) -> int:
    """The number of hypotheses for the last gate of a circuit: 10·C(n_inputs + n_gates − 1, 2).

    A hypothesis consists of two earlier wires and one of the ten functions of two bits that depend
    on both bits.  The wires are the inputs and the outputs of the gates.  C is the binomial
    coefficient.
    """
    return len(FUNCTIONS) * math.comb(n_inputs + n_gates - 1, 2)


@checked
def enough_examples(
    n_inputs: InputCount, n_gates: GateCount, epsilon: OpenUnit, delta: OpenUnit
) -> int:
    """A number of examples from which all gates of a circuit are learned on most inputs.

    After N ≥ (G|H|/ε) ln(G|H|/δ) random examples of a circuit, with probability ≥ 1 − δ,
    `GateLearner` decides all G gates on all but a fraction ε of the inputs.  A gate is decided on
    an input if all hypotheses that agree with the examples give the same value.  A hypothesis for a
    gate consists of two earlier wires and one of ten functions of two bits.  |H| =
    `hypotheses(n_inputs, n_gates)` is the number of hypotheses for the last gate, the gate with the
    most hypotheses.  G = `n_gates`, δ = `delta` and ε = `epsilon`.  The result is the smallest N
    that satisfies the inequality.  Raises `ValueError` for more than 10^300 examples.
    """
    total = n_gates * hypotheses(n_inputs, n_gates)
    if not total / epsilon < 1e300:
        raise InputError(
            f"epsilon is {epsilon:g}, which needs over 10^300 examples: give a larger epsilon"
        )
    return math.ceil(total / epsilon * (math.log(total) - math.log(delta)))
