"""Boolean circuits as prompts, and the gate that is computed at each token of a prompt.

A prompt begins with the n input bits, as tokens 0 and 1.  Then each gate has three tokens: table k
is token 2 + k, and each of the two wires w is token 18 + w.  For circuits of NAND gates the table
is left out, and wire w is token 2 + w.  After the prompt come the values of the gates, as bits.
Each gate is computed at the token before its value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from theory.computation.boolean_circuits import NAND, TABLES

NAMES = ("table", "left", "right", "x", "y", "value")


def read_gates(tokens: np.ndarray, nand: bool = False) -> dict[str, np.ndarray]:
    """The gate that is computed at each token of prompts (…, T): a dictionary of arrays.

    The arrays have shape (…, T, width).  `table` contains the table of the gate, `left` and `right`
    the positions of its two wires (BOS is position 0), `x` and `y` the values of these wires, and
    `value` the value of the gate.  At tokens where no gate is computed, wires and values are 0; if
    such a token is a table, the array `table` contains this table.  If `nand` is true, all gates
    are NAND gates and the prompts have no tables.
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
        if at < n or at + parts > end or end > len(row):  # no gate is computed at this token
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
