"""Findings on `constructions.sphere_dynamics`: the transformer is a projected Euler scheme."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np
from flint import arb, fmpq

from constructions import sphere_dynamics
from constructions.transformer import Transformer
from theory.balls import exactly
from theory.memory.sphere import sphere_flow, step_rounding
from theory.memory.sphere_balls import euler_step
from verify.claim import Run
from verify.domains import Ball, outputs, written
from verify.evidence.enclosure import apart, coincide
from verify.evidence.size import size
from verify.finding import Finding, as_stated, at_most, same, within

STEP = 0.25  # the step size of the layers compared with their definition
WIDTH = -150  # 200 bits leave balls narrower than 2^WIDTH


def euler_findings(run: Run, X: np.ndarray, beta: float) -> Iterator[Finding]:
    """Findings on `sphere_dynamics` for tokens X (n, d): size, Euler step, order of the error."""
    d = X.shape[-1]
    build = partial(run.build, sphere_dynamics, d, beta)
    models = [build(STEP, L) for L in (1, 2, 50)]
    yield size(models[-1], "clustering", d=d, L=50)
    weights = [model.n_parameters for model in models]
    name = "numbers of parameters of three models, with 1, 2 and 50 layers"
    wanted = f"6d² + 2d = {6 * d * d + 2 * d} for every number of layers"
    yield same("weights", name, weights, [6 * d * d + 2 * d] * 3, wanted=wanted)
    yield _layers(build(STEP, 8), X, beta)
    yield _enclosed(models[0], X, beta)
    yield _pair_stays(build(STEP, 5), d)
    yield _order([build(1 / L, L) for L in (16, 32, 64)], X, beta)


def _layers(model: Transformer, X: np.ndarray, beta: float) -> Finding:
    """Every layer equals its formula in balls, applied to the residual stream before the layer."""
    states = [H.numpy() for H in model.streams(X)]
    with Ball.precision(200):
        errors = [
            apart(euler_step(exactly(before), beta, STEP), after.tolist())
            for before, after in pairwise(states)
        ]
    n, d = X.shape
    layer, bound = int(np.argmax(errors)), step_rounding(n, d, beta, STEP)
    name = "distance of the output x' of each of 8 layers from normalise(x + h·softmax(β⟨x, x⟩)x)"
    detail = f"layer {layer + 1} from {states[layer].tolist()}"
    finding = at_most("layers/float", name, "float", errors[layer], bound, detail=detail)
    # 2β(d + 4) for a score, 2n + 6 for the sums over tokens, and twice d + 4 for the norm.
    roundings = (2 * beta + 2) * (d + 4) + 2 * n + 6
    return as_stated(finding, bound, roundings / (1 - STEP) / 2**52)


def _enclosed(model: Transformer, X: np.ndarray, beta: float) -> Finding:
    """One layer in balls is the same by the generic forward pass and by the formula."""
    with Ball.precision(200):
        got = outputs(model, model.prompt(X), Ball()).tolist()
        wanted = euler_step(exactly(X), beta, STEP)
        name = "output of one layer against the Euler step"
        return coincide("layer/enclosed", name, got, wanted, width=WIDTH)


def _pair_stays(model: Transformer, d: int) -> Finding:
    """x and −x are unchanged, as their updates are multiples of x."""
    # (3/5, 4/5, 0, …) has length exactly 1; rows of X have length 1 only up to rounding.
    x = [fmpq(3, 5), fmpq(4, 5), *[fmpq(0)] * (d - 2)]
    with Ball.precision(200):
        pair = [[arb(entry) for entry in x], [arb(-entry) for entry in x]]
        moved = outputs(model, written(model, Ball(), pair), Ball()).tolist()
        name = "output of 5 layers for two antipodal tokens against these tokens"
        return coincide("pair", name, moved, pair, width=WIDTH)


def _order(models: list[Transformer], X: np.ndarray, beta: float) -> Finding:
    """The distance to the flow at time 1, for h, h/2 and h/4, has order 1.

    A one-step method has an error of c·h^p + O(h^{p+1}).  The ratios 2^p for integers p are
    separated by their geometric means; the threshold between orders 1 and 2 is 2^{3/2}.
    """
    exact, bound = sphere_flow(X, beta, [1.0]).tokens[0], (2**0.5, 2**1.5)
    errors = [float(abs(model(X).numpy() - exact).max()) for model in models]
    ratios = [a / b if b else math.inf for a, b in pairwise(errors)]
    name = "distance of the output from the flow at time 1, for models of 16, 32 and 64 layers"
    distances = ", ".join(f"{error:.1e}" for error in errors)
    words = f"{distances}; the ratios are {', '.join(f'{ratio:.2f}' for ratio in ratios)}"
    wanted = "ratios nearer to 2, the ratio of a method of order 1, than to 1 or 4"
    return within("order", name, "float", ratios, bound, words=words, wanted=wanted)
