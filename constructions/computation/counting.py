"""Formulas of past counting logic (C-RASP) as transformers with uniform attention [YangChiang2024].

BOS is at position 0 and the symbols are at 1 … T.  N is the number of tokens to which a token
attends, including itself, and C is a power of two that is larger than every N.  The register
`symbol` contains the symbol, one-hot.  The registers `bit1`, … contain the truth values of
subformulas.

A comparison  low ≤ Z ≤ high  of a sum of counts Z = Σ a_k #φ_k takes one layer.  The head of this
layer has scores 0.  It averages Σ a_k φ_k over the N tokens into `sum` = Z/N, and the flag of BOS
into `inverse` = 1/N.  The value Σ a_k φ_k is 0 at BOS, so that only symbols are counted.  The MLP
has the step functions

    [Z > t] of the argument C·(sum − t·inverse) = C(Z − t)/N,   [Z < t] of its negative.

The argument is at least 1 or at most 0, since Z is an integer.

A Boolean combination is a sum of disjoint conjunctions (`theory/computation/conjunctions.py`).  A
conjunction of bits is one ReLU.  A conjunction of bits and a comparison is a step function: for
each bit that is 0, the argument of the comparison is lowered by K, which exceeds all values of the
argument.  So a combination takes no extra layer, unless a conjunction has two comparisons of the
same layer.  Such a conjunction is computed by the MLP of the next layer.  The outermost combination
takes no layer: the unembedding adds the bits of its parts, and tests whether all bits are 1
(conjunction) or one bit is 1 (disjunction).

A formula of counting depth d takes at most 2d layers, and at most d layers if no combination takes
an extra layer.  All scores are 0, so softmax is exact at every sharpness.  The step functions are
constant for arguments up to ¼ and from ¾ on, so rounded averages give exact bits.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

import numpy as np

from constructions.assembly import block, rows, unembed
from constructions.blocks import Block, Embed, Stage
from constructions.primitives import And as AllOf
from constructions.primitives import Move, Primitive, Step
from constructions.stream import LinearRead, Map, Stream, one
from constructions.tokens import Tokens, average, inverse, per_token, sizes
from constructions.transformer import Transformer
from theory.computation.conjunctions import START, Conjunctions, stripped
from theory.computation.counting import (
    And,
    Count,
    Formula,
    Or,
    checked_alphabet,
)
from theory.computation.counting import counted as summed
from theory.computation.counting import holds as by_definition
from theory.kinds import InputError

Terms = tuple[tuple[int, Formula], ...]
LARGEST = 2.0**45  # the largest argument of a step function; its rounding is far below a quarter


def counting_model(formula: Formula, alphabet: str, max_length: int) -> Transformer:
    """The transformer that `from_formula` returns for a formula of counting logic."""
    _, T = sizes(len(checked_alphabet(alphabet, formula)), max_length)
    return _Compiled(formula, alphabet, T).model()


class _Compiled:
    """The registers and layers of a formula."""

    def __init__(self, formula: Formula, alphabet: str, length: int) -> None:
        self.formula, self.alphabet, self.T = formula, alphabet, length
        self.split, self.C = Conjunctions(alphabet), 2.0 ** (length + 1).bit_length()
        self.level = self.split.level
        self.top, self.negated = stripped(formula)
        parts = self.top.parts if isinstance(self.top, And | Or) else ()
        self.parts = [stripped(part) for part in parts or (self.top,)]
        self.n_layers = max(self.level(part) for part, _ in self.parts)
        self.bits, self.sums = dict[Formula, str](), dict[Terms, str]()
        self.inverse = False
        for part, _ in self.parts:
            self.bit(part)
        names = [*["inverse"] * self.inverse, *self.sums.values(), *self.bits.values()]
        self.stream = Stream(symbol=len(alphabet) + 1, **dict.fromkeys(names, 1))
        self.stream.fits(max(self.n_layers, 1))

    def prepare(self, formula: Formula) -> None:
        """Adds the registers that the conjunctions of a formula read."""
        for case in self.split(formula):
            for comparison, holds in case.literals:
                if self.level(comparison) < self.level(formula):
                    self.bit(comparison)
                    continue
                self.inverse |= any(t for _, t, _ in steps(comparison, holds)[1])
                if comparison.terms not in self.sums:
                    self.sums[comparison.terms] = f"sum{len(self.sums) + 1}"
                    for _, counted in comparison.terms:
                        self.bit(counted)

    def bit(self, formula: Formula) -> None:
        """Adds the register of a formula's truth value, unless it depends only on the symbol."""
        formula, _ = stripped(formula)
        if self.level(formula) and formula not in self.bits:
            self.bits[formula] = f"bit{len(self.bits) + 1}"
            self.prepare(formula)

    def model(self) -> Transformer:
        """The transformer."""
        V = len(self.alphabet)
        # Tests whether all n parts hold, or some; a negated part counts as 1 minus its bit.
        total = 0.0 * one
        for part, no in self.parts:
            total += -self.here(part) if no else self.here(part)
        failing = sum(no for _, no in self.parts)
        wanted = 1 - failing if isinstance(self.top, Or) else len(self.parts) - failing
        sign = -1.0 if self.negated else 1.0
        bias = np.array([0.0, sign * (1.0 - 2.0 * wanted)])
        stages = [
            Stage(self.level_of(terms), name, partial(_mean, terms, self.alphabet))
            for terms, name in self.sums.items()
        ]
        stages += [
            Stage(self.level(bit), name, partial(_truth, bit, self.alphabet))
            for bit, name in self.bits.items()
        ]
        stages += [Stage(1, "inverse", inverse)] * self.inverse
        bounds = {name: float(sum(abs(a) for a, _ in terms)) for terms, name in self.sums.items()}
        ones = dict.fromkeys([*self.bits.values(), *["inverse"] * self.inverse], 1.0)
        return Transformer(
            Embed(rows(self.stream, symbol=np.eye(V + 1))),
            [self.layer(number) for number in range(1, self.n_layers + 1)],
            unembed(self.stream, 0.0 * one, 2.0 * sign * total, bias=bias),
            interface=Tokens(V, self.T, prefix=(V,), labels=2, margin=1.0),
            stream=self.stream,
            stages=tuple(stages),
            at_most={**bounds, **ones},
            source="[YangChiang2024]",
        )

    def level_of(self, terms: Terms) -> int:
        """The number of the layer that computes the sum of these terms."""
        return 1 + max((self.level(counted) for _, counted in terms), default=0)

    def layer(self, number: int) -> Block:
        """A layer: the sums of formulas of lower level, and the bits of formulas of its level."""
        primitives = list[Primitive]()
        for formula, name in self.bits.items():
            if self.level(formula) == number:
                primitives += self.cases(formula, name)
        sums = {n: self.sum(t) for t, n in self.sums.items() if self.level_of(t) == number}
        if number == 1 and self.inverse:
            sums["inverse"] = self.among({START})
        heads = [average(tuple(sums.values()), tuple(sums))] if sums else []
        return block(self.stream, heads, primitives, normalise="hardmax", mask="causal")

    def sum(self, terms: Terms) -> LinearRead:
        """The value Σ a·φ at a token, which is 0 at BOS."""
        found = 0.0 * self.among({START})
        for a, counted in terms:
            formula, no = stripped(counted)
            here = self.here(formula) - self.split.at_start(formula) * self.among({START})
            found += a * (self.among({*self.alphabet}) - here if no else here)
        return found

    def here(self, formula: Formula) -> LinearRead:
        """Whether a formula without leading negations holds at a token."""
        if self.level(formula):
            return self.stream.read(self.bits[formula])
        return self.among({symbol for case in self.split(formula) for symbol in case.symbols})

    def cases(self, formula: Formula, into: str) -> list[Primitive]:
        """The primitives that add [the formula holds] to a register, for all its conjunctions."""
        found = list[Primitive]()
        for case in self.split(formula):
            guards, new = list[LinearRead](), None
            if len(case.symbols) <= len(self.alphabet):
                guards.append(self.among(case.symbols))
            for comparison, holds in case.literals:
                if self.level(comparison) == self.level(formula):
                    new = comparison, holds
                else:
                    bit = self.stream.read(self.bits[comparison])
                    guards.append(bit if holds else one - bit)
            constant, gates = steps(*new) if new else (True, [])
            if constant:
                found.append(AllOf(tuple(guards), into) if guards else Move(one, into))
            for side, t, factor in gates:
                assert new is not None
                reads = self.reading(new[0].terms, side, t, guards)
                found.append(Step(reads, 0.75, into, margin=0.5, times=factor))
        return found

    def reading(self, terms: Terms, side: float, t: int, guards: list[LinearRead]) -> LinearRead:
        """The argument ±C(Z − t)/N of a step function, lowered by K for each guard that is 0."""
        reach = self.C * (sum(abs(a) for a, _ in terms) + abs(t))
        K = 2.0 ** int(reach + 1).bit_length()
        if K * (1 + len(guards)) > LARGEST:
            raise InputError(
                f"sums in the formula reach {reach / self.C:.4g} on words of {self.T} symbols, too "
                "large for float64: give smaller coefficients, or a smaller max_length"
            )
        found = side * self.C * self.stream.read(self.sums[terms])
        if t:
            found -= side * self.C * t * self.stream.read("inverse")
        for guard in guards:
            found -= K * (one - guard)
        return found

    def among(self, symbols: Collection[str]) -> LinearRead:
        """The linear read of whether the symbol is among `symbols`."""
        name = f"[{', '.join(sorted(symbol or 'BOS' for symbol in symbols))}]"
        column = np.array([[float(symbol in symbols)] for symbol in self.split.symbols])
        return self.stream.read("symbol") @ Map(column, name)


def _mean(terms: Terms, alphabet: str, words: np.ndarray) -> np.ndarray:
    """Σ a·#φ divided by the number of tokens, including BOS."""
    return per_token(summed(Count(terms, 0, None), words, alphabet))


def _truth(formula: Formula, alphabet: str, words: np.ndarray) -> np.ndarray:
    """Whether a formula holds after each symbol."""
    return by_definition(formula, words, alphabet)[..., None]


def steps(comparison: Count, holds: bool) -> tuple[bool, list[tuple[float, int, float]]]:
    """A comparison low ≤ Z ≤ high, or its negation, as a constant plus step functions of Z.

    The truth value is the constant plus Σ factor·[side·(Z − t) ≥ 1], where the sum is over the
    terms (side, t, factor), and [condition] is 1 if the condition holds, and 0 otherwise.  If
    `holds` is false, the comparison is negated.  The number t is 0 where possible.
    """
    low, high = comparison.low, comparison.high
    if holds and high is None and low:
        return False, [(1.0, low - 1, 1.0)]
    if holds and low is None and high:
        return False, [(-1.0, high + 1, 1.0)]
    outside = [(side, t) for side, t in ((-1.0, low), (1.0, high)) if t is not None]
    return holds, [(side, t, -1.0 if holds else 1.0) for side, t in outside]
