"""The claim `linear-depth`: errors of trained linear transformers and of polynomials by degree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

import numpy as np

from theory.regression import Prompts, best_step_size, gradient_descent_error, polynomial_errors
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import models_of
from verify.evidence.statistics import BY, LEVEL, NOTHING, agreeing, below, estimated, resampled
from verify.finding import Finding, labelled
from verify.interpret.models import answers_of
from verify.regression.trained.linear_models import (
    DEPTHS,
    LARGEST,
    QUICK,
    largest_eigenvalues,
    usual,
)
from verify.regression.trained.options import LINEAR
from verify.regression.trained.prompts import prompts_of

CUTOFFS = (2.0, 2.5, LARGEST, 4.0)  # 73 %, 97 %, all but 30 and all but a few of 10⁴ prompts


@claim(
    picture="verify.regression.trained.pictures:terms_picture",
)
def linear_depth(
    run: Run,
    *,
    samples: Annotated[int, option("number of fresh prompts", min=100, max=10**6)] = 10_000,
) -> Iterator[Finding]:
    """Our observation: the error of a trained linear transformer of L layers is at most that of the
    best predictor x_qᵀp(S)Xᵀy with a fixed polynomial p of 3^(L−1) terms, and less than the error
    of (3^L − 1)/2 steps of gradient descent.

    A prompt consists of n = 20 examples X of dimension d = 5 with noiseless labels y, and a query
    x_q. The matrix S is XᵀX. The models consist of attention layers only. L layers of linear
    attention compute polynomials of degree at most 3^L in the prompt. So if L layers compute a
    predictor x_qᵀp(S)Xᵀy with a fixed polynomial p, then p has at most (3^L − 1)/2 terms. The
    hand-built transformer of L layers (layout "ladder" of `constructions.gradient_descent`) attains
    this number of terms: it computes (3^L − 1)/2 steps of gradient descent, here with the best step
    size. A trained model is measured by the smallest number of terms for which the error of the
    best p is at most the error of the model. For models of L layers, this number of terms is
    observed to be at least 3^(L−1), which triples with each layer.

    Mean squared errors are means over the prompts whose S/n has no eigenvalue above 3, that is,
    over 499 of every 500 prompts. On the other prompts, errors of polynomial predictors are
    unbounded and would dominate the mean. The number of terms depends on the largest eigenvalue
    that is allowed, so it is computed for four such cutoffs. The errors of the hand-built
    transformers and of the best polynomials are exact, from the moments of the Wishart
    distribution. The errors of trained models are estimates from fresh prompts.
    """
    depths = {L: models_of(f"regression-linear-{L}-layer{'s' * (L > 1)}", LINEAR) for L in DEPTHS}
    task = depths[1][0].task
    count = run.limited(QUICK, samples=samples)
    n, p = task.points - 1, usual(prompts_of(task, count, run.rng), CUTOFFS[-1])
    _, most = tripled_and_most(DEPTHS[-1])
    best = {
        top: np.array(polynomial_errors(n, task.d, most, top * n), dtype=float) for top in CUTOFFS
    }
    kept = {top: largest_eigenvalues(p) <= top for top in CUTOFFS}
    shown, errors = usual(p, LARGEST), []
    for depth, models in depths.items():
        for trained in models:
            everywhere = (answers_of(trained.model, p.x, p.y, p.x_query) - p.y_query) ** 2
            own = everywhere[kept[LARGEST]]
            errors.append((depth, tripled_and_most(depth), float(own.mean())))
            if depth == 1:
                found = [one_step(own, shown)]
            else:
                found = [
                    beats_the_ladder(depth, own, shown),
                    terms(run, depth, {top: everywhere[kept[top]] for top in CUTOFFS}, best),
                ]
            yield from labelled(trained.name, found)
    if run.plot:
        built = [best_descent(shown, tripled_and_most(depth)[1])[1] for depth in DEPTHS]
        run.draw(errors, best[LARGEST], built)


def tripled_and_most(depth: int) -> tuple[int, int]:
    """The numbers of terms 3^(L−1) and (3^L − 1)/2 for L = `depth` layers.

    (3^L − 1)/2 is the largest possible number of terms, which the layout "ladder" attains.
    """
    return 3 ** (depth - 1), (3**depth - 1) // 2


def best_descent(p: Prompts, steps: int) -> tuple[float, float]:
    """The best step size for `steps` gradient steps, and its mean squared error.

    The mean is over random prompts with the number of examples and the dimension of the prompts
    `p`.
    """
    n, d = p.x.shape[-2:]
    size = best_step_size(n, d, steps, LARGEST * n)
    return size, float(gradient_descent_error(n, d, steps, size, LARGEST * n))


def one_step(own: np.ndarray, p: Prompts) -> Finding:
    """Compares a model of one layer with one gradient step of the best size, paired by prompt.

    This gradient step is the best predictor that one layer computes.
    """
    size, least = best_descent(p, 1)
    step = size * np.vecdot(np.matvec(p.x.swapaxes(-1, -2), p.y), p.x_query)
    worse = estimated(own - (step - p.y_query) ** 2)
    return below(
        "one-step",
        "(mean squared error of the model) − (mean squared error of one gradient step of the best "
        "size)",
        worse,
        NOTHING * least,
        words=f"{worse.mean + least:.4g} − {least:.4g} = {worse:.1g}; the best size is "
        f"{p.y.shape[-1] * size:.3g}/n",
        wanted=f"a difference below {NOTHING:.0%} of the error of the gradient step {BY}",
    )


def beats_the_ladder(depth: int, own: np.ndarray, p: Prompts) -> Finding:
    """Compares the error of a model of several layers with the error of gradient steps.

    The gradient steps are those that the layout "ladder" computes with the same number of layers.
    """
    _, steps = tripled_and_most(depth)
    size, built = best_descent(p, steps)
    error = estimated(own)
    return below(
        "ladder",
        f"mean squared error of the model, compared with that of {steps} gradient steps, which the "
        f"construction gradient_descent(layout='ladder') computes in {depth} layers",
        error,
        built,
        words=f"{error:.2g} for the model, and {built:.3g} for gradient steps of the best size "
        f"{p.y.shape[-1] * size:.3g}/n",
        wanted=f"an error of the model below that of the gradient steps {BY}",
    )


def terms(
    run: Run, depth: int, own: Mapping[float, np.ndarray], best: Mapping[float, np.ndarray]
) -> Finding:
    """The finding on the smallest number of terms with at most the error of a model.

    The terms are those of the polynomial p in the predictor x_qᵀp(S)Xᵀy, for examples X with labels
    y, a query x_q and S = XᵀX. For each cutoff in `CUTOFFS`, the errors are on prompts of n
    examples for which S/n has no eigenvalue above the cutoff.
    """
    counts = np.array(
        [[fewest(error, best[top]) for error in resampled(run.rng, own[top])] for top in CUTOFFS]
    )
    low, high = np.quantile(counts[CUTOFFS.index(LARGEST)], (LEVEL, 1 - LEVEL), method="nearest")
    steps, most = tripled_and_most(depth)
    found = {top: fewest(own[top].mean(), best[top]) for top in CUTOFFS}
    each, tops = ", ".join(map(str, found.values())), ", ".join(f"{top:g}" for top in found)
    return agreeing(
        "terms",
        "smallest number of coefficients of a polynomial p for which the predictor x_qᵀp(S)Xᵀy has "
        "at most the model's error, on prompts where S/n has no eigenvalue above c",
        float((counts >= steps).all(0).mean()),
        words=f"{each} coefficients for c = {tops}; for c = {LARGEST:g}, {low} to {high} in most "
        f"resampled sets of prompts; a model of this depth with fixed p has at most {most} "
        f"coefficients, for which the error is at least {best[LARGEST][most - 1]:.3g}",
        wanted=f"at least {steps} coefficients for every c",
        terms={f"{top:g}": count for top, count in found.items()},
    )


def fewest(error: float, best: np.ndarray) -> int:
    """The smallest number of terms of a polynomial with at most a given error.

    Entry t − 1 of `best` is the least error of a polynomial with t terms. If every entry of `best`
    exceeds `error`, the result is len(best) + 1.
    """
    enough = np.append(best <= error, True)
    return int(enough.argmax()) + 1
