"""Boolean circuits: gates of two wires each, in an order in which every wire comes before its use.

Wires 0 … n − 1 are the inputs, wire n + g is gate g. A gate is a table of four bits and two earlier
wires; it says bit 2x + y of its table for the values x and y of its wires: table 8 is AND, 14 OR,
6 XOR, 7 NAND. Both wires may be the same, and a table may look at one of them, or at none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError

TABLES = 16
AND, OR, XOR, NAND, NOR, XNOR = 8, 14, 6, 7, 1, 9


class Gate(NamedTuple):
    """Bit 2x + y of `table`, for the values x of wire `left` and y of wire `right`."""

    table: int
    left: int
    right: int


@dataclass(frozen=True)
class Circuit:
    """`n_inputs` inputs and gates (table, left, right) over earlier wires.

    Raises `ValueError` for fewer than one input, no gates, a table that is no number from 0 to 15,
    and a wire that is not before its gate: so there are no cycles.
    """

    n_inputs: int
    gates: tuple[Gate, ...]
    name: str = "circuit"

    def __post_init__(self) -> None:
        n = checks.dimension("n_inputs", self.n_inputs)
        given: Any = self.gates
        if not isinstance(given, Sequence) or isinstance(given, str) or not len(given):
            raise InputError(f"{self.name} has no gates: give (table, left, right) for each")
        for g, gate in enumerate(given):
            if not isinstance(gate, Sequence) or isinstance(gate, str) or len(gate) != 3:
                raise InputError(f"gate {g} of {self.name} is {gate!r}: give (table, left, right)")
            for what, number, end in zip(Gate._fields, gate, (TABLES, n + g, n + g), strict=True):
                whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
                if not whole or not 0 <= number < end:
                    of = "a table" if what == "table" else "an earlier wire"
                    raise InputError(
                        f"the {what} of gate {g} of {self.name} is {number!r}: give {of}, a number "
                        f"from 0 to {end - 1}"
                    )
        object.__setattr__(self, "gates", tuple(Gate(*map(int, gate)) for gate in given))

    @property
    def n_gates(self) -> int:
        """The number of gates."""
        return len(self.gates)

    def run(self, inputs: ArrayLike) -> np.ndarray:
        """The values (…, gates) of all gates on inputs (…, n) of bits.

        Raises `ValueError` for what are no bits, or not n of them.
        """
        bits = checks.tokens("inputs", inputs, 2)
        if bits.shape[-1] != self.n_inputs:
            raise InputError(
                f"{bits.shape[-1]} inputs for {self.name}: give {self.n_inputs}, one for each"
            )
        wires = list(np.moveaxis(bits, -1, 0))
        for table, left, right in self.gates:
            wires.append(table >> (2 * wires[left] + wires[right]) & 1)
        return np.stack(wires[self.n_inputs :], axis=-1)

    def __str__(self) -> str:
        return f"{self.name} ({self.n_inputs} inputs, {self.n_gates} gates)"


def all_circuits(
    n_inputs: int, n_gates: int, tables: Sequence[int] = range(TABLES)
) -> Iterator[Circuit]:
    """Every circuit of these sizes and of k tables: ∏_g k(n + g)² of them.

    Raises `ValueError` for sizes below 1.
    """
    checks.dimension("n_inputs", n_inputs), checks.dimension("n_gates", n_gates)
    choices = (product(tables, range(n_inputs + g), range(n_inputs + g)) for g in range(n_gates))
    for gates in product(*choices):
        yield Circuit(n_inputs, tuple(Gate(*gate) for gate in gates))


def random_circuit(
    n_inputs: int,
    n_gates: int,
    seed: int | np.random.Generator,
    tables: Sequence[int] = range(TABLES),
) -> Circuit:
    """Uniform among `tables`, over uniform earlier wires. Raises `ValueError` for sizes below 1."""
    n, count = checks.dimension("n_inputs", n_inputs), checks.dimension("n_gates", n_gates)
    rng = np.random.default_rng(seed)
    gates = [
        Gate(tables[int(rng.integers(len(tables)))], *rng.integers(n + g, size=2).tolist())
        for g in range(count)
    ]
    return Circuit(n, tuple(gates), f"random({n}, {count})")


def adder(bits: int) -> Circuit:
    """Two numbers of so many bits, lowest first, x then y: 6 gates a bit, the last two of which are
    its sum and the carry. Raises `ValueError` for fewer than one bit.
    """
    count = checks.dimension("bits", bits)
    gates: list[Gate] = []
    carry: int | None = None
    for i in range(count):
        first = 2 * count + len(gates)
        x, y = i, count + i
        # Before the first bit nothing is carried: table 0 says 0 whatever its wires are.
        below = Gate(0, x, x) if carry is None else Gate(12, carry, carry)
        gates += [below, Gate(XOR, x, y), Gate(AND, x, y)]
        gates += [Gate(AND, first, first + 1), Gate(XOR, first, first + 1)]
        gates += [Gate(OR, first + 2, first + 3)]
        carry = first + 5
    return Circuit(2 * count, tuple(gates), f"adder of {count} bits")
