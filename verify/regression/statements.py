"""The statements of the claims on regression about constructions, for every d, n and k."""

from __future__ import annotations

from functools import partial
from math import log2

import constructions
from constructions.regression.chebyshev import Combinations, chebyshev_plan
from constructions.transformer import Transformer
from theory.kinds import InputError
from theory.regression import Start, by_definition
from theory.regression.matrices import Matrix, NumberSystem, on_each_prefix
from verify.claim import Run
from verify.evidence.statement import OverExamples
from verify.regression.options import CAUSAL, LAYOUTS, Descent, Layout, Layouts

STEPS = 12  # largest number of Newton steps checked register by register; each doubles the degree
MOST_PAIRS = 5e6  # pairs of tokens that nonlinear attention evaluates in a few seconds


def newton_statement(
    run: Run, layout: Layout, start: Start, alpha: float, interleaved: bool = False
) -> OverExamples:
    """The statement that a layout computes k Newton–Schulz steps, for every d, n and k.

    d is the dimension of the inputs and n the number of examples. Causal layouts predict from every
    prefix of the examples.
    """
    causal = layout in CAUSAL
    steps = partial(by_definition.newton, alpha=alpha, start=start)

    def build(d: int, n: int, k: int) -> Transformer:
        return run.build(
            constructions.newton,
            d,
            k,
            alpha,
            {"causal": "direct", "causal-ladder": "ladder"}.get(layout, layout),
            start=start,
            interleaved=interleaved,
            causal=causal,
            n=n if layout == "paper" else None,
        )

    return OverExamples(
        build=build,
        algorithm=partial(on_each_prefix, steps) if causal else steps,
        repeat={"layout": layout, "start": start, "alpha": alpha, "interleaved": interleaved},
        polynomial=not interleaved,
        formula=not (interleaved or causal),
        theorem=newton_theorem(layout, start, interleaved),
    )


def layouts_of(
    layout: Layouts, start: Start, pairs: float, interleaved: bool = False
) -> list[Layout]:
    """The layouts to check. Raises ValueError for options that a layout does not support.

    `pairs` is the number of pairs of tokens in all prompts. This number is limited for ReLU
    attention, because ReLU attention evaluates all pairs.
    """
    if interleaved and layout not in ("all", "direct"):
        raise InputError(f"interleaved is True and layout is '{layout}': use the layout 'direct'")
    if start == "identity" and layout == "paper":
        raise InputError("layout is 'paper' and start is 'identity': use the start 'gram'")
    if layout != "all" or interleaved:
        if (layout == "paper" or interleaved) and pairs > MOST_PAIRS:
            raise InputError(
                f"prompts × n² is {pairs:.1e} pairs of tokens: give fewer prompts or examples, so "
                f"that there are at most {MOST_PAIRS:.0e} pairs, or use the layout 'direct'"
            )
        return ["direct" if layout == "all" else layout]
    return [each for each in LAYOUTS[start] if each != "paper" or pairs <= MOST_PAIRS]


def newton_theorem(layout: Layout, start: Start, interleaved: bool = False) -> str:
    """The name, in the statement index, of the theorem on a layout of Newton's method."""
    name = "newton-interleaved" if interleaved else f"newton-{layout}".removesuffix("-paper")
    return name + "-identity" * (start == "identity")


def descent_statement(run: Run, layout: Descent, eta: float) -> OverExamples:
    """The statement that a layout computes k gradient steps of size `eta`, for every d, n and k.

    d is the dimension of the inputs and n the number of examples. The causal layout predicts from
    every prefix of the examples.
    """
    steps = partial(by_definition.gradient_descent, step_size=eta)

    def build(d: int, n: int, k: int) -> Transformer:
        # The ladder needs k ≥ 1; the direct layout has zero layers for k = 0.
        of = "ladder" if layout == "ladder" and k else "direct"
        return run.build(constructions.gradient_descent, d, k, eta, of, causal=layout == "causal")

    return OverExamples(
        build=build,
        algorithm=partial(on_each_prefix, steps) if layout == "causal" else steps,
        repeat={"layout": layout, "step_size": eta},
        formula=layout != "causal",
        theorem=f"gradient-descent-{layout}".removesuffix("-direct"),
    )


def chebyshev_statement(run: Run, smallest: float, largest: float) -> OverExamples:
    """The statement that a transformer computes k steps of Chebyshev's method, for every d, n, k.

    d is the dimension of the inputs and n the number of examples. The coefficients are rounded, and
    the interval is [smallest, largest].
    """

    def algorithm(of: NumberSystem, X: Matrix, y: Matrix, Q: Matrix, k: int) -> Matrix:
        residuals = Combinations(tuple(chebyshev_plan(max(k, 1), smallest, largest)))
        G = residuals.inverse(of, X.transpose() * X, max(k, 1))
        return Q * (G * (X.transpose() * y))

    return OverExamples(
        build=lambda d, n, k: run.build(constructions.chebyshev, d, max(k, 1), smallest, largest),
        algorithm=algorithm,
        repeat={"smallest": smallest, "largest": largest},
        formula=True,
        theorem="chebyshev",
    )


def online_statement(run: Run) -> OverExamples:
    """The statement that a transformer computes one pass of online gradient descent.

    The statement holds for every dimension d of the inputs and every number n of examples. The
    number k of steps, an argument of all statements, is ignored.
    """
    return OverExamples(
        build=lambda d, n, _: run.build(constructions.online_gradient_descent, d, n),
        algorithm=lambda of, X, y, Q, _: by_definition.online_gradient_descent(of, X, y, Q),
        rational_size=_size_over_common_denominator,
        theorem="online-gradient-descent",
    )


def _size_over_common_denominator(d: int, n: int, _: int) -> tuple[int, float]:
    """The degree and bits of (transformer − algorithm)·Π‖x_i‖^{2n}, for random points.

    A layer multiplies by at most one key, so after n layers Π_i ‖x_i‖^{2n} clears every
    denominator. y has degree 1, each of the n layers adds degree 2 over its denominator (by key ·
    x), and Π_i ‖x_i‖^{2n} has degree 2n². A random point with some ‖x_i‖² = 0 cannot be used, so
    the degree 2n of Π‖x_i‖² is added. In each layer, the sum of the absolute values of the
    coefficients grows by a factor of at most 2 + nd over the denominators, for each of which this
    sum is d. For the algorithm, the sum is smaller.
    """
    degree = 2 * n * n + 2 * n + 1 + 2 * n
    return degree, n * n * log2(d) + n * log2(2 + n * d) + log2(n) + 1
