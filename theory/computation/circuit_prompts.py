"""Boolean circuits as prompts, and what is read of them where a gate is due, by definition.

A prompt has the n input bits, 0 or 1, and for each gate its table k, as 2 + k, and its two wires w,
as 18 + w; of circuits that are all NAND the wires alone, as 2 + w.  Behind it stand the values of
the gates, as bits; the token before the value of a gate is where it is due.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from theory.computation.boolean_circuits import NAND, TABLES

NAMES = ("table", "left", "right", "x", "y", "value")


def read_gates(tokens: np.ndarray, nand: bool = False) -> dict[str, np.ndarray]:
    """By name (…, T, width), at each token of prompts and values behind them (…, T): the table, the
    positions of the wires' values behind BOS, these values, and the value of the gate.

    At tokens where no gate is due wires and values are 0, and the table is the token's own, if any.
    """
    rows = [_read(row, nand) for row in tokens.reshape(-1, tokens.shape[-1]).tolist()]
    columns = (np.array([row[i] for row in rows], dtype=np.float64) for i in range(len(NAMES)))
    return {
        name: column.reshape(*tokens.shape, -1) for name, column in zip(NAMES, columns, strict=True)
    }


def _read(row: list[int], nand: bool) -> list[list[Any]]:
    """Of one prompt: those of `read_gates`, token by token."""
    parts, first = (2, 2) if nand else (3, 2 + TABLES)  # tokens of a gate, and wire 0
    n = next((place for place, token in enumerate(row) if token > 1), len(row))
    # The values are behind it: without tables behind the last wire.
    end = n + (sum(t > 1 for t in row) if nand else 3 * sum(1 < t < first for t in row))
    found = []
    for place, token in enumerate(row):
        at = n + parts * (place + 1 - end)
        table, wires, values = (NAND if nand else 0), [0, 0], [0, 0]
        if end > len(row) or at < n:  # a token of the prompt, at which no gate is due
            if not nand and 1 < token < first:
                table = token - 2
        else:
            if not nand:
                table = row[at] - 2
            wires = [wire - first for wire in row[at + parts - 2 : at + parts]]
            wires = [wire if wire < n else wire - n + end for wire in wires]
            values = [row[wire] for wire in wires]
            wires = [wire + 1 for wire in wires]  # behind BOS
        bits = [table >> case & 1 for case in range(4)]
        found.append([bits, *wires, *values, bits[2 * values[0] + values[1]]])
    return [list(column) for column in zip(*found, strict=True)]
