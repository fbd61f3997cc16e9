"""Agreement in float64: the transformer compared with the recursion, within a rounding bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from constructions.transformer import Transformer
from theory.waiting import announced
from verify.domains import Ball
from verify.domains.base import Domain, Matrix
from verify.evidence.rounding import with_rounding_bound
from verify.finding import Extra, Finding, Verdict, at_most

WIDEST = 1e-3  # relative to a prediction: a larger rounding bound decides nothing
FINITE = "within a rounding bound, which exists for finite predictions"


def float_agreement(
    name: str,
    transformer: tuple[np.ndarray, np.ndarray],
    recursion: tuple[np.ndarray, np.ndarray],
) -> Finding:
    """The finding that a transformer differs from the recursion only by rounding in float64.

    The largest difference of predictions is compared with a rounding bound to first order. The
    finding is undecided if the bound is too large.

    `transformer` contains the float64 predictions and their rounding bounds. `recursion` contains
    the values of the recursion at the same float64 inputs, and the radii of the balls that enclose
    these values. So the difference of the two predictions is caused only by rounding in the
    transformer.
    """
    (predictions, bounds), (exact, radii) = transformer, recursion
    if not np.isfinite(predictions).all():
        detail = "float64 overflows: with these options the recursion diverges, or k is too large"
        extra = Extra(words="overflow", wanted=FINITE, detail=detail)
        return at_most("float", name, "float", float("nan"), 0, **extra)
    errors, scale = np.abs(predictions - exact) + radii, size_of(exact)
    # A prediction without any rounding (0 from no examples) has bound 0.
    fraction = np.divide(errors, bounds, out=np.where(errors > 0, np.inf, 0.0), where=bounds > 0)
    worst = np.unravel_index(np.argmax(fraction), errors.shape)
    relative, allowed = (errors / scale).max(), (bounds / scale).max()
    # A ball wider than the bound cannot decide against the transformer.
    with np.errstate(invalid="ignore"):  # errors and radii may both be infinite
        fails = bool((errors - 2 * radii > bounds).any())
    holds = allowed <= WIDEST and bool((errors <= bounds).all())
    verdict = Verdict.FAILS if fails else Verdict.HOLDS if holds else Verdict.UNDECIDED
    detail = (
        f"prompt {tuple(map(int, worst))}: transformer {predictions[worst]!s}, "
        f"algorithm {exact[worst]!s}, bound {bounds[worst]:.1e}"
    )
    if not fails and not allowed <= WIDEST:
        detail = f"a relative bound above {WIDEST:g} decides nothing: give fewer steps"
    return Finding(
        "float",
        name,
        "float",
        float(relative),
        float(allowed),
        verdict,
        f"relative error {relative:.1e}",
        f"{'≤ ' * bool(holds)}{allowed:.1e}, a first-order bound{_nearest(float(fraction.max()))}",
        "" if verdict is Verdict.HOLDS else detail,
    )


def _nearest(fraction: float) -> str:
    """The largest ratio of the error of a prediction to its bound, in words."""
    if not 0 < fraction < np.inf:
        return ""
    return f"; each error is at most {max(100 * fraction, 0.01):.2g} % of the bound for its prompt"


def size_of(values: np.ndarray) -> np.ndarray:
    """The sizes by which errors of predictions are divided, to obtain relative errors.

    The size of each prediction is the larger of its absolute value and the median of all absolute
    values; the sizes are 1 if all values are 0.
    """
    sizes = np.abs(values)
    return np.asarray(np.maximum(sizes, np.median(sizes) or sizes.max() or 1.0))


def transformer_in_float(
    model: Transformer, x: np.ndarray, y: np.ndarray, queries: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The predictions (…) of a model in float64, and their rounding bounds (…).

    The inputs are x (…, n, d), y (…, n) and queries (…, d), or x (n, d) and y (n,) with m queries
    (m, d).
    """
    predictions, bounds = with_rounding_bound(model, x, y, queries)
    return predictions.numpy(), bounds.numpy()


def recursion_by_balls(
    algorithm: Callable[[Domain, Matrix, Matrix, Matrix, int], Matrix],
    x: np.ndarray,
    y: np.ndarray,
    queries: np.ndarray,
    k: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The predictions of an algorithm with k steps, as the midpoints and the radii of balls.

    For x (…, n, d), y (…, n) and queries (…, d), the results have shape (…), or (…, c) if the
    algorithm returns c numbers, such as one for each prefix. For x (n, d) and m queries (m, d), the
    results have shape (m,).
    """
    domain, leading = Ball(), x.shape[:-2]
    values, radii = [], []
    # Each step of a stable recursion loses at most a few bits to the balls.
    with Ball.precision(256 + 8 * k):
        for index in announced([*np.ndindex(*leading)], "predictions in interval arithmetic"):
            Q = np.atleast_2d(queries[index])
            X, Y = domain.weights(x[index]), domain.weights(y[index][:, None])
            result = algorithm(domain, X, Y, domain.weights(Q), k)
            entries = [entry for row in result.tolist() for entry in row]
            values.append([float(entry) for entry in entries])
            radii.append([float(entry.rad()) + abs(float(entry)) * 2.0**-53 for entry in entries])
    shape = (*leading, -1) if len(values[0]) > 1 and leading else (-1,)
    return np.array(values).reshape(shape), np.array(radii).reshape(shape)
