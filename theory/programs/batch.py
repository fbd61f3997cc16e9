"""The values of programs at many sequences at once: each function is called once for equal values.

The values of an s-op are numbered in the order in which they are found, and arrays contain these
numbers.  The number −1 stands for "no value": a function raises an error, or a mean is taken of
values that are neither equal nor numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from theory.programs.elementwise import value_of
from theory.programs.interpreter import NoValue
from theory.programs.language import (
    Aggregate,
    Expression,
    Full,
    Indices,
    Length,
    Select,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SelectorWidth,
    SOp,
    Tokens,
    expressions,
)
from theory.programs.selectors import related
from theory.programs.values import Value, exact, integers, is_number

NONE = -1  # the number that stands for "no value"


class Batch:
    """The values of a program at sequences of one length.

    `tokens` (…, n) are indices of `vocabulary`.  `of[sop]` is an array (…, n) of the numbers of
    values in the list `known[sop]`, and `of[selector]` is a Boolean array (…, n, n).  `valid` (…)
    is True at sequences at which the program has a value at all positions.
    """

    def __init__(
        self,
        program: Expression,
        vocabulary: Sequence[Value],
        tokens: np.ndarray,
        *,
        causal: bool = False,
    ) -> None:
        self.vocabulary, self.tokens = vocabulary, np.asarray(tokens)
        self.shape, n = self.tokens.shape, self.tokens.shape[-1]
        self.seen = np.tri(n, dtype=bool) if causal else np.ones((n, n), dtype=bool)
        self.causal, self.of = causal, dict[Expression, np.ndarray]()
        self.known: dict[SOp, list[Value]] = {}
        self.valid = np.ones(self.shape[:-1], dtype=bool)
        self.add(program)

    def add(self, program: Expression) -> np.ndarray:
        """The numbers, or for a selector the entries, of a further program."""
        for each in expressions(program):
            if each not in self.of:
                if isinstance(each, SOp):
                    self.of[each] = self._sop(each)
                    self.valid &= (self.of[each] != NONE).all(-1)
                else:
                    self.of[each] = self._selector(each)
        return self.of[program]

    def values(self, sop: SOp) -> np.ndarray:
        """The values of an s-op as an array (…, n) of objects; None also for "no value"."""
        numbers = self.add(sop)
        known = np.empty(len(self.known[sop]) + 1, dtype=object)
        known[:] = [*self.known[sop], None]
        return known[numbers]

    def _sop(self, sop: SOp) -> np.ndarray:
        n = self.shape[-1]
        self.known[sop] = []
        match sop:
            case Tokens():
                self.known[sop] = [*self.vocabulary]
                return self.tokens
            case Indices():
                self.known[sop] = [*range(n)]
                return np.broadcast_to(np.arange(n), self.shape)
            case Length():
                self.known[sop] = [*range(1, n + 1)]
                return np.broadcast_to(np.arange(n) if self.causal else np.array(n - 1), self.shape)
            case Full(fill):
                self.known[sop] = [exact(fill)]
                return np.zeros(self.shape, dtype=np.int64)
            case SelectorWidth(selector):
                self.known[sop] = [*range(n + 1)]
                counts: np.ndarray = self.of[selector].sum(-1)
                return counts
            case Aggregate():
                return self._aggregate(sop)
        parts = [part for part in sop.parts if isinstance(part, SOp)]

        def value(*at: int) -> Value:
            if NONE in at:
                raise NoValue("a value is missing")
            return value_of(sop, [self.known[p][i] for p, i in zip(parts, at, strict=True)])

        return self._numbered(sop, value, *(self.of[part] for part in parts))

    def _aggregate(self, sop: Aggregate) -> np.ndarray:
        values, chosen = self.known[sop.sop], self.of[sop.selector]
        numbers = np.broadcast_to(self.of[sop.sop][..., None, :], chosen.shape)
        least = np.where(chosen, numbers, len(values)).min(-1)
        most = np.where(chosen, numbers, NONE).max(-1)
        numeric: list[Any] = [v if is_number(v) else 0 for v in values]
        fractions = [Fraction(v) for v in numeric]
        scale = lcm(*(each.denominator for each in fractions))
        whole = integers([*(int(each * scale) for each in fractions), 0])
        other = np.array([not is_number(v) for v in values] + [False])
        sums = np.where(chosen, whole[numbers], 0).sum(-1)
        others = (chosen & other[numbers]).any(-1)

        def value(total: int, count: int, low: int, high: int, with_others: int) -> Value:
            if count == 0:
                return exact(sop.default)
            if low == NONE or (low < high and with_others):
                raise NoValue("a mean of values that are neither equal nor numbers")
            return values[low] if low == high else exact(Fraction(total, count * scale))

        return self._numbered(sop, value, sums, chosen.sum(-1), least, most, others)

    def _selector(self, selector: Expression) -> np.ndarray:
        match selector:
            case Select(keys, queries, _):
                found = related(selector, self.known[keys], self.known[queries])
                rows = np.pad(found, ((0, 1), (0, 1)))  # "no value" selects nothing
                entries = rows[self.of[queries][..., :, None], self.of[keys][..., None, :]]
                self.valid &= ~((entries < 0) & self.seen).any((-2, -1))
                chosen: np.ndarray = (entries == 1) & self.seen
                return chosen
            case SelectorAnd(fst, snd):
                return self.of[fst] & self.of[snd]
            case SelectorOr(fst, snd):
                return self.of[fst] | self.of[snd]
            case SelectorNot(inner):
                return ~self.of[inner] & self.seen
        raise AssertionError(selector)

    def _numbered(self, sop: SOp, value: Callable[..., Value], *arrays: np.ndarray) -> np.ndarray:
        """The numbers of the values of an s-op, a function of the entries of integer arrays."""
        of: dict[Value, int] = {}

        def number(*entries: int) -> int:
            try:
                return of.setdefault(value(*entries), len(of))
            except NoValue:
                return NONE

        found = _each_once(number, *arrays)
        self.known[sop] = [*of]
        return found


def _each_once(f: Callable[..., int], *arrays: np.ndarray) -> np.ndarray:
    """f of the entries of integer arrays, called once for all equal entries."""
    arrays = tuple(np.broadcast_arrays(*arrays))
    columns = [each.ravel() for each in arrays]
    code, count = np.zeros(arrays[0].size, dtype=np.int64), 1  # a number below `count` for each row
    for column in columns:
        low, high = int(column.min()), int(column.max())
        if count * (high - low + 1) < 2**62:
            digit = (column - low).astype(np.int64)
        else:
            code = np.unique(code, return_inverse=True)[1]
            digit = np.unique(column, return_inverse=True)[1]
            count, low, high = len(code), 0, len(column) - 1
        count *= high - low + 1
        code = code * (high - low + 1) + digit
    _, first, where = np.unique(code, return_index=True, return_inverse=True)
    found = np.array([f(*(int(column[i]) for column in columns)) for i in first])
    result: Any = found[where].reshape(arrays[0].shape)
    return result
