"""The modern Hopfield network in Arb balls, evaluated by the defining formulas.

The precision is that of `flint.ctx`.  Points are lists of balls; patterns and β are exact.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from flint import arb, arb_mat, arb_series

from theory.balls import UNIT, exactly, inner, mean, minus, norm, softmax

Vector = list[arb]
HALF = arb(1) / 2


class ModernNetwork:
    """A modern Hopfield network with N patterns x_j in R^d and inverse temperature β, in balls."""

    def __init__(self, patterns: np.ndarray, beta: float) -> None:
        self.patterns: list[Vector] = exactly(np.asarray(patterns, dtype=np.float64))
        self.beta = arb(float(beta))
        self.N, self.d = len(self.patterns), len(self.patterns[0])
        self.M = reduce(arb.max, map(norm, self.patterns))

    def weights(self, xi: Vector) -> Vector:
        """The weights p_j = softmax_j(β⟨x_j, ξ⟩) (N,) of the patterns x_j at the state ξ = `xi`."""
        return softmax([inner(x, xi) for x in self.patterns], self.beta)

    def weights_on(self, centre: Vector, radius: arb) -> Vector:
        """Enclosures of the weights p_j of the patterns x_j at all states in a ball.

        The ball contains the states ξ with ‖ξ − centre‖ ≤ radius. The weights are p_j = 1/Σ_k
        e^{β⟨x_k − x_j, ξ⟩}. For every vector v, ⟨v, ξ⟩ ranges over ⟨v, centre⟩ ± ‖v‖·radius on the
        ball.
        """
        found = []
        for x in self.patterns:
            forms = [minus(y, x) for y in self.patterns]
            ranges = (inner(v, centre) + norm(v) * radius * UNIT for v in forms)
            found.append(1 / sum(((self.beta * scores).exp() for scores in ranges), arb(0)))
        return found

    def update(self, xi: Vector) -> Vector:
        """The update f(ξ) = Σ_j p_j x_j of the state ξ = `xi`, with p_j = softmax_j(β⟨x_j, ξ⟩)."""
        return mean(self.weights(xi), self.patterns)

    def jacobian(self, p: Vector) -> list[Vector]:
        """The Jacobian of the update at a state with the weights p of the patterns.

        The Jacobian is β(Σ_j p_j y_j y_jᵀ − ȳȳᵀ) with y_j = x_j − x_k and ȳ = Σ_j p_j y_j, where
        x_j are the patterns and x_k is the pattern with the largest weight.
        """
        k = max(range(self.N), key=lambda j: float(p[j]))
        Y = arb_mat([minus(x, self.patterns[k]) for x in self.patterns])
        weighted = arb_mat([[w * u for u in y] for w, y in zip(p, Y.tolist(), strict=True)])
        bar = arb_mat([p]) * Y
        J: list[Vector] = (self.beta * (Y.transpose() * weighted - bar.transpose() * bar)).tolist()
        return J

    def energy(self, xi: Vector) -> arb:
        """The energy −ln(Σ_j e^{β⟨x_j, ξ⟩})/β + ½‖ξ‖² + ln(N)/β + ½M² of the state ξ = `xi`.

        There are N patterns x_j, and M is the largest norm of a pattern.
        """
        return self.energy_along(xi, [arb(0)] * self.d)[0]

    def energy_along(self, xi: Vector, v: Vector) -> list[arb]:
        """The Taylor coefficients E, ⟨∇E, v⟩ and ½vᵀ∇²E v of the energy E(xi + t·v) in t."""
        scores = [arb_series([inner(x, xi), inner(x, v)], 3) for x in self.patterns]
        largest = max((score[0] for score in scores), key=float)
        powers = [(self.beta * (score - largest)).exp() for score in scores]
        lse = largest + sum(powers[1:], start=powers[0]).log() / self.beta
        square = arb_series([inner(xi, xi), 2 * inner(xi, v), inner(v, v)], 3)
        series = HALF * square - lse + arb(self.N).log() / self.beta + HALF * self.M**2
        return [series[i] for i in range(3)]

    def leak(self, gap: arb) -> arb:
        """The bound 2(N − 1)M·e^{−β·gap} on the distance of an update from a pattern.

        There are N patterns, and M is the largest norm of a pattern. The bound holds if the inner
        product of the state with this pattern exceeds the inner products with all other patterns
        by at least `gap`.
        """
        return 2 * (self.N - 1) * self.M * (-self.beta * gap).exp()

    def gap(self, xi: Vector, i: int) -> arb:
        """The gap ⟨ξ, x_i⟩ − max_{j≠i}⟨ξ, x_j⟩ of pattern x_i at the state ξ = `xi`.

        At ξ = x_i the gap is the separation of x_i.
        """
        x, others = self.patterns[i], self.patterns[:i] + self.patterns[i + 1 :]
        return min((inner(xi, minus(x, y)) for y in others), key=float)

    def image(self, i: int, radius: arb) -> arb:
        """A bound on ‖f(ξ) − x_i‖ for the update f and all ξ with ‖ξ − x_i‖ ≤ radius.

        The bound follows from f(ξ) − x_i = Σ_{j≠i} p_j(x_j − x_i), where x_j are the patterns and
        p_j their weights at ξ.
        """
        x = self.patterns[i]
        p = self.weights_on(x, radius)
        return norm(mean(p, [minus(y, x) for y in self.patterns])).abs_upper()

    def cluster_map(self, cluster: list[int], m: Vector, r: arb) -> arb:
        """A bound on ‖f(ξ) − m‖ for the update f and all states ξ with ‖ξ − m‖ ≤ r.

        The point m is the mean of the patterns with indices in `cluster`. The bound is the
        function g(r) in the docstring of `theory.memory.cluster_radius`.
        """
        inside = [self.patterns[k] for k in cluster]
        others = [x for j, x in enumerate(self.patterns) if j not in cluster]
        spread = max((norm(minus(x, m)).abs_upper() for x in inside), key=float)
        bound = self.beta * spread * spread * (norm(m) + r)
        if others:
            away = max((norm(minus(x, m)).abs_upper() for x in others), key=float)
            gap = min((inner(m, minus(m, x)) for x in others), key=float)
            ratio = arb(len(others)) / len(inside) * (-self.beta * (gap - r * away)).exp()
            bound += (away + spread) * ratio
        return bound

    def slope_on(self, centre: Vector, radius: arb) -> arb:
        """A bound on the norm of the Jacobian of the update on the ball ‖ξ − centre‖ ≤ radius."""
        return spectral_bound(self.jacobian(self.weights_on(centre, radius)))

    def fixed_point_near(self, z: Vector, radius: arb) -> arb | None:
        """A bound on the distance from z of the only fixed point within `radius` of z, or None.

        Let f be the update, and let q be the bound `slope_on` on the norm of the Jacobian on the
        ball of this radius around z. By Banach's theorem, if q < 1 and ‖f(z) − z‖ ≤ (1 −
        q)·radius, the ball contains exactly one fixed point, at a distance of at most ‖f(z) −
        z‖/(1 − q) from z. If one of the two inequalities does not hold, the function returns None.
        """
        q, residual = self.slope_on(z, radius), norm(minus(self.update(z), z))
        return residual.upper() / (1 - q) if q < 1 and residual <= (1 - q) * radius else None

    def settled(self, xi: Vector, accuracy: arb, most: int = 10_000) -> Vector:
        """An iterate z of the update f from the state `xi` with ‖f(z) − z‖ ≤ accuracy.

        The coordinates of z are exact. If `most` updates do not reach the accuracy, the last
        iterate is returned.
        """
        for _ in range(most):
            z = [u.mid() for u in xi]
            xi = self.update(z)
            if norm(minus(xi, z)) <= accuracy:
                break
        return z


def updated(patterns: np.ndarray, states: np.ndarray, beta: float, steps: int) -> list[Vector]:
    """Enclosures (m, d) of the states that m given states (m, d) reach after `steps` updates."""
    X, xi = (arb_mat(exactly(points)) for points in (patterns, states))
    for _ in range(steps):
        scores = (xi * X.transpose()).tolist()
        xi = arb_mat([softmax(row, arb(float(beta))) for row in scores]) * X
    rows: list[Vector] = xi.tolist()
    return rows


def required_separation(N: int, beta: arb, square: arb) -> arb:
    """The separation 2/(βN) + ln(2(N − 1)NβM²)/β of a pattern that is sufficient for storage.

    N is the number of patterns, and M² = `square` is the largest squared norm of a pattern.
    """
    return (arb(2) / N + (2 * (N - 1) * N * beta * square).log()) / beta


def expected_failures(N: int, d: int, beta: float, K: float) -> arb:
    """The expected number of pairs of random patterns that are closer than storage allows.

    The N patterns are uniform on the sphere of radius K√(d − 1) in R^d. A pair x, y is too close
    if ⟨x, x − y⟩ is below `required_separation`.
    """
    square = arb(K) ** 2 * (d - 1)
    t = 1 - required_separation(N, arb(beta), square) / square
    cap = (1 - t * t).beta_lower(arb(d - 1) / 2, arb(1) / 2, regularized=1) / 2
    return N * (N - 1) / arb(2) * (cap if t >= 0 else 1 - cap)


def storage_constants(d: int, beta: float, K: float, p: float) -> tuple[arb, arb]:
    """The constant c and the number √p·c^{(d−1)/4} of patterns of [Ramsauer2021, Theorem 3].

    The formulas are in the docstring of `theory.memory.stored_patterns_bound`.
    """
    a = (1 + (2 * arb(beta) * arb(K) ** 2 * arb(p) * (d - 1)).log()) * 2 / (d - 1)
    b = 2 * arb(K) ** 2 * arb(beta) / 5
    c = b / (a + b.log()).exp().lambertw()
    return c, arb(p).sqrt() * (c.log() * (d - 1) / 4).exp()


def spectral_bound(J: list[Vector]) -> arb:
    """The upper bound min_{k ≤ 4} ‖J^(2^k)‖_F^(2^−k) on the norm of a symmetric matrix J."""
    best, power = norm(u for row in J for u in row).upper(), 1
    for _ in range(4):
        J = [mean(row, J) for row in J]
        power *= 2
        best = min(best, norm(u for row in J for u in row).upper().root(power).upper(), key=float)
    return best
