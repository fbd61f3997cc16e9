"""Histories of Turing machines as rows of tokens, and the next step after each token.

A history has one token for each step of a machine with states Q and tape symbols Γ.  The token of a
step is (state·|Γ| + symbol)·2 + right.  Here `state` is the state after the step, `symbol` is the
symbol that the step writes, and `right` is 1 if the head moves to the right and 0 otherwise.

Addressed tokens also name the cell that the step writes.  Cells are numbered in the order 0, 1, −1,
2, −2, …, and 2|Q||Γ| times the number of the cell is added to the token.  Without addresses, the
first step writes cell 0, and each further step writes the cell to which the head has moved.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from theory.computation.turing import Step, TuringMachine

NAMES = ("cell", "cell_square", "head", "head_square", "state", "symbol", "go", "next")


def after_each_step(
    machine: TuringMachine, tokens: np.ndarray, addressed: bool = False
) -> dict[str, np.ndarray]:
    """A dictionary of arrays (…, T, width): the situation after each step of histories (…, T).

    cell, head       the cell that the step wrote, and the cell of the head after the step;
                     cell_square and head_square are the squares of these numbers
    state, symbol    the state after the next step and the symbol that it writes (one-hot); the
                     present state and the symbol under the head if the machine halts
    go               the move of the next step; 0 if the machine halts
    next             the token of the next step; −1 if the machine halts

    `tokens` are the histories; if `addressed` is true, the tokens also name cells.  A history may
    contain steps that the machine would not make.
    """
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
