"""The heads of a compiled program: selectors as scores, and what a head averages.

A selector is a conjunction of relations (`theory.programs.selectors`), and its score is the sum of
the scores of the relations.  Each of them is an integer, s(query) if the key is selected and at
most s(query) − 1 otherwise:

    a prefix           the mask: causal for j ≤ i, strictly causal for j < i
    one query          the key reads 0 if it is selected and −1 otherwise; s = 0; so for one key
    a matching         keys κ and queries φ are integers, equal if and only if the key is selected:
                       2φκ − κ² = φ² − (φ − κ)², s = φ²
    others             the keys, one-hot by classes of keys that the same queries select, times the
                       row of the query with entries 0 and −1; or the roles exchanged; s = 0

BOS has the score s(query) − 1/2, so that a mean over no position is the value of BOS, the default.
If every row certainly selects a position, BOS has the score −1, below all selected ones.  For
widths BOS has the score s(query): the mean of the flag of BOS over BOS and the w selected positions
is 1/(w + 1).  At BOS itself a head outputs the value of BOS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, gcd, lcm
from typing import Any

import numpy as np

from constructions.attention import Mask
from constructions.programs.columns import Columns, Leaf, Reading, at_bos, largest
from constructions.programs.functions import as_function
from theory.programs.domains import Domains
from theory.programs.language import (
    Aggregate,
    Indices,
    Length,
    Select,
    Selector,
    SelectorAnd,
    SelectorWidth,
    SOp,
)
from theory.programs.selectors import Conjunction
from theory.programs.values import Value, exact, is_number, ordered

BOS = Reading({"bos": Fraction(1)})
FAR, FEW = 8, 64  # numbers are far apart in an interval of at least 64 + 8·(their number) units
Classes = tuple[np.ndarray, np.ndarray]  # of the values of queries and of keys


@dataclass
class Score:
    """The score of a conjunction: pairs of readings (query, key), and the mask.

    The score of selected positions is the sum of the `squares`, functions of queries.
    """

    pairs: list[tuple[Reading, Reading]] = field(default_factory=list)
    squares: list[tuple[SOp, list[int]]] = field(default_factory=list)
    mask: Mask | None = None

    def merged(self) -> list[tuple[Reading, Reading]]:
        """The pairs, of which those with constant queries are added up."""
        keys, others = Reading(), list[tuple[Reading, Reading]]()
        for query, key in self.pairs:
            if query.factors:
                others.append((query, key))
            else:
                keys += query.constant * key
        if not keys.factors and not keys.constant:
            return others
        return [*others, (Reading(constant=Fraction(1)), keys)]


def _key(reading: Reading) -> tuple[Any, ...]:
    return tuple(sorted(reading.factors.items())), reading.constant


@dataclass
class HeadPlan:
    """A head of a layer; `value` is read at tokens, and is `at_bos` at BOS.

    `bos` is the query of the score of BOS, and `own` is added to it at BOS.
    """

    layer: int
    score: Score
    bos: Reading
    own: Fraction
    value: Reading
    at_bos: Fraction
    into: str
    gap: float

    def readings(self) -> list[Reading]:
        """All that the head reads."""
        sides = [side for pair in self.score.pairs for side in pair]
        return [*sides, self.bos, self.value]

    def pattern(self) -> tuple[Any, ...]:
        """Equal for heads with equal attention patterns."""
        sides = [side for pair in self.score.merged() for side in pair]
        return self.score.mask or "", self.own, self.gap, *map(_key, [*sides, self.bos])


class Heads:
    """The heads of a program, and the leaves that they compute."""

    def __init__(
        self, domains: Domains, causal: bool, offsets: Mapping[str, int] | None = None
    ) -> None:
        self.domains, self.causal, self.offsets = domains, causal, offsets or {}
        self.plans = list[HeadPlan]()
        self.columns = Columns(domains, self.leaf)

    def leaf(self, sop: SOp) -> Leaf:
        """The leaf of an aggregate, a width or the length."""
        match sop:
            case Length() if self.causal:
                count = len(self.domains.values[sop])
                return Leaf(sop, "embedded", codes=list(range(count)))
            case Length():
                return self._width(sop, [(1, ())])
            case SelectorWidth(selector):
                return self._width(sop, self.domains.relations.widths(selector))
            case Aggregate():
                return self._aggregate(sop)
        raise AssertionError(sop)

    # Leaves

    def _width(self, sop: SOp, parts: list[tuple[int, Conjunction]]) -> Leaf:
        """The width, a sum of widths of conjunctions, each computed by one head."""
        widths = [int(w) for w in self.domains.values[sop]]
        if len(parts) == 1:
            score = self.score(parts[0][1])
            if score is None:
                return Leaf(sop, "integer", code=Reading(), codes=widths)
            raws = [Fraction(1, w + 1) for w in widths]
            raw = self._head(sop, score, BOS, Fraction(1), self.selected(score), raws, keeps=False)
            return Leaf(sop, "means", raw=(raw, raws))
        total = Reading()
        for factor, (first, *others) in parts:
            selector: Selector = first
            for each in others:
                selector = SelectorAnd(selector, each)
            part = SelectorWidth(selector, name=f"{sop}: part")
            self.domains.add(part)
            own = [int(w) for w in self.domains.values[part]]
            total += factor * self.columns.reading(part, own)
        return Leaf(sop, "integer", code=total, codes=widths)

    def _aggregate(self, sop: Aggregate) -> Leaf:
        values = self.domains.values[sop]
        conjunction = self.domains.conjunction(sop.selector)
        score = self.score(conjunction)
        if score is None:  # no position is selected
            number = list(values).index(exact(sop.default))
            none = Reading(constant=Fraction(number))
            return Leaf(sop, "integer", code=none, codes=list(range(len(values))))
        function, code = self._codes(sop)
        value = self.columns.reading(sop.sop, function, exact=False)
        keeps = not self.domains.averages(sop) and all(
            self.columns.columns[name].exact for name in value.factors
        )
        raws = [code[v] - value.constant for v in values]
        default = code.get(exact(sop.default), value.constant) - value.constant
        if self.domains.never_empty(sop.selector):
            bos = Reading(constant=Fraction(-1))
        else:
            bos = self.selected(score) + Reading(constant=Fraction(-1, 2))
        value = Reading(value.factors, time=value.time)
        raw = self._head(sop, score, value, default, bos, raws, keeps=keeps)
        if not keeps:
            return Leaf(sop, "means", raw=(raw, raws))
        return Leaf(sop, "integer", code=raw, codes=[int(each) for each in raws])

    def _codes(self, sop: Aggregate) -> tuple[list[Fraction], dict[Value, Fraction]]:
        """A number for each value of what is averaged, and for each mean, in their order.

        They are affine in numbers, except for a default that is far from all means. If nothing is
        averaged and numbers are far from each other, they are 0, 1, ….
        """
        inner, values = self.domains.values[sop.sop], self.domains.values[sop]
        both, default = ordered((*inner, *values)), exact(sop.default)
        own = [Fraction(v) for v in inner if is_number(v)]
        numbers = [*own, *(Fraction(v) for v in ordered([default]) if is_number(v))]
        far = {}
        base, scale, top = self._affine(sop, numbers)
        spread = top >= FEW + FAR * len(both)
        if spread and not self.domains.averages(sop):
            code = {v: Fraction(i) for i, v in enumerate(both)}
            return [code[v] for v in inner], code
        if spread and not min(own) <= numbers[-1] <= max(own):
            base, scale, top = self._affine(sop, own)
            far[default] = top + 1 if numbers[-1] > max(own) else Fraction(-1)
            top += 1
        means = [v for v in both if is_number(v)]
        code = {v: far.get(v, (Fraction(v) - base) * scale) for v in means}
        code |= {v: top + i for i, v in enumerate(both[len(means) :], start=1)}
        return [code[v] for v in inner], code

    def _affine(
        self, sop: Aggregate, numbers: list[Fraction]
    ) -> tuple[Fraction, Fraction, Fraction]:
        """The smallest number, a factor that makes differences integers, and the largest one."""
        base = min(numbers, default=Fraction(0))
        scale = Fraction(lcm(*(each.denominator for each in numbers)))
        divisor = gcd(*(int((each - base) * scale) for each in numbers))
        scale = self.columns.scale(sop.sop) or (scale / divisor if divisor else Fraction(1))
        return base, scale, max((each - base for each in numbers), default=Fraction(-1)) * scale

    def _head(
        self,
        sop: SOp,
        score: Score,
        value: Reading,
        default: Fraction,
        bos: Reading,
        raws: list[Fraction],
        *,
        keeps: bool,
    ) -> Reading:
        """Adds a head, and returns the reading of its output.

        The output is one of `raws`; if not `keeps`, it is rounded in floating-point numbers. Then
        the embedding adds a power of two to it, so that the lowest bits are rounded away, and all
        sums of steps are exact: `offsets` contains it where a small one does not suffice.
        """
        readings = [value, bos, *(side for pair in score.pairs for side in pair)]
        layer = (max(each.time for each in readings) + 1) // 2 + 1
        most = max(map(abs, [*raws, default]))
        into = self.columns.register(
            str(sop) if keeps else f"mean of {sop}", 2 * layer - 1, most, exact=keeps
        )
        column = self.columns.columns[into]
        if not keeps:
            few = 1 << int(4 * len(raws) * (most + 2)).bit_length()
            column.offset = Fraction(self.offsets.get(into, few))
            column.error = column.offset / 2**52 + self.columns.error(value)
        offset = column.offset
        column.most, column.at_bos = most + offset, default + offset
        column.holds = sop, as_function([raw + offset for raw in raws])
        certain = value is BOS or (not bos.factors and bos.constant == -1)
        own = self._own(score, bos)
        gap = 1.0 if certain else 0.5
        self.plans.append(HeadPlan(layer, score, bos, own, value, default, into, gap))
        return Reading({into: Fraction(1)}, -offset, 2 * layer - 1)

    def _own(self, score: Score, bos: Reading) -> Fraction:
        """What is added to the score of BOS at BOS, so that BOS attends to itself alone."""
        if score.mask is not None:
            return Fraction(0)
        columns = self.columns.columns
        others = (abs(at_bos(q, columns)) * largest(k, columns) for q, k in score.pairs)
        return Fraction(floor(sum(others, Fraction(0)) - at_bos(bos, columns)) + 2)

    # Scores

    def score(self, conjunction: Conjunction) -> Score | None:
        """The score of a conjunction of relations; None if it certainly selects nothing."""
        merged: dict[tuple[int, int], tuple[Select, np.ndarray]] = {}
        for each in conjunction:
            self.domains.add(each)
            key = id(each.keys), id(each.queries)
            found = self.domains.selected(each)
            merged[key] = each, found & merged[key][1] if key in merged else found
        total = Score(mask="causal" if self.causal else None)
        for each, found in merged.values():
            if self._prefix(each, found, total):
                continue
            if not found.any():
                return None
            self._relation(each, found, total)
        return total

    def _prefix(self, select: Select, found: np.ndarray, total: Score) -> bool:
        """Whether the relation is a mask, which is then set."""
        if not isinstance(select.keys, Indices) or not isinstance(select.queries, Indices):
            return False
        seen = np.tri(len(found), dtype=bool) if self.causal else np.ones_like(found)
        for mask, k in (("causal", 0), ("strictly causal", -1)):
            if np.array_equal(found & seen, np.tri(len(found), k=k, dtype=bool)):
                total.mask = mask  # type: ignore[assignment]
                return True
        return False

    def _relation(self, select: Select, found: np.ndarray, total: Score) -> None:
        """Adds the score of a relation, a matrix with rows for queries and columns for keys."""
        rows, query_class = np.unique(found, axis=0, return_inverse=True)
        columns, key_class = np.unique(rows, axis=1, return_inverse=True)
        query_class, key_class = query_class.ravel(), key_class.ravel()
        if columns.all():
            return
        if len(rows) == 1:
            keys = self._read(select.keys, columns[0, key_class].astype(int) - 1)
            total.pairs.append((Reading(constant=Fraction(1)), keys))
        elif columns.shape[1] == 1:
            queries = self._read(select.queries, columns[query_class, 0].astype(int) - 1)
            total.pairs.append((queries, Reading(constant=Fraction(1))))
        elif (columns.sum(0) <= 1).all() and (columns.sum(1) <= 1).all() and max(columns.shape) > 2:
            self._matching(select, found, total)
        else:
            self._classes(select, columns, (query_class, key_class), total)

    def _matching(self, select: Select, found: np.ndarray, total: Score) -> None:
        """The score 2φκ − κ²."""
        keys, queries = _matched(found, self.domains, select)
        kappa, phi = self._read(select.keys, keys), self._read(select.queries, queries)
        squared = self._read(select.keys, [each * each for each in keys], f"{select.keys}²")
        total.pairs += [(2 * phi, kappa), (Reading(constant=Fraction(-1)), squared)]
        total.squares.append((select.queries, [each * each for each in queries]))

    def selected(self, score: Score) -> Reading:
        """The score of selected positions, a function of the query."""
        total = Reading()
        for sop, numbers in score.squares:
            total += self._read(sop, numbers, f"{sop}²")
        return total

    def _classes(self, select: Select, found: np.ndarray, of: Classes, total: Score) -> None:
        """The score of one-hot classes of one side, times entries 0 and −1 of the other side."""
        queries = self._by_class(select.queries, of[0])
        keys = self._by_class(select.keys, of[1])
        entries = found.astype(int) - 1
        if found.shape[1] <= found.shape[0]:
            one_hot = np.eye(found.shape[1], dtype=int)
            total.pairs += [(queries(entries[:, c]), keys(one_hot[c])) for c in range(len(one_hot))]
        else:
            one_hot = np.eye(found.shape[0], dtype=int)
            total.pairs += [(queries(one_hot[c]), keys(entries[c])) for c in range(len(one_hot))]

    def _by_class(self, sop: SOp, classes: np.ndarray) -> Callable[[np.ndarray], Reading]:
        """Readings of functions of a class of values: sums of the columns [class ≥ k]."""
        _, first = np.unique(classes, return_index=True)
        order = np.argsort(first)  # by the first value of each class
        place = np.argsort(order)[classes]
        at_least = [self._read(sop, place >= k, f"[{sop} ≥ {k}]") for k in range(1, len(order))]

        def reading(function: np.ndarray) -> Reading:
            values = function[order]
            total = Reading(constant=Fraction(int(values[0])))
            for step, column in zip(np.diff(values), at_least, strict=True):
                if step:
                    total += int(step) * column
            return total

        return reading

    def _read(self, sop: SOp, numbers: Sequence[int] | np.ndarray, label: str = "") -> Reading:
        exact = numbers.astype(np.int64) if isinstance(numbers, np.ndarray) else numbers
        return self.columns.reading(sop, exact, label)


def _matched(found: np.ndarray, domains: Domains, select: Select) -> tuple[list[int], list[int]]:
    """Integers of keys and of queries, equal if and only if the query selects the key."""
    keys, queries = domains.values[select.keys], domains.values[select.queries]
    numbers = [v for v in (*keys, *queries) if isinstance(v, int)]
    if len(numbers) > 1 and max(numbers) - min(numbers) <= 4 * len(numbers):
        top = max(numbers)
        of_key = [v if isinstance(v, int) else top + 1 for v in keys]
        of_query = [v if isinstance(v, int) else top + 2 for v in queries]
        if np.array_equal(np.array(of_key)[None] == np.array(of_query)[:, None], found):
            return of_key, of_query
    of_key = [-1] * len(keys)
    of_query, count = [-1] * len(queries), 0
    for k in range(len(keys)):
        rows = np.flatnonzero(found[:, k])
        if len(rows) and of_query[rows[0]] < 0:
            for row in rows:
                of_query[row] = count
            count += 1
        if len(rows):
            of_key[k] = of_query[rows[0]]
    return (
        [count if c < 0 else c for c in of_key],
        [-1 if c < 0 else c for c in of_query],
    )
