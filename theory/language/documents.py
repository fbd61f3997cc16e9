"""Documents that are short strings of digits: a name of half of them, and the value of that name.

There are b^k names of k digits to base b, each with one value of k digits, drawn uniformly: b^k
facts among b^{2k} strings.  Given documents, all values of a name that was not seen are as likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from theory.kinds import Count, CountFrom2, Exact, InputError, Seed, Steps, checked
from theory.language.distributions import Distribution
from theory.language.worlds import ModelName

MOST = 2**24  # facts


def digits(numbers: np.ndarray, base: int, count: int) -> np.ndarray:
    """`count` digits of each number, the highest first, (…, count)."""
    return np.asarray(numbers[..., None] // base ** np.arange(count)[::-1] % base)


def numbers(strings: np.ndarray, base: int) -> np.ndarray:
    """The numbers (…,) that digits (…, L) write, the highest first."""
    return np.asarray(strings @ base ** np.arange(strings.shape[-1])[::-1])


@checked
def fact_strings(base: CountFrom2, count: Count, seed: Seed) -> np.ndarray:
    """A string of name and value for each name, (base^count, 2·count) int64.

    Raises `ValueError` for more than 2^24 facts.
    """
    b, k = base, count
    if k > 24 or b**k > MOST:
        raise InputError(f"there are {b}^{k} facts: give at most 2^24 of them")
    names = np.arange(b**k)
    values = np.random.default_rng(seed).integers(b**k, size=b**k)
    return np.concatenate([digits(names, b, k), digits(values, b, k)], axis=1)


def next_letter(
    given: np.ndarray, chances: Sequence[Exact], V: int, prefix: Sequence[int]
) -> list[Fraction] | None:
    """g(prefix and v)/g(prefix) of each symbol v, where the strings `given` (m, L) have these
    probabilities and the rest of 1 is uniform on the other V^L − m; None if no given string begins
    with the prefix, or g(prefix) is 0."""
    m, L = given.shape
    each = (1 - sum(chances, start=Fraction(0))) / max(V**L - m, 1)

    def chance(prefix: Sequence[int]) -> Fraction:
        begin = (given[:, : len(prefix)] == prefix).all(axis=1)
        known = [chance for chance, inside in zip(chances, begin, strict=True) if inside]
        return sum(known, start=Fraction(0)) + each * (V ** (L - len(prefix)) - len(known))

    whole = chance(prefix)
    if not whole or not (given[:, : len(prefix)] == prefix).all(axis=1).any():
        return None
    return [chance([*prefix, v]) / whole for v in range(V)]


@checked
def chances_of_seen(p: Distribution, counts: Sequence[Steps], name: ModelName) -> list[Fraction]:
    """What a model of `theory.language.worlds` gives to each fact that was seen, in order, exactly:
    facts have the probabilities p (|F|,), and `counts` (|F|,) of the documents each.  All other
    strings share evenly what is left of 1.

    Raises `ValueError` for no documents, and other than one count for each fact.
    """
    law, seen = p, counts
    if len(seen) != len(law):
        raise InputError(f"p has {len(law)} facts and there are {len(seen)} counts: give as many")
    if not (n := sum(seen)):
        raise InputError("all counts are 0: give at least one document")
    if name == "calibrated":
        return [chance for chance, count in zip(law, seen, strict=True) if count]
    once = Fraction(seen.count(1), n) if name == "good-turing" else Fraction(0)
    return [(1 - once) * Fraction(count, n) for count in seen if count]
