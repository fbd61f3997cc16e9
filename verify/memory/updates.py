"""Updates of a modern Hopfield network by definition, in balls, and how far off float64 can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from flint import arb, arb_mat

from verify.domains import Ball, outputs
from verify.evidence.enclosure import BITS, coincide
from verify.finding import Finding
from verify.memory.vectors import softmax

if TYPE_CHECKING:
    from constructions.transformer import Transformer


def definition(
    patterns: np.ndarray, states: np.ndarray, beta: float, steps: int
) -> list[list[arb]]:
    """Each state (m, d) after so many updates, as balls: products of matrices, for many at once."""
    with Ball.precision(BITS):
        X, xi = (Ball().weights(points) for points in (patterns, states))
        for _ in range(steps):
            scores = (xi * X.transpose()).tolist()
            xi = arb_mat([softmax(row, arb(float(beta))) for row in scores]) * X
        return xi.tolist()


def in_floats(
    patterns: np.ndarray, states: np.ndarray, beta: float, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """The same, rounded to float64 (m, d), and how far a computation in float64 can be off (m,)."""
    exact = definition(patterns, states, beta, steps)
    rounded = np.array([[float(u) for u in xi] for xi in exact])
    size = float(np.linalg.norm(states, axis=1).max())
    bound = rounding_bound(patterns, beta, steps, size)
    return rounded, bound + 2.0**-53 * np.linalg.norm(rounded, axis=1)


def equals_definition(
    model: Transformer, X: np.ndarray, queries: np.ndarray, beta: float, steps: int
) -> Finding:
    """The transformer in balls and the definition in balls have a real number in common."""
    with Ball.precision(BITS):
        return coincide(
            "definition",
            f"the transformer is {steps} update{'s' * (steps != 1)} "
            f"({len(queries)} queries, {len(X)} patterns)",
            outputs(model, model.prompt(queries), Ball()).tolist(),
            definition(X, queries, beta, steps),
            detail=f"patterns {X.tolist()}, queries {queries.tolist()}",
        )


def slow_network(X: np.ndarray) -> tuple[np.ndarray, float]:
    """The patterns, one more opposite to the longest, and β = 1/M²: iterates stay well apart."""
    X = np.concatenate([X, -2 * X[[(X * X).sum(1).argmax()]]])
    return X, float(1 / (X * X).sum(1).max())


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
