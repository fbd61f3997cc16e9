"""Formulas of past LTL as transformers of unique-hard attention with a strictly causal mask.

The construction follows [YCA2024].  BOS is at position 0, and the symbols are at 1 … T, one-hot in
`symbol`, which is 0 at BOS.  A formula consists of symbols, Boolean connectives and

    φ since ψ    ψ at some j < i, and φ at all positions strictly between j and i.

Let j < i be the latest position before i at which ψ ∨ ¬φ holds.  Then φ since ψ holds at i iff ψ
holds at j.  So a `since` is one head with a strictly causal mask.  With stop = [ψ ∨ ¬φ], the score

    (T + 2)·stop_j + j

is largest, by at least 1, at the latest j < i at which stop is 1.  The value ψ_j is written to one
of the registers `since1`, ….  If stop is 0 at all j < i, the score is largest at i − 1, where ψ is
0, since ψ implies stop.  At BOS the value is 0.

There is one layer for each level of nested `since`, with one head for each `since` of that level.

Boolean parts.  stop and ψ are truth tables whose variables are the symbol and other `since`
operators (`theory/computation/temporal_program.py`).  A table that depends only on the symbol is a
column of `symbol`, or a register of the embedding W_E.  Any other table is written to a register,
`part1`, …, by the MLP of the layer that computes the last of its bits.  A table is a sum of
disjoint cubes.  Each cube is an AND of literals, which takes one ReLU.  All bits are 0 at BOS.  A
cube that would hold at BOS has one more literal, which is 1 at all symbols and 0 at BOS.  So parts
are 0 at BOS.

Robust form.  A cube of at most k bits takes two ReLUs, which make its AND constant near 0 and 1
(see `primitives.And`).  Errors of up to 1/(4k) in the bits do not change the AND, so softmax errors
do not accumulate, at any depth and length.

In [YCA2024] a head attends to the rightmost maximum, and there are no positions.  Here hardmax is
uniform over the maxima, so the score contains the position j.  Only these scores read positions.
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
    """The hardmax transformer that `from_formula` returns for a formula of past LTL."""
    _, T = sizes(len(alphabet), max_length)
    return _Built(formula, alphabet, T, robust).model()


@dataclass(frozen=True)
class Holds:
    """A function: whether a formula holds at each position of words, (…, T) → (…, T, 1)."""

    formula: Formula
    alphabet: str

    def __call__(self, words: np.ndarray) -> np.ndarray:
        return holds(self.formula, words, self.alphabet)[..., None]


class _Built:
    """The registers and layers of a formula."""

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
                f"the truth tables of {of} are disjunctions of {count} conjunctions in all, more "
                f"than {MOST_CUBES}: give a simpler formula"
            )
        widths = {"symbol": self.V} | ({"j": 1} if by.steps else {})
        widths |= {f"since{v}": 1 for v in range(1, len(by.steps) + 1)}
        self.stream = Stream(**widths, **dict.fromkeys(self.parts.values(), 1))
        self.stream.fits(self.n_layers, heads=max(1, len(by.steps)))

    def is_written(self, table: TruthTable) -> bool:
        """Whether a table has a register `part…`.

        In the lean form a table has no register if it depends only on the symbol or is a single
        `since`.  In the robust form it has a register if it reads a `since`, or if it is the value
        of a head and true for several symbols, so that values are at most 1.
        """
        is_value = any(step.value == table for step in self.by.steps)
        if self.robust:
            return any(table.reads) or (is_value and len(self.symbols_of(table)) > 1)
        as_it_is = len(table.reads) == 1 and table.values.tolist() == [False, True]
        return any(table.reads) and not as_it_is

    def symbols_of(self, table: TruthTable) -> list[int]:
        """The symbols for which a table that depends only on the symbol is true."""
        return np.flatnonzero(np.broadcast_to(table.values, self.V)).tolist()

    def read(self, table: TruthTable) -> LinearRead:
        """The value of a table at each symbol, 0 at BOS."""
        if table in self.parts:
            return self.stream.read(self.parts[table])
        if any(table.reads):
            return self.stream.read(f"since{table.reads[0]}")
        return self.symbol_in(self.symbols_of(table))

    def symbol_in(self, symbols: list[int]) -> LinearRead:
        """The linear read of whether the symbol is in `symbols`; it is always 0 at BOS."""
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
            interface=Tokens(V, self.T, prefix=(V,), labels=2, margin=1.0),
            stream=stream,
            stages=(Stage(0, "symbol", partial(_one_hot, V)), *values, *written),
            at_most={name: 1.0 for name in stream if name.startswith(("since", "part"))},
            source="[YCA2024]",
        )

    def layer(self, number: int) -> Block:
        """A layer: the heads of a level, then the tables whose last bits these heads compute."""
        j = self.stream.read("j")
        heads = [
            latest(self.flag(step.stop), j, self.read(step.value), f"since{v}", self.T)
            for v, step in enumerate(self.by.steps, start=1)
            if step.depth == number
        ]
        tables = [table for table in self.parts if self.by.depth(table) == number]
        primitives = [each for table in tables for each in self.primitives(table)]
        restores = [self.restores(table) for table in tables] if self.robust else []
        return block(
            self.stream,
            heads,
            primitives,
            normalise="hardmax",
            mask="strictly causal",
            restores=restores,
        )

    def flag(self, stop: TruthTable) -> LinearRead:
        """The linear read of whether a token stops the search; 0 if every token does."""
        always = not stop.reads and bool(stop.values)
        return 0 * one if always else self.read(stop)

    def primitives(self, table: TruthTable) -> Iterator[And]:
        """The primitives of a table, one for each of its cubes."""
        for cube in self.cubes[table]:
            literals = [self.literal(v, values) for v, values in cube.items()]
            if 0 not in cube and all(0 in values for values in cube.values()):
                literals.append(self.symbol_in([*range(self.V)]))
            yield And(tuple(literals), self.parts[table], flat=self.robust)

    def literal(self, v: int, values: frozenset[int]) -> LinearRead:
        """The linear read of whether the value of variable v is in `values`."""
        if v == 0:
            return self.symbol_in(sorted(values))
        bit = self.stream.read(f"since{v}")
        return bit if 1 in values else one - bit

    def restores(self, table: TruthTable) -> Restores:
        """The tolerated error: a table is exact if its bits, ≤ k per cube, have errors ≤ 1/(4k)."""
        k = max(sum(v > 0 for v in cube) for cube in self.cubes[table])
        bits = dict.fromkeys([f"since{v}" for v in table.reads if v], fraction_of_a_quarter(k))
        return Restores((self.parts[table],), {"symbol": 0.0, **bits})


def _one_hot(V: int, words: np.ndarray) -> np.ndarray:
    """The symbols, one-hot."""
    return np.eye(V)[words]
