"""Functions of the values of s-ops as arrays: sums of functions of leaves, and interpolations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from math import gcd, lcm
from typing import Any

import numpy as np

from theory.kinds import InputError
from theory.programs.language import SOp

LARGEST = 2**31  # integers in columns are smaller
SMALL = 2**30  # integers that are int64 are smaller
SUMS = 2**52  # sums of them are smaller, so that they are exact in float64
Function = np.ndarray  # a number for each value: integers, or objects that are Fractions


@dataclass
class Table:
    """An s-op as a function of its leaves: rows of numbers of values, and the number of its own.

    `sizes` are the numbers of values of the leaves, of which some may occur in no row.
    """

    leaves: tuple[SOp, ...]
    sizes: tuple[int, ...]
    rows: np.ndarray
    number: np.ndarray


def rational(value: Any) -> Fraction:
    """The number as a fraction of Python integers."""
    return Fraction(value.item() if isinstance(value, np.generic) else value)


def as_function(values: Sequence[Any] | np.ndarray) -> Function:
    """Numbers as an array: int64 if all are integers below 2³⁰, or objects that are Fractions.

    So sums of parts, and products of a difference of such integers with one of a column's, are
    exact.
    """
    is_whole = isinstance(values, np.ndarray) and values.dtype == np.int64
    # The absolute value of −2⁶³ is no int64.
    if is_whole and np.min(values, initial=0) > -SMALL and np.max(values, initial=0) < SMALL:
        return np.array(values)
    numbers = [rational(value) for value in values]
    if all(each.denominator == 1 and abs(each) < SMALL for each in numbers):
        return np.array([int(each) for each in numbers], dtype=np.int64)
    return np.array(numbers, dtype=object)


def sum_of_parts(table: Table, wanted: Function) -> tuple[Fraction, list[Function]] | None:
    """A constant and functions of single leaves whose sum is the wanted function, or None."""
    first, functions = wanted[0], list[Function]()
    total = np.full(len(wanted), first, dtype=wanted.dtype)
    for i, size in enumerate(table.sizes):
        others = np.delete(table.rows, i, axis=1)
        along = (others == others[0]).all(1)  # rows that differ from the first in leaf i alone
        own = np.zeros(size, dtype=wanted.dtype)
        own[table.rows[along, i]] = wanted[along] - first
        if len({*table.rows[along, i]}) < len({*table.rows[:, i]}):
            return None
        total = total + own[table.rows[:, i]]
        functions.append(own)
    return (rational(first), functions) if (total == wanted).all() else None


def line(column: Function, wanted: Function) -> tuple[Fraction, Fraction] | None:
    """Slope and constant of the affine function from a column to what is wanted, or None."""
    low, high = int(column.argmin()), int(column.argmax())
    if column[low] == column[high]:
        return None
    over = column[high] - column[low]
    if (
        (column - column[low]) * (wanted[high] - wanted[low]) != (wanted - wanted[low]) * over
    ).any():
        return None
    slope = rational(wanted[high] - wanted[low]) / rational(over)
    return slope, rational(wanted[low]) - slope * rational(column[low])


def whole(function: Function, label: str) -> Function:
    """The function up to an affine map: integers without common divisor, 0 at the first value."""
    moved = function - function[0]
    if moved.dtype == np.int64:
        whole = moved.tolist()
    else:
        fractions = [rational(value) for value in moved]
        scale = lcm(*(value.denominator for value in fractions))
        whole = [int(value * scale) for value in fractions]
    divisor = gcd(*whole)
    if next(value for value in whole if value) < 0:
        divisor = -divisor
    whole = [value // divisor for value in whole]
    limited(label, *whole)
    return np.array(whole, dtype=np.int64)


def limited(label: str, *numbers: Any) -> None:
    """Raises ValueError for numbers that are too large for a register."""
    if (most := max(map(abs, numbers), default=0)) >= LARGEST:
        raise InputError(
            f"{label} needs integers of {int(most).bit_length()} bits, more than 31: give numbers "
            "of similar sizes and few digits, or a smaller max_length"
        )


def fewest_bends(codes: np.ndarray, values: np.ndarray, label: str) -> list[int]:
    """Integers M_i for which the values are a function of Σ M_i·codes_i with few bends.

    The sums are exact in float64: raises ValueError if there are no such integers.
    """
    sizes = [int(code.max() - code.min()) + 1 for code in codes]
    tried = list[tuple[int, ...]]()
    if len(codes) <= 4:
        tried += [(1, *signs) for signs in product((1, -1), repeat=len(codes) - 1)]
    places = range(len(codes))
    for order in permutations(places) if len(codes) <= 4 else [tuple(places)]:
        mixed, radix = [0] * len(codes), 1
        for i in order:
            mixed[i], radix = radix, radix * sizes[i]
        tried.append(tuple(mixed))
    best, least = tuple[int, ...](), np.inf
    most = [int(abs(code).max()) for code in codes]
    for factors in tried:
        if sum(abs(M) * code for M, code in zip(factors, most, strict=True)) >= SUMS:
            continue
        bends = _bends(np.array(factors) @ codes, values)
        if bends < least:
            best, least = factors, bends
    if not best:
        raise InputError(
            f"{label} needs sums of 2^52 or more of the integers that it is computed from: give "
            "numbers of similar sizes and few digits, or a smaller max_length"
        )
    return list(best)


def _bends(z: np.ndarray, values: np.ndarray) -> float:
    """The number of bends of the interpolation of values at z; infinite if it is no function."""
    order = np.argsort(z, kind="stable")
    z, values = z[order], values[order]
    same = np.diff(z) == 0
    if (np.diff(values)[same] != 0).any():
        return np.inf
    keep = np.concatenate([[True], ~same])
    return len(bends_of(z[keep], values[keep, None])[0])


def bends_of(z: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Knots between which the values (count, width) at ascending integers z are interpolated.

    Between two z the function is linear if its slopes are then integers, and otherwise constant up
    to the last unit, so that the weights are integers. Knots without change of slope are left out.
    """
    gaps, rises = np.diff(z), np.diff(values, axis=0)
    jumps = (rises % gaps[:, None]).any(1) if len(gaps) else np.zeros(0, dtype=bool)
    at = np.concatenate([z, z[1:][jumps] - 1])
    entries = np.concatenate([values, values[:-1][jumps]])
    at, first = np.unique(at, return_index=True)
    entries = entries[first]
    slopes = np.diff(entries, axis=0) // np.diff(at)[:, None]
    none = np.zeros((1, values.shape[1]), dtype=slopes.dtype)
    changed = (np.diff(np.concatenate([none, slopes, none]), axis=0) != 0).any(1)
    changed[0] = True
    return at[changed], entries[changed]
