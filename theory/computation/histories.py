"""Histories of Turing machines as rows of tokens, and what follows them by the rules.

A token is (state·|Γ| + symbol)·2 + [the move is to the right]: the state after a step, what it
writes, and its move.  Addressed tokens have 2|Q||Γ| times the number of the cell that is written
besides, of 0, 1, −1, 2, −2, … in this order; without it steps follow each other from cell 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from theory.computation.turing import Step, TuringMachine

NAMES = ("cell", "cell_square", "head", "head_square", "state", "symbol", "go", "next")


def after_each_step(
    machine: TuringMachine, tokens: np.ndarray, addressed: bool = False
) -> dict[str, np.ndarray]:
    """By name (…, T, width), after each step of histories (…, T), whether the machine would have
    made them or not: the cell that it wrote and that of the head, with squares; state, symbol and
    move of the rule that follows, codes one-hot (without a rule as they are, and no move); and its
    token, −1 without a rule."""
    rows = [_replayed(machine, row, addressed) for row in tokens.reshape(-1, tokens.shape[-1])]
    columns = (np.array([row[i] for row in rows], dtype=np.float64) for i in range(len(NAMES)))
    return {
        name: column.reshape(*tokens.shape, -1) for name, column in zip(NAMES, columns, strict=True)
    }


def _replayed(machine: TuringMachine, tokens: np.ndarray, addressed: bool) -> list[list[Any]]:
    n_symbols, kinds = machine.n_symbols, 2 * machine.n_states * machine.n_symbols
    states, symbols = np.eye(machine.n_states), np.eye(n_symbols)
    tape, head, found = dict[int, int](), 0, []
    for token in tokens.tolist():
        number, kind = divmod(token, kinds)
        cell = (number + 1) // 2 * (1 if number % 2 else -1) if addressed else head
        state, symbol = divmod(kind // 2, n_symbols)
        tape[cell], head = symbol, cell + (1 if kind % 2 else -1)
        read = tape.get(head, 0)
        rule = machine.rules[state][read]
        following = -1
        if rule is not None:
            following = 2 * (rule.state * n_symbols + rule.symbol) + (rule.move > 0)
            following += kinds * (2 * head - 1 if head > 0 else -2 * head) * addressed
        after = Step(state, read, 0) if rule is None else rule
        codes = states[after.state], symbols[after.symbol], after.move
        found.append([cell, cell**2, head, head**2, *codes, following])
    return [list(column) for column in zip(*found, strict=True)]
