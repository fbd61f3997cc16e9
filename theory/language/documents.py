"""Documents that are short strings of digits: a name of half of them, and the value of that name.

There are b^k names of k digits to base b, each with one value of k digits, drawn uniformly: b^k
facts among b^{2k} strings.  Given documents, all values of a name that was not seen are as likely.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from theory import checks
from theory.checks import InputError
from theory.language.distributions import Exact, distribution
from theory.language.worlds import MODELS

MOST = 2**24  # facts


def digits(numbers: np.ndarray, base: int, count: int) -> np.ndarray:
    """`count` digits of each number, the highest first, (…, count)."""
    return np.asarray(numbers[..., None] // base ** np.arange(count)[::-1] % base)


def numbers(strings: np.ndarray, base: int) -> np.ndarray:
    """The numbers (…,) that digits (…, L) write, the highest first."""
    return np.asarray(strings @ base ** np.arange(strings.shape[-1])[::-1])


def fact_strings(base: int, count: int, seed: int | np.random.Generator) -> np.ndarray:
    """A string of name and value for each name, (base^count, 2·count) int64.

    Raises `ValueError` for a base below 2, a count below 1, and for more than 2^24 facts.
    """
    b, k = checks.dimension("base", base), checks.dimension("count", count)
    if b < 2:
        raise InputError("base is 1: give at least 2")
    if k > 24 or b**k > MOST:
        raise InputError(f"there are {b}^{k} facts: give at most 2^24 of them")
    names = np.arange(b**k)
    values = checks.generator("seed", seed).integers(b**k, size=b**k)
    return np.concatenate([digits(names, b, k), digits(values, b, k)], axis=1)


def chances_of_seen(p: Iterable[Exact], counts: Iterable[int], name: str) -> list[Fraction]:
    """What a model of `theory.language.worlds` gives to each fact that was seen, in order, exactly:
    facts have the chances p (|F|,), and `counts` (|F|,) of the documents each.  All other strings
    share evenly what is left of 1.

    Raises `ValueError` for what is no distribution or no counts, no documents, and other names.
    """
    law, listed = distribution("p", p), checks.listed("counts", counts)
    seen = [checks.step_count("counts", each) for each in listed]
    checks.one_of("name", name, MODELS)
    if len(seen) != len(law):
        raise InputError(f"there are {len(law)} facts and {len(seen)} counts: give as many")
    if not (n := sum(seen)):
        raise InputError("all counts are 0: give at least one document")
    if name == "calibrated":
        return [chance for chance, count in zip(law, seen, strict=True) if count]
    once = Fraction(seen.count(1), n) if name == "good-turing" else Fraction(0)
    return [(1 - once) * Fraction(count, n) for count in seen if count]
