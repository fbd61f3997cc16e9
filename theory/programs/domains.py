"""The finite set of values of every s-op, over all sequences up to a length.

The *leaves* of an s-op are `tokens`, `indices`, `length` and the aggregates and widths from which
it is computed by elementwise maps.  Its values are those of the elementwise map at all combinations
of values of the leaves, so that two occurrences of one leaf have one value.  If there are more than
50 000 combinations, the s-ops to which the map is applied are its leaves.  A combination at which
a function raises an error is dropped: no sequence at which the program has values contains it.

In f(g(a), b), g(a) is a leaf in place of the token, mean or width a if g has at most half as many
values as a, and if b depends neither on a nor on positions.  For example, f(m < 0, …) of a mean m
has 2 combinations for each value of the other leaves.

A linear combination with more than 1000 combinations is itself a leaf, if all values are numbers.

    tokens                   the vocabulary
    indices, length          0 … L − 1, and 1 … L, for sequences of at most L tokens
    SelectorWidth(s)         0 … L
    Aggregate(s, a)          the values of a, if the selected values are certainly equal; else those
                             that are no numbers, and all fractions a_0 + m·c/q with 1 ≤ q ≤ L
                             between the smallest and the largest number, where a_0 is one number
                             and all others differ from it by multiples of c; and the default,
                             unless every row of s certainly selects a position

Combinations of a mean over a known number of positions and this number are left out if no sum of
values gives them.  The sets contain all values that occur, and may contain others.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from itertools import product
from math import gcd, lcm, prod
from typing import Any

from theory.kinds import InputError
from theory.programs.certain import Certain
from theory.programs.elementwise import linear_form, value_of
from theory.programs.interpreter import NoValue
from theory.programs.language import (
    Aggregate,
    Expression,
    Full,
    Indices,
    Length,
    LinearSequenceMap,
    Map,
    Pair,
    Select,
    SelectorWidth,
    SequenceMap,
    SOp,
    Tokens,
    expressions,
)
from theory.programs.selectors import Relations
from theory.programs.values import Value, exact, is_number, ordered, unit_of

MOST = 50_000  # values of an s-op, and combinations of values of its leaves
MANY = 1000  # combinations of values of the leaves of a linear combination

Values = tuple[Any, ...]


class Domains(Certain):
    """The values of all s-ops of a program.

    `vocabulary` contains the tokens, and sequences have at most `max_length` tokens.

    Raises ValueError, with the s-op, if an s-op has more than 50 000 values, or an elementwise map
    more than 50 000 combinations of values of its operands and is no linear combination of numbers.
    """

    def __init__(
        self,
        program: Expression,
        vocabulary: Collection[Value],
        max_length: int,
        *,
        causal: bool = False,
    ) -> None:
        self.vocabulary = tuple(exact(token) for token in vocabulary)
        self.max_length, self.causal, self.relations = max_length, causal, Relations()
        self.means: dict[SOp, tuple[Fraction, Fraction]] = {}  # smallest value and unit of a mean
        self.leaves: dict[SOp, tuple[SOp, ...]] = {}
        self.tables: dict[SOp, dict[Values, Value]] = {}
        self.values: dict[SOp, Values] = {}
        self.origins: dict[SOp, frozenset[SOp]] = {}  # the leaves of the leaves, and so on
        self.add(program)

    def add(self, program: Expression) -> None:
        """Computes the values of the s-ops of a further program."""
        for each in expressions(program):
            if isinstance(each, SOp) and each not in self.values:
                self._add(each)

    def numeric(self, sop: SOp) -> bool:
        """Whether all values of an s-op are numbers or None."""
        self.add(sop)
        return all(is_number(value) or value is None for value in self.values[sop])

    def _add(self, sop: SOp) -> None:
        """Computes leaves, table and values of an s-op, whose parts are known."""
        operands = [part for part in sop.parts if isinstance(part, SOp)]
        if isinstance(sop, Map | SequenceMap | LinearSequenceMap | Pair | Full):
            leaves = dict.fromkeys(
                leaf
                for part in operands
                for leaf in ((part,) if self._coarse(part, operands) else self.leaves[part])
            )
            combinations = prod(len(self.values[leaf]) for leaf in leaves)
            if combinations > MANY and (sums := self._sums(sop)) is not None:
                self.leaves[sop] = (sop,)
                self.tables[sop] = {(value,): value for value in sums}
            else:
                if combinations > MOST:
                    leaves = dict.fromkeys(operands)
                self.leaves[sop] = tuple(leaves)
                self.tables[sop] = self._table(sop, operands)
        else:
            self.leaves[sop] = (sop,)
            self.tables[sop] = {(value,): value for value in self._of_leaf(sop)}
        self.values[sop] = ordered(self.tables[sop].values())
        self._limit(sop, len(self.values[sop]))
        self.origins[sop] = frozenset().union(
            *({sop} if leaf is sop else self.origins[leaf] for leaf in self.leaves[sop])
        )

    def _coarse(self, part: SOp, operands: list[SOp]) -> bool:
        """Whether an operand is itself a leaf, in place of the one leaf it is a function of.

        It is so if it has at most half as many values, if the other operands do not depend on this
        leaf, and if the leaf is held by steps, so that the operand is known as early as the leaf.
        """
        own = self.origins[part]
        others = {leaf for each in operands if each is not part for leaf in self.origins[each]}
        placed = any(isinstance(leaf, Indices | Length) for leaf in others)  # see `_possible`
        if len(own) != 1 or not others or placed or own & others:
            return False
        (leaf,) = own
        return self._in_steps(leaf) and 2 * len(self.values[part]) <= len(self.values[leaf])

    def _in_steps(self, leaf: SOp) -> bool:
        """Whether any function of a leaf is known as early as the leaf."""
        match leaf:
            case Tokens():
                return True
            case SelectorWidth(selector):
                return isinstance(selector, Select)
            case Aggregate(_, inner):
                moved = inner in self.means and all(map(is_number, self.values[leaf]))
                return leaf in self.means or moved
        return False

    def _sums(self, sop: SOp) -> Values | None:
        """The values of a linear combination of two s-ops whose values are numbers, or None."""
        if (form := linear_form(sop)) is None:
            return None
        a, b, p, q = form
        if not all(map(is_number, (*self.values[a], *self.values[b]))):
            return None
        ones, others = ({c * v for v in self.values[each]} for c, each in ((p, a), (q, b)))
        self._limit(sop, len(ones) + len(others) - 1)  # sums of real numbers are at least as many
        unit = lcm(*(Fraction(v).denominator for v in (*ones, *others)))
        whole, of_others = ([int(v * unit) for v in each] for each in (ones, others))
        found = set[int]()
        for w in of_others:  # integers add faster than fractions
            found.update(v + w for v in whole)
            self._limit(sop, len(found))
        return ordered(exact(Fraction(v, unit)) for v in found)

    def _table(self, sop: SOp, operands: list[SOp]) -> dict[Values, Value]:
        """The value of an elementwise map for each combination of values of its leaves."""
        leaves = self.leaves[sop]
        count = prod(len(self.values[leaf]) for leaf in leaves)
        self._limit(sop, count, "combinations of values of its operands")
        place = {leaf: i for i, leaf in enumerate(leaves)}
        read = [(part,) if part in place else self.leaves[part] for part in operands]
        places = [[place[leaf] for leaf in each] for each in read]
        table: dict[Values, Value] = {}
        of_means = any(leaf in self.means for leaf in leaves)
        for at in product(*(self.values[leaf] for leaf in leaves)):
            if of_means and not self._possible(leaves, at):
                continue
            given = [tuple(at[i] for i in place) for place in places]
            try:
                parts = [
                    key[0] if part in place else self.tables[part][key]
                    for part, key in zip(operands, given, strict=True)
                ]
                table[at] = value_of(sop, parts)
            except (KeyError, NoValue):
                continue
        return table

    def _of_leaf(self, sop: SOp) -> Values:
        L = self.max_length
        match sop:
            case Tokens():
                return self.vocabulary
            case Indices():
                self._limit(sop, L)
                return tuple(range(L))
            case Length():
                return tuple(range(1, L + 1))
            case SelectorWidth(selector):
                least = int(self.never_empty(selector))
                return tuple(range(least, 1 + (1 if self.at_most_one(selector) else L)))
            case Aggregate(selector, inner, default):
                values = self.values[inner]
                numbers = tuple(value for value in values if is_number(value))
                if self.averages(sop):
                    others = tuple(value for value in values if not is_number(value))
                    values = self._means(sop, numbers) + others
                nothing = () if self.never_empty(selector) else (exact(default),)
                return ordered((*values, *nothing))
        raise InputError(f"{sop} is no expression of the language: give an s-op")

    def _means(self, sop: Aggregate, values: Values) -> Values:
        """The fractions that can be means of at most L of these numbers, and others."""
        low, high, unit = Fraction(min(values)), Fraction(max(values)), unit_of(values)
        L, steps = self.max_length, (high - low) / unit
        self.means[sop] = low, unit
        numerators = [[m for m in range(q) if gcd(m, q) == 1] for q in range(1, L + 1)]
        self._limit(sop, 1 + int(steps) * sum(map(len, numerators)))
        fractions = (
            Fraction(whole * q + m, q)
            for q, rests in enumerate(numerators, start=1)
            for whole in range(int(steps))
            for m in rests
        )
        return (*(exact(low + unit * each) for each in fractions), exact(high))

    def _limit(self, sop: SOp, count: int, of: str = "values") -> None:
        if count > MOST:
            raise InputError(
                f"{sop} may have more than {MOST} {of} at sequences of at most {self.max_length} "
                "tokens: give a smaller max_length or vocabulary"
            )

    def _possible(self, leaves: Collection[SOp], at: Values) -> bool:
        """Whether each mean over a known number of positions is a sum of values by this number."""
        of = dict(zip(map(id, leaves), zip(leaves, at, strict=True), strict=True))
        kinds = {type(leaf): value for leaf, value in of.values()}
        for leaf, value in of.values():
            if not isinstance(leaf, Aggregate) or leaf not in self.means:
                continue
            match leaf.selector:
                case Select(Indices(), Indices(), "<=") if Indices in kinds:
                    count = kinds[Indices] + 1
                case Select(Indices(), Indices(), "<") if Indices in kinds:
                    count = kinds[Indices]
                case Select(_, _, "true") if Length in kinds:
                    count = kinds[Length]
                case _:
                    continue
            low, unit = self.means[leaf]
            if count == 0:
                possible = value == exact(leaf.default)
            else:
                possible = not is_number(value) or ((value - low) * count / unit).denominator == 1
            if not possible:
                return False
        return True

    def averages(self, sop: Aggregate) -> bool:
        """Whether different numbers may be averaged."""
        values = self.values[sop.sop]
        return (
            sum(map(is_number, values)) > 1
            and self.max_length > 1
            and not self.at_most_one(sop.selector)
            and not any(self.same(each, sop.sop) for each in self.conjunction(sop.selector))
        )
