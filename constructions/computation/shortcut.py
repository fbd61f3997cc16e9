"""A shortcut: a cascade of counters and latches in as many layers, whatever the length [Liu2023].

`theory.computation.cascade` makes of an automaton with solvable holonomy groups a row of stages,
each of which has a value *before* each symbol; here every stage is a head.  BOS stands at position
0, symbols at 1 … T; a symbol and the value of a stage are held one-hot, in `symbol` and `is1`,
`is2`, …; what a stage is given at a token stands in `in1`, `in2`, …

Latch: one head with a strict mask, which sees the tokens before.

    score (T + 2)·flag_j + j,   flag = the sum of in, which is one-hot or 0

is largest at the latest token that gave something, by at least 1, and in_j is carried into is.  BOS
gives what the latch holds to begin with.

Counter mod m: two layers, and no ReLU.  In the first a strict head of constant scores averages: it
carries in into `share` = k/N and BOS's flag into `inverse` = 1/N, where N tokens are before and k
of them gave 1.  In the second

    score (T + 1)·(2·share·j − inverse·j²) = (T + 1)/N · (k² − (k − j)²)

is largest at position k, by at least (T + 1)/N ≥ 1, and that position, which is not after the
token since k < N, has the value k mod m, one-hot.  All averages of a layer are one head.

Tables.  What a stage is given is a table of the symbol and of stages before it; as they are
one-hot, an entry is one AND of them, one ReLU.  A table of the symbol alone is in W_E; the others
stand in the MLP of the layer after which all that they read is there.  In the robust form an entry
takes two ReLUs and the values of k registers may be off by 1/(4k) each: it is exact again, so that
softmax errors do not add up, whatever the number of layers.  The scores of averages are constant
and those of counters read exact numbers, so softmax leaks only where a value is fetched.

The answer is a table too, of the symbol and of the stages, into `state`, one-hot.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from torch import Tensor

from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Block, Embed, PosEmbed
from constructions.blocks import Stage as Line
from constructions.call import construction
from constructions.computation.semiautomaton import Form
from constructions.margins import Restores, fraction_of_a_quarter
from constructions.primitives import Table as TableWord
from constructions.stream import LinearRead, Map, Stream, one
from constructions.tokens import Tokens, average, counted, latest, sizes
from constructions.transformer import Transformer
from theory.computation.benchmark_automata import Automaton
from theory.computation.cascade import NONE, Cascade, Stage, Table, cascade
from theory.computation.semiautomata import Semiautomaton
from theory.kinds import Count, InputError, Positive

LAYERS = {"counter": 2, "flip-flop": 1, "table": 1}
MOST_UNITS = 10**5


@construction
def shortcut(
    automaton: Automaton,
    max_length: Count,
    *,
    compact: bool = False,
    form: Form = "lean",
    sharpness: Positive | None = None,
) -> Transformer:
    """The state after each symbol of words of at most max_length = T symbols, from `start`.

    The number of layers, heads and ReLUs, and the width, do not depend on T: a counter takes two
    layers and a latch one, and those that do not read each other stand side by side.  `compact`
    takes fewer ReLUs and more layers; `robust` twice the ReLUs, and is for softmax.

    Raises `NotSolvable` (a ValueError) if a holonomy group of the automaton is not solvable: then
    there is no cascade, which excludes other models of constant depth only if TC⁰ ≠ NC¹; and
    ValueError for a cascade that is too large, a sharpness without the robust form, or too small
    for it.
    """
    if sharpness is not None and form == "lean":
        raise InputError("sharpness is for form='robust': softmax errors pass through lean units")
    _, T = sizes(automaton.n_symbols, max_length)
    stages = cascade(automaton, compact=compact)
    units = sum(len(stage.table.rows) for stage in stages.stages) + len(stages.answer.rows)
    if units > MOST_UNITS:
        raise InputError(
            f"the tables of {automaton.name} have {units} rows, more than {MOST_UNITS}: "
            "take compact=True, or semiautomaton(…)"
        )
    return _Built(stages, T, form == "robust").model().sharpened(sharpness)


def depths(of: Cascade) -> list[int]:
    """After how many layers each variable is there: the symbol, then the stages."""
    found = [0]
    for stage in of.stages:
        found.append(reached(stage.table, found) + LAYERS[stage.kind])
    return found


def reached(table: Table, depths: list[int]) -> int:
    """After how many layers all that a table reads is there."""
    return max((depths[v] for v in table.reads), default=0)


class _Built:
    """The model of a cascade, in parts."""

    def __init__(self, of: Cascade, length: int, robust: bool) -> None:
        self.of, self.T, self.robust, self.depths = of, length, robust, depths(of)
        self.stages = dict(enumerate(of.stages, start=1))
        self.symbols, self.states = of.automaton.n_symbols, of.automaton.n_states
        counters = [stage for stage in of.stages if stage.kind == "counter"]
        self.moduli = sorted({stage.size for stage in counters})
        self.layers = reached(of.answer, self.depths)
        latches = any(stage.kind == "flip-flop" for stage in of.stages)
        widths = {"symbol": self.symbols, "bos": 1} | ({"j": 1} if counters or latches else {})
        if counters:
            widths |= {"square": 1, "inverse": 1, **{f"mod{m}": m for m in self.moduli}}
        for i, stage in self.stages.items():
            if stage.kind != "table":
                widths[f"in{i}"] = stage.size if stage.kind == "flip-flop" else 1
            if stage.kind == "counter":
                widths[f"share{i}"] = 1
            widths[f"is{i}"] = stage.size
        self.stream = Stream(**widths, state=self.states)
        self.stream.fits(self.layers, heads=max(1, len(self.stages)))

    def model(self) -> Transformer:
        """The transformer."""
        n, stream = self.states, self.stream
        held = [Line(self.depths[i], f"is{i}", partial(_value, self.of, i)) for i in self.stages]
        return Transformer(
            Embed(self.embedding()),
            [self.layer(number) for number in range(1, self.layers + 1)],
            unembed(stream, stream.read("state")),
            pos_embed=self.positions(),
            interface=Tokens(self.symbols, self.T, prefix=(self.symbols,), answers=n, margin=1.0),
            stream=stream,
            stages=(*held, Line(self.layers, "state", partial(_state, self.of.automaton))),
            at_most={
                name: 1.0 for name in stream if name.startswith(("is", "in", "share", "state"))
            },
            source="[Liu2023, Theorem 2]; proved in constructions/computation/shortcut.py",
        )

    def embedding(self) -> Tensor:
        """Symbols and BOS, with what stages are given by the symbol alone, or by BOS."""
        V = self.symbols
        registers = {"symbol": np.eye(V + 1, V), "bos": np.eye(V + 1)[:, V]}
        for i, stage in self.stages.items():
            if stage.kind == "table":
                continue
            given = np.zeros((V + 1, self.stream.widths[f"in{i}"]))
            if reached(stage.table, self.depths) == 0:
                given[:V] = [self.entry(stage, stage.table((a,))) for a in range(V)]
            if stage.kind == "flip-flop":
                given[V, stage.first] = 1.0
            registers[f"in{i}"] = given
        if self.layers == 0:
            after = [self.of.answer((a,)) for a in range(V)]
            registers["state"] = np.vstack([np.eye(self.states)[after], np.zeros(self.states)])
        return rows(self.stream, **registers)

    def positions(self) -> PosEmbed | None:
        """Positions, their squares, and what they are mod m, as far as heads ask for them."""
        here = np.arange(self.T + 1)
        at = {"j": here, "square": here**2} | {f"mod{m}": np.eye(m)[here % m] for m in self.moduli}
        held = {name: values for name, values in at.items() if name in self.stream.widths}
        return PosEmbed(rows(self.stream, **held)) if held else None

    def entry(self, stage: Stage, given: int) -> np.ndarray:
        """What stands in `in`, or in `is` of a table, for an input."""
        if stage.kind == "counter":
            return np.array([float(given)])
        return np.eye(stage.size)[given] if given != NONE else np.zeros(stage.size)

    def layer(self, number: int) -> Block:
        """The heads of stages whose inputs are there, then the tables of which all is there."""
        words, restores = list[TableWord](), list[Restores]()
        tables = [(i, s, s.table) for i, s in self.stages.items()]
        for i, stage, table in tables:
            if reached(table, self.depths) == number:
                into = f"is{i}" if stage.kind == "table" else f"in{i}"
                entries = {key: self.entry(stage, given) for key, given in table.rows.items()}
                words.append(self.table(table, entries, into))
        if number == self.layers:
            states = np.eye(self.states)
            entries = {key: states[after] for key, after in self.of.answer.rows.items()}
            words.append(self.table(self.of.answer, entries, "state"))
        if self.robust:
            restores = [Restores(word.registers, _forgiven(word)) for word in words]
        heads = [*self.averages(number), *self.lookups(number), *self.latches(number)]
        return block(
            self.stream,
            heads,
            words,
            normalise="hardmax",
            mask="strictly causal",
            restores=restores,
        )

    def given_at(self, kind: str, depth: int) -> list[int]:
        """The stages of this kind whose inputs are there after so many layers."""
        return [
            i
            for i, stage in self.stages.items()
            if stage.kind == kind and reached(stage.table, self.depths) == depth
        ]

    def averages(self, number: int) -> Iterator[Head]:
        """What was given to counters before each token, as shares of all."""
        counters = self.given_at("counter", number - 1)
        if not counters:
            return
        carried = {f"share{i}": f"in{i}" for i in counters}
        first = min(reached(s.table, self.depths) for s in self.of.stages if s.kind == "counter")
        if number - 1 == first:
            carried["inverse"] = "bos"
        yield average(tuple(map(self.stream.read, carried.values())), tuple(carried))

    def lookups(self, number: int) -> Iterator[Head]:
        """The counts, mod m, from the positions of their numbers."""
        read = self.stream.read
        for i in self.given_at("counter", number - 2):
            share, inverse = read(f"share{i}"), read("inverse")
            line, residue = (read("j"), read("square")), read(f"mod{self.stages[i].size}")
            yield counted(share, inverse, line, residue, f"is{i}", self.T, mask="causal")

    def latches(self, number: int) -> Iterator[Head]:
        """The latest that was given before each token."""
        read = self.stream.read
        for i in self.given_at("flip-flop", number - 1):
            given = read(f"in{i}")
            flag = given @ Map(np.ones((self.stages[i].size, 1)), "flag")
            yield latest(flag, read("j"), given, f"is{i}", self.T)

    def table(
        self, table: Table, entries: dict[tuple[int, ...], np.ndarray], into: str
    ) -> TableWord:
        """A table as a word; BOS, which is no symbol, has no entry."""
        kept = {key: entry for key, entry in entries.items() if entry.any()}
        variables = [self.variable(v) for v in table.reads]
        keys = [
            np.concatenate([np.eye(r.width)[a] for r, a in zip(variables, key, strict=True)])
            for key in kept
        ]
        reads, columns = (*variables,), np.array(keys)
        if 0 not in table.reads:
            reads = (*reads, one - self.stream.read("bos"))
            columns = np.hstack([columns, np.ones((len(columns), 1))])
        return TableWord(reads, columns, np.array(list(kept.values())), into, self.robust)

    def variable(self, v: int) -> LinearRead:
        """The symbol, or what a stage is."""
        return self.stream.read(f"is{v}" if v else "symbol")


def _value(of: Cascade, number: int, words: np.ndarray) -> np.ndarray:
    """What a stage of the cascade is before each symbol, one-hot."""
    rows = words.reshape(-1, words.shape[-1]).tolist()
    values = np.array([[each[number - 1] for each in of.values(row)] for row in rows])
    return np.eye(of.stages[number - 1].size)[values.reshape(words.shape)]


def _state(automaton: Semiautomaton, words: np.ndarray) -> np.ndarray:
    """The state after each symbol, one-hot."""
    return np.eye(automaton.n_states)[automaton.run(words)]


def _forgiven(word: TableWord) -> dict[str, float]:
    """How far each of k registers may be off: by 1/(4k), which is a quarter in all."""
    reads = word.reads if isinstance(word.reads, tuple) else (word.reads,)
    names = [term.register for each in reads for term in each.without_constant.terms]
    return dict.fromkeys(names, fraction_of_a_quarter(len(reads)))
