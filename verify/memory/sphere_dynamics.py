"""Findings on `constructions.sphere_dynamics`: the transformer is a projected Euler scheme."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.memory.sphere import sphere_flow
from verify.claim import Run
from verify.domains import Ball, outputs
from verify.finding import Finding, Verdict

if TYPE_CHECKING:
    from constructions.memory.sphere_dynamics import SphereDynamics

EPS = 2.0**-53
STEP = 0.25  # of the layers that are compared with their definition


def euler_findings(run: Run, X: np.ndarray, beta: float) -> Iterator[Finding]:
    """Size, definition and order of the scheme, on tokens X (n, d)."""
    yield _size(run, X.shape[-1], beta)
    yield _definition(run, X, beta)
    yield _enclosed(run, X, beta)
    yield _pair_stays(run, X, beta)
    yield _order(run, X, beta)


def build(run: Run, d: int, beta: float, step_size: float, n_layers: int) -> SphereDynamics:
    """The construction, with the planted fault if there is one."""
    from constructions.memory.sphere_dynamics import sphere_dynamics

    return run.build(sphere_dynamics, d, beta, step_size, n_layers)


def step_rounding(n: int, d: int, beta: float) -> float:
    """A bound on the rounding errors of one step, entry by entry, of n tokens in R^d.

    Scores have absolute error (d + 4)·eps, and their differences are multiplied by β: together with
    exp, the sum of n weights and the division, relative errors of 2β(d + 4) + n + 6 eps for each
    A_ij; n + d + 4 more for the sum of n tokens and the addition.  What is divided by is at least
    1 − STEP, and its own error is at most as large, with d + 4 more.
    """
    step = (2 * beta * (d + 4) + n + 6 + n + d + 4) * EPS
    return 2 * (step + (d + 4) * EPS) / (1 - STEP)


def _size(run: Run, d: int, beta: float) -> Finding:
    counts = [build(run, d, beta, STEP, layers).n_parameters for layers in (1, 2, 50)]
    model = build(run, d, beta, STEP, 50)
    return Finding(
        "weights of 1, 2 and 50 layers",
        "exact",
        f"{', '.join(map(str, counts))}; {model.n_heads} head, width {model.d_model}",
        f"6d² + 2d = {6 * d * d + 2 * d}, 1 head, width d = {d}",
        Verdict.of(counts == [6 * d * d + 2 * d] * 3 and (model.n_heads, model.d_model) == (1, d)),
    )


def _definition(run: Run, X: np.ndarray, beta: float) -> Finding:
    """Every layer against its formula, from the stream that it was given."""
    states = build(run, X.shape[-1], beta, STEP, 8).trajectory(X).numpy()
    worst, layer = 0.0, 0
    for number, (before, after) in enumerate(pairwise(states), start=1):
        scores = beta * (before @ before.T)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        moved = before + STEP * (weights / weights.sum(-1, keepdims=True)) @ before
        wanted = moved / np.linalg.norm(moved, axis=-1, keepdims=True)
        error = float(abs(after - wanted).max())
        if error > worst:
            worst, layer = error, number
    bound = 2 * step_rounding(len(X), X.shape[-1], beta)
    return Finding(
        "each of 8 layers is normalise(x + h·softmax(β⟨x, x⟩)x)",
        "float",
        f"error {worst:.1e}",
        f"{bound:.1e}",
        Verdict.of(worst <= bound),
        "" if worst <= bound else f"layer {layer} from {states[layer - 1].tolist()}",
    )


def _enclosed(run: Run, X: np.ndarray, beta: float) -> Finding:
    """One layer in balls, by the generic forward pass and by the formula; torch lies beside."""
    model = build(run, X.shape[-1], beta, STEP, 1)
    with Ball.precision(200):
        domain = Ball()
        tokens = domain.weights(X)
        got = outputs(model, tokens, len(X), domain).tolist()
        wanted = _one_step(tokens.tolist(), beta)
        overlap = all(
            a.overlaps(b)
            for p, q in zip(got, wanted, strict=True)
            for a, b in zip(p, q, strict=True)
        )
        width = max(float(a.rad()) for row in (*got, *wanted) for a in row)
        rounding = max(
            float(abs(a - f).upper())
            for balls, floats in zip(wanted, model(X).tolist(), strict=True)
            for a, f in zip(balls, floats, strict=True)
        )
    bound = step_rounding(len(X), X.shape[-1], beta)
    holds = overlap and width < 2.0**-150 and rounding <= bound
    return Finding(
        "one layer in balls",
        "enclosure",
        f"radii below {width:.0e}, {'overlapping' if overlap else 'apart from'} the formula's; "
        f"torch is off by {rounding:.1e}",
        f"the formula's balls; {bound:.1e}",
        Verdict.of(holds),
    )


def _one_step(x: list[list[Any]], beta: float) -> list[list[Any]]:
    """normalise(x + h·softmax(β⟨x, x⟩)x) in balls, by the formula."""
    from flint import arb

    moved = []
    for row in x:
        weights = [(arb(beta) * _dot(row, other)).exp() for other in x]
        total = sum(weights, arb(0))
        pulled = [_dot(weights, column) / total for column in zip(*x, strict=True)]
        new = [a + arb(STEP) * u for a, u in zip(row, pulled, strict=True)]
        length = _dot(new, new).sqrt()
        moved.append([entry / length for entry in new])
    return moved


def _dot(a: Any, b: Any) -> Any:
    from flint import arb

    return sum((p * q for p, q in zip(a, b, strict=True)), arb(0))


def _pair_stays(run: Run, X: np.ndarray, beta: float) -> Finding:
    """x and −x: both pulled along themselves, so no layer moves them."""
    from flint import arb, fmpq

    layers = 5
    model = build(run, X.shape[-1], beta, STEP, layers)
    # (3/5, 4/5, 0, …): of length 1 exactly, where the rows of X are so to rounding only.
    x = [fmpq(3, 5), fmpq(4, 5), *[fmpq(0)] * (X.shape[-1] - 2)]
    with Ball.precision(200):
        domain = Ball()
        pair = [[arb(entry) for entry in x], [arb(-entry) for entry in x]]
        moved = outputs(model, domain.matrix(pair), 2, domain).tolist()
        off = max(
            float(abs(a - b).upper())
            for p, q in zip(moved, pair, strict=True)
            for a, b in zip(p, q, strict=True)
        )
    return Finding(
        f"{layers} layers leave an antipodal pair where it is",
        "enclosure",
        f"moved by less than {off:.0e}",
        "0, up to the width of the balls, 2^−150",
        Verdict.of(off < 2.0**-150),
    )


def _order(run: Run, X: np.ndarray, beta: float) -> Finding:
    """The distance to the flow at time 1 for h, h/2, h/4: the power of h nearest to it is 1.

    A one-step method has an error c·h^p + O(h^{p+1}); ratios 2^p of whole p are told apart at their
    geometric means, 1 from 2 at 2^{3/2}.
    """
    exact, counts = sphere_flow(X, beta, [1.0]).tokens[0], (16, 32, 64)
    errors = [
        float(abs(build(run, X.shape[-1], beta, 1 / L, L)(X).numpy() - exact).max()) for L in counts
    ]
    ratios = [a / b if b else math.inf for a, b in pairwise(errors)]
    return Finding(
        "distance to the flow at time 1 of 16, 32, 64 layers",
        "float",
        f"{', '.join(f'{e:.1e}' for e in errors)}: ratios {', '.join(f'{r:.2f}' for r in ratios)}",
        "ratio 2, nearer than 1 and 4: the first power of the step",
        Verdict.of(all(2**0.5 < ratio < 2**1.5 for ratio in ratios)),
    )
