"""Kinds of integers that satisfy a congruence: an odd modulus, and a number of candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from theory.kinds import Whole, Within, checked


@dataclass(frozen=True)
class Congruent(Whole):
    """The kind of the integers that are ≡ `remainder` mod `modulus`.

    Error messages describe these integers by the text `called`.
    """

    modulus: int = 1
    remainder: int = 0
    called: str = "an integer"

    @property
    def what(self) -> str:
        return f"{self.called}{self.within}"

    @property
    def wrong(self) -> tuple[Any, ...]:
        return (*super().wrong, self.example + 1)

    def read(self, name: str, value: Any) -> int:
        number = super().read(name, value)
        if number % self.modulus != self.remainder:
            raise self.error(name, value)
        return number


OddModulus: TypeAlias = Annotated[int, Congruent(Within(least=3), 2, 1, "an odd number")]
"""An odd p ≥ 3: k and −k are different frequencies for all k ≠ 0."""
Candidates: TypeAlias = Annotated[
    int, Congruent(Within(least=20, most=2**53), 10, 0, "a multiple of 10")
]
"""A number p of candidates: a multiple of 10 from 20 to 2^53."""


@checked
def odd_modulus(p: OddModulus) -> int:
    """p, after a check that it is odd and at least 3; otherwise raises ValueError."""
    return p
