"""The claim `newton-or-gd`: which algorithm the layers of a trained transformer resemble."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import numpy as np

from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict
from verify.trained.checkpoints import described, models_of
from verify.trained.predictors import Probed
from verify.trained.published import published
from verify.trained.similarities import Tables
from verify.trained.statistics import (
    ERRORS,
    LEVEL,
    RESAMPLED,
    agreed,
    estimated,
    resampled,
    sign_of,
)

if TYPE_CHECKING:
    from constructions.trained.models import RegressionTransformer


@claim(source="[Fu2024]", draws=True)
def newton_or_gd(
    run: Run,
    *,
    checkpoint: Annotated[
        str, option("trained transformer for regression: a shipped name, or a file")
    ] = "regression-small",
    samples: Annotated[int, option("fresh prompts", min=20)] = 2000,
) -> Iterator[Finding]:
    """Layers match Newton steps that grow linearly with depth, gradient steps that grow as 2^depth.

    Matching is the number of steps of largest similarity of errors, or of least squared difference;
    layers count up to the first that matches the most steps.  Newton starts from αS, α = 1/λmax² of
    each prefix; the step size of gradient descent is searched, and so is its momentum.  The last
    layer is more like Newton than gradient descent.

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
        if beside_published(model):
            yield from cells(name, tables[name], "isotropic")
    if run.plot:
        from verify.trained.regression_picture import draw_similarities

        draw_similarities(run.plot, tables, "isotropic")


def matching(steps: np.ndarray, similarity: np.ndarray) -> np.ndarray:
    """The steps that match each layer best, up to the first layer that matches the most."""
    best = steps[similarity.argmax(axis=0)]
    return best[: best.argmax() + 1]


def straightness(values: np.ndarray) -> float:
    """The correlation of a sequence with 1, 2, 3, …; 0 for fewer than three numbers, or equal ones.

    Of two sequences of one set of layers the one that grows linearly has the larger.
    """
    if len(values) < 3 or np.ptp(values) == 0:
        return 0.0
    return float(np.corrcoef(values, np.arange(len(values)))[0, 1])


def grows_linearly(steps: np.ndarray) -> bool:
    """Whether steps by layer are straighter than the logarithms of steps + 1."""
    return straightness(steps) > straightness(np.log2(steps + 1.0))


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
        f"Newton {_listed(newton)}, linear; gradient descent {_listed(descent)}, exponential",
        "straighter as they are, and as logarithms",
        Verdict.of(grows_linearly(newton) and not grows_linearly(descent)),
    )


KINDS = "newton", "gradient_descent"


def _growth(run: Run, name: str, tables: Tables) -> Iterator[Finding]:
    for kind, table, linear in (
        ("Newton", tables.newton, True),
        ("gradient descent", tables.gradient_descent, False),
        ("gradient descent with momentum", tables.momentum, False),
    ):
        for by, alike in (("", table.cosines), (" by squared difference", -table.squares)):
            label = f"{described(name)}: matching steps of {kind}{by}"
            yield growth(run, label, table.algorithm, table.steps, alike, linear=linear)


def growth(
    run: Run, label: str, algorithm: str, steps: np.ndarray, alike: np.ndarray, *, linear: bool
) -> Finding:
    """How the steps (k,) that are most alike (k, layers, m) grow with the layer.

    Decided by how often the same holds for sets of prompts drawn again from those at hand.
    """
    again = resampled(run.rng, alike)
    agree = sum(grows_linearly(matching(steps, means)) == linear for means in again) / len(again)
    best = steps[alike.mean(-1).argmax(axis=0)]
    return Finding(
        f"{label} grow {'linearly' if linear else 'exponentially'}",
        "trained",
        f"{_listed(best)} by layer ({algorithm}); so in {agree:.1%} of {RESAMPLED} resampled sets",
        f"at least {1 - LEVEL:.1%} of them",
        agreed(agree),
    )


def closer(name: str, tables: Tables, published_ones: str) -> Finding:
    """The last layer, each algorithm after the steps that match it best; paired by prompt."""
    last = {
        table.algorithm: table.cosines[table.mean[:, -1].argmax(), -1]
        for table in (tables.newton, tables.gradient_descent, tables.newton_from_identity)
    }
    newton, descent, _ = last.values()
    mean, spread = estimated(newton - descent)
    apart = [table.squares[..., -1, :].mean(-1).min() for table in tables]
    return Finding(
        f"{described(name)}: the last layer is more like Newton than gradient descent",
        "trained",
        "similarity of errors "
        + ", ".join(f"{each.mean():.4f} ({algorithm})" for algorithm, each in last.items())
        + f"; the first two differ by {mean:.4f} ± {spread:.4f}; squared differences "
        + ", ".join(f"{each:.4f}" for each in apart[:3]),
        f"above 0 by {ERRORS:g} standard errors (published, d = 20: {published_ones})",
        sign_of(mean, spread),
    )


def beside_published(model: RegressionTransformer) -> bool:
    """Whether a model has the size of the published ones."""
    return (model.n_layers, model.task.d, model.task.points) == (12, 20, 41)


def cells(name: str, tables: Tables, prompts: str) -> Iterator[Finding]:
    """Cell by cell beside the published tables, where the steps are the same.

    What was published has three digits and one training run, whose spread is not known: further
    apart than our own error is no contradiction, and undecided.
    """
    for kind, table in zip(KINDS, (tables.newton, tables.gradient_descent), strict=True):
        steps, theirs = published(f"{prompts}_{kind}")
        _, ours, same = np.intersect1d(table.steps, steps, return_indices=True)
        apart = np.abs(table.mean[ours] - theirs[same])
        within = apart <= ERRORS * table.error[ours] + 0.0005
        yield Finding(
            f"{described(name)}: cell by cell beside the published table of {kind}",
            "trained",
            f"{within.sum()} of {within.size} cells agree; the largest difference is "
            f"{apart.max():.3f}, the mean {apart.mean():.3f}",
            f"within {ERRORS:g} standard errors and the rounding of the table",
            Verdict.HOLDS if within.all() else Verdict.UNDECIDED,
        )


def _listed(steps: np.ndarray) -> str:
    return ", ".join(str(k) for k in steps.tolist())
