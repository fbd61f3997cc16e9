"""Turing machines, one decoded token a step [MS2024]: a state, a symbol and a move.

BOS stands at position 0; token i = 1, 2, … is a step (state after it, symbol written, move d_i) of
the history of a machine that began at cell 0 of a blank tape.  Any row of tokens is such a history,
and so a prompt: a word is on the tape once steps have written it.  Step i writes into cell
c_i = d_1 + … + d_{i−1}, and the head then stands at h_i = c_i + d_i.  The next step is

    rules[state_i][symbol],   symbol = what the latest j ≤ i with c_j = h_i wrote, else blank

and ⊥ where there is no rule.

One layer, if tokens have their cell.  The embedding holds (c, c²) and (h, h²), integers.  One
head queries the latest write at h (`tokens/heads.py`, M = 2T + 2):

    score M(2h·c_j − c_j²) + j + (M h² − M/2)·[j is BOS]        largest there, by at least 1

and BOS, whose value is blank, wins if nothing was written at h.  What was written goes to `symbol`;
the MLP, a ReLU for each rule, moves [state] to the next state and [symbol] to what is written, in
their places, and writes the move.  There are 2|Q||Γ|(2T + 1) tokens.

Three layers, if they have not: 2|Q||Γ| tokens, whatever the length and the space.
Layer 1.  Two heads average the moves, over the tokens before, c/N, and over those up to the token
itself, h/N; two more do that to BOS's flag, which is 1/N.  Two ReLUs keep the positive part p of
these; the negative part is p − share.
Layer 2.  Four heads look up the positions |c| and |h| by their shares, a head for each sign,

    score (T + 1)·(2·share·j − inverse·j²) = (T + 1)/N · (k² − (k − j)²)

and add ±j and j²: of the two parts one is 0, and adds nothing.
Layer 3 is the one above.

The logits are, for token (q, s, d), [state = q] + [symbol = s] + 2·d·go, which is 4 for the
right one and at most 3 for others, against 3 for ⊥; without a rule go = 0 and it is at most 2.  A
cell in the token adds 2h·c − c² to it and h² to ⊥, by 1 less for any other cell.
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
from theory.computation.turing import LEFT, RIGHT, Step, TuringMachine
from theory.kinds import Count, InputError, Positive, array_of

CELLS = "cell", "cell_square", "head", "head_square"
AFTER = "state", "symbol", "go"
AVERAGES = "before", "before_inverse", "before_up", "after", "after_inverse", "after_up"


class Histories(Tokens):
    """Steps as tokens: (state·|Γ| + symbol)·2 + [move is right], and 2|Q||Γ| times the number of
    the cell that it writes into, of 0, 1, −1, 2, −2, …, if tokens are `addressed`."""

    def __init__(self, machine: TuringMachine, max_length: int, addressed: bool) -> None:
        self.machine, self.addressed = machine, addressed
        self.kinds = 2 * machine.n_states * machine.n_symbols
        V = self.kinds * (2 * max_length + 1 if addressed else 1)
        # Step t = 0, 1, … can write into cells −t … t.
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
        """The tokens that write a word on the tape; the head is then on its first symbol.

        Raises ValueError for a symbol that the machine has not.
        """
        return self.tokens(self.machine.writing(word))

    def steps(self, tokens: ArrayLike) -> list[Step]:
        """The steps that decoded tokens (T,) are, up to the first ⊥."""
        found, array = list[Step](), array_of("tokens", tokens)
        if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
            raise InputError(
                f"tokens have shape {array.shape} and dtype {array.dtype}: give one row of integers"
            )
        for token in array.tolist():
            if token < 0:
                break
            if token >= self.vocabulary_size:
                raise InputError(f"token {token} is no step: give one below {self.vocabulary_size}")
            kind, right = divmod(token % self.kinds, 2)
            state, symbol = divmod(kind, self.machine.n_symbols)
            found.append(Step(state, symbol, RIGHT if right else LEFT))
        return found

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """State and symbol (V, …) of each token, one-hot; its move; the cell that it writes into,
        if it says that, else 0."""
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
    machine: TuringMachine,
    max_length: Count,
    *,
    addressed: bool = False,
    sharpness: Positive | None = None,
) -> Transformer:
    """The next step of a machine, ⊥ where it halts, for histories of at most T = max_length steps:

        model.interface.steps(model.generate(model.interface.prompt(word), steps))

    | tokens    | layers | heads | width           | ReLUs   | vocabulary       |
    |-----------|--------|-------|-----------------|---------|------------------|
    | steps     | 3      | 4     | |Q| + 2|Γ| + 15 | |rules| | 2|Q||Γ|          |
    | addressed | 1      | 1     | |Q| + 2|Γ| + 7  | |rules| | 2|Q||Γ|(2T + 1)  |

    |Q| counts halting states.  The first of three layers has two ReLUs.

    Raises ValueError for a machine without any rule, and for a sharpness that is too small.
    """
    if not machine.n_rules:
        raise InputError(f"machine {machine.name} has no rule: it halts before its first step")
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
        _read_out(stream, interface),
        pos_embed=PosEmbed(rows(stream, **place)),
        interface=interface,
        stream=stream,
        stages=(*(() if addressed else _found_first(machine)), *held),
        at_most=bounds | dict.fromkeys(ones, 1.0),
        source="[MS2024]; sizes proved in constructions/computation/turing.py",
    ).sharpened(sharpness)


def _found_first(machine: TuringMachine) -> tuple[Stage, ...]:
    """What the layers before the last one find: shares of moves, and cells."""
    found = [
        stage
        for front, name, sums in ((0, "before", "cell"), (1, "after", "head"))
        for stage in (
            Stage(1, name, partial(_share, machine, sums, front)),
            Stage(1, f"{name}_inverse", partial(_inverse, front)),
        )
    ]
    return *found, *(Stage(2, name, partial(_replayed, machine, name, False)) for name in CELLS)


def _replayed(machine: TuringMachine, what: str, addressed: bool, tokens: np.ndarray) -> np.ndarray:
    """This of `after_each_step`."""
    return after_each_step(machine, tokens, addressed)[what]


def _share(machine: TuringMachine, sums: str, front: int, tokens: np.ndarray) -> np.ndarray:
    """The cell, or that of the head, which is a sum of moves, over how many tokens there are."""
    return per_token(after_each_step(machine, tokens)[sums][..., 0], front)


def _inverse(front: int, tokens: np.ndarray) -> np.ndarray:
    """1/N of as many tokens."""
    return per_token(np.ones(tokens.shape), front)


def _embedding(interface: Histories) -> dict[str, np.ndarray]:
    """State, symbol and move of each token; of BOS the blank and its flag; and cells, if known."""
    state, symbol, move, cell = interface.parts()
    blank = np.eye(1, symbol.shape[1])
    held = {"state": np.vstack([state, 0 * state[:1]]), "wrote": np.vstack([symbol, blank])}
    held["bos"] = np.append(0 * move, 1)
    if not interface.addressed:
        return {**held, "move": np.append(move, 0)}
    cell, head = np.append(cell, 0), np.append(cell + move, 0)
    return {**held, "cell": cell, "cell_square": cell**2, "head": head, "head_square": head**2}


def _averages(stream: Stream) -> Block:
    """Shares of the moves before a token, and of those up to it, and their positive parts."""
    move, bos = stream.read("move"), stream.read("bos")
    heads = [
        average((move, bos), ("before", "before_inverse"), mask="strictly causal"),
        average((move, bos), ("after", "after_inverse"), mask="causal"),
    ]
    parts = [ReLU(stream.read(name), f"{name}_up") for name in ("before", "after")]
    return block(stream, heads, parts, normalise="hardmax", mask="causal")


def _cells(stream: Stream, T: int) -> Block:
    """The cell that a token writes into and that of the head after it, with their squares."""
    j, square = stream.read("j"), stream.read("square")
    heads = []
    for name, into in (("before", "cell"), ("after", "head")):
        up, inverse = stream.read(f"{name}_up"), stream.read(f"{name}_inverse")
        for share, signed in ((up, j), (up - stream.read(name), -j)):
            carried = (signed, square), (into, f"{into}_square")
            heads.append(counted(share, inverse, (j, square), *carried, T))
    return block(stream, heads, normalise="hardmax", mask="causal")


def _next_step(stream: Stream, machine: TuringMachine, T: int) -> Block:
    """The symbol under the head, and the rule for it and the state, put in their places."""
    read = stream.read
    asked, at = (read("head"), read("head_square")), (read("cell"), read("cell_square"))
    head = written(asked, at, read("j"), read("bos"), read("wrote"), "symbol", T)
    pairs = [(q, s) for q, row in enumerate(machine.rules) for s, rule in enumerate(row) if rule]
    keys = np.array([_pair(machine, q, s) for q, s in pairs])
    steps = [rule for row in machine.rules for rule in row if rule]
    after = np.array([_pair(machine, step.state, step.symbol) for step in steps])
    entries = np.hstack([after - keys, [[step.move] for step in steps]])
    table = Table((read("state"), read("symbol")), keys, entries, ("state", "symbol", "go"))
    return block(stream, [head], [table], normalise="hardmax", mask="causal")


def _pair(machine: TuringMachine, state: int, symbol: int) -> np.ndarray:
    return np.append(np.eye(machine.n_states)[state], np.eye(machine.n_symbols)[symbol])


def _read_out(stream: Stream, interface: Histories) -> Unembed:
    """[state = q] + [symbol = s] + 2·d·go, with 2h·c − c² if tokens have cells; of ⊥, 3 and h²."""
    state, symbol, move, cell = interface.parts()
    V, far = len(move), float(interface.addressed)
    columns = {"state": state, "symbol": symbol, "go": 2 * move[:, None]}
    columns["head"] = 2 * far * cell[:, None]
    said = stream.read("head_square") @ Map(far * np.eye(1, V + 1, V), "⊥")
    for name, codes in columns.items():
        said += stream.read(name) @ Map(np.pad(codes.T, ((0, 0), (0, 1))), "tokens")
    return unembed(stream, said, bias=np.append(-far * cell**2, 3.0))
