"""The claim `newton-on-data`: the same transformers on a user's own numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np

from theory.regression import Start, newton_residual
from verify.claim import Run, claim, option
from verify.domains import Rational
from verify.evidence.agreement import transformer_in_float
from verify.evidence.identity import DomainName
from verify.evidence.statement import OverExamples, predict
from verify.finding import Finding, at_most, equal, labelled
from verify.regression.convergence import distance_to_ols, newton_converges, safe_alpha
from verify.regression.data import Examples, read_examples
from verify.regression.pictures import newton_picture
from verify.regression.statements import STEPS, Layouts, computes, newton_statements

MOST_ROWS = 100  # of the data, for the exact domains
LARGEST_EXACT = 4e6  # bits·n·d² beyond which the rationals take seconds
ACCURACY = 1e-6  # how near to least squares the steps are counted


@claim(source="[Fu2024, Theorem 5.1]; fewer layers proved in constructions/regression/", draws=True)
def newton_on_data(
    run: Run,
    *,
    data: Annotated[Path, option("a CSV of your own: rows are examples", "--data")],
    target: Annotated[str | None, option("the column to predict; default: the last")] = None,
    k: Annotated[int, option("steps of the algorithm", min=0)] = 5,
    layout: Annotated[Layouts, option("which construction")] = "all",
    start: Annotated[Start, option("M₀ = αS (gram) or αI (identity)")] = "gram",
    alpha: Annotated[
        float | None, option("α; default: the largest power of two that is safe for the data")
    ] = None,
    domain: Annotated[DomainName, option("number system of the equality")] = "all",
) -> Iterator[Finding]:
    """On the rows of a CSV, hand-built weights compute k steps of Iterative Newton.

    Columns are standardised, and a fifth of the rows are held out as queries. The prediction is
    that of the claim `newton`; also counted are the steps that take it to ordinary least squares.
    """
    examples = read_examples(data, target, run.rng)
    (x, y, queries), (n, d) = examples, examples.x.shape
    scale = safe_alpha(x, start) if alpha is None else float(alpha)
    what = f"{len(queries)} held-out rows of {data.name}"
    for chosen, statement in newton_statements(run, layout, start, scale, n * n).items():
        most = {"most_steps": STEPS, "most_rows": MOST_ROWS}
        found = computes(run, statement, examples, k, domain, scale, start, what=what, **most)
        yield from labelled(chosen, found)
        if domain in ("all", "exact"):
            rows = x[:MOST_ROWS], y[:MOST_ROWS]
            yield from labelled(chosen, [exactly(statement, *rows, queries, k)])
    if domain in ("all", "float"):
        in_float = transformer_in_float(statement.build(d, n, k), *examples)
        yield newton_converges(x, scale, start)
        yield distance_to_ols(examples, in_float, k, scale, start)
    yield from steps_to_ols(examples, data.name, k, scale, start)
    if run.plot:
        newton_picture(run.plot, x, y, k, scale, start)


def exactly(
    statement: OverExamples, x: np.ndarray, y: np.ndarray, queries: np.ndarray, k: int
) -> Finding:
    """Equality over Q on the very float64 numbers of the data, for every held-out row.

    The numbers have 53 bits times the degree: there are fewer steps where there would be too many.
    """
    n, d = x.shape
    while k > 1 and 53 * 2 ** (k + 2) * n * d * d > LARGEST_EXACT:
        k -= 1
    domain = Rational()
    X, Y, Q = (domain.weights(array) for array in (x, y[:, None], queries))
    held = predict(statement.build(d, n, k), domain, X.tolist(), Y.tolist(), Q.tolist())
    differs = held != statement.algorithm(domain, X, Y, Q, k)
    return equal(
        "on-data",
        f"equals the recursion exactly on the data ({n} rows, k={k})",
        "the predictions over Q differ" if differs else None,
    )


def steps_to_ols(
    examples: Examples, name: str, k: int, alpha: float, start: Start
) -> Iterator[Finding]:
    """The steps that OLS accuracy takes, measured and as the rate states, if they converge."""
    x, y, queries = examples
    eigenvalues, vectors = np.linalg.eigh(x.T @ x)
    kept = eigenvalues > max(x.shape) * np.finfo(float).eps * eigenvalues[-1]
    eigenvalues, vectors = eigenvalues[kept], vectors[:, kept]
    rates = alpha * eigenvalues ** (2 if start == "gram" else 1)
    if rates[-1] >= 2:
        return
    w, directions = vectors.T @ (x.T @ y) / eigenvalues, queries @ vectors

    def enough(steps: int) -> bool:
        left = newton_residual(eigenvalues, steps, alpha, start) * w
        return float(np.abs(directions @ left).max()) <= ACCURACY

    kappa = eigenvalues[-1] / eigenvalues[0]
    needed = next(steps for steps in range(10_000) if enough(steps))
    scale = float(np.linalg.norm(queries, axis=-1).max() * np.linalg.norm(w))
    # The residual's logarithm doubles in each step, from that of |1 − rate| at its largest.
    slowest = min(float(np.minimum(rates, 2 - rates).min()), 1 - 2.0**-53)
    stated = np.log2(max(np.log(scale / ACCURACY), 1) / -np.log1p(-slowest))
    stated = max(0, int(np.ceil(stated)))
    yield at_most(
        "steps",
        f"steps to OLS accuracy {ACCURACY:g} on {name} (κ(S) = {kappa:.3g}; k = {k} was asked for)",
        "float",
        needed,
        stated,
        wanted=f"≤ {stated} by the rate",
    )
