"""The base class of kinds of parameters: reading of values, a right value, and wrong values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, TypeGuard

import numpy as np

from theory.kinds.errors import InputError, shown


def is_integer(value: Any) -> TypeGuard[int | np.integer]:
    """Whether a value is an integer of Python or numpy.

    True and False are not, nor is a `timedelta64`, whose class is derived from that of integers.
    """
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


@dataclass(frozen=True)
class Within:
    """Limits of a number, or of all entries of an array, such as `Within(least=0, below=10)`.

    `Annotated[Count, Within(most=20)]` declares a parameter with this limit. The values `least` and
    `most` themselves are allowed; the values `above` and `below` are not. `below` and `most` may be
    the name of an integer parameter of the same call, or of a dimension of one of its arrays.
    """

    least: float | None = None
    above: float | None = None
    most: float | str | None = None
    below: float | str | None = None

    def contains(self, value: Any) -> bool:
        """Whether a value satisfies all limits that are numbers; other limits are ignored."""
        return (
            (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or isinstance(self.most, str) or value <= self.most)
            and (self.below is None or isinstance(self.below, str) or value < self.below)
        )

    def narrowed(self, other: Within) -> Within:
        """These limits; a limit that `other` also has is replaced by that of `other`."""
        given = {each.name: getattr(other, each.name) for each in fields(other)}
        return replace(self, **{name: limit for name, limit in given.items() if limit is not None})

    def with_sizes(self, sizes: dict[str, tuple[str, int]]) -> Within:
        """These limits with numbers in place of names, taken from `sizes`.

        A limit may be the name of a parameter or of a dimension of an array. `sizes` maps such a
        name to a pair: the parameter that has this size, and the number. Limits with other names
        are left out.
        """

        def number(limit: float | str | None) -> float | None:
            return sizes.get(limit, ("", None))[1] if isinstance(limit, str) else limit

        return Within(self.least, self.above, number(self.most), number(self.below))

    @property
    def named(self) -> str | None:
        """The upper limit if it is the name of a parameter or a dimension; otherwise None."""
        return next((each for each in (self.most, self.below) if isinstance(each, str)), None)

    def __str__(self) -> str:
        if self.least is not None and self.most is not None:
            return f" from {_written(self.least)} to {_written(self.most)}"
        given = ("≥", self.least), (">", self.above), ("≤", self.most), ("<", self.below)
        words = " and ".join(
            f"{sign} {_written(limit)}" for sign, limit in given if limit is not None
        )
        return words and f" {words}"

    def near(self, usual: float) -> Any:
        """A number within the limits: `usual`, a limit, or a number close to a limit.

        The result is `usual` if it is within the limits.
        """
        low = self.least if self.least is not None else self.above
        high = [each for each in (self.most, self.below) if not isinstance(each, str | None)]
        near = [usual, *([] if low is None else [low, low + 1]), *high, *(e - 1 for e in high)]
        near += [(low + each) / 2 for each in high if low is not None]
        return next(each for each in near if self.contains(each))

    def outside(self) -> Iterator[float]:
        """Yields numbers that slightly violate the limits, for tests of error messages."""
        for limit, step in ((self.least, -1), (self.above, 0), (self.most, 1), (self.below, 0)):
            if limit is not None and not isinstance(limit, str):
                past = limit + step
                if past == limit and step:  # limit is a large float
                    past = math.nextafter(limit, step * math.inf)
                yield past


ANY = Within()


def _written(limit: float | str) -> str:
    """A limit in a message: large or small powers as such, 2^500, 2^-1022 or 10^15."""
    if isinstance(limit, float) and 0 < limit < 2**-30 and math.frexp(limit)[0] == 0.5:
        return f"2^{math.frexp(limit)[1] - 1}"
    if isinstance(limit, int) and limit >= 2**30 and not limit & (limit - 1):
        return f"2^{limit.bit_length() - 1}"
    if isinstance(limit, int) and limit >= 10**15 and limit == 10 ** (len(str(limit)) - 1):
        return f"10^{len(str(limit)) - 1}"
    return str(limit)


class Kind:
    """The base class of kinds: a kind checks and converts the values of a function's parameter.

    A subclass is a frozen dataclass that defines four names:

    what     the values of this kind, as words that follow "give" in an error message
    example  one right value
    wrong    values for which `read` raises InputError
    read     converts a value to the value that the function gets, or raises `error(name, value)`
    """

    @property
    def what(self) -> str:
        raise NotImplementedError

    @property
    def example(self) -> Any:
        raise NotImplementedError

    @property
    def wrong(self) -> tuple[Any, ...]:
        return (None, object())

    def read(self, name: str, value: Any) -> Any:
        raise NotImplementedError

    def error(self, name: str, value: Any, remedy: str = "") -> InputError:
        """The error for a wrong value, with the message `<name> is <value>: give <what>`.

        `name` is the name of the parameter, `what` are the allowed values, and `remedy` is appended
        to the message.
        """
        return InputError(f"{name} is {shown(value)}: give {self.what}{remedy}")

    def narrowed(self, within: Within) -> Kind:
        """This kind, restricted to values within the limits `within`.

        Raises TypeError if values of this kind cannot have limits.

        A kind checks and converts the values of a parameter (`Kind`).
        """
        raise TypeError(f"{type(self).__name__} has no limits")
