"""The examples of claims: Gaussian prompts, or the standardised rows of a CSV file."""

from __future__ import annotations

import csv
from difflib import get_close_matches
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import numpy as np

from constructions.blocks import plural
from theory.kinds import InputError
from theory.reading import content_of
from theory.regression import gaussian_prompts
from verify.claim import Run
from verify.evidence.examples import Examples

MOST_BYTES = 10**8  # the largest size of a CSV file


class Table(NamedTuple):
    """The standardised rows of a file: examples, and m rows that are held out as queries.

    `answers` (m,) are the values of the column `target` in the held-out rows, in standard units:
    (value − centre)/spread. `lines` are the line numbers of the queries in the file, and `constant`
    are the names of constant columns.
    """

    examples: Examples
    answers: np.ndarray
    lines: list[int]
    target: str
    constant: list[str]
    centre: float
    spread: float

    def in_units(self, values: np.ndarray) -> np.ndarray:
        """Standardised values of the target, converted to the units of the file."""
        return self.centre + self.spread * values


def gaussian_examples(run: Run, samples: int, n: int, d: int) -> Examples:
    """`samples` Gaussian prompts (8 in a quick run) of n examples in d dimensions."""
    prompts = gaussian_prompts(run.limited(8, samples=samples), n, d, seed=run.rng)
    return Examples(prompts.x, prompts.y, prompts.x_query)


def read_table(path: Path, target: str | None, seed: int | np.random.Generator) -> Table:
    """The rows of a numeric CSV file with a header; a fifth of the rows is held out as queries.

    Of N rows, at most 64 and at most 10⁶/N are held out, because each held-out row requires a pass
    over all rows. The other rows are the training rows. Columns are shifted and scaled to mean 0
    and variance 1 over the training rows, and held-out rows are shifted and scaled by the same
    amounts. A constant feature becomes 0. The default target is the last column.

    Raises InputError if the file is missing, empty, ragged or not numeric; if it has NaN or
    infinite entries, fewer than three rows or fewer than two columns; if two columns have one name
    or the target is no column; and if the target, or every feature, is constant in the training
    rows.
    """
    names, lines, table = _read(path)
    if target is None:
        target = names[-1]
    if target not in names:
        near = get_close_matches(target, names, n=1)
        hint = (
            f"did you mean '{near[0]}'?" if near else f"give one of the columns {', '.join(names)}"
        )
        raise InputError(f"{path.name} has no column '{target}': {hint}")
    order = np.random.default_rng(seed).permutation(len(table))
    held_out = max(1, min(len(table) // 5, 64, 10**6 // len(table)))
    queries, kept = map(np.sort, np.split(order, [held_out]))
    column = names.index(target)
    standard, constant, centre, spread = _standardised(table, kept)
    if constant[column]:
        raise InputError(
            f"{path.name} has a column '{target}' that is constant in the training rows: "
            "give another target column"
        )
    if np.delete(constant, column).all():
        raise InputError(
            f"{path.name} has only constant columns in the training rows, apart from '{target}': "
            "add a column that varies"
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
    """The standardised columns, a mask of columns constant in the kept rows, centre and spread."""
    # Columns are first scaled by powers of two, so that sums and squares stay in range.
    _, exponents = np.frexp(np.abs(table).max(axis=0))
    table = np.ldexp(table, -exponents)
    # The mean of a constant column is rounded, so its computed spread may be above 0.
    constant = np.ptp(table[kept], axis=0) == 0
    centre = np.where(constant, table[kept[0]], table[kept].mean(axis=0))
    spread = np.where(constant, 1.0, table[kept].std(axis=0))
    standard = np.where(constant, 0.0, (table - centre) / spread)
    return standard, constant, np.ldexp(centre, exponents), np.ldexp(spread, exponents)


def _read(path: Path) -> tuple[list[str], list[int], np.ndarray]:
    """The names of the columns, the line numbers of the rows, and the rows."""
    content = content_of(path, MOST_BYTES)
    try:
        file = StringIO(content.decode("utf-8-sig"), newline="")
        lines = [(number, row) for number, row in enumerate(csv.reader(file), 1) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot read {path} as CSV: {error}") from None
    if len(lines) < 4:
        raise InputError(
            f"{path.name} has {plural(max(len(lines) - 1, 0), 'row')} below its header: "
            "give at least three rows, two for training and one to hold out"
        )
    (_, header), body = lines[0], lines[1:]
    names = [name.strip() for name in header]
    if len(names) < 2:
        raise InputError(
            f"{path.name} has one column: give a target column and at least one feature column, "
            "separated by commas"
        )
    if all(_number(name) is not None for name in names):
        raise InputError(
            f"{path.name} starts with numbers: give the names of the columns in the first line"
        )
    if doubled := [name for name in names if names.count(name) > 1]:
        raise InputError(
            f"{path.name} has {doubled.count(doubled[0])} columns named '{doubled[0]}': "
            "give each column a different name"
        )
    for number, row in body:
        if len(row) != len(names):
            raise InputError(
                f"{path.name}, line {number}, has {len(row)} entries and the header has "
                f"{len(names)}: give one entry per column"
            )
        for name, text in zip(names, row, strict=True):
            value = _number(text)
            if value is None or not np.isfinite(value):
                raise InputError(
                    f"{path.name}, line {number}, has the entry {text!r} in column '{name}': "
                    "give a finite number in the range of float64, or remove the column"
                )
    rows = np.array([[float(text) for text in row] for _, row in body])
    return names, [number for number, _ in body], rows


def _number(text: str) -> float | None:
    """The number of an entry; None for text, and for numbers that float64 reads as 0."""
    try:
        value = float(text)
    except ValueError:
        return None
    vanishes = value == 0 and text.lower().partition("e")[0].strip().strip("+-0.")
    # Python reads 1_000 as 1000, and digits of all scripts, but the options of a claim are ASCII.
    return None if "_" in text or not text.strip().isascii() or vanishes else value
