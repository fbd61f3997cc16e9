"""Any Boolean circuit, a gate decoded after the other [Li2024]: two layers, the same for all.

The circuit is in the prompt.  BOS stands at position 0, the n input bits at 1 … n, and for each of
the G gates three tokens: its table, and the addresses of its two wires.  The values of the gates
are decoded behind them: gate g = 1, 2, … at position n + 3G + g, said by the token before it, at

    t = n + 3G + g − 1.       Its tokens stand at n + 3(g − 1) + c = 3t − (2n + 9G) + c, c = 1, 2, 3

which is linear in t: no pointers.  The address of a wire is the position of its value.

Layer 1.  Three heads look up a = 3t − (2n + 9G) + c by positions j and their squares,

    score 2a·j − j² = a² − (a − j)²        largest at j = a, by at least 1; for a < 0 at j = 0

and carry the table, four bits, into `table`, and the two addresses into `left` and `right`.  At the
tokens that answer, `table` is 0 before: they are bits, or an address.  At the tokens before them
a ≤ n, where no table stands and no address: `left` and `right` are 0, BOS.
Layer 2.  Two heads look up the positions `left` and `right` in the same way, which are those of
earlier wires, and carry their values into `x` and `y`.  The MLP adds up four gates,

    Σ_{a,b} relu(f(a, b) + [x = a] + [y = b] − 2) = f(x, y),

of which one at most is on, and writes 2f(x, y) − 1 into `result`, whose sign is the answer.

So tokens before the last one of the prompt answer f(0, 0) if they are a table, and else 0: nobody
looks at it, since values are carried from the embedding.  A prompt that ends there is refused.

The width is a constant, and the numbers have O(log(n + G)) bits; the theorem of [Li2024], recalled
and not checked here, has a width of O(log) and constant precision instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

from constructions.assembly import Head, block, rows, unembed
from constructions.stream import Map, Reading, Stream, one
from constructions.tokens import Tokens, placed, sizes
from constructions.transformer import Embed, PosEmbed, Stage, Transformer
from constructions.words import And, Move
from theory import checks
from theory.checks import InputError
from theory.computation.boolean_circuits import TABLES, Circuit

BITS = 2  # tokens 0 and 1 are bits, then come the tables, then the wires


class Circuits(Tokens):
    """Bits 0 and 1; table k as 2 + k; wire w as 18 + w."""

    def __init__(self, n_inputs: int, n_gates: int) -> None:
        wires, first = n_inputs + n_gates - 1, BITS + TABLES
        slots = [range(BITS)] * n_inputs
        for g in range(n_gates):
            earlier = range(first, first + n_inputs + g)
            slots += [range(BITS, first), earlier, earlier]
        slots += [range(BITS)] * (n_gates - 1)
        V = first + wires
        super().__init__(V, len(slots), prefix=(V,), slots=slots, answers=BITS, margin=1.0)
        self.n_inputs, self.n_gates = n_inputs, n_gates

    def _tokens(self, like: Tensor, inputs: tuple[Any, ...]) -> Tensor:
        """The sequences, which have to hold the whole circuit: values come behind it."""
        sequence = super()._tokens(like, inputs)
        given, n, G = sequence.shape[-1], self.n_inputs, self.n_gates
        if given < n + 3 * G:
            gate, part = divmod(given - n, 3)
            parts = "the table", "the left wire", "the right wire"
            lacks = (
                f"bit {given + 1} of {n}" if given < n else f"{parts[part]} of gate {gate} of {G}"
            )
            raise InputError(
                f"the prompt has {given} of {n + 3 * G} tokens, and next would be {lacks}: give "
                "all, as by model.interface.prompt(circuit, inputs)"
            )
        return sequence

    def prompt(self, circuit: Circuit, inputs: ArrayLike) -> np.ndarray:
        """The prompt (…, n + 3G) of a circuit and its inputs (…, n).

        Raises ValueError for a circuit of other sizes, and for what are no bits.
        """
        if not isinstance(circuit, Circuit):
            raise InputError(f"a {type(circuit).__name__} is no circuit: give Circuit(…)")
        if (circuit.n_inputs, circuit.n_gates) != (self.n_inputs, self.n_gates):
            raise InputError(
                f"{circuit}: this model takes circuits of {self.n_inputs} inputs and "
                f"{self.n_gates} gates"
            )
        bits = checks.tokens("inputs", inputs, BITS)
        if bits.shape[-1] != self.n_inputs:
            raise InputError(f"{bits.shape[-1]} inputs: give {self.n_inputs}")
        first = np.array([BITS, BITS + TABLES, BITS + TABLES])
        gates = (np.array(circuit.gates) + first).reshape(-1)
        return np.concatenate([bits, np.broadcast_to(gates, (*bits.shape[:-1], gates.size))], -1)


def circuit_evaluator(n_inputs: int, n_gates: int, sharpness: float | None = None) -> Transformer:
    """The values of the gates of any circuit of n_inputs inputs and n_gates gates, decoded:

        model.generate(model.interface.prompt(circuit, inputs), n_gates)

    2 layers, 3 heads, width 13, 4 units, whatever the sizes: these are in the biases alone.

    Raises ValueError for sizes below 1, and for a sharpness that is too small.
    """
    n, G = checks.dimension("n_inputs", n_inputs), checks.dimension("n_gates", n_gates)
    V, T = sizes(BITS + TABLES + n + G - 1, n + 4 * G - 1)
    stream = Stream(value=1, table=4, address=1, j=1, square=1, left=1, right=1, x=1, y=1, result=1)
    value, table, address, j, square = map(stream.read, list(stream)[:5])
    x, y = stream.read("x"), stream.read("y")
    wires, here = np.arange(n + G - 1), np.arange(T + 1)

    def fetched(c: int, carries: Reading, into: str) -> Head:
        place = 3.0 * j - float(2 * n + 9 * G - c) * one
        return placed(place, (j, square), carries, into)

    def followed(pointer: str, into: str) -> Head:
        return placed(stream.read(pointer), (j, square), value, into)

    gates = [fetched(1, table, "table"), fetched(2, address, "left"), fetched(3, address, "right")]
    cases = [
        And(
            (table @ Map(np.eye(4)[:, [2 * a + b]], f"[{a}{b}]"), _is(x, a), _is(y, b)),
            "result",
            2.0,
        )
        for a in range(2)
        for b in range(2)
    ]
    embedding = {
        "value": np.arange(V + 1) == 1,
        "table": np.pad(_bits(), ((BITS, V + 1 - BITS - TABLES), (0, 0))),
        "address": np.pad(np.where(wires < n, wires + 1, wires + 3 * G + 1), (V - len(wires), 1)),
    }
    return Transformer(
        Embed(rows(stream, **embedding)),
        [
            block(stream, gates, normalise="hardmax", mask="causal"),
            block(
                stream,
                [followed("left", "x"), followed("right", "y")],
                [*cases, Move(-one, "result")],
                normalise="hardmax",
                mask="causal",
            ),
        ],
        unembed(stream, 0.0 * value, stream.read("result")),
        pos_embed=PosEmbed(rows(stream, j=here, square=here**2)),
        interface=Circuits(n, G),
        stream=stream,
        stages=(
            Stage(1, "table", "table"),
            Stage(1, "left", "left"),
            Stage(1, "right", "right"),
            Stage(2, "x", "x"),
            Stage(2, "y", "y"),
            Stage(2, "result", "sign"),
        ),
        at_most={"table": 1.0, "left": float(T), "right": float(T), "result": 1.0},
        name=f"circuit_evaluator({n}, {G})",
        source="[Li2024]; sizes proved in constructions/computation/boolean_circuits.py",
    ).sharpened(sharpness)


def _bits() -> np.ndarray:
    """Bit 2a + b of every table, (tables, 4)."""
    return (np.arange(TABLES)[:, None] >> np.arange(4) & 1).astype(np.float64)


def _is(bit: Reading, value: int) -> Reading:
    return bit if value else one - bit
