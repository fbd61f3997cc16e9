"""A cascade of counters and flip-flops for every semiautomaton whose holonomy groups are solvable.

A semiautomaton with a holonomy group that is not solvable has no such cascade [KrohnRhodes1965].
Whether a transformer of constant depth computes its state is open. The word problem of such a
semiautomaton is complete for NC¹ [Barrington1989], and constant-depth transformers are in TC⁰. So
if TC⁰ ≠ NC¹, constant-depth transformers do not solve this word problem [Liu2023, Theorem 4].

A cascade is a sequence of stages. The value of a stage before a symbol depends only on the earlier
symbols:

    counter mod m    the number of its inputs that were 1, mod m
    flip-flop        its latest input that was not "none"
    table            a function of the values of earlier stages; it has no input

The input of a stage is a function of the symbol and of the values of earlier stages. The state
after the symbol is a function of the symbol and of the values of all stages. All these functions
are stored as tables. So a counter is computed by one sum over the earlier symbols, and a flip-flop
by one search for the latest position with an input [Liu2023, Theorem 2]. The number of stages does
not depend on the length of the word.

**Construction.** In the holonomy decomposition (defined in `holonomy.py`) each class of image sets
has a height h and a group. If the group is solvable, counters compute its running product g, as
described in `products.py`.

A reset to tile c, at running product g, sets a flip-flop to the place c·g⁻¹. From then on the place
at height h is (value of the flip-flop)·g. The classes of one height share a flip-flop, but each
class has a separate running product, since a product across classes would leave the group. If no
set in the chain has height h, the place at height h has no meaning and is set to 0.

The variables of each table are found by search: all values of the stages that words reach are
listed, and a variable is dropped if the other variables determine the entry. The same enumeration
proves that the cascade and the automaton have the same state for words of every length; this is the
method `Cascade.disagreements`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import lt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from theory.computation.benchmark_automata import Automaton
from theory.computation.holonomy import Holonomy, States, holonomy, moved
from theory.computation.permutations import inverse
from theory.computation.products import Product
from theory.computation.semiautomata import Map, Semiautomaton, identity
from theory.kinds import InputError, Steps, Tokens, checked, read, shown

MOST_STATES = 2**16  # of the automaton of all stages, which takes seconds to list
NONE = -1  # the input at which a flip-flop keeps its value

Kind = Literal["counter", "flip-flop", "table"]


@dataclass(frozen=True)
class Table:
    """A function of the symbol and of the values of some stages of a cascade, stored as a table.

    Variable 0 is the symbol, and variable i ≥ 1 is the value of stage i. `reads` are the variables
    on which the function depends. `rows` maps the values of these variables, in the order of
    `reads`, to the value of the function.
    """

    reads: tuple[int, ...]
    rows: dict[tuple[int, ...], int]

    def key(self, variables: Sequence[int]) -> tuple[int, ...]:
        """The values of the variables that the table reads, from the values of all variables."""
        return tuple(variables[v] for v in self.reads)

    def __call__(self, variables: Sequence[int]) -> int:
        return self.rows[self.key(variables)]


@dataclass(frozen=True)
class Stage:
    """A stage of a cascade: a counter mod `size`, or a flip-flop or a table with `size` values.

    `first` is the value before the first symbol. `table` gives the number that is added to a
    counter, the new value of a flip-flop (−1 if the flip-flop keeps its value), or the value of a
    table stage. `height` is the height, in the holonomy decomposition, of the image sets to which
    the stage belongs.
    """

    kind: Kind
    size: int
    first: int
    table: Table
    height: int

    def after(self, value: int, variables: Sequence[int]) -> int:
        """The value after a symbol, from the value and all variables before the symbol.

        Variable 0 is the symbol, and variable i ≥ 1 is the value of stage i.
        """
        given = self.table(variables)
        if self.kind == "counter":
            return (value + given) % self.size
        return value if given == NONE else given


@dataclass(frozen=True)
class Cascade:
    """A cascade: counters, flip-flops and tables that compute the state of a semiautomaton.

    Each of the `stages` is a counter, a flip-flop or a table, and has a value before each symbol of
    a word. At a symbol, a counter adds a number to its value, modulo the size of the counter. A
    flip-flop keeps its value or gets a new value. The number that is added and the new value are
    functions of the symbol and of the values of the earlier stages. The value of a table is a
    function of the values of the earlier stages.

    The table `answer` gives the state of `automaton` after a symbol. This state is a function of
    the symbol and of the values of the stages before the symbol.
    """

    automaton: Semiautomaton
    stages: tuple[Stage, ...]
    answer: Table

    def first(self) -> tuple[int, ...]:
        """The value of each counter, flip-flop and table of the cascade before the first symbol."""
        return tuple(stage.first for stage in self.stages)

    def after(self, values: Sequence[int], symbol: int) -> tuple[int, ...]:
        """The values of the counters, flip-flops and tables of the cascade after a symbol.

        `values` are their values before the symbol. Raises `ValueError` for a symbol that the
        automaton does not have, and for values to which no word leads, if a table is not defined
        for them.
        """
        symbol = read(Steps, "symbol", symbol, below=self.automaton.n_symbols)
        before, sizes = read(Sequence[Steps], "values", values), [s.size for s in self.stages]
        try:
            if len(before) == len(sizes) and all(map(lt, before, sizes)):
                return self._after(tuple(before), symbol)
        except KeyError:
            pass
        raise InputError(
            f"values are {shown(values)}: give values of the {len(sizes)} stages to which a word "
            "leads"
        )

    def _after(self, values: tuple[int, ...], symbol: int) -> tuple[int, ...]:
        variables = (symbol, *values)
        found = [symbol]
        for stage, value in zip(self.stages, values, strict=True):
            # A table stage reads the new values of the stages before it.
            now = found if stage.kind == "table" else variables
            found.append(stage.table(now) if stage.kind == "table" else stage.after(value, now))
        return tuple(found[1:])

    def run(self, words: ArrayLike) -> np.ndarray:
        """The states of the automaton (…, T) that the cascade computes for words (…, T).

        Entry i is the state after symbol i of the word.
        """
        symbols = read(Tokens, "words", words, below=self.automaton.n_symbols)
        rows = [self._one(row) for row in symbols.reshape(-1, symbols.shape[-1]).tolist()]
        return np.array(rows).reshape(symbols.shape)

    def _one(self, word: list[int]) -> list[int]:
        values, states = self.first(), []
        for symbol in word:
            states.append(self.answer((symbol, *values)))
            values = self._after(values, symbol)
        return states

    def values(self, word: Sequence[int]) -> list[tuple[int, ...]]:
        """The values of all stages of the cascade, before each symbol of a word.

        The stages are the counters, flip-flops and tables of the cascade. The list has one tuple of
        values for each symbol of the word. Raises `ValueError` for a symbol that the automaton does
        not have.
        """
        symbols = read(Sequence[Steps], "word", word, below=self.automaton.n_symbols)
        found = [self.first()]
        for symbol in symbols[:-1]:
            found.append(self._after(found[-1], symbol))
        return found[: len(symbols)]

    def walk(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yields each pair (state of the automaton, values of the stages) to which some word leads.

        The stages are the counters, flip-flops and tables of the cascade. Each pair is yielded
        once.

        Raises `KeyError` if the function of a stage is not defined for values that occur.
        """
        start = self.automaton.start, self.first()
        seen, left = {start}, [start]
        while left:
            q, values = left.pop()
            yield q, values
            for a, row in enumerate(self.automaton.transitions):
                if (after := (row[q], self._after(values, a))) not in seen:
                    seen.add(after)
                    left.append(after)

    def disagreements(self) -> int:
        """The number of cases in which the cascade and the automaton have different next states.

        A case is a symbol and a pair to which some word leads: the state of the automaton and the
        values of the stages (counters, flip-flops and tables). The two next states are compared:
        the state to which the symbol leads the automaton, and the state in the cascade's table
        `answer`. A case for which `answer` has no row is also counted.

        If the number is 0, the cascade and the automaton have the same state for words of every
        length.
        """
        wrong = 0
        for q, values in self.walk():
            for a, row in enumerate(self.automaton.transitions):
                wrong += self.answer.rows.get(self.answer.key((a, *values))) != row[q]
        return wrong


@checked
def cascade(automaton: Automaton, *, compact: bool = False) -> Cascade:
    """The cascade of counters and flip-flops that computes the state of a semiautomaton.

    A counter adds a number at each symbol, modulo its size. A flip-flop keeps its value or gets a
    new one. The number that is added and the new value are functions of the symbol and of the
    values of earlier counters and flip-flops. The cascade is built from the holonomy decomposition
    of the semiautomaton, which gives a height to each image of the set of states under a word. The
    holonomy groups consist of the permutations that words induce on parts of these images. The
    module's docstring has the formulas.

    If `compact` is true, the cascade also has a table for each height with a non-trivial group,
    except the smallest height. Each table stores an intermediate result. The functions of later
    stages read this result instead of several other values.

    Raises `NotSolvable` if a holonomy group is not solvable. Raises `ValueError` if the automaton
    of all counters, flip-flops and tables has more than 2^16 states.
    """
    decomposition = holonomy(automaton)
    heights = [_Height(decomposition, h) for h in decomposition.heights]
    return _reduced(automaton, heights, _walk(automaton, decomposition, heights), compact)


class _Height:
    """The counters and the flip-flop of one height.

    The places and inputs of a height are cached, since each combination of the other stages needs
    them.
    """

    def __init__(self, decomposition: Holonomy, h: int) -> None:
        self.h, self.decomposition = h, decomposition
        classes = [c for c in decomposition.classes if c.height == h]
        self.products = [Product(decomposition.automaton, c) for c in classes if len(c.group) > 1]
        self.tiles = max(len(c.tiles) for c in classes)
        self.kinds: list[tuple[Kind, int]] = [
            *(("counter", m) for product in self.products for m in product.sizes),
            ("flip-flop", self.tiles),
        ]
        self.place, self.inputs = cache(self._place), cache(self._inputs)

    def counts(self, values: Sequence[int]) -> Iterator[tuple[Product, Sequence[int]]]:
        """Yields each product with the values of its counters, from the values of this height."""
        at = 0
        for product in self.products:
            yield product, values[at : at + len(product.sizes)]
            at += len(product.sizes)

    def element(self, number: int, values: Sequence[int], points: int) -> Map:
        """The running product in the group of a class; the identity if the group is trivial."""
        for product, counts in self.counts(values):
            if product.number == number:
                return product.element(counts)
        return identity(points)

    def _place(self, P: States, values: tuple[int, ...]) -> int:
        """The place (flip-flop)·g of the tile of a set of this height; 0 for other sets."""
        if self.decomposition.height(P) != self.h:
            return 0
        of = self.decomposition.of[P]
        return self.element(of.number, values, len(of.tiles))[values[-1]]

    def _inputs(self, P: States, values: tuple[int, ...], symbol: Map, to: States) -> list[int]:
        """The inputs of the stages at a symbol that leads from P to `to` in the chain."""
        given = [0] * (len(values) - 1) + [NONE]
        if self.decomposition.height(to) != self.h:
            return given
        of, image = self.decomposition.of[to], moved(P, symbol)
        if image == to and self.decomposition.height(P) == self.h:
            x, counters = of.permutation(P, symbol, to), list[int]()
            for product, counts in self.counts(values):
                mine = product.number == of.number
                counters += product.inputs(counts, x) if mine else [0] * len(counts)
            return [*counters, NONE]
        g = self.element(of.number, values, len(of.tiles))
        given[-1] = inverse(g)[of.holding(to, image)]
        return given


@dataclass(frozen=True)
class _Walk:
    """All combinations of values of the stages that words lead to; row 0 is the start.

    values   (rows, stages)             values of the stages
    places   (rows, heights)            place of the tile at each height
    given    (rows, symbols, stages)    inputs of the stages at each symbol
    states   (rows, symbols)            state of the automaton after each symbol
    """

    values: np.ndarray
    places: np.ndarray
    given: np.ndarray
    states: np.ndarray


def _walk(automaton: Semiautomaton, decomposition: Holonomy, heights: list[_Height]) -> _Walk:
    ends = np.cumsum([len(height.kinds) for height in heights]).tolist()
    spans = [slice(end - len(h.kinds), end) for end, h in zip(ends, heights, strict=True)]
    stages = [kind for height in heights for kind in height.kinds]
    tile = cache(lambda P, place: decomposition.of[P].tile(P, place))

    def chain(values: tuple[int, ...]) -> Iterator[tuple[States, int]]:
        """Yields for each height the set in the chain and the place of its tile; then the state."""
        P = decomposition.states
        for height, span in zip(heights, spans, strict=True):
            place = height.place(P, values[span])
            yield P, place
            if decomposition.height(P) == height.h:
                P = tile(P, place)
        yield P, 0

    def after(values: Sequence[int], given: Sequence[int], span: slice) -> list[int]:
        return [
            (value + put) % size if kind == "counter" else value if put == NONE else put
            for (kind, size), value, put in zip(stages[span], values[span], given, strict=True)
        ]

    first, P = list[int](), decomposition.states
    for height in heights:
        place = 0
        if decomposition.height(P) == height.h:
            place = decomposition.of[P].holding(P, frozenset([automaton.start]))
            P = decomposition.of[P].tile(P, place)
        first += [0] * (len(height.kinds) - 1) + [place]
    found = {tuple(first): 0}
    order, places, given, states = [tuple(first)], [], [], []
    for values in order:
        chained = list(chain(values))
        places.append([place for _, place in chained[:-1]])
        for symbol in automaton.transitions:
            to, inputs, following = decomposition.states, list[int](), list[int]()
            for height, span, (P, _) in zip(heights, spans, chained, strict=False):
                put = height.inputs(P, values[span], symbol, to)
                now = after(values, put, span)
                inputs, following = inputs + put, following + now
                if decomposition.height(to) == height.h:
                    to = tile(to, height.place(to, tuple(now)))
            given.append(inputs)
            states.append(min(to))
            if tuple(following) not in found:
                if len(found) == MOST_STATES:
                    raise InputError(
                        f"the stages of {automaton.name} have more than {MOST_STATES} joint "
                        "states: use semiautomaton(…), which has ⌈log₂ T⌉ layers for T tokens"
                    )
                found[tuple(following)] = len(order)
                order.append(tuple(following))
    rows, symbols = len(order), automaton.n_symbols
    return _Walk(
        np.array(order, dtype=np.int64).reshape(rows, len(stages)),
        np.array(places, dtype=np.int64).reshape(rows, len(heights)),
        np.array(given, dtype=np.int64).reshape(rows, symbols, len(stages)),
        np.array(states, dtype=np.int64).reshape(rows, symbols),
    )


def _reduced(
    automaton: Semiautomaton, heights: list[_Height], walk: _Walk, compact: bool
) -> Cascade:
    """The stages whose values change, each with the table that determines its input."""
    rows, symbols = walk.states.shape
    stages, columns, raw = list[Stage](), [np.tile(np.arange(symbols), rows)], list[int]()

    def tabled(wanted: np.ndarray, candidates: list[int]) -> Table:
        """The table of `wanted` on as few candidates as determine it.

        Candidates are dropped one by one: stages whose place has a table stage, then the others,
        each from the last to the first, and the symbol at the end.
        """
        ordered = sorted(candidates, key=raw.__contains__)
        reads = sorted(ordered[i] for i in _needed_of([columns[v] for v in ordered], wanted))
        keys = np.stack([columns[u] for u in reads], axis=1) if reads else np.zeros((1, 0), int)
        keys, index = np.unique(keys, axis=0, return_index=True)
        found = zip(keys.tolist(), wanted[index].tolist(), strict=True)
        return Table(tuple(reads), {tuple(key): value for key, value in found})

    def add(kind: Kind, size: int, column: np.ndarray, table: Table, height: int) -> None:
        stages.append(Stage(kind, size, int(column[0]), table, height))
        columns.append(np.repeat(column, symbols))

    at = 0
    for number, height in enumerate(heights):
        mine = list[int]()
        for kind, size in height.kinds:
            column = walk.values[:, at]
            if (column != column[0]).any():
                table = tabled(walk.given[..., at].ravel(), list(range(len(columns))))
                add(kind, size, column, table, height.h)
                mine.append(len(stages))
            at += 1
        place = walk.places[:, number]
        last = number == len(heights) - 1
        if compact and not last and any(stages[v - 1].kind == "counter" for v in mine):
            table = tabled(np.repeat(place, symbols), list(range(1, len(columns))))
            add("table", height.tiles, place, table, height.h)
            raw += mine
    answer = tabled(walk.states.ravel(), list(range(len(columns))))
    return _needed(Cascade(automaton, tuple(stages), answer))


def _needed(of: Cascade) -> Cascade:
    """The cascade without the stages on which the state does not depend."""
    needed, left = set[int](), [*of.answer.reads]
    while left:
        if (v := left.pop()) not in needed:
            needed.add(v)
            left += of.stages[v - 1].table.reads if v else ()
    kept = sorted(needed - {0})
    number = {0: 0} | {v: i for i, v in enumerate(kept, start=1)}

    def renumbered(table: Table) -> Table:
        return Table(tuple(number[v] for v in table.reads), table.rows)

    stages = [of.stages[v - 1] for v in kept]
    stages = [replace(stage, table=renumbered(stage.table)) for stage in stages]
    return Cascade(of.automaton, tuple(stages), renumbered(of.answer))


def _needed_of(columns: list[np.ndarray], wanted: np.ndarray) -> list[int]:
    """Columns that determine `wanted`; unnecessary columns are dropped, the last one first."""
    before = [np.zeros(len(wanted), dtype=np.int64)]
    for column in columns:
        before.append(_joined(before[-1], column))
    found, behind = list[int](), before[0]
    for place, column in reversed([*enumerate(columns)]):
        if not _decides(_joined(before[place], behind), wanted):
            found.append(place)
            behind = _joined(behind, column)
    return found


def _joined(key: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Numbers pairs of entries, equal pairs alike, below the number of rows: nothing overflows."""
    pairs, count = key * (int(column.max()) + 1) + column, 8 * len(key)
    if int(pairs.max()) >= count:
        return np.unique(pairs, return_inverse=True)[1]
    there = np.zeros(count, dtype=bool)
    there[pairs] = True
    return (np.cumsum(there) - 1)[pairs]


def _decides(key: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether rows with equal keys, numbers below the number of rows, have equal `wanted`."""
    entry = np.zeros(len(key), dtype=wanted.dtype)
    entry[key] = wanted  # of one of the rows with this key
    return bool((entry[key] == wanted).all())
