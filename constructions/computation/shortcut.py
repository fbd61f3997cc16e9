"""A shortcut: semiautomata in a depth that does not depend on the length T of words [Liu2023].

`theory.computation.cascade` decomposes an automaton with solvable holonomy groups into stages,
which are counters, flip-flops and tables.  Each stage has a value *before* each symbol.  Here heads
compute every stage.  BOS is at position 0, and the symbols are at 1 … T.  The symbol is one-hot in
`symbol`, the value of stage i is one-hot in `is{i}`, and the input of stage i at a token is in
`in{i}`.

Flip-flop: one head with a strictly causal mask has the scores

    (T + 2)·flag_j + j,   where flag, the sum of the entries of `in`, is 1 at an input, else 0.

The score is largest at the latest token with an input, by at least 1.  The value of this token, its
input, is copied to `is{i}`.  The input of BOS is the initial value of the flip-flop.

Counter mod m: two layers without ReLUs.  In the first layer a strictly causal head of constant
scores averages the input into `fraction` = k/N and the flag of BOS into `inverse` = 1/N, where N is
the number of earlier tokens, and k of these tokens have input 1.  In the second layer the score

    (T + 1)·(2·fraction·j − inverse·j²) = (T + 1)/N · (k² − (k − j)²)

is largest at position k, by at least (T + 1)/N ≥ 1.  Position k is before the token, since k < N,
and the value there is k mod m, one-hot.  One head computes all averages of a layer.

Tables.  The input of a stage is a function of the symbol and of the values of earlier stages, given
by a table.  Since these variables are one-hot, each entry of the table is an AND, which takes one
ReLU.  A table that depends only on the symbol is in the embedding W_E.  Any other table is in the
MLP of the first layer after which all variables of the table are known.  In the robust form an
entry takes two ReLUs.  It stays exact if each of the k values that it reads has an error of at most
1/(4k).  So softmax errors do not accumulate, for any number of layers.  Averages have constant
scores, and the scores of counters read exact numbers, so softmax errors come only from lookups.

The state after the symbol is one more table of the symbol and the stages, written one-hot to
`state`.
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
    """Returns a model of constant depth that computes the state of an automaton after each symbol.

    The automaton is decomposed into a cascade of counters and flip-flops, in which the input of
    each part depends on the symbol and on the states of the earlier parts. Words have at most
    T = max_length symbols. The width and the numbers of layers, heads and ReLUs do not depend on T.
    A counter takes two layers, and a flip-flop takes one layer. Counters and flip-flops that do not
    depend on each other are computed in the same layers. If `compact` is true, the model has fewer
    ReLUs and more layers. The form "lean" is for hardmax attention. The form "robust" is for
    softmax attention at the inverse temperature `sharpness`, and takes twice the ReLUs.

    Raises `NotSolvable` (a ValueError) if a holonomy group of the automaton is not solvable. In
    this case the automaton has no cascade of counters and flip-flops; other models of constant
    depth are excluded only if TC⁰ ≠ NC¹. Raises ValueError for a cascade that is too large, for a
    sharpness without the robust form, and for a sharpness at which answers could be wrong.
    """
    if sharpness is not None and form == "lean":
        raise InputError(
            f"sharpness is {sharpness} with form='lean', which is for hard attention: give "
            "form='robust'"
        )
    _, T = sizes(automaton.n_symbols, max_length)
    stages = cascade(automaton, compact=compact)
    units = sum(len(stage.table.rows) for stage in stages.stages) + len(stages.answer.rows)
    if units > MOST_UNITS:
        raise InputError(
            f"the tables of {automaton.name} have {units} rows, more than {MOST_UNITS}: "
            "use compact=True, or semiautomaton(…)"
        )
    return _Built(stages, T, form == "robust").model().sharpened(sharpness)


def depths(of: Cascade) -> list[int]:
    """The numbers of layers after which the symbol, and each stage in order, are known."""
    found = [0]
    for stage in of.stages:
        found.append(reached(stage.table, found) + LAYERS[stage.kind])
    return found


def reached(table: Table, depths: list[int]) -> int:
    """The number of layers after which all variables of a table are known."""
    return max((depths[v] for v in table.reads), default=0)


class _Built:
    """The parts of the model of a cascade."""

    def __init__(self, of: Cascade, length: int, robust: bool) -> None:
        self.of, self.T, self.robust, self.depths = of, length, robust, depths(of)
        self.stages = dict(enumerate(of.stages, start=1))
        self.symbols, self.states = of.automaton.n_symbols, of.automaton.n_states
        counters = [stage for stage in of.stages if stage.kind == "counter"]
        self.moduli = sorted({stage.size for stage in counters})
        self.layers = reached(of.answer, self.depths)
        flip_flops = any(stage.kind == "flip-flop" for stage in of.stages)
        widths = {"symbol": self.symbols, "bos": 1} | ({"j": 1} if counters or flip_flops else {})
        if counters:
            widths |= {"square": 1, "inverse": 1, **{f"mod{m}": m for m in self.moduli}}
        for i, stage in self.stages.items():
            if stage.kind != "table":
                widths[f"in{i}"] = stage.size if stage.kind == "flip-flop" else 1
            if stage.kind == "counter":
                widths[f"fraction{i}"] = 1
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
            interface=Tokens(self.symbols, self.T, prefix=(self.symbols,), labels=n, margin=1.0),
            stream=stream,
            stages=(*held, Line(self.layers, "state", partial(_state, self.of.automaton))),
            at_most={
                name: 1.0 for name in stream if name.startswith(("is", "in", "fraction", "state"))
            },
            source="[Liu2023, Theorem 2]",
        )

    def embedding(self) -> Tensor:
        """The embedding of symbols and BOS, with the inputs of stages that read only the symbol."""
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
        """The position embedding: positions, squares and residues mod m, if heads read them."""
        here = np.arange(self.T + 1)
        at = {"j": here, "square": here**2} | {f"mod{m}": np.eye(m)[here % m] for m in self.moduli}
        held = {name: values for name, values in at.items() if name in self.stream.widths}
        return PosEmbed(rows(self.stream, **held)) if held else None

    def entry(self, stage: Stage, given: int) -> np.ndarray:
        """The content of `in` for an input, or of `is` if the stage is a table."""
        if stage.kind == "counter":
            return np.array([float(given)])
        return np.eye(stage.size)[given] if given != NONE else np.zeros(stage.size)

    def layer(self, number: int) -> Block:
        """A layer: heads of stages with known inputs, then tables with known variables."""
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
        heads = [*self.averages(number), *self.lookups(number), *self.flip_flops(number)]
        return block(
            self.stream,
            heads,
            words,
            normalise="hardmax",
            mask="strictly causal",
            restores=restores,
        )

    def given_at(self, kind: str, depth: int) -> list[int]:
        """The stages of this kind whose inputs are known after exactly `depth` layers."""
        return [
            i
            for i, stage in self.stages.items()
            if stage.kind == kind and reached(stage.table, self.depths) == depth
        ]

    def averages(self, number: int) -> Iterator[Head]:
        """Yields the head that averages the earlier inputs of counters at each token."""
        counters = self.given_at("counter", number - 1)
        if not counters:
            return
        carried = {f"fraction{i}": f"in{i}" for i in counters}
        first = min(reached(s.table, self.depths) for s in self.of.stages if s.kind == "counter")
        if number - 1 == first:
            carried["inverse"] = "bos"
        yield average(tuple(map(self.stream.read, carried.values())), tuple(carried))

    def lookups(self, number: int) -> Iterator[Head]:
        """Yields the heads that look up each count k mod m at position k."""
        read = self.stream.read
        for i in self.given_at("counter", number - 2):
            fraction, inverse = read(f"fraction{i}"), read("inverse")
            line, residue = (read("j"), read("square")), read(f"mod{self.stages[i].size}")
            yield counted(fraction, inverse, line, residue, f"is{i}", self.T, mask="causal")

    def flip_flops(self, number: int) -> Iterator[Head]:
        """Yields the heads that look up the latest input of each flip-flop before each token."""
        read = self.stream.read
        for i in self.given_at("flip-flop", number - 1):
            given = read(f"in{i}")
            flag = given @ Map(np.ones((self.stages[i].size, 1)), "flag")
            yield latest(flag, read("j"), given, f"is{i}", self.T)

    def table(
        self, table: Table, entries: dict[tuple[int, ...], np.ndarray], into: str
    ) -> TableWord:
        """A table as an MLP primitive; BOS, which is not a symbol, has no entry."""
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
        """The linear read of a variable: the symbol, or the value of a stage."""
        return self.stream.read(f"is{v}" if v else "symbol")


def _value(of: Cascade, number: int, words: np.ndarray) -> np.ndarray:
    """The value of a stage of the cascade before each symbol, one-hot."""
    rows = words.reshape(-1, words.shape[-1]).tolist()
    values = np.array([[each[number - 1] for each in of.values(row)] for row in rows])
    return np.eye(of.stages[number - 1].size)[values.reshape(words.shape)]


def _state(automaton: Semiautomaton, words: np.ndarray) -> np.ndarray:
    """The state after each symbol, one-hot."""
    return np.eye(automaton.n_states)[automaton.run(words)]


def _forgiven(word: TableWord) -> dict[str, float]:
    """The tolerated error 1/(4k) of each of the k registers that are read: a quarter in total."""
    reads = word.reads if isinstance(word.reads, tuple) else (word.reads,)
    names = [term.register for each in reads for term in each.without_constant.terms]
    return dict.fromkeys(names, fraction_of_a_quarter(len(reads)))
