"""Boolean circuits of gates of fan-in 2, in an order in which each gate reads earlier wires.

Wires 0 … n − 1 are the n inputs, and wire n + g is the output of gate g.  A gate consists of a
table of four bits and of two earlier wires.  If these wires have the values x and y, the value of
the gate is bit 2x + y of the table.  Table 8 is AND, 14 is OR, 6 is XOR and 7 is NAND.  The two
wires may be equal, and a table may ignore one of the wires or both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from theory import machine
from theory.computation.kinds import Triple
from theory.kinds import Count, InputError, Integers, Seed, Steps, Within, checked
from theory.waiting import announced

TABLES = 16
AND, OR, XOR, NAND, NOR, XNOR = 8, 14, 6, 7, 1, 9


class Gate(NamedTuple):
    """A gate with two inputs, given by its truth table and by the two wires that it reads.

    Let x be the value of wire `left` and y the value of wire `right`. The value of the gate is bit
    2x + y of the number `table`, which is in 0 … 15.
    """

    table: int
    left: int
    right: int


TableNumbers: TypeAlias = Sequence[Annotated[Steps, Within(most=TABLES - 1)]]
"""Tables of gates, as numbers from 0 to 15."""


@checked
@dataclass(frozen=True)
class Circuit:
    """A Boolean circuit: `n_inputs` input bits, and gates that each read two earlier wires.

    Wires 0, …, n_inputs − 1 are the inputs, and wire n_inputs + g is the output of gate g. A gate
    is a triple (table, left, right). If the wires `left` and `right` have the values x and y, the
    value of the gate is bit 2x + y of the number `table`.

    Raises `ValueError` if (a) there are no gates, (b) a table is outside 0 … 15, or (c) a gate
    reads itself or a later wire.
    """

    n_inputs: Count
    gates: tuple[Annotated[Gate, Triple(Gate)], ...]
    name: str = "circuit"

    def __post_init__(self) -> None:
        if not self.gates:
            raise InputError(
                f"gates of {self.name} are empty: give a triple (table, left, right) for each gate"
            )
        for g, gate in enumerate(self.gates, start=self.n_inputs):
            for what, number, end in zip(Gate._fields, gate, (TABLES, g, g), strict=True):
                if not 0 <= number < end:
                    of = "a table" if what == "table" else "an earlier wire"
                    raise InputError(
                        f"gates[{g - self.n_inputs}] of {self.name} has {what}={number}: give "
                        f"{of}, a number from 0 to {end - 1}"
                    )

    @property
    def n_gates(self) -> int:
        """The number of gates of the circuit."""
        return len(self.gates)

    def run(self, inputs: ArrayLike) -> np.ndarray:
        """The values (…, n_gates) of all gates on input bits (…, n_inputs).

        Raises `ValueError` if (a) an input is not 0 or 1, or (b) the number of bits is not
        n_inputs.
        """
        bits = Integers(f"... {self.n_inputs}", Within(least=0, most=1)).read("inputs", inputs)
        wires = list(np.moveaxis(bits, -1, 0))
        for table, left, right in self.gates:
            wires.append(table >> (2 * wires[left] + wires[right]) & 1)
        return np.stack(wires[self.n_inputs :], axis=-1)

    def __str__(self) -> str:
        return f"{self.name} ({self.n_inputs} inputs, {self.n_gates} gates)"


@checked
def all_circuits(
    n_inputs: Count, n_gates: Count, tables: TableNumbers = range(TABLES)
) -> Iterator[Circuit]:
    """Yields all Boolean circuits of n_gates gates on n_inputs inputs.

    A gate reads two wires, which are inputs or earlier gates and may be equal. If the wires have
    the values x and y, the value of the gate is bit 2x + y of its table, a number in 0 … 15. The
    table of each gate ranges over `tables`. For n inputs and k tables, the number of circuits is
    the product of k(n + g)² over g = 0, …, n_gates − 1.
    """
    choices = max(len(tables), 1) * n_gates * (n_inputs + n_gates) ** 2
    machine.fits_in_memory("the choices for all gates", 100 * choices, "give fewer wires")
    return _all_circuits(n_inputs, n_gates, tables)


def _all_circuits(n_inputs: int, n_gates: int, tables: Sequence[int]) -> Iterator[Circuit]:
    choices = (product(tables, range(n_inputs + g), range(n_inputs + g)) for g in range(n_gates))
    for gates in product(*choices):
        yield Circuit(n_inputs, tuple(Gate(*gate) for gate in gates))


@checked
def random_circuit(
    n_inputs: Count, n_gates: Count, seed: Seed, tables: TableNumbers = range(TABLES)
) -> Circuit:
    """A random Boolean circuit: each gate has a uniform table and two uniform earlier wires.

    A wire is an input or the output of a gate. If the two wires have the values x and y, the value
    of the gate is bit 2x + y of its table, a number in 0 … 15 from `tables`.

    Raises `ValueError` if (a) `tables` is empty, or (b) the circuit does not fit in memory.
    """
    n, count = n_inputs, n_gates
    if not tables:
        raise InputError("tables are empty: give at least one table")
    machine.fits_in_memory("the gates and inputs", 300 * count + n, "give fewer gates")
    rng: np.random.Generator = seed
    gates = [
        Gate(tables[int(rng.integers(len(tables)))], *rng.integers(n + g, size=2).tolist())
        for g in range(count)
    ]
    return Circuit(n, tuple(gates), f"random({n}, {count})")


@checked
def adder(n_bits: Count) -> Circuit:
    """A Boolean circuit that adds two numbers x and y of n_bits bits, with 6 gates for each bit.

    The inputs are the bits of x and then the bits of y, both with the least significant bit first.
    Each bit has 6 consecutive gates. The fifth gate is the bit of the sum, and the sixth gate is
    the carry.
    """
    count = n_bits
    machine.fits_in_memory("the gates of the adder", 2000 * count, "give fewer bits")
    gates: list[Gate] = []
    carry: int | None = None
    for i in announced(range(count), "adder"):
        first = 2 * count + len(gates)
        x, y = i, count + i
        # The first carry is 0: table 0 is constant.
        below = Gate(0, x, x) if carry is None else Gate(12, carry, carry)
        gates += [below, Gate(XOR, x, y), Gate(AND, x, y)]
        gates += [Gate(AND, first, first + 1), Gate(XOR, first, first + 1)]
        gates += [Gate(OR, first + 2, first + 3)]
        carry = first + 5
    return Circuit(2 * count, tuple(gates), f"{count}-bit adder")


def adversarial(n_inputs: int, n_gates: int, nand: bool = False) -> Iterator[Circuit]:
    """Yields circuits of extreme shapes: chains, equal wires, unused inputs, constant gates.

    If `nand` is true, all gates are NAND gates; the wires do not depend on `nand`.
    """
    n, G = n_inputs, n_gates
    last = [max(n + g - 1, 0) for g in range(G)]
    every, constant = range(G), (0, TABLES - 1)
    extreme = {
        "a chain of XOR": [Gate(XOR, last[g], g % n) for g in every],
        "NAND of equal wires": [Gate(NAND, last[g], last[g]) for g in every],
        "only the first input": [Gate(8 + 6 * (g % 2), 0, 0) for g in every],
        "constant tables": [Gate(constant[g % 2], last[g], 0) for g in every],
        "the first and the last wire": [Gate(OR, 0, last[g]) for g in every],
    }
    for name, gates in extreme.items():
        yield Circuit(n, tuple(g._replace(table=NAND) if nand else g for g in gates), name)
