"""The examples that claims run on: Gaussian prompts, or a user's own numbers.

A user's come as CSV and are standardised.
"""

from __future__ import annotations

import csv
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import numpy as np

from theory.kinds import InputError
from theory.regression import gaussian_prompts
from verify.claim import Run


class Examples(NamedTuple):
    """x (…, n, d), y (…, n) to learn from and queries (…, d), or (m, d) for one x (n, d)."""

    x: np.ndarray
    y: np.ndarray
    queries: np.ndarray


class Table(NamedTuple):
    """A user's rows as examples, standardised; of the held-out ones the lines in the file and the
    `answers` (m,), in the standardised target, which is (target − centre)/spread."""

    examples: Examples
    answers: np.ndarray
    lines: list[int]
    target: str
    constant: list[str]
    centre: float
    spread: float

    def in_units(self, values: np.ndarray) -> np.ndarray:
        """Standardised values of the target as those of the file."""
        return self.centre + self.spread * values


def gaussian_examples(run: Run, samples: int, n: int, d: int) -> Examples:
    """`samples` Gaussian prompts of n examples in d dimensions, 8 of them if the run is quick."""
    prompts = gaussian_prompts(8 if run.quick else samples, n, d, seed=run.rng)
    return Examples(prompts.x, prompts.y, prompts.x_query)


def read_table(path: Path, target: str | None, rng: np.random.Generator) -> Table:
    """Rows of a numeric CSV with a header; a fifth of them are held out as queries.

    Never more than 64, nor than 10⁶/rows, since each costs a pass over all rows.  Columns are
    shifted and scaled to mean 0 and variance 1 over the rows that are kept, and held-out rows by
    the same amounts; a constant feature becomes 0.  The default target is the last column.

    Raises InputError for a file that is missing, empty, ragged or not numeric, for NaN or infinite
    entries, for fewer than three rows or two columns, for a target that is not a column or is two,
    and for a target, or all features, constant in the rows that are kept.
    """
    names, lines, table = _read(path)
    if target is None:
        target = names[-1]
    if target not in names:
        near = get_close_matches(target, names, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"choose one of {', '.join(names)}"
        raise InputError(f"{path.name} has no column '{target}': {hint}")
    if names.count(target) > 1:
        raise InputError(f"{path.name} has {names.count(target)} columns '{target}': rename one")
    order = rng.permutation(len(table))
    held_out = max(1, min(len(table) // 5, 64, 10**6 // len(table)))
    queries, kept = map(np.sort, np.split(order, [held_out]))
    column = names.index(target)
    standard, constant, centre, spread = _standardised(table, kept)
    if constant[column]:
        raise InputError(
            f"{path.name}: column '{target}' is constant in the rows to learn from, so there is "
            "nothing to predict; choose another target"
        )
    if np.delete(constant, column).all():
        raise InputError(
            f"{path.name}: every column but '{target}' is constant in the rows to learn from, so "
            "there is nothing to predict from; add a column that varies"
        )
    features = np.delete(standard, column, axis=1)
    return Table(
        Examples(features[kept], standard[kept, column], features[queries]),
        standard[queries, column],
        [lines[row] for row in queries],
        target,
        [name for name, same in zip(names, constant, strict=True) if same],
        float(centre[column]),
        float(spread[column]),
    )


def _standardised(table: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, ...]:
    """The columns shifted and scaled, which of them are constant in the kept rows (and 0), and by
    how much they were shifted and scaled."""
    # Powers of two first, so that neither sums nor squares overflow or underflow.
    _, exponents = np.frexp(np.abs(table).max(axis=0))
    table = np.ldexp(table, -exponents)
    # Rounding gives a constant column a mean that is not its value, so its spread is not asked.
    constant = np.ptp(table[kept], axis=0) == 0
    centre = np.where(constant, table[kept[0]], table[kept].mean(axis=0))
    spread = np.where(constant, 1.0, table[kept].std(axis=0))
    standard = np.where(constant, 0.0, (table - centre) / spread)
    return standard, constant, np.ldexp(centre, exponents), np.ldexp(spread, exponents)


def _read(path: Path) -> tuple[list[str], list[int], np.ndarray]:
    """The names of the columns, and the rows with their lines in the file."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [(number, row) for number, row in enumerate(csv.reader(file), 1) if row]
    except FileNotFoundError:
        raise InputError(f"no file {path}: check the path") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot read {path} as CSV: {error}") from None
    if len(lines) < 4:
        raise InputError(
            f"{path.name} has {max(len(lines) - 1, 0)} rows below its header: "
            "at least three are needed, two to learn from and one to hold out"
        )
    (_, header), body = lines[0], lines[1:]
    names = [name.strip() for name in header]
    if len(names) < 2:
        raise InputError(
            f"{path.name} has one column: a target and at least one feature are needed "
            "(columns are separated by commas)"
        )
    if all(_number(name) is not None for name in names):
        raise InputError(f"{path.name} starts with numbers: its first line must name the columns")
    for number, row in body:
        if len(row) != len(names):
            raise InputError(
                f"{path.name} line {number} has {len(row)} entries, the header "
                f"{len(names)}: every row needs one per column"
            )
        for name, text in zip(names, row, strict=True):
            value = _number(text)
            if value is None or not np.isfinite(value):
                raise InputError(
                    f"{path.name} line {number}, column '{name}': {text!r} is not a "
                    "finite number; drop the column, or encode it as numbers"
                )
    rows = np.array([[float(text) for text in row] for _, row in body])
    return names, [number for number, _ in body], rows


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
