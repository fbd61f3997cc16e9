"""Turing machines as a chain of thought, in which each token is a step of the machine [MS2024].

BOS is at position 0.  Token i = 1, 2, … is step i of the history of a machine that begins at cell 0
of a blank tape: the state after the step, the symbol written, and the move d_i = ±1.  Every row of
tokens is such a history, so every row is a prompt.  The first steps write the input word on the
tape.  Step i writes cell c_i = d_1 + … + d_{i−1}, and after the step the head is at
h_i = c_i + d_i.  The next step is

    rules[state_i][symbol],

where `symbol` is the symbol written by the latest step j ≤ i with c_j = h_i, or blank if there is
no such step.  If there is no rule, the output is ⊥.

One layer suffices if each token contains the cell that its step writes.  The embedding contains (c,
c²) and (h, h²), which are integers.  One head looks up the latest write at h (`tokens/heads.py`),
with M = 2T + 2 for histories of at most T steps:

    score M(2h·c_j − c_j²) + j + (M h² − M/2)·[j is BOS]        largest at this write, by at least 1

If no step has written h, the head finds BOS, whose value is blank.  The value is written to
`symbol`.  The MLP has a ReLU for each rule.  This ReLU replaces the state by the next state and the
symbol by the symbol to write, and writes the move to `go`.  For states Q and tape symbols Γ there
are 2|Q||Γ|(2T + 1) tokens.

If tokens do not contain cells, three layers suffice, with 2|Q||Γ| tokens for every length and
space.

Layer 1.  One head averages the moves of earlier tokens, which is c/N for N tokens.  Another head
averages the moves up to the token, h/N.  Both heads also average the flag of BOS, which yields 1/N.
Two ReLUs compute the positive parts p of the averages, and the negative parts are p − average.

Layer 2.  Four heads look up the positions |c| and |h| by their fractions, one head for each sign,

    score (T + 1)·(2·fraction·j − inverse·j²) = (T + 1)/N · (k² − (k − j)²)

where k is |c| or |h|, and add ±j and j².  Of the two signs, one has fraction 0 and adds nothing.

Layer 3 is the single layer above.

The logit of token (q, s, d) is [state = q] + [symbol = s] + 2·d·go.  This is 4 for the right token
and at most 3 for other tokens, and the logit of ⊥ is 3.  Without a rule go = 0, and the logits of
tokens are at most 2.  If tokens contain cells, 2h·c − c² is added to the logit of a token with cell
c, and h² is added to the logit of ⊥.  So the logits of tokens with other cells are smaller by at
least 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from constructions.assembly import block, rows, unembed
from constructions.blocks import Block, Embed, PosEmbed, Stage, Unembed
from constructions.call import construction
from constructions.primitives import ReLU, Table
from constructions.stream import Map, Stream
from constructions.tokens import Tokens, average, counted, per_token, rows_fit, written
from constructions.transformer import Transformer
from theory.computation.histories import after_each_step
from theory.computation.turing import LEFT, RIGHT, Machine, Step, TuringMachine
from theory.kinds import Count, InputError, Positive, array_of

CELLS = "cell", "cell_square", "head", "head_square"
AFTER = "state", "symbol", "go"
AVERAGES = "before", "before_inverse", "before_up", "after", "after_inverse", "after_up"


class Histories(Tokens):
    """The interface of a model on histories of a Turing machine, with one token for each step.

    For a machine with states Q and tape symbols Γ, the token of a step is
    (state·|Γ| + symbol)·2 + right, where state is the state after the step, symbol is the symbol
    that the step writes, and right is 1 if the head moves to the right and 0 otherwise.  If
    `addressed` is true, a token also names the cell that its step writes: cells are numbered in the
    order 0, 1, −1, 2, −2, …, and 2|Q||Γ| times the number of the cell is added to the token.
    """

    def __init__(self, machine: TuringMachine, max_length: int, addressed: bool) -> None:
        self.machine, self.addressed = machine, addressed
        self.kinds = 2 * machine.n_states * machine.n_symbols
        V = self.kinds * (2 * max_length + 1 if addressed else 1)
        # Step t = 0, 1, … can write cells −t … t.
        reached = [range((2 * t + 1) * self.kinds) for t in range(max_length)]
        slots = reached if addressed else None
        super().__init__(V, max_length, prefix=(V,), slots=slots, margin=1.0, bottom=True)

    def tokens(self, steps: Sequence[Step]) -> list[int]:
        """The tokens of a history."""
        found, cell = list[int](), 0
        for state, symbol, move in steps:
            number = (2 * cell - 1 if cell > 0 else -2 * cell) if self.addressed else 0
            pair = state * self.machine.n_symbols + symbol
            found.append(2 * pair + (move == RIGHT) + self.kinds * number)
            cell += move
        return found

    def prompt(self, word: Sequence[int] = ()) -> list[int]:
        """The tokens of steps that write a word and leave the head on the word's first symbol.

        Raises ValueError for symbols ≥ n_symbols of the machine.
        """
        return self.tokens(self.machine.writing(word))

    def steps(self, tokens: ArrayLike) -> list[Step]:
        """The steps of a row of decoded tokens (T,), up to the first ⊥."""
        found, array = list[Step](), array_of("tokens", tokens)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise InputError(
                f"tokens have shape {array.shape} and dtype {array.dtype}: give one row of integers"
            )
        for token in array.tolist():
            if token < 0:
                break
            if token >= self.vocabulary_size:
                raise InputError(
                    f"token {token} does not stand for a step: give tokens below "
                    f"{self.vocabulary_size}"
                )
            kind, right = divmod(token % self.kinds, 2)
            state, symbol = divmod(kind, self.machine.n_symbols)
            found.append(Step(state, symbol, RIGHT if right else LEFT))
        return found

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The state (one-hot), symbol (one-hot), move and cell (0 without cells) of each token."""
        number, kind = np.divmod(np.arange(self.vocabulary_size), self.kinds)
        state, symbol = np.divmod(kind // 2, self.machine.n_symbols)
        return (
            np.eye(self.machine.n_states)[state],
            np.eye(self.machine.n_symbols)[symbol],
            2.0 * (kind % 2) - 1,
            np.where(number % 2, 1.0, -1.0) * ((number + 1) // 2) * self.addressed,
        )


@construction
def turing_machine(
    machine: Machine,
    max_length: Count,
    *,
    addressed: bool = False,
    sharpness: Positive | None = None,
) -> Transformer:
    """Returns a model that outputs the next step of a Turing machine, or ⊥ (−1) if it halts.

    A step is the state after the step, the symbol written and the move of the head. The input of
    the model is the sequence of the steps so far, of which there are at most T = max_length. The
    first steps write the input word on the tape. The steps on a word are

        model.interface.steps(model.generate(model.interface.prompt(word), steps))

    | tokens    | layers | heads | width           | ReLUs   | vocabulary       |
    |-----------|--------|-------|-----------------|---------|------------------|
    | steps     | 3      | 4     | |Q| + 2|Γ| + 15 | |rules| | 2|Q||Γ|          |
    | addressed | 1      | 1     | |Q| + 2|Γ| + 7  | |rules| | 2|Q||Γ|(2T + 1)  |

    Here Q are the states, including halting states, Γ are the tape symbols, and |rules| is the
    number of rules. The row "addressed" is for addressed=True. In this case a token also contains
    the number of the tape cell to which its step writes. The column "ReLUs" is for the last layer.
    In the row "steps", the first of the three layers also has two ReLUs.

    With a `sharpness` β, attention is softmax at inverse temperature β; otherwise it is hardmax.
    Raises ValueError for a machine without rules, and for a sharpness at which answers could be
    wrong.
    """
    if not machine.n_rules:
        raise InputError(f"machine {machine.name} has no rules: give at least one rule")
    T = max_length
    kinds = 2 * machine.n_states * machine.n_symbols
    rows_fit(T + kinds * (2 * T + 1 if addressed else 1))
    single = ["go", "bos", "j", *CELLS, *(() if addressed else ("move", "square", *AVERAGES))]
    stream = Stream(
        state=machine.n_states,
        wrote=machine.n_symbols,
        symbol=machine.n_symbols,
        **dict.fromkeys(single, 1),
    )
    stream.fits(3, heads=4)
    interface = Histories(machine, T, addressed)
    here = np.arange(T + 1)
    place = {"j": here} if addressed else {"j": here, "square": here**2}
    layers = [] if addressed else [_averages(stream), _cells(stream, T)]
    last = len(layers) + 1
    held = [Stage(last, x, partial(_replayed, machine, x, addressed)) for x in AFTER]
    bounds = {name: float(T ** (1 + name.endswith("square"))) for name in CELLS}
    ones = [name for name in stream if name not in (*CELLS, "j", "square")]
    return Transformer(
        Embed(rows(stream, **_embedding(interface))),
        [*layers, _next_step(stream, machine, T)],
        _unembed(stream, interface),
        pos_embed=PosEmbed(rows(stream, **place)),
        interface=interface,
        stream=stream,
        stages=(*(() if addressed else _before_the_last(machine)), *held),
        at_most=bounds | dict.fromkeys(ones, 1.0),
        source="[MS2024]",
    ).sharpened(sharpness)


def _before_the_last(machine: TuringMachine) -> tuple[Stage, ...]:
    """The invariants of the layers before the last one: averages of moves, and cells."""
    found = [
        stage
        for front, name, sums in ((0, "before", "cell"), (1, "after", "head"))
        for stage in (
            Stage(1, name, partial(_average, machine, sums, front)),
            Stage(1, f"{name}_inverse", partial(_inverse, front)),
        )
    ]
    return *found, *(Stage(2, name, partial(_replayed, machine, name, False)) for name in CELLS)


def _replayed(machine: TuringMachine, what: str, addressed: bool, tokens: np.ndarray) -> np.ndarray:
    """The quantity `name` of `after_each_step`."""
    return after_each_step(machine, tokens, addressed)[what]


def _average(machine: TuringMachine, sums: str, front: int, tokens: np.ndarray) -> np.ndarray:
    """The cell c or h, which is a sum of moves, divided by the number of tokens."""
    return per_token(after_each_step(machine, tokens)[sums][..., 0], front)


def _inverse(front: int, tokens: np.ndarray) -> np.ndarray:
    """1/N, for the number N of tokens."""
    return per_token(np.ones(tokens.shape), front)


def _embedding(interface: Histories) -> dict[str, np.ndarray]:
    """The embedding: state, symbol, move and cell of each token; the blank and the flag of BOS."""
    state, symbol, move, cell = interface.parts()
    blank = np.eye(1, symbol.shape[1])
    held = {"state": np.vstack([state, 0 * state[:1]]), "wrote": np.vstack([symbol, blank])}
    held["bos"] = np.append(0 * move, 1)
    if not interface.addressed:
        return {**held, "move": np.append(move, 0)}
    cell, head = np.append(cell, 0), np.append(cell + move, 0)
    return {**held, "cell": cell, "cell_square": cell**2, "head": head, "head_square": head**2}


def _averages(stream: Stream) -> Block:
    """Layer 1: the averages of the moves before and up to a token, and their positive parts."""
    move, bos = stream.read("move"), stream.read("bos")
    heads = [
        average((move, bos), ("before", "before_inverse"), mask="strictly causal"),
        average((move, bos), ("after", "after_inverse"), mask="causal"),
    ]
    parts = [ReLU(stream.read(name), f"{name}_up") for name in ("before", "after")]
    return block(stream, heads, parts, normalise="hardmax", mask="causal")


def _cells(stream: Stream, T: int) -> Block:
    """The cell that a step writes and the cell of the head after it, with their squares."""
    j, square = stream.read("j"), stream.read("square")
    heads = []
    for name, into in (("before", "cell"), ("after", "head")):
        up, inverse = stream.read(f"{name}_up"), stream.read(f"{name}_inverse")
        for fraction, signed in ((up, j), (up - stream.read(name), -j)):
            carried = (signed, square), (into, f"{into}_square")
            heads.append(counted(fraction, inverse, (j, square), *carried, T))
    return block(stream, heads, normalise="hardmax", mask="causal")


def _next_step(stream: Stream, machine: TuringMachine, T: int) -> Block:
    """The symbol under the head, and the rule for it and the state."""
    read = stream.read
    query, at = (read("head"), read("head_square")), (read("cell"), read("cell_square"))
    head = written(query, at, read("j"), read("bos"), read("wrote"), "symbol", T)
    pairs = [(q, s) for q, row in enumerate(machine.rules) for s, rule in enumerate(row) if rule]
    keys = np.array([_pair(machine, q, s) for q, s in pairs])
    steps = [rule for row in machine.rules for rule in row if rule]
    after = np.array([_pair(machine, step.state, step.symbol) for step in steps])
    entries = np.hstack([after - keys, [[step.move] for step in steps]])
    table = Table((read("state"), read("symbol")), keys, entries, ("state", "symbol", "go"))
    return block(stream, [head], [table], normalise="hardmax", mask="causal")


def _pair(machine: TuringMachine, state: int, symbol: int) -> np.ndarray:
    return np.append(np.eye(machine.n_states)[state], np.eye(machine.n_symbols)[symbol])


def _unembed(stream: Stream, interface: Histories) -> Unembed:
    """The logits [state = q] + [symbol = s] + 2·d·go, and 3 for ⊥.

    With addressed tokens 2h·c − c² is added, and h² for ⊥.
    """
    state, symbol, move, cell = interface.parts()
    V, far = len(move), float(interface.addressed)
    columns = {"state": state, "symbol": symbol, "go": 2 * move[:, None]}
    columns["head"] = 2 * far * cell[:, None]
    logits = stream.read("head_square") @ Map(far * np.eye(1, V + 1, V), "⊥")
    for name, codes in columns.items():
        logits += stream.read(name) @ Map(np.pad(codes.T, ((0, 0), (0, 1))), "tokens")
    return unembed(stream, logits, bias=np.append(-far * cell**2, 3.0))
