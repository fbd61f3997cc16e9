"""A measured capacity curve: recall by classical networks at each load, with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
import scipy  # its submodules are loaded when they are used

from theory import machine
from theory.kinds import Count, OpenUnit, Reals, Seed, Steps, Within, checked
from theory.memory.capacity import clopper_pearson, median_interval
from theory.memory.dense import dense_preferred
from theory.memory.hopfield import asynchronous_update, hebb, hebb_fields
from theory.memory.kinds import Size
from theory.memory.patterns import flipped, overlap, random_patterns

Loads: TypeAlias = Annotated[Any, Reals("n", Within(above=0))]
"""Numbers > 0, shape (n,)."""


@dataclass(frozen=True)
class Measured:
    """A quantity measured at each of n loads (patterns per neuron), with confidence intervals.

    The arrays `value`, `low` and `high` have shape (n,). The confidence intervals are from `low` to
    `high`.
    """

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class CapacityCurve:
    """Measurements of random Hopfield networks with d neurons ±1, at each of n loads.

    The load of a network is the number of its patterns divided by d. The patterns are stored by
    Hebb's rule. At each load, `runs` independent networks are measured. The attribute `n_patterns`
    (n,) contains the numbers of patterns, and `loads` (n,) is `n_patterns`/d. Each confidence
    interval has coverage `level`. There are three measured quantities:

    unstable_bits    the fraction of a pattern's bits that flip at the first update; Student's t
                     interval over the networks (approximate), or an exact interval if all or no
                     bits of the tested patterns flip
    stable_patterns  the probability that a pattern is a fixed point; exact Clopper–Pearson interval
    overlap          the median over networks of ⟨s, ξ⟩/d, where s is the final state of a run that
                     starts at the pattern ξ with some bits flipped; exact interval from order
                     statistics
    """

    d: int
    runs: int
    level: float
    loads: np.ndarray
    n_patterns: np.ndarray
    unstable_bits: Measured
    stable_patterns: Measured
    overlap: Measured


@checked
def capacity_curve(
    d: Size,
    loads: Loads,
    runs: Count,
    seed: Seed,
    *,
    flips: Annotated[Steps, Within(most="d")] = 0,
    level: OpenUnit = 0.95,
) -> CapacityCurve:
    """Measurements of random Hopfield networks of d neurons ±1 under Hebb's rule, at given loads.

    A network at load α has P = max(1, round(αd)) uniformly random patterns. At each of the `loads`
    (n,), `runs` networks with fresh patterns are drawn. One pattern of each network is tested, so
    the observations are independent. Three quantities are measured, with confidence intervals of
    coverage `level`: the fraction of a pattern's bits that flip at the first update, the
    probability that a pattern is a fixed point, and an overlap. The overlap shows whether the
    pattern attracts nearby states: the network starts at the pattern with `flips` bits flipped, and
    is updated asynchronously until the state is fixed. The overlap is ⟨s, ξ⟩/d for the final state
    s and the pattern ξ.

    Raises `ValueError` if the networks or the results of the runs do not fit in memory.
    """
    rng = np.random.default_rng(seed)
    machine.fits_in_memory(f"{runs} runs", 2 * 8 * len(loads) * runs, "take fewer runs")
    most = min(float(loads.max()) * d, 1e300)
    machine.fits_in_memory(f"{most:.3g} patterns", int(8 * d * most), "give smaller loads")
    counts = np.maximum(1, np.rint(loads * d)).astype(np.int64)
    unstable, recalled = np.empty((2, len(counts), runs))
    for place in np.ndindex(unstable.shape):
        xi = random_patterns(int(counts[place[0]]), d, rng)
        unstable[place] = (hebb_fields(xi, xi[0]) * xi[0] < 0).mean()
        end = asynchronous_update(hebb(xi), flipped(xi[0], flips, rng), rng).states
        recalled[place] = overlap(end, xi[:1])[0]
    fixed = (unstable == 0).sum(axis=1)
    return CapacityCurve(
        d,
        runs,
        level,
        counts / d,
        counts,
        _measured(unstable.mean(axis=1), [mean_interval(row, level) for row in unstable]),
        _measured(fixed / runs, [clopper_pearson(int(k), runs, level) for k in fixed]),
        _measured(np.median(recalled, axis=1), [median_interval(row, level) for row in recalled]),
    )


def fixed_points(rng: np.random.Generator, N: int, d: int, degree: int, networks: int) -> int:
    """The number of random dense memories, out of `networks`, in which the first pattern is fixed.

    Each memory has d neurons, degree `degree` and N random patterns. Only the first pattern of
    each memory is tested, so the observations are independent.
    """
    drawn = (random_patterns(N, d, rng) for _ in range(networks))
    return sum(bool((dense_preferred(xi, xi[0], degree) * xi[0] >= 0).all()) for xi in drawn)


def mean_interval(fractions: np.ndarray, level: float) -> tuple[float, float]:
    """Student's t interval (low, high) for the mean of n independent fractions from 0 to 1.

    If all n fractions are 0, or all are 1, the result is the Clopper–Pearson interval for n equal
    outcomes. This interval is exact, because all n fractions are 0 with probability at most (1 −
    mean)ⁿ. For a single fraction, and for equal fractions strictly between 0 and 1, the result
    is (0, 1).
    """
    n, mean = len(fractions), float(fractions.mean())
    if mean in (0.0, 1.0):
        return clopper_pearson(n * int(mean), n, level)
    spread = float(fractions.std(ddof=1)) if n > 1 else 0.0
    if spread == 0:
        return 0.0, 1.0
    reach = -float(scipy.special.stdtrit(n - 1, (1 - level) / 2)) * spread / math.sqrt(n)
    return max(0.0, mean - reach), min(1.0, mean + reach)


def _measured(values: np.ndarray, intervals: list[tuple[float, float]]) -> Measured:
    low, high = np.array(intervals).T
    return Measured(values, low, high)
