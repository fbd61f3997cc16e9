"""Log-linear families on a finite set: p_θ ∝ q₀ e^{θ·f}, and maximum likelihood in them.

    −E_p ln p_θ = H(p) + KL(p‖p_θ)                        the loss is a divergence plus H(p)
    ∇ = E_θ f − E_p f,   Hessian = Cov_θ f                of θ ↦ −E_p ln p_θ, which is convex
    KL(p‖p_θ) = KL(p‖p*) + KL(p*‖p_θ)                     if p* is in the family and E_p* f = E_p f

The last holds since ln(p*/p_θ) is affine in f, so that its means under p and p* agree.  So p* is
the unique member that minimises KL(p‖·), and it has the smallest KL(·‖q₀) among all p of these
moments [Csiszar1975].  It exists iff E_p f lies in the relative interior of the convex hull of f on
the support of q₀; otherwise a direction w has w·f ≥ w·E_p f there, not always with equality, and
the loss keeps decreasing along θ = −t·w, t → ∞.

Features are integers and e^θ is rational, so that everything but the maximiser is exact.
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
FITS = 1e-10  # tolerance of the moments of the maximiser, relative to the features


@dataclass(frozen=True)
class LogLinear:
    """The log-linear family with base q₀ (m,) and integer features f (m, k) on m outcomes."""

    base: tuple[Fraction, ...]
    features: tuple[tuple[int, ...], ...]

    @property
    def k(self) -> int:
        """The number of features."""
        return len(self.features[0])

    @checked
    def weights(self, x: Sequence[PositiveExact]) -> list[Fraction]:
        """The unnormalised weights q₀ e^{θ·f} of the outcomes, for rational x = e^θ > 0 (k,)."""
        if len(x) != self.k:
            raise InputError(f"x has {len(x)} entries: give {self.k} fractions e^θ")
        return [
            q * prod(each**power for each, power in zip(x, f, strict=True))
            for q, f in zip(self.base, self.features, strict=True)
        ]

    def at(self, x: Sequence[PositiveExact]) -> tuple[Fraction, ...]:
        """The member p_θ (m,) with e^θ = x."""
        weights = self.weights(x)
        return tuple(each / sum(weights) for each in weights)

    def log_partition(self, x: Sequence[PositiveExact]) -> Log:
        """The log-partition function ln Σ q₀ e^{θ·f}, exact."""
        return log(sum(self.weights(x), start=Fraction(0)))

    @checked
    def mean(self, p: Distribution) -> tuple[Fraction, ...]:
        """The moments E_p f (k,)."""
        if len(p) != len(self.base):
            raise InputError(f"p has {len(p)} outcomes: give {len(self.base)}, as the family has")
        columns = zip(*self.features, strict=True)
        return tuple(sum(a * f for a, f in zip(p, column, strict=True)) for column in columns)

    @checked
    def covariance(self, p: Distribution) -> list[list[Fraction]]:
        """The covariance Cov_p f = E (f − E f)(f − E f)ᵀ (k, k)."""
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
        """The gradient ∇_θ (−E_p ln p_θ) = E_θ f − E_p f (k,)."""
        here, there = self.mean(self.at(x)), self.mean(p)
        return tuple(a - b for a, b in zip(here, there, strict=True))


@checked
def log_linear(base: Distribution, features: Annotated[Any, Integers("m k")]) -> LogLinear:
    """The log-linear family of a base distribution q₀ (m,) and integer features (m, k).

    Raises `ValueError` unless there is a row of features for each outcome.
    """
    if len(features) != len(base):
        raise InputError(
            f"features have shape {features.shape}: give a row for each of {len(base)} outcomes"
        )
    return LogLinear(base, tuple(tuple(row) for row in features.tolist()))


@checked
def separating_direction(family: LogLinear, p: Distribution) -> tuple[int, ...] | None:
    """A direction w (k,) with w·f ≥ w·E_p f on supp q₀, not always with equality: separable data.

    If there is one, no member of the family has the moments of p.  The entries are integers, and
    the inequalities are checked exactly; None if a linear program finds no direction.  Raises
    `ValueError` for a distribution on other outcomes.
    """
    from scipy.optimize import linprog

    moments = family.mean(p)
    rows = [f for q, f in zip(family.base, family.features, strict=True) if q]
    apart = [[a - b for a, b in zip(row, moments, strict=True)] for row in rows]
    A = np.array(apart, dtype=np.float64)
    found = linprog(-A.sum(0), A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1, 1))
    if found.status != 0 or -found.fun < SLACK:
        return None
    exact = [Fraction(float(each)).limit_denominator(10**6) for each in found.x]
    direction = tuple(int(each * np.lcm.reduce([e.denominator for e in exact])) for each in exact)
    values = [sum(w * a for w, a in zip(direction, row, strict=True)) for row in apart]
    return direction if min(values) >= 0 and max(values) > 0 else None


@checked
def projection(family: LogLinear, p: Distribution) -> tuple[np.ndarray, np.ndarray]:
    """The maximiser θ (k,) and p_θ (m,): E_θ f = E_p f up to 1e-10 times f, by Newton's method.

    Raises `ValueError` if no member has these moments (the message gives the separating direction),
    and if p > 0 where q₀ = 0.
    """
    moments = np.array([float(each) for each in family.mean(p)])
    if any(a > 0 == q for a, q in zip(p, family.base, strict=True)):
        raise InputError("p is positive where the base is 0: give a p that is 0 there")
    if (w := separating_direction(family, p)) is not None:
        raise InputError(
            f"p has the moments of no member, as {_shown(w)} is never below its mean under p "
            "(separable data), so that θ would diverge: stop early, or add a penalty"
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
            if size < 1e-10:
                break
        theta = theta - size * step
    raise InputError(
        f"p has moments that {STEPS} steps did not reach, perhaps near the boundary of the hull "
        "of the features: give others"
    )


def _shown(w: Sequence[int]) -> str:
    terms = [f"{c}·f{i}" for i, c in enumerate(w, start=1) if c]
    return " + ".join(terms).replace("-", "−")
