"""Past temporal logic as strict attention to the latest: a layer for each level of `since`.

BOS stands at position 0, symbols at 1 … T, one-hot in `symbol`, which is 0 at BOS.  A formula is
made of symbols, Boolean connectives and

    φ since ψ    at some j < i, ψ; and φ at all symbols between j and i.

*Going back from i, the first j at which ψ ∨ ¬φ decides*: it holds iff ψ does there [YCA2024].  So
a `since` is one head with a strict mask, which sees the tokens before.  With stop = [ψ ∨ ¬φ],

    score (T + 2)·stop_j + j

is largest at the latest j < i with stop, by at least 1, and ψ_j is carried into `since1`, ….  If
nothing stops it is largest at i − 1, where ψ, which implies stop, is 0; at BOS ψ reads 0.

Layers are as many as `since` stand in one another, and those of a level are heads side by side.

Boolean parts.  stop and ψ are truth tables of the symbol and of other `since`
(`theory/computation/temporal_program.py`).  One that is a matter of the symbol alone is a column of
`symbol`, or a register of W_E; others are written into a register, `part1`, …, by the MLP of the
layer after which all that they read is there.  A table is a sum of cubes that exclude each other,
each an AND of literals, one ReLU.  A cube that would hold at BOS, where all bits are 0, has the
literal "a symbol" beside, so that parts are 0 at BOS.

Robust.  Two ReLUs a cube are flat (`words.And`): bits that are off by 1/(4k), of which a cube has
at most k, leave no trace, so that softmax errors do not add up, at whatever depth and length.

In the theorem attention is to the rightmost of the best, without positions; hardmax is uniform over
the best, so that "latest" takes a rank, the register j.  Nothing else reads positions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from constructions.assembly import block, rows, unembed
from constructions.blocks import Block, Embed, PosEmbed, Stage
from constructions.margins import Restores, fraction_of_a_quarter
from constructions.primitives import And
from constructions.stream import LinearRead, Map, Stream, one
from constructions.tokens import Tokens, latest, sizes
from constructions.transformer import Transformer
from theory.computation.temporal_logic import Formula, holds
from theory.computation.temporal_program import program
from theory.computation.truth_tables import TruthTable
from theory.kinds import InputError

MOST_CUBES = 10**5


def temporal_model(formula: Formula, alphabet: str, max_length: int, robust: bool) -> Transformer:
    """The hardmax transformer of a formula of past LTL; see `from_formula`."""
    _, T = sizes(len(alphabet), max_length)
    return _Built(formula, alphabet, T, robust).model()


@dataclass(frozen=True)
class Holds:
    """Whether a formula holds, (…, T, 1), for words (…, T)."""

    formula: Formula
    alphabet: str

    def __call__(self, words: np.ndarray) -> np.ndarray:
        return holds(self.formula, words, self.alphabet)[..., None]


class _Built:
    """The model of a formula, in parts."""

    def __init__(self, of: Formula, alphabet: str, T: int, robust: bool) -> None:
        self.alphabet, self.V, self.T, self.robust = alphabet, len(alphabet), T, robust
        self.by = by = program(of, alphabet)
        self.formulas = by.tables | {by.answer: of}
        self.parts = {
            table: f"part{number}"
            for number, table in enumerate(filter(self.is_written, self.formulas), start=1)
        }
        self.n_layers = by.depth(by.answer)
        self.cubes = {table: table.cubes() for table in self.parts}
        count = sum(map(len, self.cubes.values()))
        if count > MOST_CUBES:
            raise InputError(
                f"the truth tables of {of} have {count} cubes, more than {MOST_CUBES}: give a "
                "simpler formula"
            )
        widths = {"symbol": self.V} | ({"j": 1} if by.steps else {})
        widths |= {f"since{v}": 1 for v in range(1, len(by.steps) + 1)}
        self.stream = Stream(**widths, **dict.fromkeys(self.parts.values(), 1))
        self.stream.fits(self.n_layers, heads=max(1, len(by.steps)))

    def is_written(self, table: TruthTable) -> bool:
        """Whether a table has a register: not if it is of the symbol, or another `since` as it is.

        In the robust form it has one if it reads any `since`, or is carried and true for several
        symbols, so that what is carried is known to be at most 1.
        """
        is_value = any(step.value == table for step in self.by.steps)
        if self.robust:
            return any(table.reads) or (is_value and len(self.symbols_of(table)) > 1)
        as_it_is = len(table.reads) == 1 and table.values.tolist() == [False, True]
        return any(table.reads) and not as_it_is

    def symbols_of(self, table: TruthTable) -> list[int]:
        """For which symbols a table that reads nothing else is true."""
        return np.flatnonzero(np.broadcast_to(table.values, self.V)).tolist()

    def read(self, table: TruthTable) -> LinearRead:
        """What a table says, at every symbol; 0 at BOS."""
        if table in self.parts:
            return self.stream.read(self.parts[table])
        if any(table.reads):
            return self.stream.read(f"since{table.reads[0]}")
        return self.symbol_in(self.symbols_of(table))

    def symbol_in(self, symbols: list[int]) -> LinearRead:
        """Whether the symbol is one of these: 0 at BOS, also of all."""
        column = np.isin(np.arange(self.V), symbols)[:, None].astype(np.float64)
        name = "[any]" if len(symbols) == self.V else str(symbols)
        return self.stream.read("symbol") @ Map(column, name)

    def model(self) -> Transformer:
        """The transformer."""
        V, stream, here = self.V, self.stream, np.arange(self.T + 1)
        answer = self.read(self.by.answer)
        values = [
            Stage(step.depth, f"since{v}", Holds(step.node, self.alphabet))
            for v, step in enumerate(self.by.steps, start=1)
        ]
        written = [
            Stage(self.by.depth(table), name, Holds(self.formulas[table], self.alphabet))
            for table, name in self.parts.items()
        ]
        of_symbols = {
            name: np.isin(np.arange(V + 1), self.symbols_of(table))
            for table, name in self.parts.items()
            if not any(table.reads)
        }
        return Transformer(
            Embed(rows(stream, symbol=np.eye(V + 1, V), **of_symbols)),
            [self.layer(number) for number in range(1, self.n_layers + 1)],
            unembed(stream, -answer, answer, bias=np.array([1.0, 0.0])),
            pos_embed=PosEmbed(rows(stream, j=here)) if self.by.steps else None,
            interface=Tokens(V, self.T, prefix=(V,), answers=2, margin=1.0),
            stream=stream,
            stages=(Stage(0, "symbol", partial(_one_hot, V)), *values, *written),
            at_most={name: 1.0 for name in stream if name.startswith(("since", "part"))},
            source="[YCA2024]; proved in constructions/computation/temporal_logic.py",
        )

    def layer(self, number: int) -> Block:
        """The heads of a level, then the tables of which all is there."""
        j = self.stream.read("j")
        heads = [
            latest(self.flag(step.stop), j, self.read(step.value), f"since{v}", self.T)
            for v, step in enumerate(self.by.steps, start=1)
            if step.depth == number
        ]
        tables = [table for table in self.parts if self.by.depth(table) == number]
        words = [word for table in tables for word in self.words(table)]
        restores = [self.restores(table) for table in tables] if self.robust else []
        return block(
            self.stream,
            heads,
            words,
            normalise="hardmax",
            mask="strictly causal",
            restores=restores,
        )

    def flag(self, stop: TruthTable) -> LinearRead:
        """Whether a token stops the search; one that always does needs no flag."""
        always = not stop.reads and bool(stop.values)
        return 0 * one if always else self.read(stop)

    def words(self, table: TruthTable) -> Iterator[And]:
        """A table as the sum of its cubes."""
        for cube in self.cubes[table]:
            literals = [self.literal(v, values) for v, values in cube.items()]
            if 0 not in cube and all(0 in values for values in cube.values()):
                literals.append(self.symbol_in([*range(self.V)]))
            yield And(tuple(literals), self.parts[table], flat=self.robust)

    def literal(self, v: int, values: frozenset[int]) -> LinearRead:
        """Whether variable v has one of these values."""
        if v == 0:
            return self.symbol_in(sorted(values))
        bit = self.stream.read(f"since{v}")
        return bit if 1 in values else one - bit

    def restores(self, table: TruthTable) -> Restores:
        """A table is exact if bits, of which a cube has at most k, are off by at most 1/(4k)."""
        k = max(sum(v > 0 for v in cube) for cube in self.cubes[table])
        bits = dict.fromkeys([f"since{v}" for v in table.reads if v], fraction_of_a_quarter(k))
        return Restores((self.parts[table],), {"symbol": 0.0, **bits})


def _one_hot(V: int, words: np.ndarray) -> np.ndarray:
    """Each symbol, one-hot."""
    return np.eye(V)[words]
