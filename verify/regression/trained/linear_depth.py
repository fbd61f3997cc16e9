"""The claim `linear-depth`: how close training comes to tripling the degree with every layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated

import numpy as np

from theory.regression import Prompts, best_step_size, descent_error, polynomial_errors
from verify.claim import Run, claim, option
from verify.finding import Finding
from verify.trained.checkpoints import described, models_of
from verify.trained.predictors import chunks, prompts_of
from verify.trained.statistics import (
    ERRORS,
    LEVEL,
    NOTHING,
    RESAMPLED,
    agreed,
    estimated,
    resampled,
    sign_of,
)

if TYPE_CHECKING:
    from constructions.regression.regressor import InContextRegression
    from constructions.trained.configuration import Regression

DEPTHS = (1, 2, 3, 4)
LARGEST = 3.0  # eigenvalue of S/n on the prompts that are looked at


@claim(source="[Ahn2023]; the least errors: theory/regression/least_errors.py", draws=True)
def linear_depth(
    run: Run,
    *,
    samples: Annotated[int, option("fresh prompts", min=100)] = 10_000,
) -> Iterator[Finding]:
    """Trained linear transformers of L layers err less than the gradient ladder of as many layers.

    Attention-only, d = 5, 20 examples, no noise.  The ladder of L layers makes 3^(L−1) gradient
    steps, here of the best size.  L layers of linear attention are polynomials of degree 3^L in the
    prompt, so of the predictors x_qᵀp(S)Xᵀy with fixed p they hold at most those of (3^L − 1)/2
    terms.  How close training comes to that is told by the fewest terms with which the best p does
    as well: at least 3^(L−1), three times as many with every layer.

    Mean squared errors are over the prompts whose S/n has no eigenvalue above 3, 499 of 500: on the
    others polynomials of such degrees err by anything, and would make up the whole mean.  Of the
    ladder and of the best polynomials they are exact, from the moments of the Wishart distribution;
    of trained models they are estimates from fresh prompts.
    """
    from constructions.regression.regressor import InContextRegression

    depths: dict[int, dict[str, InContextRegression]] = {}
    used: dict[str, tuple[int, float]] = {}
    for depth in DEPTHS:
        name = f"regression-linear-{depth}-layer{'s' * (depth > 1)}"
        depths[depth] = models_of(name, InContextRegression)
    task = _task(next(iter(depths[1])))
    n, p = task.points - 1, _usual(prompts_of(task, samples, run.rng))
    most = (3 ** DEPTHS[-1] - 1) // 2
    best = np.array(polynomial_errors(n, task.d, most, LARGEST * n), dtype=float)
    for depth, models in depths.items():
        for name, model in models.items():
            said = _answers(model, p)
            own = (said - p.y_query) ** 2
            used[name] = depth, float(own.mean())
            if depth == 1:
                yield _one_step(name, said, p)
            else:
                yield _beats_the_ladder(name, depth, own, p)
                yield _terms(run, name, depth, own, best)
    if run.plot:
        from verify.trained.linear_picture import draw

        draw(run.plot, used, best.tolist())


def _task(name: str) -> Regression:
    from constructions.trained import Configuration, sidecar
    from constructions.trained.configuration import Regression

    task = Configuration.from_json(sidecar(name)["configuration"]).task
    assert isinstance(task, Regression)
    return task


def _usual(p: Prompts) -> Prompts:
    """The prompts without eigenvalues above LARGEST."""
    x = p.x
    kept = np.linalg.eigvalsh(x.swapaxes(-1, -2) @ x)[:, -1] <= LARGEST * x.shape[-2]
    return Prompts(*(getattr(p, field.name)[kept] for field in fields(p)))


def _answers(model: InContextRegression, p: Prompts) -> np.ndarray:
    """What a model answers to the queries, (m,)."""
    parts = [model(p.x[i], p.y[i], p.x_query[i]).double().numpy() for i in chunks(len(p.x))]
    return np.concatenate(parts)


def _one_step(name: str, said: np.ndarray, p: Prompts) -> Finding:
    """One layer can do no better than one gradient step of the best size; paired by prompt."""
    n, d = p.x.shape[-2:]
    size = best_step_size(n, d, 1, LARGEST * n)
    least = float(descent_error(n, d, 1, size, LARGEST * n))
    step = size * np.vecdot(np.matvec(p.x.swapaxes(-1, -2), p.y), p.x_query)
    worse, spread = estimated((said - p.y_query) ** 2 - (step - p.y_query) ** 2)
    return Finding(
        f"{described(name)}: as good as one gradient step",
        "trained",
        f"mean squared error {worse + least:.4g}, where the best step, of size {n * size:.3g}/n, "
        f"has {least:.4g}: worse by {worse:.2g} ± {spread:.1g}",
        f"at most {NOTHING:.0%} worse, by {ERRORS:g} standard errors",
        sign_of(NOTHING * least - worse, spread),
    )


def _beats_the_ladder(name: str, depth: int, own: np.ndarray, p: Prompts) -> Finding:
    n, d = p.x.shape[-2:]
    k = 3 ** (depth - 1)
    size = best_step_size(n, d, k, LARGEST * n)
    built = float(descent_error(n, d, k, size, LARGEST * n))
    mean, spread = estimated(own)
    return Finding(
        f"{described(name)}: better than {k} gradient steps",
        "trained",
        f"mean squared error {mean:.3g} ± {spread:.1g}, where the best step size, "
        f"{n * size:.3g}/n, has {built:.3g}",
        f"less, by {ERRORS:g} standard errors",
        sign_of(built - mean, spread),
    )


def _terms(run: Run, name: str, depth: int, own: np.ndarray, best: np.ndarray) -> Finding:
    """The fewest terms of a polynomial p that does as well as a model."""
    counts = np.sort([fewest(error, best) for error in resampled(run.rng, own)])
    low, high = counts[round(LEVEL * RESAMPLED)], counts[-1 - round(LEVEL * RESAMPLED)]
    steps, most = 3 ** (depth - 1), (3**depth - 1) // 2
    share = float((counts >= steps).mean())
    return Finding(
        f"{described(name)}: as good as the best polynomial of {steps} terms or more",
        "trained",
        f"of {fewest(own.mean(), best)}, in most resampled sets of {low} to {high} (at most "
        f"{most} with fixed coefficients, whose error is {best[most - 1]:.3g}); of {steps} or more "
        f"in {share:.1%} of {RESAMPLED}",
        f"at least {1 - LEVEL:.1%} of them",
        agreed(share),
    )


def fewest(error: float, best: np.ndarray) -> int:
    """The fewest terms with which the best polynomials err no more, or one more than there are."""
    enough = np.append(best <= error, True)
    return int(enough.argmax()) + 1
