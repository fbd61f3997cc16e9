"""Turing machines of one tape, two moves and finitely many states, run by their definition.

    rules[q][s] = (state, symbol, move):   in state q and reading s it writes the symbol into the
                                           cell under the head, moves by ±1, and is in the state

The tape is blank, symbol 0, in all cells but those of a word. Where there is no rule the machine
halts: it makes no further step. A state without rules is a halting state, and the step that leads
to it counts, as is usual for busy beavers.

A history is the row of steps (state, symbol, move) that were made. It says all: replayed from cell
0 of a blank tape it gives the tape, the head and the state.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np

from theory import machine
from theory.computation.kinds import Triple
from theory.json_table import json_table
from theory.kinds import Count, File, InputError, OneSequence, Seed, Steps, checked, read

LEFT, RIGHT = -1, 1
STEP = re.compile(r"(\d{1,9})([LR])(\w+)")


class Step(NamedTuple):
    """What is done in a step: the state after it, the symbol that is written, the move."""

    state: int
    symbol: int
    move: int


class Configuration(NamedTuple):
    """The cells that were written, by their place; where the head stands; the state."""

    tape: dict[int, int]
    head: int
    state: int


Rule: TypeAlias = Annotated[Step, Triple(Step)]
"""A step, also given as another tuple of three integers."""
MachineFile: TypeAlias = Annotated[Any, File("a machine")]


@checked
@dataclass(frozen=True)
class TuringMachine:
    """rules[q][s] is a `Step`, or None where the machine halts.

    `names` are those of its states. Raises `ValueError` for a table without states or symbols, rows
    of different lengths, and for a rule with a state, a symbol or a move that is none.
    """

    rules: tuple[tuple[Rule | None, ...], ...]
    name: str = "machine"
    start: Steps = 0
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        rows = self.rules
        if not rows or not rows[0]:
            raise InputError(f"rules of {self.name} are none: give a row for each state")
        for q, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise InputError(
                    f"rules[{q}] of {self.name} are for {len(row)} symbols and rules[0] for "
                    f"{len(rows[0])}: give one, or None, for every symbol"
                )
            for s, rule in enumerate(row):
                if rule is not None:
                    self._check(f"rules[{q}][{s}] of {self.name}", rule)
        object.__setattr__(self, "names", self.names or tuple(map(str, range(len(rows)))))
        if len(self.names) != self.n_states:
            raise InputError(
                f"names of {self.name} are {len(self.names)} for {self.n_states} states: give as "
                "many"
            )
        if self.start >= self.n_states:
            raise InputError(
                f"start is {self.start}: give a state of {self.name}, 0 to {self.n_states - 1}"
            )

    def _check(self, where: str, rule: Step) -> None:
        state, symbol, move = rule
        if not 0 <= state < self.n_states or not 0 <= symbol < self.n_symbols:
            raise InputError(
                f"{where} writes symbol {symbol} and goes to state {state}: there are "
                f"{self.n_symbols} symbols and {self.n_states} states, from 0 on"
            )
        if move not in (LEFT, RIGHT):
            raise InputError(f"{where} moves by {move}: give −1 (left) or 1 (right)")

    @property
    def n_states(self) -> int:
        """The number of states, halting ones included."""
        return len(self.rules)

    @property
    def n_symbols(self) -> int:
        """The number of symbols, the blank included."""
        return len(self.rules[0])

    @property
    def n_rules(self) -> int:
        """The number of pairs of a state and a symbol that have a rule."""
        return sum(rule is not None for row in self.rules for rule in row)

    def configuration(self, history: Iterable[Step] = ()) -> Configuration:
        """The tape, the head and the state after a history, from cell 0 of a blank tape."""
        tape, head, state = dict[int, int](), 0, self.start
        for step in history:
            state, tape[head], head = step.state, step.symbol, head + step.move
        return Configuration(tape, head, state)

    def following(self, history: Iterable[Step]) -> Step | None:
        """The step after a history; None if the machine halts."""
        tape, head, state = self.configuration(history)
        return self.rules[state][tape.get(head, 0)]

    def writing(self, word: Sequence[int] = ()) -> list[Step]:
        """A history after which the word stands on the tape and the head on its first symbol.

        Its symbols are written from the last to the first, moving left, and a blank before them;
        the head then moves right. So a word of m symbols takes m + 1 steps. Raises `ValueError`
        for a symbol that the machine has not.
        """
        if not isinstance(word, Sequence | np.ndarray):
            raise InputError(f"word is {word!r}: give the symbols that stand on the tape, or []")
        symbols = (
            read(OneSequence, "word", word, below=self.n_symbols).tolist() if len(word) else []
        )
        steps = [Step(self.start, symbol, LEFT) for symbol in reversed(symbols)]
        return [*steps, Step(self.start, 0, RIGHT)]

    @checked
    def run(self, steps: Steps, word: Sequence[int] = ()) -> list[Step]:
        """At most so many steps on a word; fewer if the machine halts.

        Raises `ValueError` as `writing`.
        """
        tape, head, state = self.configuration(self.writing(word))
        made = list[Step]()
        while len(made) < steps:
            rule = self.rules[state][tape.get(head, 0)]
            if rule is None:
                break
            state, tape[head], head = rule.state, rule.symbol, head + rule.move
            made.append(rule)
        return made

    def space_time(self, steps: Sequence[Step]) -> tuple[np.ndarray, list[int], list[int], int]:
        """The space-time diagram of these steps on a blank tape.

        Cells (steps + 1, cells) before each step and at the end, the head and the state at each
        time, and the number of the first cell; the head begins at cell 0.
        """
        tape, begin, state = self.configuration(self.writing())
        head, rows, heads, states = begin, [dict(tape)], [0], [state]
        for step in steps:
            state, tape[head], head = step.state, step.symbol, head + step.move
            rows.append(dict(tape))
            heads.append(head - begin)
            states.append(state)
        first = min(heads) - 1
        cells = range(begin + first, begin + max(heads) + 2)
        return np.array([[row.get(c, 0) for c in cells] for row in rows]), heads, states, first

    def __str__(self) -> str:
        return f"{self.name} ({self.n_states} states, {self.n_symbols} symbols)"


@checked
def machine_of(rules: Mapping[str, Any], name: str, start: str | None = None) -> TuringMachine:
    """A machine from rows of rules such as "1RB", by state: write 1, move right, go to state B.

    None is where it halts; a state that is led to and has no row halts whatever it reads. `start`
    is the first state if it is not given. Raises `ValueError` for what is no such table.
    """
    if not rules:
        raise InputError(
            f"rules of {name} are none: give a row such as ['1RB', '1LB'] for each state"
        )
    for state, row in rules.items():
        if not isinstance(row, list) or not row:
            raise InputError(f"rules of {name} has no row for state {state}: give one")
    found = [STEP.fullmatch(str(rule)) for row in rules.values() for rule in row if rule]
    states = list(dict.fromkeys([*rules, *(match[3] for match in found if match)]))
    number, symbols = {state: q for q, state in enumerate(states)}, len(next(iter(rules.values())))

    def step(state: str, rule: Any) -> Step | None:
        if rule is None:
            return None
        match = STEP.fullmatch(rule) if isinstance(rule, str) else None
        if match is None:
            raise InputError(
                f"rules of {name} has {rule!r} for state {state}: write a rule as '1RB', a symbol, "
                "L or R, a state; or null to halt"
            )
        written, move, to = match.groups()
        return Step(number[to], int(written), RIGHT if move == "R" else LEFT)

    table = [tuple(step(state, rule) for rule in row) for state, row in rules.items()]
    halting = (None,) * symbols
    table += [halting] * (len(states) - len(rules))
    if start is not None and start not in states:
        raise InputError(f"start is {start!r}: give a state of {name}, {' or '.join(states)}")
    first = 0 if start is None else number[start]
    return TuringMachine(tuple(table), name, first, tuple(states))


@checked
def random_machine(n_states: Count, n_symbols: Count, seed: Seed) -> TuringMachine:
    """Uniform rules; the last state has none for the last symbol, unless it is the only one."""
    n, m = n_states, n_symbols
    machine.fits_in_memory("the rules of so many states and symbols", 500 * n * m, "give fewer")
    rng: np.random.Generator = seed
    drawn = zip(*(rng.integers(end, size=n * m).tolist() for end in (n, m, 2)), strict=True)
    rules: list[Step | None] = [Step(q, s, RIGHT if right else LEFT) for q, s, right in drawn]
    if len(rules) > 1:
        rules[-1] = None
    table = tuple(tuple(rules[q * m : (q + 1) * m]) for q in range(n))
    return TuringMachine(table, f"random({n}, {m})")


@checked
def read_machine(path: MachineFile) -> TuringMachine:
    """A machine from JSON: `{"rules": {"A": ["1RB", "1LB"], "B": ["1LA", null]}, "start": "A",
    "name": "mine"}`, as `machine_of` reads it.

    Raises `ValueError` for a file that cannot be read, for what is not JSON, and as `machine_of`.
    """
    given = json_table(path, ("rules", "start", "name"))
    return machine_of(given["rules"], str(given.get("name", path.stem)), given.get("start"))


def _printed(text: str, name: str) -> TuringMachine:
    """A machine as tables of busy beavers print it: `1RB1LB_1LA1RH`, a row for each state."""
    rows = {
        "ABCDE"[q]: [row[i : i + 3] for i in range(0, len(row), 3)]
        for q, row in enumerate(text.split("_"))
    }
    return machine_of(rows, name)


MACHINES = {
    machine.name: machine
    for machine in (
        _printed("1RB1LB_1LA1RH", "busy-beaver-2"),
        _printed("1RB1RH_1LB0RC_1LC1LA", "busy-beaver-3"),
        _printed("1RB1LB_1LA0LC_1RH1LD_1RD0RA", "busy-beaver-4"),
        _printed("1RB2LA1LA_2LA2RB0RA", "wolfram-2-3"),
    )
}
"""The busy beavers of 2, 3 and 4 states: on a blank tape they halt after 6, 21 and 107 steps, and
no machine of so many states and 2 symbols halts later (of 4 states: [Brady1983]). And Wolfram's
machine of 2 states and 3 symbols, which has a rule for every pair."""
