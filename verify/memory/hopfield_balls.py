"""The modern Hopfield network in Arb balls, written from its formulas, and the rounding of float64.

Run it inside `with Ball.precision(bits)`.  Points are lists of balls; patterns and β are exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from flint import arb, arb_mat, arb_series

from verify.domains import Ball
from verify.finding import Verdict

Vector = list[arb]
BITS = 320  # the precision of the findings
WIDTH = -100  # balls that are to be equal have radii below 2^WIDTH
UNIT = arb(0, 1)  # every number of [−1, 1]
HALF = arb(1) / 2


def exactly(array: np.ndarray) -> Any:
    """A float64 array as (nested lists of) exact balls."""
    return _balls(array.tolist())


def _balls(values: Any) -> Any:
    return [_balls(value) for value in values] if isinstance(values, list) else arb(float(values))


def below(small: arb, large: arb) -> Verdict:
    """Whether small ≤ large, as far as the balls say."""
    if small <= large:
        return Verdict.HOLDS
    return Verdict.FAILS if small > large else Verdict.UNDECIDED


def same(a: arb, b: arb) -> Verdict:
    """Whether a and b can be one number: balls that overlap and are narrow."""
    if not a.overlaps(b):
        return Verdict.FAILS
    return Verdict.HOLDS if (a - b).rad() < 2.0**WIDTH else Verdict.UNDECIDED


def inner(a: Iterable[arb], b: Iterable[arb]) -> arb:
    """Σ a_i b_i."""
    return sum((u * v for u, v in zip(a, b, strict=True)), arb(0))


def minus(a: Vector, b: Vector) -> Vector:
    """a − b."""
    return [u - v for u, v in zip(a, b, strict=True)]


def norm(v: Iterable[arb]) -> arb:
    """‖v‖ for a vector, or the Frobenius norm of a matrix's entries."""
    square = sum((u * u for u in v), arb(0))
    # Where the ball holds 0, so does the enclosure of its root.
    return square.sqrt() if square > 0 else square.abs_upper().sqrt() * UNIT


class Network:
    """Patterns x_j (N, d) and β."""

    def __init__(self, patterns: np.ndarray, beta: float) -> None:
        self.patterns: list[Vector] = exactly(np.asarray(patterns, dtype=np.float64))
        self.beta = arb(float(beta))
        self.N, self.d = len(self.patterns), len(self.patterns[0])
        squares = [inner(x, x) for x in self.patterns]
        self.M = squares[0].sqrt()
        for square in squares[1:]:
            self.M = self.M.max(square.sqrt())

    def weights(self, xi: Vector) -> Vector:
        """softmax(β⟨x_j, ξ⟩), about the largest score by midpoint."""
        scores = [inner(x, xi) for x in self.patterns]
        largest = max(scores, key=float)
        powers = [(self.beta * (score - largest)).exp() for score in scores]
        total = sum(powers, arb(0))
        return [power / total for power in powers]

    def weights_on(self, centre: Vector, radius: arb) -> Vector:
        """Enclosures of the weights at every ξ with ‖ξ − centre‖ ≤ radius.

        p_j = 1/Σ_k e^{β⟨x_k − x_j, ξ⟩}, and a linear form ⟨v, ξ⟩ ranges over
        ⟨v, centre⟩ ± ‖v‖·radius on a ball.
        """
        found = []
        for x in self.patterns:
            total = arb(0)
            for y in self.patterns:
                v = minus(y, x)
                total += (self.beta * (inner(v, centre) + norm(v) * radius * UNIT)).exp()
            found.append(1 / total)
        return found

    def mean(self, p: Vector) -> Vector:
        """Σ_j p_j x_j."""
        return [inner(p, column) for column in zip(*self.patterns, strict=True)]

    def update(self, xi: Vector) -> Vector:
        """f(ξ)."""
        return self.mean(self.weights(xi))

    def jacobian(self, p: Vector) -> list[Vector]:
        """β(Σ_j p_j y_j y_jᵀ − ȳȳᵀ), y_j = x_j − x_k, x_k the pattern of largest weight."""
        k = max(range(self.N), key=lambda j: float(p[j]))
        columns = list(zip(*(minus(x, self.patterns[k]) for x in self.patterns), strict=True))
        bar = [inner(p, column) for column in columns]
        return [
            [
                self.beta * (inner(p, (u * v for u, v in zip(left, right, strict=True))) - m * n)
                for right, n in zip(columns, bar, strict=True)
            ]
            for left, m in zip(columns, bar, strict=True)
        ]

    def energy(self, xi: Vector) -> arb:
        """E(ξ) = −lse(β, Xξ) + ½‖ξ‖² + ln(N)/β + ½M²."""
        return self.energy_along(xi, [arb(0)] * self.d)[0]

    def energy_along(self, xi: Vector, v: Vector) -> list[arb]:
        """The coefficients of 1, t, t² in E(ξ + t·v), by power series: E, ⟨∇E, v⟩, ½vᵀ∇²E v."""
        scores = [arb_series([inner(x, xi), inner(x, v)], 3) for x in self.patterns]
        largest = max((score[0] for score in scores), key=float)
        powers = [(self.beta * (score - largest)).exp() for score in scores]
        lse = largest + sum(powers[1:], start=powers[0]).log() / self.beta
        square = arb_series([inner(xi, xi), 2 * inner(xi, v), inner(v, v)], 3)
        series = HALF * square - lse + arb(self.N).log() / self.beta + HALF * self.M**2
        return [series[i] for i in range(3)]

    def slope_on(self, centre: Vector, radius: arb) -> arb:
        """A bound on ‖Jacobian‖ at every point of a ball."""
        return spectral_bound(self.jacobian(self.weights_on(centre, radius)))

    def fixed_point_near(self, z: Vector, radius: arb) -> arb | None:
        """A bound on ‖x* − z‖ for the one fixed point within `radius` of z, or None.

        Banach: if the slope on the ball is q < 1 and ‖f(z) − z‖ ≤ (1 − q)·radius, the ball holds
        exactly one fixed point, at most ‖f(z) − z‖/(1 − q) from z.
        """
        q, residual = self.slope_on(z, radius), norm(minus(self.update(z), z))
        return residual.upper() / (1 - q) if q < 1 and residual <= (1 - q) * radius else None

    def settled(self, xi: Vector, accuracy: arb, most: int = 10_000) -> Vector:
        """An exact point near which the iteration from ξ comes to rest: residual ≤ accuracy."""
        for _ in range(most):
            z = [u.mid() for u in xi]
            xi = self.update(z)
            if norm(minus(xi, z)) <= accuracy:
                break
        return z


def spectral_bound(J: list[Vector]) -> arb:
    """An upper bound on the norm of a symmetric matrix: the least ‖J^(2^k)‖_F^(2^−k), k ≤ 4."""
    best, power = norm(u for row in J for u in row).upper(), 1
    for _ in range(4):
        J = [[inner(row, column) for column in zip(*J, strict=True)] for row in J]
        power *= 2
        best = min(best, norm(u for row in J for u in row).upper().root(power).upper(), key=float)
    return best


def shown(value: arb) -> str:
    """The value to three digits."""
    return f"{float(value):.3g}"


def definition(patterns: np.ndarray, states: np.ndarray, beta: float, steps: int) -> list[Vector]:
    """Each state (m, d) after so many updates, as balls: products of matrices, for many at once."""
    with Ball.precision(BITS):
        X, xi = (Ball().weights(points) for points in (patterns, states))
        for _ in range(steps):
            rows = []
            for scores in (xi * X.transpose()).tolist():
                largest = max(scores, key=float)
                powers = [(arb(float(beta)) * (score - largest)).exp() for score in scores]
                total = sum(powers, arb(0))
                rows.append([power / total for power in powers])
            xi = arb_mat(rows) * X
        return xi.tolist()


def rounding_bound(patterns: np.ndarray, beta: float, steps: int, size: float) -> float:
    """How far float64 can be from `steps` updates of a state with ‖ξ‖ ≤ size.

    With u = 2⁻⁵³ and γ_n = nu/(1 − nu) [Higham2002, section 3.1], a score of d products, in either
    order of scaling, is off by γ_{d+8}·M‖ξ‖; so the exponents, differences of two of them
    multiplied by β, by η = βM‖ξ‖(2γ_{d+8} + 5u).  Exponentials within 4 ulp make each weight wrong
    by the factor 1 + θ, θ = e^η(1 + 8u) − 1, and a normalised one by 2θ/(1 − θ).  Two sums over N
    patterns and a division add γ_{2N+6}·M, moving found − state to state u(3M + ‖ξ‖), and
    weights that underflow 2⁻¹⁰⁰⁰·N·M.  What comes before is multiplied by the slope of f, at
    most βR², R = max‖x_j − x̄‖.
    """
    N, d = patterns.shape
    M = float(np.linalg.norm(patterns, axis=1).max())
    slope = beta * float(np.linalg.norm(patterns - patterns.mean(0), axis=1).max()) ** 2
    u, error = 2.0**-53, 0.0
    for _ in range(steps):
        eta = beta * M * size * (2 * _gamma(d + 8) + 5 * u)
        theta = np.exp(eta) * (1 + 8 * u) - 1
        off = 2 * theta / (1 - theta) if theta < 1 else np.inf
        local = M * (off + _gamma(2 * N + 6) * (1 + off)) + u * (3 * M + size) + 2e-301 * N * M
        # From any weights whatever the update stays in the hull, so it is off by at most 2M.
        error = min(local + slope * error, 2 * M * (1 + _gamma(2 * N + 9)))
        size = M + error
    return float(error)


def _gamma(n: int) -> float:
    return n * 2.0**-53 / (1 - n * 2.0**-53)


def instances(rng: np.random.Generator, N: int, d: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Patterns (N, d) and states (3, d): random, in two clusters, and with two nearly tied."""
    normal = rng.standard_normal
    centres = 1.5 * normal((2, d))
    clustered = centres[np.arange(N) % 2] + 0.2 * normal((N, d))
    tied = normal((N, d))
    tied[-1] = tied[0] + 2.0**-20 * normal(d)
    # On the bisector of two far patterns the state decides late between them.
    opposed = normal((N, d))
    opposed[-1] = -opposed[0]
    return {
        "random": (normal((N, d)), normal((3, d))),
        "clustered": (clustered, centres[[0, 1, 0]] + normal((3, d)) * [[0.1], [0.1], [1.0]]),
        "nearly tied": (tied, tied[[0, 0, -1]] + normal((3, d)) * [[2.0**-20], [0.1], [1.0]]),
        "opposed": (opposed, 2.0**-20 * normal((3, d))),
    }
