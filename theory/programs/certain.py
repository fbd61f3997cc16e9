"""What is certain about the positions that a selector selects, whatever the sequence is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from theory.kinds import InputError
from theory.programs.elementwise import linear_form
from theory.programs.language import (
    Expression,
    Full,
    Indices,
    Length,
    Select,
    Selector,
    SelectorAnd,
    SelectorOr,
    SelectorWidth,
    SOp,
    indices,
)
from theory.programs.selectors import Conjunction, Relations, related
from theory.programs.values import Value

LARGEST = 2**16  # of integers that are functions of the position


class Certain(ABC):
    """What the values of s-ops imply for all sequences of at most `max_length` tokens.

    A method returns False if nothing is certain.
    """

    causal: bool
    max_length: int
    relations: Relations
    leaves: dict[SOp, tuple[SOp, ...]]
    tables: dict[SOp, dict[tuple[Any, ...], Value]]
    values: dict[SOp, tuple[Any, ...]]

    @abstractmethod
    def add(self, program: Expression) -> None:
        """Computes the values of the s-ops of a further program."""

    def same(self, select: Select, sop: SOp) -> bool:
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
        if (before & before.T).any():
            return False
        if not np.array_equal(np.sort(before.sum(0)), np.arange(len(before))):
            return False  # not total, or not transitive
        values = {*self.values[both]}
        return len({value for value, _ in values}) == len(values)

    def _place(self) -> SOp:
        """The s-op of positions, that of the program if it contains one."""
        return next((each for each in self.values if isinstance(each, Indices)), indices)

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

        It is also None unless all values and factors are integers of absolute value at most 2^16.
        """
        leaves = self.leaves[sop]
        if isinstance(sop, Indices | Length):
            return i if isinstance(sop, Indices) else n
        if any(leaf is sop for leaf in leaves):
            if (form := linear_form(sop)) is None or any(
                c.denominator > 1 or abs(c) > LARGEST for c in form[2:]
            ):
                return None
            a, b = (self._by_place(part, i, n) for part in form[:2])
            if a is None or b is None:
                return None
            total = int(form[2]) * a + int(form[3]) * b
            return total if (abs(total) <= LARGEST).all() else None
        given = [self._by_place(leaf, i, n) for leaf in leaves]
        table = self.tables[sop].items()
        known = {at: v for at, v in table if isinstance(v, int) and abs(v) <= LARGEST}
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
            case Select(_, _, _) if self.same(selector, self._place()):
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

    def selected(self, select: Select) -> np.ndarray:
        """Whether each query (row) selects each key (column), by the numbers of their values."""
        return related(select, self.values[select.keys], self.values[select.queries]) == 1

    def conjunction(self, selector: Selector) -> Conjunction:
        """Relations whose conjunction is the selector; see `theory.programs.selectors`."""
        found = self.relations.conjunction(selector)
        for each in found:
            self.add(each)
        return found
