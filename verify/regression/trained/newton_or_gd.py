"""The claim `newton-or-gd`: which algorithm the layers of a trained transformer resemble."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict
from verify.trained.checkpoints import described, models_of
from verify.trained.growth import growth, growth_of, listed, matching
from verify.trained.probes import Probed
from verify.trained.published import KINDS, beside_published, cells, published
from verify.trained.similarities import Tables
from verify.trained.statistics import ERRORS, estimated, sign_of


@claim(source="[Fu2024]", draws=True)
def newton_or_gd(
    run: Run,
    *,
    checkpoint: Annotated[
        str, option("trained transformer for regression: a shipped name, or a file")
    ] = "regression-small",
    samples: Annotated[int, option("fresh prompts", min=20)] = 2000,
) -> Iterator[Finding]:
    """Layers match Newton steps that grow linearly with depth, gradient steps exponentially.

    Matching is the number of steps of largest similarity of errors, or of least squared difference;
    layers count up to the first that matches the most steps, if those after it match about as many.
    Newton starts from αS, α = 1/λmax² of
    each prefix; the step size of gradient descent is searched, and it is also made with momentum,
    for several condition numbers.  The last layer is more like Newton than gradient descent.

    What tells the two apart is the growth: from αI instead of αS, k Newton steps are exactly 2^k
    gradient steps, so that similarities at the best steps say which start or step size is nearer.
    """
    from constructions.trained.models import RegressionTransformer

    yield _same_polynomials(run)
    yield _published_tables()
    tables = {}
    for name, model in models_of(checkpoint, RegressionTransformer).items():
        tables[name] = Tables.of(Probed.of(run, model, samples))
        yield from _growth(run, name, tables[name])
        yield closer(name, tables[name], "0.994 and 0.988")
        if beside_published(model, "isotropic"):
            yield from cells(name, tables[name], "isotropic")
    if run.plot:
        from verify.trained.regression_picture import draw_similarities

        draw_similarities(run.plot, tables, "isotropic")


def _same_polynomials(run: Run) -> Finding:
    """M ← 2M − MSM k times, and G ← G + α(I − SG) 2^k times, over the rationals."""
    from flint import fmpq_mat

    d, doublings = 3, 5
    x = fmpq_mat(2 * d, d, run.rng.integers(-4, 5, 2 * d * d).tolist())
    S, one = x.transpose() * x, fmpq_mat(d, d, np.eye(d, dtype=int).ravel().tolist())
    alpha = 1 / sum((S[i, i] for i in range(d)), S[0, 0] * 0 + 1)
    M = G = one * alpha
    equal = True
    for k in range(1, doublings + 1):
        M = 2 * M - M * S * M
        for _ in range(2 ** (k - 1)):
            G = G + (one - S * G) * alpha
        equal &= bool(M == G)
    return Finding(
        f"k Newton steps from αI are 2^k gradient steps of size α (d = {d}, k ≤ {doublings})",
        "exact",
        "equal" if equal else "they differ",
        "equal over the rationals",
        Verdict.of(equal),
    )


def _published_tables() -> Finding:
    newton, descent = (matching(*published(f"isotropic_{kind}")) for kind in KINDS)
    return Finding(
        "the published tables (12 layers, d = 20)",
        "trained",
        f"Newton {listed(newton)}, linear; gradient descent {listed(descent)}, exponential",
        "straightest as they are, and as logarithms",
        Verdict.of((growth_of(newton), growth_of(descent)) == ("linear", "exponential")),
    )


def _growth(run: Run, name: str, tables: Tables) -> Iterator[Finding]:
    label = f"{described(name)}: steps that match,"
    for kind, table, wanted in (
        ("Newton", tables.newton, "linear"),
        ("gradient descent", tables.gradient_descent, "exponential"),
    ):
        for by, alike in (("", table.cosines), (" by squared difference", -table.squares)):
            each = f"{label} {kind}{by}"
            yield growth(run, each, table.algorithm, table.steps, alike, wanted)
    for table in tables.momentum:
        each = f"{label} {table.algorithm}"
        yield growth(run, each, table.algorithm, table.steps, table.cosines, "exponential")


def closer(name: str, tables: Tables, published_ones: str) -> Finding:
    """The last layer, each algorithm after the steps that match it best; paired by prompt."""
    compared = tables.newton, tables.gradient_descent, tables.newton_from_identity
    last = {table.algorithm: table.cosines[table.mean[:, -1].argmax(), -1] for table in compared}
    newton, descent, _ = last.values()
    mean, spread = estimated(newton - descent)
    apart = [table.squares[..., -1, :].mean(-1).min() for table in compared]
    return Finding(
        f"{described(name)}: the last layer is more like Newton than gradient descent",
        "trained",
        "similarity of errors "
        + ", ".join(f"{each.mean():.4f} ({algorithm})" for algorithm, each in last.items())
        + f"; the first two differ by {mean:.4f} ± {spread:.4f}; squared differences "
        + ", ".join(f"{each:.4f}" for each in apart),
        f"above 0 by {ERRORS:g} standard errors (published, d = 20: {published_ones})",
        sign_of(mean, spread),
    )
