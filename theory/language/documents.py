"""Documents that are strings of digits: the first half is a name, the second half its value.

There are b^k names of k digits to base b.  Each name has one value of k digits, drawn uniformly.
So there are b^k facts among b^{2k} strings.  Given the documents, all values of an unseen name are
equally likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from theory.kinds import Count, CountFrom2, Exact, InputError, Seed, Steps, checked
from theory.language.distributions import Distribution
from theory.language.worlds import ModelName

MOST = 2**24  # largest number of facts


def digits(numbers: np.ndarray, base: int, count: int) -> np.ndarray:
    """The last `count` digits (…, count) of the `numbers` (…,) in the base, highest first."""
    return np.asarray(numbers[..., None] // base ** np.arange(count)[::-1] % base)


def numbers(strings: np.ndarray, base: int) -> np.ndarray:
    """The numbers (…,) whose L digits in the base, highest first, are `strings` (…, L)."""
    return np.asarray(strings @ base ** np.arange(strings.shape[-1])[::-1])


@checked
def fact_strings(base: CountFrom2, count: Count, seed: Seed) -> np.ndarray:
    """Random facts as strings of digits (base^count, 2·count): a random value for each name.

    A row is a string of 2·count digits from 0 to base − 1.  The first `count` digits are a name,
    and the last `count` digits are its value.  Each name has one row, and values are uniformly
    random.  The result has dtype int64.  Raises `ValueError` for more than 2^24 facts.
    """
    b, k = base, count
    if k > 24 or b**k > MOST:
        raise InputError(f"there are {b}^{k} facts: give a base and a count with base^count ≤ 2^24")
    names = np.arange(b**k)
    values = np.random.default_rng(seed).integers(b**k, size=b**k)
    return np.concatenate([digits(names, b, k), digits(values, b, k)], axis=1)


def next_symbol(
    given: np.ndarray, probabilities: Sequence[Exact], V: int, prefix: Sequence[int]
) -> list[Fraction] | None:
    """The probabilities of the V next symbols after a prefix, under a distribution g on strings.

    The m strings `given` (m, L) of L symbols have the `probabilities` (m,) under g, and the
    remaining mass of g is uniform on the other V^L − m strings.  The probability of the symbol v is
    the mass of the strings that begin with prefix and v, divided by the mass g(prefix) of the
    strings that begin with the prefix.  Returns None if g(prefix) = 0 or no given string begins
    with the prefix.
    """
    m, L = given.shape
    each = (1 - sum(probabilities, start=Fraction(0))) / max(V**L - m, 1)

    def mass(prefix: Sequence[int]) -> Fraction:
        begin = (given[:, : len(prefix)] == prefix).all(axis=1)
        known = [x for x, inside in zip(probabilities, begin, strict=True) if inside]
        return sum(known, start=Fraction(0)) + each * (V ** (L - len(prefix)) - len(known))

    whole = mass(prefix)
    if not whole or not (given[:, : len(prefix)] == prefix).all(axis=1).any():
        return None
    return [mass([*prefix, v]) / whole for v in range(V)]


@checked
def probabilities_of_seen(
    p: Distribution, counts: Sequence[Steps], name: ModelName
) -> list[Fraction]:
    """The exact probabilities that a model gives to the facts that documents state.

    Each document states one fact.  The facts have the probabilities `p`, and `counts` are the
    numbers of documents that state them.  A fact is seen if its count is positive, and the result
    has an entry for each seen fact, in order.  `name` is one of three models of
    `theory.language.worlds`.  The model "calibrated" gives a seen fact its probability in `p`.  The
    model "memoriser" gives a seen fact its frequency in the documents.  The model "good-turing"
    multiplies this frequency by 1 − m, where m is the fraction of documents whose fact no other
    document states.  The model's remaining mass is uniform on all other strings.

    Raises `ValueError` if all counts are 0, or if `p` and `counts` have different numbers of
    entries.
    """
    if len(counts) != len(p):
        raise InputError(
            f"p has {len(p)} facts and there are {len(counts)} counts: give one count for each fact"
        )
    if not (n := sum(counts)):
        raise InputError("all counts are 0: give at least one document")
    if name == "calibrated":
        return [x for x, count in zip(p, counts, strict=True) if count]
    once = Fraction(counts.count(1), n) if name == "good-turing" else Fraction(0)
    return [(1 - once) * Fraction(count, n) for count in counts if count]
