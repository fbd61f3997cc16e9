"""A formula of past LTL as a sequence of `since` operators, each given by two truth tables.

Let j < i be the latest position before i at which ψ ∨ ¬φ holds.  Then φ since ψ holds at i iff ψ
holds at j [YCA2024].  So a `since` is given by two truth tables,

    stop = ψ ∨ ¬φ        value = ψ

whose variables are the symbol and the `since` operators in φ and ψ.  A formula is given by a table
whose variables are the symbol and the outermost `since` operators of the formula.  Tables leave out
irrelevant variables.  The sequence leaves out a `since` that never holds, that equals an earlier
`since`, or that is irrelevant to the formula.  So the sequence is at most as deep as the formula.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from theory.computation.languages import Language, explored
from theory.computation.temporal_logic import (
    Formula,
    Since,
    Truth,
    combined,
    has_symbols_of,
    outermost,
    sinces,
)
from theory.computation.truth_tables import TruthTable, truth_table
from theory.kinds import InputError

MOST_ROWS = 2**16  # the largest number of rows of a truth table


@dataclass(frozen=True)
class Step:
    """A step of a program: a `since` operator, `node`, given by two truth tables.

    At a position i, let j < i be the latest position at which the table `stop` is true.  The
    formula `node` holds at i iff the table `value` is true at j.  `depth` is the nesting depth of
    `since` operators in `node`, including `node`.
    """

    node: Since
    stop: TruthTable
    value: TruthTable
    depth: int


@dataclass(frozen=True)
class Program:
    """A formula of past LTL as a sequence of `since` operators.

    `answer` is the truth table of the formula.  Variable 0 of the truth tables is the symbol, and
    variable v ≥ 1 is the `since` of steps[v − 1].
    """

    steps: tuple[Step, ...]
    answer: TruthTable

    def depth(self, table: TruthTable) -> int:
        """The largest depth of a `since` that a table reads; 0 if it reads only the symbol."""
        return max((self.steps[v - 1].depth for v in table.reads if v), default=0)

    @property
    def tables(self) -> dict[TruthTable, Formula]:
        """The different tables of all steps, each with an equivalent formula."""
        found: dict[TruthTable, Formula] = {}
        for step in self.steps:
            found.setdefault(step.stop, step.node.stop)
            found.setdefault(step.value, step.node.then)
        return found


def program(of: Formula, alphabet: str) -> Program:
    """The program of a formula of past LTL: the sequence of its `since` operators.

    Raises ValueError for an alphabet that lacks a symbol of the formula, and for a table of more
    than 2^16 rows.
    """
    has_symbols_of(alphabet, of)
    steps, variable = list[Step](), dict[Since, int | None]()  # None: it never holds

    def table(of: Formula) -> TruthTable:
        reads = sorted({v for node in outermost(of) if (v := variable[node]) is not None})
        shape = (len(alphabet), *[2] * len(reads))
        if len(alphabet) * 2 ** len(reads) > MOST_ROWS:
            raise InputError(
                f"the truth table of a part with {len(reads)} different operators `since` has "
                f"{len(alphabet)}·2^{len(reads)} rows, more than {MOST_ROWS}: give a simpler "
                "formula"
            )
        places = np.indices(shape, sparse=True)

        def since(node: Since) -> Truth:
            v = variable[node]
            return np.bool_(False) if v is None else places[1 + reads.index(v)] == 1

        values = combined(of, lambda a: places[0] == alphabet.index(a), since)
        return truth_table((0, *reads), np.broadcast_to(values, shape))

    never = TruthTable((), np.array(False))
    for node in sinces(of):
        stop, value = table(node.stop), table(node.then)
        alike = (v for v, s in enumerate(steps, start=1) if (s.stop, s.value) == (stop, value))
        variable[node] = None if value == never else next(alike, len(steps) + 1)
        if variable[node] == len(steps) + 1:
            so_far = Program(tuple(steps), stop)
            depth = 1 + max(so_far.depth(stop), so_far.depth(value))
            steps.append(Step(node, stop, value, depth))
    return _needed(Program(tuple(steps), table(of)))


def _needed(of: Program) -> Program:
    """The program without the steps on which the answer does not depend."""
    needed, left = set[int](), [v for v in of.answer.reads if v]
    while left:
        if (v := left.pop()) not in needed:
            needed.add(v)
            step = of.steps[v - 1]
            left += [u for u in (*step.stop.reads, *step.value.reads) if u]
    number = {0: 0} | {v: i for i, v in enumerate(sorted(needed), start=1)}

    def renumbered(table: TruthTable) -> TruthTable:
        return TruthTable(tuple(number[v] for v in table.reads), table.values)

    steps = (of.steps[v - 1] for v in sorted(needed))
    return Program(
        tuple(Step(s.node, renumbered(s.stop), renumbered(s.value), s.depth) for s in steps),
        renumbered(of.answer),
    )


def language_of_program(by: Program, alphabet: str) -> Language:
    """The language of a program, with its minimal automaton.

    A state of the automaton contains a truth value for each step of the program: that of the table
    `value` of the step at the latest position at which the table `stop` of the step was true.
    """

    def step(state: tuple[bool, ...], symbol: str) -> tuple[bool, ...]:
        values = alphabet.index(symbol), *map(int, state[1:])

        def entry(table: TruthTable) -> bool:
            return bool(table.values[tuple(values[v] for v in table.reads)])

        pairs = zip(by.steps, state[1:], strict=True)
        after = [entry(s.value) if entry(s.stop) else before for s, before in pairs]
        return entry(by.answer), *after

    start = (False,) * (len(by.steps) + 1)
    return explored(start, step, lambda state: state[0], alphabet, "the sequence of truth tables")
