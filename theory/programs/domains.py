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

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import gcd, lcm, prod
from typing import Any

import numpy as np

from theory.kinds import InputError
from theory.programs.interpreter import NoValue, applied, linear, selects
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
    Selector,
    SelectorAnd,
    SelectorOr,
    SelectorWidth,
    SequenceMap,
    SOp,
    Tokens,
    expressions,
    indices,
)
from theory.programs.selectors import Conjunction, Relations
from theory.programs.values import ADDED, COMPARISONS, Value, exact, is_number

MOST = 50_000  # values of an s-op, and combinations of values of its leaves
MANY = 1000  # combinations of values of the leaves of a linear combination

Values = tuple[Any, ...]


class Domains:
    """The values of all s-ops of a program.

    `vocabulary` contains the tokens, and sequences have at most `max_length` tokens.

    Raises ValueError, with the s-op and a bound on the number, if an s-op has more than 50 000
    values, or an elementwise map more than 50 000 combinations of values of its operands and is no
    linear combination of numbers.
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

    @property
    def place(self) -> SOp:
        """The s-op of positions, that of the program if it contains one."""
        return next((each for each in self.values if isinstance(each, Indices)), indices)

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
        found = {v + w for v in whole for w in of_others}  # integers add faster than fractions
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
            bound = f"up to {count}" if count < 10**9 else "possibly more than 10^9"
            raise InputError(
                f"{sop} has {bound} {of} at sequences of at most {self.max_length} tokens, more "
                f"than {MOST}: give a smaller max_length or vocabulary"
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
            and not any(self._same(each, sop.sop) for each in self.conjunction(sop.selector))
        )

    def selected(self, select: Select) -> np.ndarray:
        """Whether each query (row) selects each key (column), by the numbers of their values."""
        return related(select, self.values[select.keys], self.values[select.queries]) == 1

    def conjunction(self, selector: Selector) -> Conjunction:
        """Relations whose conjunction is the selector; see `theory.programs.selectors`."""
        found = self.relations.conjunction(selector)
        for each in found:
            self.add(each)
        return found

    def _same(self, select: Select, sop: SOp) -> bool:
        """Whether the values of an s-op at all positions that one query selects are equal.

        It is so if the keys are the numbers of positions before or after a position in an order of
        values p: positions with equal keys then have equal p. It remains that p determines the
        value of the s-op.
        """
        width = select.keys
        if select.predicate != "==" or not isinstance(width, SelectorWidth) or self.causal:
            return False
        try:
            relations = self.conjunction(width.selector)
            both = self.relations.pair(relations[0].keys, sop)
            self.add(both)
        except InputError:  # too many pairs
            return False
        if len(relations) != 1 or relations[0].keys is not relations[0].queries:
            return False
        before = self.selected(relations[0])
        if (before & before.T).any() or not (
            before | before.T | np.eye(len(before), dtype=bool)
        ).all():
            return False
        if not np.array_equal(np.sort(before.sum(0)), np.arange(len(before))):
            return False  # not transitive
        values = {*self.values[both]}
        return len({value for value, _ in values}) == len(values)

    def never_empty(self, selector: Selector) -> bool:
        """Whether every row certainly selects a position: position i in row i, or a given one."""
        match selector:
            case Select(Indices(), queries, "==") if self._is_position(queries):
                return True
            case SelectorOr(fst, snd) if self.never_empty(fst) or self.never_empty(snd):
                return True
        return self._reflexive(selector)

    def _is_position(self, sop: SOp) -> bool:
        """Whether the values are positions, as a function of the position and the length."""
        L = self.max_length
        i, n = np.arange(L)[None], np.arange(1, L + 1)[:, None]
        values = self._by_place(sop, i, i + 1 if self.causal else n)
        return values is not None and bool(((values >= 0) & (values < n) | (i >= n)).all())

    def _by_place(self, sop: SOp, i: np.ndarray, n: np.ndarray) -> np.ndarray | None:
        """The values at position i of n tokens, if these determine them, or None.

        It is also None unless all values and factors are integers of absolute value at most `MOST`.
        """
        leaves = self.leaves[sop]
        if isinstance(sop, Indices | Length):
            return i if isinstance(sop, Indices) else n
        if any(leaf is sop for leaf in leaves):
            if (form := linear_form(sop)) is None or any(
                c.denominator > 1 or abs(c) > MOST for c in form[2:]
            ):
                return None
            a, b = (self._by_place(part, i, n) for part in form[:2])
            if a is None or b is None:
                return None
            total = int(form[2]) * a + int(form[3]) * b
            return total if (abs(total) <= MOST).all() else None
        given = [self._by_place(leaf, i, n) for leaf in leaves]
        table = self.tables[sop].items()
        known = {at: v for at, v in table if isinstance(v, int) and abs(v) <= MOST}
        if any(each is None for each in given) or len(known) < len(table):
            return None
        if not leaves:
            return np.array(known[()])
        return np.vectorize(lambda *at: known.get(at, -1), otypes=[int])(*given)

    def _reflexive(self, selector: Selector) -> bool:
        """Whether every position certainly selects itself."""
        match selector:
            case Select(_, _, "true"):
                return True
            case Select(keys, queries, _):
                same = keys is queries or (type(keys) is type(queries) and keys.parts == ())
                selects_itself = self.selected(selector).diagonal()
                return bool(same) and bool(selects_itself.all())
            case SelectorAnd(fst, snd):
                return self._reflexive(fst) and self._reflexive(snd)
            case SelectorOr(fst, snd):
                return self._reflexive(fst) or self._reflexive(snd)
        return False

    def at_most_one(self, selector: Selector) -> bool:
        """Whether every row certainly selects at most one position.

        So it is if the keys are different at different positions, and every query selects at most
        one of them; the keys are functions of the position, or numbers of positions in an order.
        So it is also if the query is the number of a position in a count of positions up to it.
        """
        relations = self.relations.conjunction(selector)
        if any(self._numbers(each, relations) for each in relations):
            return True
        match selector:
            case Select(_, _, _) if self._same(selector, self.place):
                return True
            case Select(keys, _, _) if {*map(type, self.leaves[keys])} == {Indices}:
                table = self.tables[keys]
                if len(table) < self.max_length or len({*table.values()}) < len(table):
                    return False
                return bool((self.selected(selector).sum(1) <= 1).all())
            case SelectorAnd(fst, snd):
                return self.at_most_one(fst) or self.at_most_one(snd)
        return False

    def _numbers(self, select: Select, given: Conjunction) -> bool:
        """Whether the keys of a relation differ at the positions that a conjunction selects.

        It is so if a key is the number of positions up to here in a set that contains all selected
        positions: then each of them has a larger key than those before it.
        """
        width = select.keys
        if select.predicate != "==" or not isinstance(width, SelectorWidth):
            return False
        up_to_here = self.causal
        for each in self.relations.conjunction(width.selector):
            alike = [
                other
                for other in given
                if other.keys is each.keys and other.predicate == each.predicate
            ]
            match each:
                case Select(Indices(), Indices(), "<="):
                    up_to_here = True
                case Select(_, Full(fill), _) if any(
                    isinstance(other.queries, Full) and other.queries.fill == fill
                    for other in alike
                ):
                    pass
                case Select(keys, queries, "==") if keys is queries and alike:
                    pass
                case _:
                    return False
        return up_to_here


def ordered(values: Iterable[Value]) -> Values:
    """Different values in a fixed order: None last, numbers by size before all others."""
    found: dict[Any, None] = dict.fromkeys(values)
    numbers = sorted(value for value in found if is_number(value))
    others = [value for value in found if not is_number(value) and value is not None]
    return (*numbers, *others, *([None] if None in found else []))


def linear_form(sop: SOp) -> tuple[SOp, SOp, Fraction, Fraction] | None:
    """Two s-ops and factors of which an s-op is the linear combination, or None."""
    match sop:
        case LinearSequenceMap(a, b, p, q):
            factors: tuple[Any, Any] = exact(p), exact(q)
            return a, b, Fraction(factors[0]), Fraction(factors[1])
        case SequenceMap(f, a, b) if f in ADDED:
            return a, b, Fraction(1), Fraction(ADDED[f])
    return None


def value_of(sop: SOp, parts: list[Value]) -> Value:
    match sop:
        case Full(fill):
            return exact(fill)
        case Map(f, _) | SequenceMap(f, _, _):
            return applied(sop, f, *parts)
        case LinearSequenceMap(_, _, p, q):
            return applied(sop, lambda a, b: linear(exact(p), exact(q), a, b), *parts)
        case Pair():
            return tuple(parts)
    raise AssertionError(sop)


def related(select: Select, keys: Sequence[Value], queries: Sequence[Value]) -> np.ndarray:
    """Entries of a relation for queries (rows) and keys (columns): 1, 0, or −1 for an error."""
    predicate = select.predicate
    if isinstance(predicate, str) and all(isinstance(v, int) for v in (*queries, *keys)):
        rows: Any = integers(queries)
        of: Any = COMPARISONS[predicate](integers(keys)[None], rows[:, None])
        return np.broadcast_to(of, (len(queries), len(keys))).astype(np.int8)
    if predicate == "==":
        same = {key: i for i, key in enumerate(keys)}
        found = np.zeros((len(queries), len(keys)), dtype=np.int8)
        for i, query in enumerate(queries):
            if query is not None and query in same:
                found[i, same[query]] = 1
        return found

    def entry(key: Value, query: Value) -> int:
        try:
            return int(selects(select, key, query))
        except NoValue:
            return -1

    entries = [[entry(key, query) for key in keys] for query in queries]
    return np.array(entries, dtype=np.int8).reshape(len(queries), len(keys))


def integers(values: Iterable[Any]) -> np.ndarray:
    """An array of int64, in which sums of 2^20 of the integers are exact, or of Python's ints."""
    values = [*values]
    small = all(abs(value) < 2**42 for value in values)
    return np.array(values, dtype=np.int64 if small else object)


def unit_of(values: Collection[Any]) -> Fraction:
    """The largest number of which all differences of the values are multiples."""
    unit, first = Fraction(0), next(iter(values))
    for value in values:
        step = Fraction(value) - first
        common = unit.denominator * step.denominator
        unit = Fraction(gcd(int(unit * common), int(step * common)), common)
    return unit
