"""Polynomials in one variable x over Q: exactly, at a random x modulo a long prime, or their sizes.

An algorithm whose prediction is x_qᵀ g(S) Xᵀy, for a polynomial g and S = XᵀX, is determined by one
example: for n = d = 1, X = x and y = x_q = 1, it predicts x·g(x²).  So g is compared by algorithms
on 1 × 1 matrices, whose entries lie in one of these rings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpz, fmpz_mod, fmpz_mod_ctx

from theory.regression.register_programs import Ring
from theory.waiting import foretold

ROUNDS = 50  # of Miller and Rabin, each of which a composite number passes with probability ≤ ¼
TRIED = 10**6  # a bound on the number of candidates for a prime
SECONDS, BITS = 3.5, 4000  # the mean time of the search for a prime of that many bits


@dataclass(frozen=True)
class OneByOne:
    """A 1 × 1 matrix, which is also its entry."""

    entry: Any

    def nrows(self) -> int:
        return 1

    ncols = nrows

    def transpose(self) -> OneByOne:
        return self

    def tolist(self) -> list[list[OneByOne]]:
        return [[self]]

    def __neg__(self) -> OneByOne:
        return OneByOne(-self.entry)

    def __add__(self, other: OneByOne) -> OneByOne:
        return OneByOne(self.entry + other.entry)

    def __sub__(self, other: OneByOne) -> OneByOne:
        return OneByOne(self.entry - other.entry)

    def __mul__(self, other: OneByOne) -> OneByOne:
        return OneByOne(self.entry * other.entry)


class OneByOneMatrices:
    """The number system of 1 × 1 matrices over a ring."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring

    def number(self, numerator: int, denominator: int = 1) -> OneByOne:
        return OneByOne(self.ring.number(numerator, denominator))

    def matrix(self, rows: Sequence[Sequence[OneByOne]]) -> OneByOne:
        ((entry,),) = rows
        return entry


class Residues:
    """The integers modulo a prime p; t is the square of a random residue x."""

    def __init__(self, prime: int, rng: np.random.Generator) -> None:
        self.of = fmpz_mod_ctx(prime)
        self.x = self.of(_random(rng, prime.bit_length() + 64) % prime)
        self.t = self.x * self.x

    def number(self, numerator: int, denominator: int = 1) -> fmpz_mod:
        value = self.of(numerator)
        return value if denominator == 1 else value / self.of(denominator)


def long_prime(rng: np.random.Generator, bits: int) -> int:
    """A random prime of this number of bits, up to the error probability of `missed`.

    It is uniformly distributed among the primes in (2^(bits−1), 2^bits). A search that takes more
    than a minute is announced: about 0.35·bits odd candidates are tested.
    """
    foretold(f"a random prime of {bits} bits", SECONDS * (bits / BITS) ** 3.5)
    while True:
        candidate = 2 ** (bits - 1) + _random(rng, bits - 1) | 1
        if fmpz(candidate).is_probable_prime() and passes_miller_rabin(candidate, rng):
            return candidate


def missed(degree: int, coefficient_bits: int, bits: int) -> float:
    """A bound on the probability that a non-zero polynomial vanishes at a random x modulo p.

    The polynomial has integer coefficients of at most B = `coefficient_bits` bits, and p is a
    random prime of L = `bits` ≥ 61 bits. The bound adds three probabilities: that x is a root
    modulo p, at most degree/2^(L−1); that p divides all coefficients, at most ⌈B/(L−1)⌉·L/2^(L−1),
    because a number of B bits has at most B/(L−1) such prime factors, and there are more than
    2^(L−1)/L primes of L bits by x/(ln x − 1) < π(x) < x/(ln x − 1.1) for x ≥ 60184 [Dusart1999];
    and that one of 10⁶ candidates is composite and passes 50 rounds of Miller and Rabin, at most
    10⁶·4^−50.
    """
    divides = -(-coefficient_bits // (bits - 1)) * bits
    return (degree + divides) / 2 ** (bits - 1) + TRIED * 4.0**-ROUNDS


def passes_miller_rabin(candidate: int, rng: np.random.Generator) -> bool:
    """Whether an odd number ≥ 5 passes all rounds of the test of Miller and Rabin."""
    twos = (candidate - 1 & 1 - candidate).bit_length() - 1
    for _ in range(ROUNDS):
        base = fmpz(2 + _random(rng, candidate.bit_length() + 64) % (candidate - 3))
        powers = [pow(base, candidate - 1 >> twos, candidate)]
        while len(powers) < twos:
            powers.append(powers[-1] ** 2 % candidate)
        if powers[0] != 1 and candidate - 1 not in powers:
            return False
    return True


def _random(rng: np.random.Generator, bits: int) -> int:
    """A uniformly random number of at most this number of bits."""
    return int.from_bytes(rng.bytes(-(-bits // 8))) >> (-bits % 8)
