"""What the claim `newton` says about a user's own data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from theory.regression import newton_fitted
from verify.domains import Rational
from verify.finding import Finding, Verdict
from verify.regression.statement import Statement, predict

Start = Literal["gram", "identity"]

MOST_ROWS = 100  # of the data, for the exact domains
LARGEST_EXACT = 4e6  # bits·n·d² beyond which the rationals take seconds


def exact_on_data(
    statement: Statement, x: np.ndarray, y: np.ndarray, queries: np.ndarray, k: int
) -> Finding:
    """Equality over Q on the very float64 numbers of the data, for every held-out row.

    The numbers have 53 bits times the degree, so the first 100 rows are taken, and fewer steps
    where there would be too many bits.
    """
    x, y = x[:MOST_ROWS], y[:MOST_ROWS]
    n, d = x.shape
    smaller = k
    while smaller > 1 and 53 * 2 ** (smaller + 2) * n * d * d > LARGEST_EXACT:
        smaller -= 1
    domain = Rational()
    X, Y, Q = (domain.weights(a) for a in (x, y[:, None], queries))
    model = statement.build(d, n, smaller)
    equal = predict(model, domain, X.tolist(), Y.tolist(), Q.tolist()) == statement.algorithm(
        domain, X, Y, Q, smaller
    )
    return Finding(
        f"equals the recursion exactly on the data ({n} rows, k={smaller})",
        "exact",
        "equal" if equal else "different",
        "equal",
        Verdict.of(bool(equal)),
    )


def steps_to_ols(
    name: str, x: np.ndarray, y: np.ndarray, queries: np.ndarray, k: int, alpha: float, start: Start
) -> Iterator[Finding]:
    """Condition number and the steps that OLS accuracy takes, measured and as the rate states."""
    eigenvalues, vectors = np.linalg.eigh(x.T @ x)
    kept = eigenvalues > max(x.shape) * np.finfo(float).eps * eigenvalues[-1]
    smallest, largest = eigenvalues[kept][0], eigenvalues[-1]
    moments, directions = vectors.T @ (x.T @ y), queries @ vectors
    inverse = np.where(kept, 1 / np.where(kept, eigenvalues, 1), 0)
    exact = directions @ (inverse * moments)
    accuracy = 1e-6

    def enough(steps: int) -> bool:
        fitted = np.where(kept, newton_fitted(np.maximum(eigenvalues, 0), steps, alpha, start), 0)
        return float(np.abs(directions @ (fitted * inverse * moments) - exact).max()) <= accuracy

    if alpha >= (2 / largest**2 if start == "gram" else 2 / largest):
        return
    needed = next(steps for steps in range(10_000) if enough(steps))
    rate: Callable[[float], float] = (
        (lambda s: alpha * s * s) if start == "gram" else (lambda s: alpha * s)
    )
    scale = float(np.linalg.norm(queries, axis=-1).max() * np.linalg.norm(inverse * moments))
    stated = int(np.ceil(np.log2(max(np.log(scale / accuracy), 1) / -np.log1p(-rate(smallest)))))
    yield Finding(
        f"steps to OLS accuracy {accuracy:g} on {name} (κ(S) = {largest / smallest:.3g}; "
        f"k = {k} was asked for)",
        "float",
        needed,
        f"≤ {stated} by the rate",
        Verdict.of(needed <= stated),
    )
