"""Integers modulo a random 61-bit prime: equality at a random point implies equality everywhere.

Two different polynomial maps over Q differ at a random point modulo a random prime p unless p
divides every coefficient of the difference, or the point is a root of it; `sizes.py` bounds both
probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from flint import fmpz, nmod, nmod_mat

from verify.domains.base import cached_weights

BITS = 61


class Modular:
    """The domain of integers modulo a prime p.

    The denominators of weights must not be divisible by p; a power of two is never divisible by p.
    """

    name = "modular"
    ordered = False

    def __init__(self, prime: int) -> None:
        self.prime = prime

    def number(self, numerator: int, denominator: int = 1) -> nmod:
        return nmod(numerator % self.prime, self.prime) / nmod(denominator % self.prime, self.prime)

    def matrix(self, rows: Sequence[Sequence[nmod | int]]) -> nmod_mat:
        entries = list(chain.from_iterable(rows))
        return nmod_mat(len(rows), len(rows[0]), entries, self.prime)

    def weights(self, array: np.ndarray) -> nmod_mat:
        return cached_weights(self, array, (self.name, self.prime))

    def random_entries(self, rng: np.random.Generator, rows: int, columns: int) -> list[list[nmod]]:
        """Returns a matrix of uniformly random residues modulo p."""
        drawn = rng.integers(0, self.prime, size=(rows, columns), dtype=np.int64)
        return [[nmod(int(value), self.prime) for value in row] for row in drawn]


def random_prime(rng: np.random.Generator) -> int:
    """A uniformly random prime of 61 bits, in (2^60, 2^61)."""
    while True:
        candidate = int(rng.integers(2 ** (BITS - 1), 2**BITS, dtype=np.int64))
        if candidate % 2 and fmpz(candidate).is_prime():
            return candidate
