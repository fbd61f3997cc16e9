"""Float64 agreement: transformer against recursion, within the rounding bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from constructions.transformer import Transformer
from verify.domains import Ball
from verify.domains.base import Domain, Matrix
from verify.evidence.rounding import with_rounding_bound
from verify.finding import Finding, Said, Verdict, at_most

LEAST_TOLD = 1e-3  # of a prediction: a wider rounding bound says nothing about it


def float_agreement(
    name: str,
    transformer: tuple[np.ndarray, np.ndarray],
    recursion: tuple[np.ndarray, np.ndarray],
) -> Finding:
    """|transformer − algorithm| ≤ its rounding to first order; undecided where that says nothing.

    `transformer` holds its float64 predictions and their rounding bounds, `recursion` the
    algorithm's values on the same float64 numbers and the radii of the balls that they come from,
    so the whole difference is the transformer's rounding.
    """
    (predictions, bounds), (exact, radii) = transformer, recursion
    if not np.isfinite(predictions).all():
        detail = "float64 overflows: the recursion diverges for this alpha, or k is too large"
        said = Said(words="overflow", wanted="finite predictions", detail=detail)
        return at_most("float", name, "float", float("nan"), 0, **said)
    errors, scale = np.abs(predictions - exact) + radii, size_of(exact)
    # A prediction without any rounding (0 from no examples) has bound 0.
    share = np.divide(errors, bounds, out=np.where(errors > 0, np.inf, 0.0), where=bounds > 0)
    worst = np.unravel_index(np.argmax(share), errors.shape)
    relative, allowed = (errors / scale).max(), (bounds / scale).max()
    # A ball wider than the bound cannot decide against the transformer.
    fails = bool((errors - 2 * radii > bounds).any())
    told = allowed <= LEAST_TOLD and bool((errors <= bounds).all())
    verdict = Verdict.FAILS if fails else Verdict.of(told) if told else Verdict.UNDECIDED
    detail = (
        f"prompt {tuple(map(int, worst))}: transformer {predictions[worst]!s}, "
        f"algorithm {exact[worst]!s}, bound {bounds[worst]:.1e}"
    )
    if not fails and not allowed <= LEAST_TOLD:
        detail = f"a bound above {LEAST_TOLD:g} of a prediction says nothing: take fewer steps"
    return Finding(
        "float",
        name,
        "float",
        float(relative),
        float(allowed),
        verdict,
        f"relative error {relative:.1e}, at most {share.max():.1%} of its bound",
        f"{allowed:.1e} to first order",
        "" if verdict is Verdict.HOLDS else detail,
    )


def size_of(values: np.ndarray) -> np.ndarray:
    """What errors of predictions are relative to: their own size, or the median's where that is
    larger; 1 if all are 0."""
    sizes = np.abs(values)
    return np.asarray(np.maximum(sizes, np.median(sizes) or sizes.max() or 1.0))


def transformer_in_float(
    model: Transformer, x: np.ndarray, y: np.ndarray, queries: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The predictions and their rounding bounds; shapes as in `recursion_by_balls`."""
    predictions, bounds = with_rounding_bound(model, x, y, queries)
    return predictions.numpy(), bounds.numpy()


def recursion_by_balls(
    algorithm: Callable[[Domain, Matrix, Matrix, Matrix, int], Matrix],
    x: np.ndarray,
    y: np.ndarray,
    queries: np.ndarray,
    k: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The algorithm's predictions, from balls around the exact values, and the balls' radii.

    x (…, n, d), y (…, n), queries (…, d) → (…), or (…, c) where it gives c numbers, for prefixes
    say; x (n, d) with queries (m, d) → (m,).
    """
    domain, leading = Ball(), x.shape[:-2]
    values, radii = [], []
    # Each step of a stable recursion loses at most a few bits to the balls.
    with Ball.precision(256 + 8 * k):
        for index in np.ndindex(*leading):
            Q = np.atleast_2d(queries[index])
            X, Y = domain.weights(x[index]), domain.weights(y[index][:, None])
            result = algorithm(domain, X, Y, domain.weights(Q), k)
            entries = [entry for row in result.tolist() for entry in row]
            values.append([float(entry) for entry in entries])
            radii.append([float(entry.rad()) + abs(float(entry)) * 2.0**-53 for entry in entries])
    shape = (*leading, -1) if len(values[0]) > 1 and leading else (-1,)
    return np.array(values).reshape(shape), np.array(radii).reshape(shape)
