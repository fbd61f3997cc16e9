"""Learning a circuit gate by gate, without ever being wrong [RivestSloan1988].

A circuit has inputs and gates g = 1, …, G, each a function of two earlier wires.  Examples show the
values of all wires: the worked steps.  Of each gate the learner keeps every hypothesis (two earlier
wires and one of the functions allowed) that agrees with all examples, its version space.  To
answer, it goes from gate to gate: a wire is decided if all that is kept agrees, whatever the wires
may be that are not.  As the truth is always kept, **what is decided is right**, whatever the
examples are.

After N ≥ (G|H|/ε) ln(G|H|/δ) random examples, |H| hypotheses a gate, with probability ≥ 1 − δ none
is kept that differs from the truth on more than ε/(G|H|) of the inputs; all that is kept then
agrees with the truth on all but a share ε of them, where every gate is decided (`enough_examples`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError

FUNCTIONS = tuple(f for f in range(16) if f not in (0, 3, 5, 10, 12, 15))
"""The ten functions of two bits that depend on both: bit 2a + b of f is the value at (a, b)."""

MOST_PAIRS = 10**5  # pairs of wires that a gate may read


@dataclass(frozen=True)
class Circuit:
    """Gates (wire, wire, function) over so many inputs, in order; wire i is input i, then gates."""

    inputs: int
    gates: tuple[tuple[int, int, int], ...]

    def wires(self, inputs: ArrayLike) -> np.ndarray:
        """All wires (N, inputs + G), of inputs (N, inputs) of 0 and 1.

        Raises `ValueError` for others.
        """
        array = checks.tokens("inputs", inputs, 2)
        if array.ndim != 2 or array.shape[1] != self.inputs:
            raise InputError(f"inputs have shape {array.shape}: give (N, {self.inputs})")
        wires = list(array.T)
        for a, b, function in self.gates:
            wires.append(function >> (2 * wires[a] + wires[b]) & 1)
        return np.stack(wires, axis=1)


def circuit(inputs: int, gates: Sequence[Sequence[int]]) -> Circuit:
    """A circuit of these gates.

    Raises `ValueError` for a gate that is not two earlier wires, the first before the second, and
    one of `FUNCTIONS`.
    """
    n = checks.dimension("inputs", inputs)
    made = []
    for number, given in enumerate(checks.listed("gates", gates)):
        if len(gate := checks.listed("a gate", given)) != 3:
            raise InputError(f"gate {gate}: give two wires and a function")
        a, b, function = (checks.step_count("an entry of a gate", each) for each in gate)
        if not a < b < n + number:
            raise InputError(
                f"gate {number} reads wires {a} and {b}: give two of 0 … {n + number - 1}, "
                "the smaller one first"
            )
        if function not in FUNCTIONS:
            raise InputError(f"gate {number} is function {function}: give one of {FUNCTIONS}")
        made.append((a, b, function))
    return Circuit(n, tuple(made))


def random_circuit(inputs: int, gates: int, rng: np.random.Generator) -> Circuit:
    """Gates of two wires and a function, drawn uniformly.

    Raises `ValueError` for fewer than two inputs, no gate, and more than 10^5 wires.
    """
    checks.dimension("inputs + gates", _two(inputs) + checks.dimension("gates", gates), MOST_PAIRS)
    rng, made = checks.generator("rng", rng), []
    for number in range(gates):
        a, b = sorted(rng.choice(inputs + number, 2, replace=False).tolist())
        made.append((a, b, int(rng.choice(FUNCTIONS))))
    return circuit(inputs, made)


def _two(inputs: int) -> int:
    if checks.dimension("inputs", inputs) < 2:
        raise InputError("inputs is 1: give at least two, as a gate reads two wires")
    return inputs


class GateLearner:
    """Keeps, of each gate, the hypotheses that agree with examples (N, inputs + G).

    Raises `ValueError` for wires that are not 0 and 1, for gates without two wires to read, and for
    more pairs of wires than 10^5.
    """

    def __init__(self, inputs: int, wires: ArrayLike) -> None:
        array = checks.tokens("wires", wires, 2)
        self.inputs = checks.dimension("inputs", inputs)
        if array.ndim != 2 or array.shape[1] < self.inputs or self.inputs < 2:
            raise InputError(
                f"wires have shape {array.shape}: give (N, inputs + gates), at least 2 inputs"
            )
        if math.comb(array.shape[1], 2) > MOST_PAIRS:
            raise InputError(
                f"{array.shape[1]} wires have more than {MOST_PAIRS} pairs: give fewer"
            )
        self.kept = [_kept(array, gate) for gate in range(self.inputs, array.shape[1])]

    def __call__(self, inputs: ArrayLike) -> np.ndarray:
        """All wires (N, inputs + G), −1 where they are not decided.

        Raises `ValueError` for inputs (N, inputs) that are not 0 and 1.
        """
        array = checks.tokens("inputs", inputs, 2)
        if array.ndim != 2 or array.shape[1] != self.inputs:
            raise InputError(f"inputs have shape {array.shape}: give (N, {self.inputs})")
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


def hypotheses(inputs: int, gates: int) -> int:
    """|H| of the last gate, which has the most: ten functions of any two earlier wires.

    Raises `ValueError` for fewer than two inputs, and no gate.
    """
    _two(inputs)
    checks.dimension("gates", gates)
    return len(FUNCTIONS) * math.comb(inputs + gates - 1, 2)


def enough_examples(inputs: int, gates: int, epsilon: float, delta: float) -> int:
    """N ≥ (G|H|/ε) ln(G|H|/δ), after which at most a share ε of inputs is left open.

    Raises `ValueError` unless 0 < ε, δ < 1, and for fewer than two inputs or no gate.
    """
    n, G = checks.dimension("inputs", inputs), checks.dimension("gates", gates)
    epsilon, delta = (
        checks.positive_number("epsilon", epsilon),
        checks.positive_number("delta", delta),
    )
    if n < 2 or max(epsilon, delta) >= 1:
        raise InputError(
            f"{n} inputs, epsilon {epsilon:g} and delta {delta:g}: give at least two inputs, and "
            "numbers between 0 and 1"
        )
    total = G * hypotheses(n, G)
    if not total / epsilon < 1e300:
        raise InputError(f"epsilon is {epsilon:g}: no computer counts as many examples; give more")
    return math.ceil(total / epsilon * math.log(total / delta))
