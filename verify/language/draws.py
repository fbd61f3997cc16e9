"""Random instances in small fractions, whose logarithms are compared exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import fmpz_mat

from theory.language import LogLinear, log_linear


def random_distribution(
    rng: np.random.Generator, outcomes: int, least: int = 1
) -> tuple[Fraction, ...]:
    """A random distribution, proportional to integer weights from `least` to 5."""
    weights = rng.integers(least, 6, outcomes).tolist()
    if not any(weights):
        return random_distribution(rng, outcomes, least)
    return tuple(Fraction(each, sum(weights)) for each in weights)


def family(rng: np.random.Generator, outcomes: int, k: int) -> LogLinear:
    """A random log-linear family with k integer features from 0 to 2.

    The features and the constant 1 are linearly independent.
    """
    while True:
        features = rng.integers(0, 3, (outcomes, k))
        if np.linalg.matrix_rank(np.column_stack([np.ones(outcomes), features])) == k + 1:
            return log_linear(random_distribution(rng, outcomes), features.tolist())


def scales(rng: np.random.Generator, k: int) -> tuple[Fraction, ...]:
    """Random values of e^θ for k parameters θ of a family, as small fractions other than 1."""
    several = (Fraction(1, 2), Fraction(2), Fraction(3), Fraction(2, 3), Fraction(3, 2))
    return tuple(several[i] for i in rng.integers(len(several), size=k))


def some_outcomes(rng: np.random.Generator, count: int) -> list[int]:
    """A random nonempty proper subset of the outcomes 0, …, count − 1."""
    size = int(rng.integers(1, count))
    return sorted(rng.choice(count, size, replace=False).tolist())


def of_equal_moments(
    rng: np.random.Generator, of: LogLinear, p: tuple[Fraction, ...]
) -> tuple[Fraction, ...]:
    """A random distribution other than p with the same means of the features of a family.

    The distribution is p plus a signed measure under which the features and the constant 1 have
    integral 0.
    """
    rows = [[1] * len(p), *map(list, zip(*of.features, strict=True))]
    basis, rank = fmpz_mat(rows).nullspace()
    free = np.array(basis.tolist(), dtype=object)[:, :rank]
    move = free @ rng.integers(1, 3, rank)
    reach = min(a / abs(int(b)) for a, b in zip(p, move, strict=True) if b)
    return tuple(a + reach / 2 * int(b) for a, b in zip(p, move, strict=True))
