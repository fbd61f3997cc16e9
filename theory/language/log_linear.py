"""Log-linear families on a finite set: p_θ ∝ q₀ e^{θ·f}, and maximum likelihood in them.

Here q₀ is a base distribution and f the vector of features of an outcome.  The loss of p_θ on a
distribution p is L(θ) = −E_p ln p_θ.

    L(θ) = H(p) + KL(p‖p_θ)
    ∇L = E_θ f − E_p f,   ∇²L = Cov_θ f, so that L is convex
    KL(p‖p_θ) = KL(p‖p*) + KL(p*‖p_θ)          if p* is in the family and E_p* f = E_p f

The third line holds since ln(p*/p_θ) is affine in f, so that its means under p and p* agree.  So p*
is the unique member that minimises KL(p‖·), and it has the smallest KL(·‖q₀) among all
distributions with these moments [Csiszar1975].  It exists iff E_p f lies in the relative interior
of the convex hull of f on the support of q₀.  Otherwise there is a direction w with w·f ≥ w·E_p f
on this support, not always with equality, and the loss decreases along θ = −t·w as t → ∞.

Features are integers and e^θ is rational.  So all results except the maximiser are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Annotated, Any

import numpy as np

from theory.kinds import InputError, Integers, checked
from theory.language.distributions import Distribution, PositiveExact
from theory.language.logs import Log, log

STEPS = 200
SLACK = 1e-9  # tolerance of the optimum of a linear program of small integers
LARGE = 2.0**40  # larger coefficients are scaled, since the solver rejects those from 10¹⁵ on
FITS = 1e-10  # tolerance of the moments of the maximiser, relative to the features


@dataclass(frozen=True)
class LogLinear:
    """The log-linear family of distributions p_θ ∝ q₀ e^{θ·f} on m outcomes.

    q₀ = `base` (m,) is the base distribution, and f = `features` (m, k) has the k integer features
    of each outcome.  A member p_θ of the family has the parameters θ (k,).  The fields are not
    checked: `log_linear` checks them.
    """

    base: tuple[Fraction, ...]
    features: tuple[tuple[int, ...], ...]

    @property
    def k(self) -> int:
        """The number of features of each outcome."""
        return len(self.features[0])

    @checked
    def weights(self, x: Sequence[PositiveExact]) -> list[Fraction]:
        """The unnormalised weights q₀ e^{θ·f} (m,) of the m outcomes, for rational x = e^θ (k,).

        q₀ is the base distribution, f are the k features of each outcome, and the exponential e^θ
        of the parameters θ is taken elementwise.
        """
        if len(x) != self.k:
            raise InputError(f"x has {len(x)} entries: give {self.k} fractions, one per feature")
        return [
            q * prod(each**power for each, power in zip(x, f, strict=True))
            for q, f in zip(self.base, self.features, strict=True)
        ]

    def at(self, x: Sequence[PositiveExact]) -> tuple[Fraction, ...]:
        """The member p_θ (m,) of the family with the given e^θ = x (k,), exactly.

        θ are the k parameters of the member.  The exponential is taken elementwise.
        """
        weights = self.weights(x)
        return tuple(each / sum(weights) for each in weights)

    def log_partition(self, x: Sequence[PositiveExact]) -> Log:
        """The log-partition function ln Σ q₀ e^{θ·f} at the θ with e^θ = x (k,), exactly.

        θ are the k parameters.  The sum is over all outcomes, q₀ is the base distribution, and f
        are the k features of an outcome.  The exponential e^θ is taken elementwise.
        """
        return log(sum(self.weights(x), start=Fraction(0)))

    @checked
    def mean(self, p: Distribution) -> tuple[Fraction, ...]:
        """The means E_p f (k,) of the k features f under a distribution p (m,) of the outcomes."""
        if len(p) != len(self.base):
            raise InputError(
                f"p has {len(p)} outcomes: give {len(self.base)} probabilities, one for each "
                "outcome of the family"
            )
        columns = zip(*self.features, strict=True)
        return tuple(sum(a * f for a, f in zip(p, column, strict=True)) for column in columns)

    @checked
    def covariance(self, p: Distribution) -> list[list[Fraction]]:
        """The covariance matrix (k, k) of the features under a distribution p (m,) of outcomes."""
        centre = self.mean(p)
        apart = [[f - c for f, c in zip(row, centre, strict=True)] for row in self.features]
        return [
            [
                sum(
                    (a * row[i] * row[j] for a, row in zip(p, apart, strict=True)),
                    start=Fraction(0),
                )
                for j in range(self.k)
            ]
            for i in range(self.k)
        ]

    def gradient(self, x: Sequence[PositiveExact], p: Distribution) -> tuple[Fraction, ...]:
        """The gradient E_θ f − E_p f (k,) of the loss −E_p ln p_θ with respect to the parameters θ.

        The gradient is taken at the θ with e^θ = x (k,), elementwise.  E_θ f are the means of the k
        features f under the member p_θ of the family.  E_p f are their means under the distribution
        p (m,) of the m outcomes.
        """
        here, there = self.mean(self.at(x)), self.mean(p)
        return tuple(a - b for a, b in zip(here, there, strict=True))


@checked
def log_linear(base: Distribution, features: Annotated[Any, Integers("m k")]) -> LogLinear:
    """The log-linear family of distributions p_θ ∝ q₀ e^{θ·f} on m outcomes.

    q₀ = `base` (m,) are the exact probabilities of the base distribution.  f = `features` (m, k)
    has one row of k integer features for each outcome.  A member p_θ of the family has the
    parameters θ (k,).  Raises `ValueError` unless `features` has m rows.
    """
    if len(features) != len(base):
        raise InputError(
            f"features have shape {features.shape}: give a row for each of {len(base)} outcomes"
        )
    return LogLinear(base, tuple(tuple(row) for row in features.tolist()))


@checked
def separating_direction(family: LogLinear, p: Distribution) -> tuple[int, ...] | None:
    """A direction (k,) that shows that no member of the family has the same feature means as p.

    The direction is an integer vector w with two properties.  w·f ≥ w·E_p f at all outcomes of
    positive probability under the base distribution, and the inequality is strict at some of these
    outcomes.  f are the k features of an outcome, and E_p f are their means under p.  Data p with
    such a direction are called separable.  The inequalities are checked exactly.  Returns None if a
    linear program finds no direction.  Raises `ValueError` if p has another number of outcomes than
    the family.
    """
    from scipy.optimize import linprog

    moments = family.mean(p)
    rows = [f for q, f in zip(family.base, family.features, strict=True) if q]
    apart = [[a - b for a, b in zip(row, moments, strict=True)] for row in rows]
    A = np.array(apart, dtype=np.float64)
    A /= max(1.0, abs(A).max() / LARGE)
    found = linprog(-A.sum(0), A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1, 1))
    if found.status != 0 or -found.fun < SLACK:
        return None
    exact = [Fraction(float(each)).limit_denominator(10**6) for each in found.x]
    direction = tuple(int(each * np.lcm.reduce([e.denominator for e in exact])) for each in exact)
    values = [sum(w * a for w, a in zip(direction, row, strict=True)) for row in apart]
    return direction if min(values) >= 0 and max(values) > 0 else None


@checked
def projection(family: LogLinear, p: Distribution) -> tuple[np.ndarray, np.ndarray]:
    """The maximum-likelihood parameters θ (k,) for data p (m,), and the member p_θ (m,).

    p_θ is the member of the family with the parameters θ.  By Newton's method, the means of the k
    features f under p_θ are made equal to their means under p, up to an error of 1e-10·(1 + max
    |f|).  Raises `ValueError` if no member has these means.  The message then gives a direction w
    in which w·f is never below its mean under p.  Also raises `ValueError` if p is positive at an
    outcome where the base distribution is 0.
    """
    moments = np.array([float(each) for each in family.mean(p)])
    if any(a > 0 == q for a, q in zip(p, family.base, strict=True)):
        raise InputError(
            "p is positive where the base distribution is 0: give a p that is 0 at these outcomes"
        )
    if (w := separating_direction(family, p)) is not None:
        raise InputError(
            f"p is separable: no member of the family has its feature means, as {_shown(w)} is "
            "never below its mean under p: give a p whose feature means are inside the hull of the "
            "features"
        )
    F, base = np.array(family.features, dtype=np.float64), np.array(family.base, dtype=np.float64)
    scale = 1 + abs(F).max()
    with np.errstate(divide="ignore"):
        offset = np.log(base)

    def members(theta: np.ndarray) -> tuple[np.ndarray, float]:
        scores = offset + F @ theta
        top = scores.max()
        weights = np.exp(scores - top)
        return weights / weights.sum(), float(top + np.log(weights.sum()) - theta @ moments)

    theta = np.zeros(family.k)
    for _ in range(STEPS):
        member, loss = members(theta)
        slope = F.T @ member - moments
        if abs(slope).max() <= FITS * scale:
            return theta, member
        centred = F - F.T @ member
        step = np.linalg.lstsq((centred.T * member) @ centred, slope, rcond=1e-12)[0]
        size = 1.0
        while members(theta - size * step)[1] > loss - 0.25 * size * (slope @ step) + 1e-15:
            size /= 2
        theta = theta - size * step
    raise InputError(
        f"Newton's method did not reach the feature means of p in {STEPS} steps, perhaps because "
        "these means are near the boundary of the hull of the features, or because the base "
        "distribution is nearly 0 somewhere: give a p whose feature means are farther inside"
    )


def _shown(w: Sequence[int]) -> str:
    terms = [f"{c}·f{i}" for i, c in enumerate(w, start=1) if c]
    return " + ".join(terms).replace("-", "−")
