"""The modern Hopfield network in Arb balls, written from its formulas.

Computed at the precision of `flint.ctx`.  Points are lists of balls; patterns and β are exact.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from flint import arb, arb_mat, arb_series

from theory.balls import UNIT, exactly, inner, mean, minus, norm, softmax

Vector = list[arb]
HALF = arb(1) / 2


class ModernNetwork:
    """Patterns x_j (N, d) and β."""

    def __init__(self, patterns: np.ndarray, beta: float) -> None:
        self.patterns: list[Vector] = exactly(np.asarray(patterns, dtype=np.float64))
        self.beta = arb(float(beta))
        self.N, self.d = len(self.patterns), len(self.patterns[0])
        self.M = reduce(arb.max, map(norm, self.patterns))

    def weights(self, xi: Vector) -> Vector:
        """softmax(β⟨x_j, ξ⟩)."""
        return softmax([inner(x, xi) for x in self.patterns], self.beta)

    def weights_on(self, centre: Vector, radius: arb) -> Vector:
        """Enclosures of the weights at every ξ with ‖ξ − centre‖ ≤ radius.

        p_j = 1/Σ_k e^{β⟨x_k − x_j, ξ⟩}, and a linear form ⟨v, ξ⟩ ranges over
        ⟨v, centre⟩ ± ‖v‖·radius on a ball.
        """
        found = []
        for x in self.patterns:
            forms = [minus(y, x) for y in self.patterns]
            ranges = (inner(v, centre) + norm(v) * radius * UNIT for v in forms)
            found.append(1 / sum(((self.beta * scores).exp() for scores in ranges), arb(0)))
        return found

    def update(self, xi: Vector) -> Vector:
        """f(ξ) = Σ_j p_j x_j."""
        return mean(self.weights(xi), self.patterns)

    def jacobian(self, p: Vector) -> list[Vector]:
        """β(Σ_j p_j y_j y_jᵀ − ȳȳᵀ), y_j = x_j − x_k, x_k the pattern of largest weight."""
        k = max(range(self.N), key=lambda j: float(p[j]))
        Y = arb_mat([minus(x, self.patterns[k]) for x in self.patterns])
        weighted = arb_mat([[w * u for u in y] for w, y in zip(p, Y.tolist(), strict=True)])
        bar = arb_mat([p]) * Y
        J: list[Vector] = (self.beta * (Y.transpose() * weighted - bar.transpose() * bar)).tolist()
        return J

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


def required_separation(N: int, beta: arb, square: arb) -> arb:
    """2/(βN) + ln(2(N − 1)NβM²)/β, with M² = `square`."""
    return (arb(2) / N + (2 * (N - 1) * N * beta * square).log()) / beta


def spectral_bound(J: list[Vector]) -> arb:
    """An upper bound on the norm of a symmetric matrix: the least ‖J^(2^k)‖_F^(2^−k), k ≤ 4."""
    best, power = norm(u for row in J for u in row).upper(), 1
    for _ in range(4):
        J = [mean(row, J) for row in J]
        power *= 2
        best = min(best, norm(u for row in J for u in row).upper().root(power).upper(), key=float)
    return best
