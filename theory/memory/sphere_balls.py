"""Tokens on the sphere in Arb balls: rational points, velocity, an Euler step, the escape time.

The formulas are those of `sphere` and `orthogonal_start`; the precision is that of `flint.ctx`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import acb, arb, fmpq

from theory.balls import Vector, inner, mean, softmax
from theory.memory.sphere import SphereForm


def rational_tokens(rng: np.random.Generator, n: int, d: int) -> list[list[fmpq]]:
    """n points of the unit sphere in R^d with rational coordinates, by stereographic projection.

    The numerators and denominators have up to six digits.  No two points are equal or opposite.
    """
    tokens = []
    for _ in range(n):
        pairs = rng.integers(1, 10**6, (d - 1, 2)) * rng.choice([-1, 1], (d - 1, 1))
        t = [fmpq(int(a), abs(int(b))) for a, b in pairs]
        square = inner(t, t)
        tokens.append([*(2 * q / (square + 1) for q in t), (square - 1) / (square + 1)])
    return tokens


def tangential(x: Vector, u: Vector) -> list[Any]:
    """The component u − ⟨x, u⟩x of a vector u that is tangent to the unit sphere at x."""
    along = inner(x, u)
    return [v - along * q for v, q in zip(u, x, strict=True)]


def velocity(X: Sequence[Vector], beta: arb, form: SphereForm) -> tuple[list[list[arb]], list[arb]]:
    """The velocities P_i Σ_j e^{β⟨x_i, x_j⟩} x_j / Z_i of the tokens x_i in X, and the numbers Z_i.

    β is beta, and P_i is the projection onto the tangent space of the sphere at x_i.  In softmax
    attention (SA), Z_i = Σ_j e^{β⟨x_i, x_j⟩}; in unnormalised attention (USA), Z_i is the number
    of tokens.
    """
    V, Z = [], []
    for x in X:
        weights = [(beta * inner(x, y)).exp() for y in X]
        Z.append(sum(weights, arb(0)) if form == "SA" else arb(len(X)))
        V.append(tangential(x, [u / Z[-1] for u in mean(weights, X)]))
    return V, Z


def euler_step(X: Sequence[Vector], beta: float, step_size: float) -> list[list[arb]]:
    """The tokens after one projected Euler step of attention, from tokens x_i on the sphere.

    The step is x_i ← normalise(x_i + h·Σ_j A_ij x_j), where A_ij = softmax_j β⟨x_i, x_j⟩, β = beta
    and h = `step_size`.
    """
    moved = []
    for x in X:
        pulled = mean(softmax([inner(x, y) for y in X], arb(beta)), X)
        new = [a + arb(step_size) * u for a, u in zip(x, pulled, strict=True)]
        length = inner(new, new).sqrt()
        moved.append([entry / length for entry in new])
    return moved


def escape_time_ball(beta: float, gamma: Any) -> Any:
    """The time at which two tokens that start orthogonal have the inner product `gamma`.

    In softmax attention with β = beta, the time is ∫_0^γ (e^{β(1−g)} + 1)/(2(1 − g²)) dg for
    γ = `gamma`.
    """
    b = acb(arb(beta))

    def slowness(g: Any, _: bool) -> Any:
        return ((b * (1 - g)).exp() + 1) / (2 * (1 - g * g))

    return acb.integral(slowness, acb(0), acb(gamma)).real


def escape_ratio_bounds(beta: arb, gamma: arb) -> tuple[arb, arb]:
    """Lower and upper bounds on t·2β/e^β, where t is the time of `escape_time_ball` for γ ≥ ½.

    With β = beta and γ = gamma, the bounds are 1 − e^{−βγ} and
    1 + 8/(3β²) + β(e^{−β/2} + e^{−β})·artanh γ.

    Proof. t = ½∫_0^γ e^{β(1−g)}/(1 − g²) dg + ½ artanh γ. The lower bound follows from
    1/(1 − g²) ≥ 1. For the upper bound, 1/(1 − g²) = 1 + g²/(1 − g²). Up to g = ½ the second term
    is at most 4g²/3, and ∫ e^{−βg}·4g²/3 dg ≤ 8/(3β³). Beyond g = ½, e^{−βg} ≤ e^{−β/2} and ∫
    1/(1 − g²) dg ≤ artanh γ.
    """
    end = beta * ((-beta / 2).exp() + (-beta).exp()) * gamma.atanh()
    return 1 - (-beta * gamma).exp(), 1 + arb(fmpq(8, 3)) / beta**2 + end
