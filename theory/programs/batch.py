"""The values of programs at many sequences at once, by tables of the values of all s-ops.

The values of an s-op are numbered as in `Domains.values`, and arrays contain these numbers.  The
number −1 stands for "no value": a function raises an error, or a mean is taken of values that are
neither equal nor numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from theory.programs.domains import Domains, related, value_of
from theory.programs.interpreter import NoValue
from theory.programs.language import (
    Aggregate,
    Expression,
    Full,
    Indices,
    Length,
    Select,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SelectorWidth,
    SOp,
    Tokens,
    expressions,
)
from theory.programs.values import Value, exact, is_number

NONE = -1  # the number that stands for "no value"


class Batch:
    """The numbers of the values of every s-op of a program at sequences of one length.

    `tokens` (…, n) are the indices of the tokens in `domains.vocabulary`.  `of[sop]` is an array
    (…, n) of numbers of values in `domains.values[sop]`, and `of[selector]` is a Boolean array
    (…, n, n).
    """

    def __init__(
        self, program: Expression, domains: Domains, tokens: np.ndarray, *, causal: bool = False
    ) -> None:
        self.domains, self.tokens = domains, np.asarray(tokens)
        self.shape, n = self.tokens.shape, self.tokens.shape[-1]
        self.seen = np.tri(n, dtype=bool) if causal else np.ones((n, n), dtype=bool)
        self.causal, self.of = causal, dict[Expression, np.ndarray]()
        for each in expressions(program):
            self.add(each)

    def add(self, program: Expression) -> np.ndarray:
        """The values of a further program, whose s-ops `domains` contains."""
        for each in expressions(program):
            if each not in self.of:
                self.of[each] = (
                    self._sop(each) if isinstance(each, SOp) else self._selector(each)  # type: ignore[arg-type]
                )
        return self.of[program]

    @cached_property
    def valid(self) -> np.ndarray:
        """Whether the program has a value at all positions, (…)."""
        found = np.ones(self.shape[:-1], dtype=bool)
        for each, numbers in self.of.items():
            if isinstance(each, SOp):
                found &= (numbers != NONE).all(-1)
        return found

    def values(self, sop: SOp) -> np.ndarray:
        """The values of an s-op as an array (…, n) of objects; None also for "no value"."""
        known = np.empty(len(self.domains.values[sop]) + 1, dtype=object)
        known[:] = [*self.domains.values[sop], None]
        return known[self.of[sop]]

    def _sop(self, sop: SOp) -> np.ndarray:
        values = self.domains.values[sop]
        number = {value: i for i, value in enumerate(values)}
        n = self.shape[-1]
        match sop:
            case Tokens():
                return np.array([number[token] for token in self.domains.vocabulary])[self.tokens]
            case Indices():
                return np.broadcast_to(np.arange(n), self.shape)
            case Length():
                return np.broadcast_to(np.arange(n) if self.causal else np.array(n - 1), self.shape)
            case Full(fill):
                return np.full(self.shape, number[exact(fill)])
            case SelectorWidth(selector):
                count = self.of[selector].sum(-1)
                return np.vectorize(lambda w: number.get(w, NONE), otypes=[int])(count)
            case Aggregate():
                return self._aggregate(sop, number)
        parts = [part for part in sop.parts if isinstance(part, SOp)]
        given = [self.of[part] for part in parts]

        def value(*at: int) -> int:
            operands = [self.domains.values[part][i] for part, i in zip(parts, at, strict=True)]
            try:
                return number[value_of(sop, operands)]
            except NoValue:
                return NONE

        return _each_once(value, *given)

    def _aggregate(self, sop: Aggregate, number: dict[Value, int]) -> np.ndarray:
        values, chosen = self.domains.values[sop.sop], self.of[sop.selector]
        numbers = np.broadcast_to(self.of[sop.sop][..., None, :], chosen.shape)
        count = chosen.sum(-1)
        least = np.where(chosen, numbers, len(values)).min(-1)
        most = np.where(chosen, numbers, NONE).max(-1)
        # All values are multiples of `unit`, so that their sums are integers.
        fractions = [Fraction(value) for value in values if is_number(value)]
        scale = int(np.lcm.reduce([value.denominator for value in fractions] or [1]))
        whole = np.array([int(v * scale) if is_number(v) else 0 for v in values] + [0])
        other = np.array([not is_number(v) for v in values] + [False])
        sums = np.where(chosen, whole[numbers], 0).sum(-1)
        unequal = (chosen & other[numbers]).any(-1) & (least != most)

        def value(total: int, of: int, low: int, high: int, none: int) -> int:
            if of == 0:
                return number[exact(sop.default)]
            if low < 0 or none:
                return NONE
            if low == high:
                return number[values[low]]
            return number.get(exact(Fraction(total, of * scale)), NONE)

        return _each_once(value, sums, count, least, most, unequal)

    def _selector(self, selector: Selector) -> np.ndarray:
        match selector:
            case Select(keys, queries, _):
                found = related(selector, self.domains)
                rows = np.pad(found, ((0, 1), (0, 1)))  # "no value" selects and is selected by none
                return rows[self.of[queries][..., :, None], self.of[keys][..., None, :]] & self.seen
            case SelectorAnd(fst, snd):
                return self.of[fst] & self.of[snd]
            case SelectorOr(fst, snd):
                return self.of[fst] | self.of[snd]
            case SelectorNot(inner):
                return ~self.of[inner] & self.seen
        raise AssertionError(selector)


def _each_once(f: Callable[..., int], *arrays: np.ndarray) -> np.ndarray:
    """f of the entries of integer arrays, called once for all equal entries."""
    arrays = tuple(np.broadcast_arrays(*arrays))
    rows = np.stack([each.ravel() for each in arrays], axis=-1).astype(np.int64)
    low = rows.min(0)
    spans = rows.max(0) - low + 1
    code = np.zeros(len(rows), dtype=np.int64)
    for column, span in zip((rows - low).T, spans, strict=True):
        code = code * span + column
    _, first, where = np.unique(code, return_index=True, return_inverse=True)
    found = np.array([f(*map(int, rows[i])) for i in first])
    result: Any = found[where].reshape(arrays[0].shape)
    return result
