"""A Python function of tokens as the definition of a model's answers, on all sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate
from numbers import Integral
from operator import mul
from typing import Any

import numpy as np
from torch import Tensor

from constructions.interface import all_below
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.kinds import InputError, array_of, shown

MOST_SEQUENCES = 2**18  # for each of which the function is called
MOST_COUNTED = 10**12


class Answers:
    """The answers of a function `against` at all tokens at which a model answers.

    The function maps a list of tokens to the list of all answers, or to the last answer, an
    integer; −1 is ⊥. If it returns the last answer, and a causal model answers at every token, the
    answer at a token is the function's value for the prefix that ends there. Values are cached.

    Raises InputError, with the tokens, if the function raises an error or returns another value.
    """

    def __init__(self, model: Transformer, against: Callable[[list[int]], Any]) -> None:
        self.model, self.against = model, against
        self.values = dict[tuple[int, ...], int | list[int]]()

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """The answers (…, answered tokens) to sequences `rows` (…, T)."""
        count = len(answered(self.model, rows.shape[-1]))
        each = [self._row(tuple(row), count) for row in rows.reshape(-1, rows.shape[-1]).tolist()]
        return np.array(each, dtype=np.int64).reshape(*rows.shape[:-1], count)

    def _row(self, row: tuple[int, ...], count: int) -> list[int]:
        value = self._value(row)
        if isinstance(value, list):
            if len(value) != count:
                raise InputError(
                    f"against returns {len(value)} answers to the tokens {shown([*row])}, and the "
                    f"model {count}: return a list of {count}, or the last answer, an integer"
                )
            return value
        if count == 1:
            return [value]
        if count != len(row) or not self.model.is_causal:
            raise InputError(
                f"against returns the integer {value} for the tokens {shown([*row])}, and the "
                f"model, which is not causal, has {count} answers: return a list of {count}"
            )
        return [self._value(row[: t + 1]) for t in range(count)]  # type: ignore[misc]

    def _value(self, row: tuple[int, ...]) -> int | list[int]:
        if row not in self.values:
            try:
                value = self.against([*row])
            except Exception as error:
                most = self.model.interface.vocabulary_size - 1
                raise InputError(
                    f"against raises {type(error).__name__} ({shown(str(error))}) for the tokens "
                    f"{shown([*row])}: give a function of lists of integers from 0 to {most}"
                ) from error
            found = _integers(value, row)
            first = next(iter(self.values.values()), found)
            if type(found) is not type(first):
                raise InputError(
                    f"against returns {shown(value)} for the tokens {shown([*row])}, and "
                    f"{shown(first)} for others: always return a list, or always an integer"
                )
            self.values[row] = found
        return self.values[row]


def _integers(value: Any, row: tuple[int, ...]) -> int | list[int]:
    """The value of a function as an integer, or as a list of integers."""
    if isinstance(value, Tensor):
        value = array_of("the value of against", value)
    plain = value.tolist() if isinstance(value, np.ndarray) else value
    several = isinstance(plain, list | tuple)
    each: list[Any] = list(plain) if several else [plain]
    if any(
        isinstance(one, bool) or not isinstance(one, Integral) or not -(2**63) <= int(one) < 2**63
        for one in each
    ):
        raise InputError(
            f"against returns {shown(value)} for the tokens {shown([*row])}: return an integer of "
            "64 bits, or a list of these, with −1 for ⊥"
        )
    return [int(one) for one in each] if several else int(each[0])


def answered(model: Transformer, length: int) -> range:
    """The positions in a prompt of `length` tokens at which a model answers."""
    behind, where = model.interface.ends(length)
    total = len(model.interface.prefix) + length + len(behind)
    return range(*where.indices(total))


def lengths_up_to(of: Tokens, max_length: int | None) -> range:
    """The lengths of the sequences that a model takes, up to `max_length`.

    Raises InputError if there is no such length, and for more than 2¹⁸ sequences.
    """
    longest, least = of.length or of.max_length, of.length or max(of.least, 1)
    most = longest if max_length is None else max_length
    if not least <= most <= longest:
        wanted = f"{least}" if least == longest else f"an integer from {least} to {longest}"
        raise InputError(f"max_length is {most}, which is no length of the model: give {wanted}")
    lengths, fits = range(least, most + 1), []
    count = 0
    for length, of_length in enumerate(accumulate(map(len, slots_at(of, most)), mul), 1):
        count += of_length * (length in lengths)
        fits += [length] * (length in lengths and count <= MOST_SEQUENCES)
        if count >= MOST_COUNTED:  # longer sequences would take long to count
            break
    if count > MOST_SEQUENCES:
        remedy = f"give max_length={fits[-1]}" if fits else "build the model for fewer symbols"
        total = f"{count}" if count < MOST_COUNTED else "10^12 or more"
        raise InputError(
            f"max_length is {most}, and the model has {total} sequences up to this length, more "
            f"than {MOST_SEQUENCES}: {remedy}"
        )
    return lengths


def all_of_length(of: Tokens, length: int) -> Iterator[np.ndarray]:
    """All sequences (…, length) that a model takes, in batches."""
    slots = slots_at(of, length)
    first = np.array([slot.start for slot in slots])
    batches = all_below([len(slot) for slot in slots], [length], MOST_SEQUENCES)
    return (rows + first for rows in batches or ())


def slots_at(of: Tokens, length: int) -> list[range]:
    """The tokens that are allowed at each position."""
    return list(of.slots[:length]) if of.slots else [range(of.vocabulary_size)] * length
