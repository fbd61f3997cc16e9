"""Evaluation of Boolean circuits of given size, with one CoT token for each gate [Li2024].

A transformer of two layers evaluates every circuit of n inputs and G gates.  The circuit is in the
prompt.  BOS is at position 0 and the n input bits are at positions 1 … n.  Then each of the G gates
has three tokens: its table and the addresses of its two wires.  The address of a wire is the
position of the value of the wire.  The values of the gates are decoded after the prompt: the value
of gate g = 1, 2, … is at position n + 3G + g.  This value is the output at the token before, at
position

    t = n + 3G + g − 1,

and the three tokens of gate g are at n + 3(g − 1) + c = 3t − (2n + 9G) + c, c = 1, 2, 3.  These
positions are linear in t, so the prompt needs no pointers to gates.

Layer 1.  Three heads look up position a = 3t − (2n + 9G) + c by the registers j and j²: the score

    2a·j − j² = a² − (a − j)²        is largest at j = a, by at least 1; if a < 0, at j = 0.

The heads retrieve the table, whose four bits are written to `table`, and the two addresses, which
are written to `left` and `right`.  The token at t is a bit or an address, so `table` is 0 there
before layer 1.  Tokens before the first such t have a ≤ n.  Then position a has no table and no
address, so `left` and `right` are 0, the position of BOS.

Layer 2.  In the same way two heads look up the positions `left` and `right` of earlier wires, and
write the values there to `x` and `y`.  The MLP adds four ReLUs,

    Σ_{a,b} relu(f(a, b) + [x = a] + [y = b] − 2) = f(x, y),

at most one of which is positive, where f is the function of the gate and a and b run over 0 and 1.
The MLP writes 2f(x, y) − 1 to `result`, whose sign is the output.

Before the last token of the prompt the output is f(0, 0) at a table, and 0 elsewhere.  This output
is not used, since the tokens of the prompt are given.  A prompt that ends too early raises
ValueError.

Circuits of NAND gates need no tables.  Gate g has two tokens, at 2t − (n + 4G) + c, c = 1, 2, and
its value is the output at t = n + 2G + g − 1.  Each layer has two heads, and the MLP has one ReLU,

    1 − 2 relu(x + y − 1) = 2 NAND(x, y) − 1.

Before the last token of the prompt the output is NAND(0, 0) = 1.

The width is constant, and the numbers have O(log(n + G)) bits.  In the theorem of [Li2024], which
is not checked here, the width is O(log(n + G)) and the precision is constant.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Embed, PosEmbed, Stage
from constructions.call import construction
from constructions.primitives import And, Move, Primitive
from constructions.stream import LinearRead, Map, Stream, one
from constructions.tokens import Tokens, placed, sizes
from constructions.transformer import Transformer
from theory.computation.boolean_circuits import NAND, TABLES, Circuit
from theory.computation.circuit_prompts import read_gates
from theory.kinds import Count, InputError, Integers, Positive, Within

BITS = 2  # tokens 0 and 1 are bits; then come the tables, if any, and the wires
PARTS = "the table", "the left wire", "the right wire"


class Circuits(Tokens):
    """The tokenizer of Boolean circuits: the tokens are bits, then tables, if any, then wires.

    The bits are tokens 0 and 1.  Table k is token 2 + k.  Wire w is token 18 + w, or token 2 + w if
    all gates are NAND gates.
    """

    def __init__(self, n_inputs: int, n_gates: int, nand: bool = False) -> None:
        self.nand, self.parts = nand, PARTS[nand:]
        first = BITS + TABLES * (not nand)
        tables = [range(BITS, first)] * (not nand)
        slots = [range(BITS)] * n_inputs
        for g in range(n_gates):
            slots += [*tables, *[range(first, first + n_inputs + g)] * 2]
        slots += [range(BITS)] * (n_gates - 1)
        V, whole = first + n_inputs + n_gates - 1, n_inputs + len(self.parts) * n_gates
        super().__init__(
            V, len(slots), prefix=(V,), least=whole, slots=slots, answers=BITS, margin=1.0
        )
        self.n_inputs, self.n_gates, self.first_wire = n_inputs, n_gates, first

    def lacking(self, given: int) -> str:
        """The end of the error message for a prompt of `given` tokens that ends in the circuit."""
        gate, part = divmod(given - self.n_inputs, len(self.parts))
        lacks = f"{self.parts[part]} of gate {gate} of {self.n_gates}"
        if given < self.n_inputs:
            lacks = f"bit {given + 1} of {self.n_inputs}"
        return f", so that {lacks} is missing: give model.interface.prompt(circuit, inputs)"

    def prompt(self, circuit: Circuit, inputs: ArrayLike) -> np.ndarray:
        """The prompts for a circuit with inputs (…, n).

        For n inputs and G gates the prompts have shape (…, n + 3G), or (…, n + 2G) if the model was
        built with `nand`.  Raises ValueError for a circuit of other sizes, for a gate other than
        NAND if the model was built with `nand`, and for inputs that are not bits.
        """
        if not isinstance(circuit, Circuit):
            raise InputError(f"circuit has type {type(circuit).__name__}: give a Circuit")
        if (circuit.n_inputs, circuit.n_gates) != (self.n_inputs, self.n_gates):
            raise InputError(
                f"circuit is {circuit}: give a circuit of {self.n_inputs} inputs and "
                f"{self.n_gates} gates"
            )
        other = [g for g, gate in enumerate(circuit.gates) if gate.table != NAND]
        if self.nand and other:
            raise InputError(
                f"gate {other[0]} of {circuit} has table {circuit.gates[other[0]].table}, not NAND "
                f"({NAND}): use circuit_evaluator(…) without nand"
            )
        bits = Integers(f"... {self.n_inputs}", Within(least=0, most=1)).read("inputs", inputs)
        first = np.array([BITS, self.first_wire, self.first_wire])
        gates = (np.array(circuit.gates) + first)[:, self.nand :].reshape(-1)
        return np.concatenate([bits, np.broadcast_to(gates, (*bits.shape[:-1], gates.size))], -1)


@construction
def circuit_evaluator(
    n_inputs: Count, n_gates: Count, *, nand: bool = False, sharpness: Positive | None = None
) -> Transformer:
    """Returns a model that evaluates any Boolean circuit of a given size by a chain of thought.

    For a circuit of n_inputs inputs and n_gates gates, and inputs (…, n_inputs) of bits, the model
    generates one token for each gate, the value of the gate. The values of the gates are

        model.generate(model.interface.prompt(circuit, inputs), n_gates)

    | gates     | layers | heads | width | ReLUs | prompt |
    |-----------|--------|-------|-------|-------|--------|
    | any       | 2      | 3     | 13    | 4     | n + 3G |
    | only NAND | 2      | 2     | 9     | 1     | n + 2G |

    The table holds for all n = n_inputs and G = n_gates. The column "ReLUs" is the number of hidden
    neurons, and the column "prompt" is the number of tokens of the prompt. The row "only NAND" is
    for nand=True. The numbers n and G occur only in biases and in the embeddings of tokens and
    positions.

    With a `sharpness` β, attention is softmax at inverse temperature β; otherwise it is hardmax.
    Raises ValueError for a sharpness at which answers could be wrong.
    """
    n, G = n_inputs, n_gates
    parts = len(PARTS) - nand
    V, T = sizes(BITS + TABLES * (not nand) + n + G - 1, n + (parts + 1) * G - 1)
    singles = dict.fromkeys(("address", "j", "square", "left", "right", "x", "y", "result"), 1)
    stream = Stream(value=1, **({} if nand else {"table": 4}), **singles)
    value, address, j, square = map(stream.read, ("value", "address", "j", "square"))
    wires, here = np.arange(n + G - 1), np.arange(T + 1)

    def fetched(c: int, value: LinearRead, into: str) -> Head:
        place = float(parts) * j - float((parts - 1) * n + parts**2 * G - c) * one
        return placed(place, (j, square), value, into)

    def followed(pointer: str, into: str) -> Head:
        return placed(stream.read(pointer), (j, square), value, into)

    sides = ("left", "right")
    gates = [fetched(parts - 1 + c, address, side) for c, side in enumerate(sides)]
    if not nand:
        gates.insert(0, fetched(1, stream.read("table"), "table"))
    embedding = {
        "value": np.arange(V + 1) == 1,
        "address": np.pad(
            np.where(wires < n, wires + 1, wires + parts * G + 1), (V - len(wires), 1)
        ),
    }
    if not nand:
        embedding["table"] = np.pad(_bits(), ((BITS, V + 1 - BITS - TABLES), (0, 0)))
    bounds = {"table": 1.0, "left": float(T), "right": float(T), "result": 1.0}
    return Transformer(
        Embed(rows(stream, **embedding)),
        [
            block(stream, gates, normalise="hardmax", mask="causal"),
            block(
                stream,
                [followed("left", "x"), followed("right", "y")],
                _nand(stream) if nand else _tabled(stream),
                normalise="hardmax",
                mask="causal",
            ),
        ],
        unembed(stream, 0.0 * value, stream.read("result")),
        pos_embed=PosEmbed(rows(stream, j=here, square=here**2)),
        interface=Circuits(n, G, nand),
        stream=stream,
        stages=(
            *(Stage(1, name, partial(_read, nand, name)) for name in ("table", *sides)[nand:]),
            *(Stage(2, name, partial(_read, nand, name)) for name in ("x", "y")),
            Stage(2, "result", partial(_signed, nand)),
        ),
        at_most={name: most for name, most in bounds.items() if name in stream},
        source="[Li2024]",
    ).sharpened(sharpness)


def _read(nand: bool, what: str, tokens: np.ndarray) -> np.ndarray:
    """The array `name` of `read_gates`."""
    return read_gates(tokens, nand)[what]


def _signed(nand: bool, tokens: np.ndarray) -> np.ndarray:
    """The value of the gate at each token, as −1 or 1."""
    return 2 * read_gates(tokens, nand)["value"] - 1


def _tabled(stream: Stream) -> list[Primitive]:
    """The ReLUs that compute 2f(x, y) − 1 for the table f: one for each of its bits."""
    x, y, table = map(stream.read, ("x", "y", "table"))
    cases = [
        And(
            (table @ Map(np.eye(4)[:, [2 * a + b]], f"[{a}{b}]"), _is(x, a), _is(y, b)),
            "result",
            2.0,
        )
        for a in range(2)
        for b in range(2)
    ]
    return [*cases, Move(-one, "result")]


def _nand(stream: Stream) -> list[Primitive]:
    """The ReLU that computes 1 − 2 relu(x + y − 1)."""
    return [And((stream.read("x"), stream.read("y")), "result", -2.0), Move(one, "result")]


def _bits() -> np.ndarray:
    """The four bits of every table, (tables, 4)."""
    return (np.arange(TABLES)[:, None] >> np.arange(4) & 1).astype(np.float64)


def _is(bit: LinearRead, value: int) -> LinearRead:
    return bit if value else one - bit
