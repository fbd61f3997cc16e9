"""One-tape Turing machines that move left or right in each step, run by their definition.

    rules[q][s] = (state, symbol, move):   in state q, if the head reads s, the machine writes
                                           `symbol`, moves the head by `move` = ±1, and goes to
                                           `state`

At the start all cells of the tape are blank (symbol 0), except the cells of the input word. The
machine halts if rules[q][s] is None. A state without rules is a halting state. The step that leads
to a halting state is counted, as is usual for busy beavers.

A history is the sequence of the steps (state, symbol, move) made so far. A history determines the
tape, the head and the state, which result from replaying the history from cell 0 of a blank tape.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np

from theory import machine
from theory.computation.kinds import Triple
from theory.json_table import json_table
from theory.kinds import (
    Count,
    File,
    InputError,
    Kind,
    OneSequence,
    Seed,
    Steps,
    checked,
    read,
    shown,
)
from theory.waiting import announced

LEFT, RIGHT = -1, 1
STEP = re.compile(r"(\d{1,9})([LR])(\w+)")


class Step(NamedTuple):
    """A step of a Turing machine: the state after the step, the symbol written, and the move ±1."""

    state: int
    symbol: int
    move: int


class Configuration(NamedTuple):
    """A configuration: the written cells by position, the position of the head, and the state."""

    tape: dict[int, int]
    head: int
    state: int


Rule: TypeAlias = Annotated[Step, Triple(Step)]
"""A step, given as a `Step` or as another tuple of three integers."""
MachineFile: TypeAlias = Annotated[Any, File("a machine")]


@checked
@dataclass(frozen=True)
class TuringMachine:
    """A one-tape Turing machine, given by its rules; all cells are blank (symbol 0) at first.

    rules[q][s] is the step (state, symbol, move) of the machine in state q if the head reads symbol
    s, or None if the machine halts. In a step, the machine writes `symbol`, moves the head by
    `move`, which is −1 (left) or 1 (right), and goes to `state`. `start` is the first state, and
    `names` are the names of the states.

    Raises `ValueError` if (a) the table of rules has no states or no symbols, (b) its rows have
    different lengths, or (c) a rule has a state, symbol or move out of range.
    """

    rules: tuple[tuple[Rule | None, ...], ...]
    name: str = "machine"
    start: Steps = 0
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        rows = self.rules
        if not rows or not rows[0]:
            raise InputError(f"{self.name} has no rules: give a row of rules for each state")
        for q, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise InputError(
                    f"rules[{q}] of {self.name} has {len(row)} entries and rules[0] has "
                    f"{len(rows[0])}: give a rule, or None, for every symbol"
                )
            for s, rule in enumerate(row):
                if rule is not None:
                    self._check(f"rules[{q}][{s}] of {self.name}", rule)
        object.__setattr__(self, "names", self.names or tuple(map(str, range(len(rows)))))
        if len(self.names) != self.n_states:
            raise InputError(
                f"{self.name} has {len(self.names)} names: give {self.n_states} names, one for "
                "each state"
            )
        if self.start >= self.n_states:
            raise InputError(f"start is {self.start}: give a state from 0 to {self.n_states - 1}")

    def _check(self, where: str, rule: Step) -> None:
        state, symbol, move = rule
        if not 0 <= state < self.n_states or not 0 <= symbol < self.n_symbols:
            raise InputError(
                f"{where} writes symbol {symbol} and goes to state {state}: give a symbol "
                f"from 0 to {self.n_symbols - 1} and a state from 0 to {self.n_states - 1}"
            )
        if move not in (LEFT, RIGHT):
            raise InputError(f"{where} moves by {move}: give the move −1 (left) or 1 (right)")

    @property
    def n_states(self) -> int:
        """The number of states of the machine, including halting states."""
        return len(self.rules)

    @property
    def n_symbols(self) -> int:
        """The number of symbols of the machine, including the blank symbol."""
        return len(self.rules[0])

    @property
    def n_rules(self) -> int:
        """The number of rules: the pairs (state, symbol) for which the machine does not halt."""
        return sum(rule is not None for row in self.rules for rule in row)

    @checked
    def configuration(self, history: Iterable[Rule] = ()) -> Configuration:
        """The tape, the position of the head and the state after a sequence of steps.

        `history` contains the steps (state, symbol, move), which begin at cell 0 of a blank tape.
        In a step, the machine writes `symbol`, moves the head by `move` = ±1, and goes to `state`.
        The steps need not follow the rules. Raises `ValueError` for a state, symbol or move out of
        range.
        """
        tape, head, state = dict[int, int](), 0, self.start
        for t, step in enumerate(history):
            self._check(f"history[{t}]", step)
            state, tape[head], head = step.state, step.symbol, head + step.move
        return Configuration(tape, head, state)

    def following(self, history: Iterable[Rule]) -> Step | None:
        """The step that the machine makes after a sequence of steps, or None if it halts.

        `history` contains the steps (state, symbol, move), which begin at cell 0 of a blank tape.
        In a step, the machine writes `symbol`, moves the head by `move` = ±1, and goes to `state`.
        The steps need not follow the rules. Raises `ValueError` for a state, symbol or move out of
        range.
        """
        tape, head, state = self.configuration(history)
        return self.rules[state][tape.get(head, 0)]

    def writing(self, word: Sequence[int] = ()) -> list[Step]:
        """Steps that write a word on a blank tape and leave the head on the word's first symbol.

        The first steps write the symbols of the word from the last to the first, and each of them
        moves left. One more step writes a blank and moves right, to the first symbol of the word.
        So a word of m symbols takes m + 1 steps. A step is a triple (state, symbol, move): the new
        state, the symbol written, and the move ±1.

        Raises `ValueError` for symbols ≥ n_symbols.
        """
        if not isinstance(word, Sequence | np.ndarray) or getattr(word, "ndim", 1) != 1:
            raise InputError(
                f"word is {shown(word)}: give a list of the symbols on the tape, or []"
            )
        symbols = (
            read(OneSequence, "word", word, below=self.n_symbols).tolist() if len(word) else []
        )
        steps = [Step(self.start, symbol, LEFT) for symbol in reversed(symbols)]
        return [*steps, Step(self.start, 0, RIGHT)]

    @checked
    def run(self, steps: Steps, word: Sequence[int] = ()) -> list[Step]:
        """The first `steps` steps of the machine on a word, or fewer steps if the machine halts.

        A step is a triple (state, symbol, move): the new state, the symbol written, and the move
        ±1. At the start, the tape contains the word, all other cells are blank, and the head is on
        the first symbol of the word. Raises `ValueError` for symbols ≥ n_symbols. A run of more
        than a minute is announced on standard error.
        """
        tape, head, state = self.configuration(self.writing(word))
        made = list[Step]()
        for _ in announced(range(min(steps, sys.maxsize)), "steps of the machine"):
            rule = self.rules[state][tape.get(head, 0)]
            if rule is None:
                break
            state, tape[head], head = rule.state, rule.symbol, head + rule.move
            made.append(rule)
        return made

    @checked
    def space_time(self, steps: Sequence[Rule]) -> tuple[np.ndarray, list[int], list[int], int]:
        """The tape, the head and the state at all times of a sequence of steps on a blank tape.

        The head begins at cell 0. The times are before each step and after the last step. Returns
        four values: the contents of the tape (steps + 1, cells), the cells of the head, the states,
        and the number of the cell in the first column of the contents. Raises `ValueError` for a
        state, symbol or move out of range.
        """
        tape, begin, state = self.configuration(self.writing())
        head, rows, heads, states = begin, [dict(tape)], [0], [state]
        for t, step in enumerate(steps):
            self._check(f"steps[{t}]", step)
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
    """The Turing machine with the given rules, which are texts such as "1RB".

    `rules` maps the name of a state to its row of rules, one for each symbol that the head may
    read. The rule "1RB" writes 1, moves right and goes to state B. The machine halts if the rule is
    None, and in states without a row. By default `start` is the first state. Raises `ValueError`
    for rules of another form.
    """
    if not rules:
        raise InputError(f"{name} has no rules: give a row such as ['1RB', '1LB'] for each state")
    for state, row in rules.items():
        if not isinstance(row, list) or not row:
            raise InputError(
                f"the rules of {name} for state {state} are {row!r:.40}: give a list of rules"
            )
    found = [STEP.fullmatch(str(rule)) for row in rules.values() for rule in row if rule]
    states = list(dict.fromkeys([*rules, *(match[3] for match in found if match)]))
    number, symbols = {state: q for q, state in enumerate(states)}, len(next(iter(rules.values())))

    def step(state: str, rule: Any) -> Step | None:
        if rule is None:
            return None
        match = STEP.fullmatch(rule) if isinstance(rule, str) else None
        if match is None:
            raise InputError(
                f"a rule of {name} for state {state} is {rule!r}: give a symbol, L or R, and a "
                "state, such as '1RB', or give null to halt"
            )
        written, move, to = match.groups()
        return Step(number[to], int(written), RIGHT if move == "R" else LEFT)

    table = [tuple(step(state, rule) for rule in row) for state, row in rules.items()]
    halting = (None,) * symbols
    table += [halting] * (len(states) - len(rules))
    if start is not None and start not in states:
        raise InputError(f"start is {start!r}: give one of the states {', '.join(states)}")
    first = 0 if start is None else number[start]
    return TuringMachine(tuple(table), name, first, tuple(states))


@checked
def random_machine(n_states: Count, n_symbols: Count, seed: Seed) -> TuringMachine:
    """A random Turing machine with uniform independent rules and one pair at which it halts.

    The pair consists of the last state and the last symbol. If there is only one state and one
    symbol, the machine has a rule for this pair too and does not halt.
    """
    n, m = n_states, n_symbols
    machine.fits_in_memory(
        f"the rules of {n} states and {m} symbols", 500 * n * m, "give fewer states"
    )
    rng: np.random.Generator = seed
    drawn = zip(*(rng.integers(end, size=n * m).tolist() for end in (n, m, 2)), strict=True)
    rules: list[Step | None] = [Step(q, s, RIGHT if right else LEFT) for q, s, right in drawn]
    if len(rules) > 1:
        rules[-1] = None
    table = tuple(tuple(rules[q * m : (q + 1) * m]) for q in range(n))
    return TuringMachine(table, f"random({n}, {m})")


@checked
def read_machine(path: MachineFile) -> TuringMachine:
    """The Turing machine in a JSON file.

    The file contains `{"rules": {"A": ["1RB", "1LB"], "B": ["1LA", null]}, "start": "A", "name":
    "mine"}`. The rule "1RB" writes 1, moves right and goes to state B. The entry null means that
    the machine halts. The rules of a state are in the order of the symbols that the head reads.

    Raises `ValueError` if (a) the file cannot be read or is not JSON, or (b) the rules have another
    form.
    """
    given = json_table(path, ("rules", "start", "name"))
    if not isinstance(given["rules"], dict):
        raise InputError(
            f"the rules in {path} are {shown(given['rules'])}: give a JSON object with a row such "
            'as ["1RB", "1LB"] for each state'
        )
    return machine_of(given["rules"], str(given.get("name", path.stem)), given.get("start"))


def _printed(text: str, name: str) -> TuringMachine:
    """A machine from the notation of busy beavers: `1RB1LB_1LA1RH` has one row for each state."""
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
"""Turing machines by name. The busy beavers with 2, 3 and 4 states halt on a blank tape after 6, 21
and 107 steps; no other machine with the same number of states and 2 symbols halts later (for 4
states: [Brady1983]). Wolfram's machine with 2 states and 3 symbols has a rule for every pair and
never halts."""


@dataclass(frozen=True)
class MachineOrName(Kind):
    """A Turing machine, or the name of a machine in `MACHINES`."""

    what = f"a TuringMachine, or a name: {', '.join(MACHINES)}"
    example = MACHINES["busy-beaver-2"]
    wrong = (None, object(), 1, 1.5, b"a", "", "busy-beaver-9", ["busy-beaver-2"], [], (), {})

    def read(self, name: str, value: Any) -> TuringMachine:
        if isinstance(value, TuringMachine):
            return value
        if not isinstance(value, str) or value not in MACHINES:
            raise self.error(name, value)
        return MACHINES[value]


Machine: TypeAlias = Annotated[Any, MachineOrName()]
"""A Turing machine, or a name in `MACHINES`; the function gets the machine."""
