"""Circuits of threshold gates of unbounded fan-in; AND, OR and NOT are special cases.

A gate computes [Σ c_w·w ≥ t], which is 1 if the inequality holds and 0 otherwise.  The wires w are
0 or 1, and the weights c_w ≠ 0 and the threshold t are integers.  If p of the weights are +1 and
the other m are −1, the gate is

    for t = p        the AND of its wires, where wires with weight −1 are negated
    for t = 1 − m    the OR of its wires, negated in the same way

So NOT takes no gate: a negation is the sign of a weight, or part of an output.  The first wires are
the inputs 0, …, n_inputs − 1, and the gates follow.  Gates read only earlier wires.  An output is a
wire w, or ~w for the negation of w.

The depth of a circuit is the largest number of gates on a path from an input to an output.
Negations are not gates, as in AC⁰ (AND and OR of unbounded fan-in) and TC⁰ (thresholds).

The inputs are arrays of bits (…, n_inputs).  A word (…, T) of symbols x_i in 0, …, V − 1 is given
by the bits `unary(words, V)`: [x_i ≥ v] for v = 1, …, V − 1.  For V = 2 these bits are the word
itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Number
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from theory import machine
from theory.kinds import Count, InputError, Integer, Steps, VocabularyTokens, array_of, checked

Kind = Literal["and", "or", "threshold"]
INT64 = 2**62  # sums below this number are exact in int64


@checked
@dataclass(frozen=True)
class Gate:
    """A threshold gate: its output is 1 if the weighted sum of its wires is ≥ threshold, else 0.

    Raises `ValueError` for different numbers of wires and weights, for a wire that occurs twice,
    and for a weight of 0.
    """

    wires: tuple[Steps, ...]
    weights: tuple[Integer, ...]
    threshold: Integer

    def __post_init__(self) -> None:
        if len(self.wires) != len(self.weights) or len({*self.wires}) != len(self.wires):
            raise InputError(
                f"wires are {self.wires} with weights {self.weights}: give each wire "
                "once, and one weight for each wire"
            )
        if 0 in self.weights:
            raise InputError(f"weights are {self.weights}: leave out wires of weight 0")

    @property
    def kind(self) -> Kind:
        """The kind of the gate: "and" or "or" of wires and negated wires, else "threshold"."""
        if all(weight in (1, -1) for weight in self.weights):
            if self.threshold == self.weights.count(1):
                return "and"
            if self.threshold == 1 - self.weights.count(-1):
                return "or"
        return "threshold"

    def __str__(self) -> str:
        terms = zip(self.weights, self.wires, strict=True)
        total = " + ".join(f"{weight}·w{wire}" for weight, wire in terms) or "0"
        return f"[{total} ≥ {self.threshold}]".replace("+ -", "− ").replace("-", "−")


@checked
@dataclass(frozen=True)
class ThresholdCircuit:
    """A circuit of threshold gates on `n_inputs` bits; output m is 1 if the answer is `labels[m]`.

    A threshold gate is 1 if a weighted sum of the wires that it reads is at least its threshold,
    and 0 otherwise. Wires 0, …, n_inputs − 1 are the input bits, and the gates follow. An entry
    w ≥ 0 of `outputs` is wire w, and an entry ~w is the negation of wire w.

    Raises `ValueError` if (a) a gate reads itself or a later gate, (b) an output is not a wire, or
    (c) the numbers of outputs and labels differ.
    """

    n_inputs: Steps
    gates: tuple[Gate, ...]
    outputs: tuple[Integer, ...]
    labels: tuple[Integer, ...]

    def __post_init__(self) -> None:
        for wire, gate in enumerate(self.gates, start=self.n_inputs):
            if any(read >= wire for read in gate.wires):
                raise InputError(
                    f"gates[{wire - self.n_inputs}] reads wires {gate.wires}: give wires below "
                    f"{wire}"
                )
        wires = self.n_inputs + len(self.gates)
        if any(not -wires <= output < wires for output in self.outputs):
            raise InputError(
                f"outputs are {self.outputs}: give wires w below {wires}, or ~w for negations"
            )
        if len(self.labels) != len(self.outputs) or not self.outputs:
            raise InputError(
                f"there are {len(self.outputs)} outputs and {len(self.labels)} labels: give one "
                "label for each output, and at least one output"
            )

    @property
    def size(self) -> int:
        """The number of gates that read at least one wire; all other gates are constants."""
        return sum(bool(gate.wires) for gate in self.gates)

    @property
    def kinds(self) -> dict[Kind, int]:
        """The number of gates of each kind: "and", "or" and "threshold".

        An "and" gate is the AND of its wires, some of which may be negated, and an "or" gate is
        their OR. A "threshold" gate is any other gate. Gates that read no wire are not counted.
        """
        counts: dict[Kind, int] = {"and": 0, "or": 0, "threshold": 0}
        for gate in self.gates:
            counts[gate.kind] += bool(gate.wires)
        return counts

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """The depth of each wire: the largest number of gates on a path that ends at the wire.

        The depth of an input is 0, and the depth of a gate that reads no wire is 0.
        """
        found = [0] * self.n_inputs
        for gate in self.gates:
            found.append(1 + max((found[wire] for wire in gate.wires), default=-1))
        return tuple(found)

    @property
    def depth(self) -> int:
        """The depth of the circuit: the largest number of gates on a path from input to output."""
        return max(self.depths[max(output, ~output)] for output in self.outputs)

    @property
    def largest_weight(self) -> int:
        """The largest absolute value of the weights in all gates; 0 if there are no gates."""
        return max((abs(c) for gate in self.gates for c in gate.weights), default=0)

    @property
    def connections(self) -> int:
        """The number of connections from wires to gates: the sum of the fan-ins of all gates."""
        return sum(len(gate.wires) for gate in self.gates)

    def __call__(self, bits: ArrayLike) -> np.ndarray:
        """Returns the outputs (…, outputs) on bits (…, n_inputs), as booleans.

        Raises `ValueError` for numbers other than 0 and 1, and for a wrong number of bits.
        """
        array = array_of("bits", bits)
        if array.ndim < 1 or array.shape[-1] != self.n_inputs:
            raise InputError(f"bits have shape {array.shape}: give rows of {self.n_inputs} bits")
        # An object among the entries may be an array, which is not compared with numbers.
        numbers = array.dtype.kind != "O" or all(isinstance(each, Number) for each in array.flat)
        if not (numbers and np.isin(array, (0, 1)).all()):
            raise InputError(
                "bits contain numbers other than 0 and 1: give bits, for example unary(words, V)"
            )
        rows = array.reshape(math.prod(array.shape[:-1]), self.n_inputs)
        found = np.empty((self.n_inputs + len(self.gates), len(rows)), dtype=bool)
        found[: self.n_inputs] = rows.T
        for wire, gate in enumerate(self.gates, start=self.n_inputs):
            small = sum(map(abs, gate.weights), start=abs(gate.threshold)) < INT64
            weights = np.array(gate.weights, dtype=np.int64 if small else object)
            read = found[list(gate.wires)]
            found[wire] = weights @ read.astype(weights.dtype) >= gate.threshold
        outputs = [found[output] if output >= 0 else ~found[~output] for output in self.outputs]
        return np.stack(outputs, axis=-1).reshape(*array.shape[:-1], len(outputs))

    def answers(self, bits: ArrayLike) -> np.ndarray:
        """The answers (…) of the circuit on bits (…, n_inputs).

        An answer is the label that belongs to the output that is 1. Raises `ValueError` if (a) all
        outputs are 0, (b) several outputs are 1, or (c) the inputs are not n_inputs bits.
        """
        outputs = self(bits)
        if (outputs.sum(-1) != 1).any():
            raise InputError(
                "no output of the circuit is 1, or several outputs are 1: call the circuit itself "
                "to get all outputs"
            )
        return np.asarray(np.array(self.labels)[outputs.argmax(-1)])

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {kind}" for kind, count in self.kinds.items() if count)
        return f"{self.n_inputs} bits, {self.size} gates ({counts}), depth {self.depth}"


@checked
def unary(words: VocabularyTokens, vocabulary_size: Count) -> np.ndarray:
    """The unary code of words: each symbol x becomes the V − 1 bits [x ≥ 1], …, [x ≥ V − 1].

    V is vocabulary_size, and [x ≥ v] is 1 if x ≥ v and 0 otherwise. Words of shape (…, T) become
    bits of shape (…, T·(V − 1)), in which the bits of each symbol are consecutive.
    """
    V = vocabulary_size
    machine.fits_in_memory("the unary bits", (8 + 2 * words.size) * V, "give a smaller vocabulary")
    bits = words[..., None] >= np.arange(1, V)
    return bits.reshape(*words.shape[:-1], words.shape[-1] * (V - 1))


def reachable(
    gates: Sequence[Gate], n_inputs: int, outputs: Iterable[int]
) -> tuple[list[Gate], list[int]]:
    """The gates on which the outputs of a circuit depend, and the outputs, renumbered.

    Inputs and remaining gates are numbered as wires without the gates that are left out.  An output
    w ≥ 0 is wire w, and ~w is the negation of wire w.
    """
    outputs = list(outputs)
    needed = {max(output, ~output) for output in outputs}
    for wire in range(n_inputs + len(gates) - 1, n_inputs - 1, -1):
        if wire in needed:
            needed.update(gates[wire - n_inputs].wires)
    left = [wire for wire in sorted(needed) if wire >= n_inputs]
    number = {wire: wire for wire in range(n_inputs)}
    number |= {wire: n_inputs + place for place, wire in enumerate(left)}
    found = []
    for wire in left:
        gate = gates[wire - n_inputs]
        read = tuple(number[each] for each in gate.wires)
        found.append(Gate(read, gate.weights, gate.threshold))
    return found, [number[w] if w >= 0 else ~number[~w] for w in outputs]
