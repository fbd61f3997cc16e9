"""Learning a circuit gate by gate, without ever being wrong [RivestSloan1988].

A circuit has inputs and gates g = 1, …, G, each a function of two earlier wires.  Examples show the
values of all wires, a chain of thought.  Of each gate the learner keeps every hypothesis (two
earlier wires and one of the functions allowed) that agrees with all examples, its version space.
On a new input it goes from gate to gate: a wire is decided if all hypotheses that are kept have the
same value there, whatever the undecided wires are.  As the truth is always kept, **what is decided
is right**, whatever the examples are.

After N ≥ (G|H|/ε) ln(G|H|/δ) random examples, |H| hypotheses a gate, with probability ≥ 1 − δ none
is kept that differs from the truth on more than ε/(G|H|) of the inputs; all that is kept then
agrees with the truth on all but a fraction ε of them, where every gate is decided
(`enough_examples`).
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
"""The ten functions of two bits that depend on both: bit 2a + b of f is the value at (a, b)."""

MOST_PAIRS = 10**5  # pairs of wires that a gate may read
InputCount: TypeAlias = Annotated[Count, Within(least=2, most=10**9)]
"""An integer from 2 to 10^9: a gate reads two wires."""
GateCount: TypeAlias = Annotated[Count, Within(most=10**9)]
"""An integer from 1 to 10^9."""


@dataclass(frozen=True)
class Circuit:
    """Gates (wire, wire, function) over so many inputs, in order; wire i is input i, then gates."""

    inputs: int
    gates: tuple[tuple[int, int, int], ...]

    def wires(self, inputs: ArrayLike) -> np.ndarray:
        """All wires (N, inputs + G), of inputs (N, inputs) of 0 and 1.

        Raises `ValueError` for others.
        """
        array = Integers(f"N {self.inputs}", Within(least=0, most=1)).read("inputs", inputs)
        wires = list(array.T)
        for a, b, function in self.gates:
            wires.append(function >> (2 * wires[a] + wires[b]) & 1)
        return np.stack(wires, axis=1)


@checked
def circuit(inputs: Count, gates: Sequence[Sequence[Steps]]) -> Circuit:
    """A circuit of these gates.

    Raises `ValueError` for a gate that is not two earlier wires, the first before the second, and
    one of `FUNCTIONS`.
    """
    made = []
    for number, gate in enumerate(gates):
        if len(gate) != 3:
            raise InputError(f"gate {number} is {gate}: give two wires and a function")
        a, b, function = gate
        if not a < b < inputs + number:
            raise InputError(
                f"gate {number} reads wires {a} and {b}: give two of 0 … {inputs + number - 1}, "
                "the smaller one first"
            )
        if function not in FUNCTIONS:
            raise InputError(f"gate {number} is function {function}: give one of {FUNCTIONS}")
        made.append((a, b, function))
    return Circuit(inputs, tuple(made))


@checked
def random_circuit(inputs: InputCount, gates: GateCount, rng: Seed) -> Circuit:
    """Gates of two wires and a function, drawn uniformly.

    Raises `ValueError` for more than 10^5 wires.
    """
    if inputs + gates > MOST_PAIRS:
        raise InputError(
            f"inputs is {inputs} and gates is {gates}: give at most {MOST_PAIRS} wires"
        )
    made = []
    for number in range(gates):
        a, b = sorted(rng.choice(inputs + number, 2, replace=False).tolist())
        made.append((a, b, int(rng.choice(FUNCTIONS))))
    return circuit(inputs, made)


@checked
class GateLearner:
    """Keeps, of each gate, the hypotheses that agree with examples (N, inputs + G).

    Raises `ValueError` for more pairs of wires than 10^5.
    """

    def __init__(
        self,
        inputs: Annotated[InputCount, Within(most="w")],
        wires: Annotated[Any, Integers("N w", Within(least=0, most=1), empty=True)],
    ) -> None:
        self.inputs, count = inputs, wires.shape[1]
        if math.comb(count, 2) > MOST_PAIRS:
            raise InputError(f"{count} wires have more than {MOST_PAIRS} pairs: give fewer")
        self.kept = [_kept(wires, gate) for gate in range(inputs, count)]

    def __call__(self, inputs: ArrayLike) -> np.ndarray:
        """All wires (N, inputs + G), −1 where they are not decided.

        Raises `ValueError` for inputs (N, inputs) that are not 0 and 1.
        """
        array = Integers(f"N {self.inputs}", Within(least=0, most=1)).read("inputs", inputs)
        wires = list(array.T)
        for first, second, functions in self.kept:
            values = np.stack(wires)
            # Which of (0, 0), (0, 1), (1, 0), (1, 1) the two wires may be, as four bits.
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


def _kept(wires: np.ndarray, gate: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of a gate, the wires and the function of each hypothesis that agrees with all examples."""
    first, second = np.array(list(combinations(range(gate), 2))).T
    seen = np.zeros((2, len(first)), dtype=np.int64)  # patterns after which the gate was 0, 1
    for row in np.unique(wires[:, : gate + 1], axis=0):
        seen[row[gate]] |= 1 << (2 * row[first] + row[second])
    functions = np.array(FUNCTIONS)
    agrees = (functions & seen[0][:, None] == 0) & (~functions & seen[1][:, None] == 0)
    pair, which = np.nonzero(agrees)
    return first[pair], second[pair], functions[which]


@checked
def hypotheses(inputs: InputCount, gates: GateCount) -> int:
    """|H| of the last gate, which has the most: ten functions of any two earlier wires."""
    return len(FUNCTIONS) * math.comb(inputs + gates - 1, 2)


@checked
def enough_examples(
    inputs: InputCount, gates: GateCount, epsilon: OpenUnit, delta: OpenUnit
) -> int:
    """N ≥ (G|H|/ε) ln(G|H|/δ), after which at most a fraction ε of inputs is left open.

    Raises `ValueError` for more than 10^300 examples.
    """
    total = gates * hypotheses(inputs, gates)
    if not total / epsilon < 1e300:
        raise InputError(f"epsilon is {epsilon:g}: no computer counts as many examples; give more")
    return math.ceil(total / epsilon * math.log(total / delta))
