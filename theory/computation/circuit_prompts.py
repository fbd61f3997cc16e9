"""Boolean circuits as prompts, and a definition of the gate that is computed at each token.

A prompt consists of the n input bits, tokens 0 and 1, and of three tokens for each gate: its table
k as token 2 + k, and each of its two wires w as token 18 + w.  For circuits that have only NAND
gates the table is left out and wire w is token 2 + w.  The values of the gates follow, as bits.  A
gate is computed at the token before its value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from theory.computation.boolean_circuits import NAND, TABLES

NAMES = ("table", "left", "right", "x", "y", "value")


def read_gates(tokens: np.ndarray, nand: bool = False) -> dict[str, np.ndarray]:
    """The gate that is computed at each token of prompts (…, T): arrays (…, T, width), by name.

    `table` is the table of the gate, `left` and `right` are the positions of its two wires (BOS is
    position 0), `x` and `y` are the values of these wires, and `value` is the value of the gate.
    At tokens where no gate is computed, wires and values are 0, and the table is that of the token,
    if the token is a table.
    """
    rows = [_read(row, nand) for row in tokens.reshape(-1, tokens.shape[-1]).tolist()]
    columns = (np.array([row[i] for row in rows], dtype=np.float64) for i in range(len(NAMES)))
    return {
        name: column.reshape(*tokens.shape, -1) for name, column in zip(NAMES, columns, strict=True)
    }


def _read(row: list[int], nand: bool) -> list[list[Any]]:
    """The entries of `read_gates` for one prompt, token by token."""
    parts, first = (2, 2) if nand else (3, 2 + TABLES)  # tokens of a gate, and wire 0
    n = next((place for place, token in enumerate(row) if token > 1), len(row))
    # The values follow the prompt, which is recognised by its tables, or by its wires if NAND.
    end = n + (sum(t > 1 for t in row) if nand else 3 * sum(1 < t < first for t in row))
    found = []
    for place, token in enumerate(row):
        at = n + parts * (place + 1 - end)
        table, wires, values = (NAND if nand else 0), [0, 0], [0, 0]
        if end > len(row) or at < n:  # a token of the prompt, at which no gate is computed
            if not nand and 1 < token < first:
                table = token - 2
        else:
            if not nand:
                table = row[at] - 2
            wires = [wire - first for wire in row[at + parts - 2 : at + parts]]
            wires = [wire if wire < n else wire - n + end for wire in wires]
            values = [row[wire] for wire in wires]
            wires = [wire + 1 for wire in wires]  # after BOS
        bits = [table >> case & 1 for case in range(4)]
        found.append([bits, *wires, *values, bits[2 * values[0] + values[1]]])
    return [list(column) for column in zip(*found, strict=True)]
