"""The claim `linear-depth`: how close training comes to tripling the degree with every layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from theory.regression import Prompts
from verify.claim import Run, claim, option
from verify.finding import Finding
from verify.trained.checkpoints import described, models_of
from verify.trained.predictors import CHUNK, prompts_of
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
FITTED = 20_000  # prompts to which polynomials are fitted, others than those of the measurement
LARGEST = 4.0  # about the largest eigenvalue of S/n, d = 5 and n = 20, in tens of thousands
STEP_SIZES = np.geomspace(0.05, 2.0, 60)  # of gradient descent, times 1/n


@claim(source="[Ahn2023]; the degree of a layer: theory/regression/depth.py", draws=True)
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

    Compared are mean squared errors, which training lowers, and for which step sizes and p are
    chosen; as they hang on the worst prompts, by sets of prompts drawn again.  Medians are printed
    beside them: for these a ladder of its own step size can be the better one.
    """
    from constructions.regression.regressor import InContextRegression

    depths: dict[int, dict[str, InContextRegression]] = {}
    used: dict[str, tuple[int, float]] = {}
    for depth in DEPTHS:
        name = f"regression-linear-{depth}-layer{'s' * (depth > 1)}"
        depths[depth] = models_of(name, InContextRegression)
    task = _task(next(iter(depths[1])))
    sizes = FITTED // 4 if run.quick else FITTED, samples
    fitted, test = (Spectrum.of(prompts_of(task, m, run.rng)) for m in sizes)
    most = (3 ** DEPTHS[-1] - 1) // 2
    best = [test.squares(fitted.best_polynomial(terms)) for terms in range(1, most + 1)]
    for depth, models in depths.items():
        for name, model in models.items():
            own = (test.answers(model) - test.prompts.y_query) ** 2
            used[name] = depth, float(own.mean())
            yield _beats_the_ladder(name, depth, own, fitted, test)
            if depth > 1:
                yield _terms(run, name, depth, own, best)
    if run.plot:
        from verify.trained.linear_picture import draw

        draw(run.plot, used, [float(squares.mean()) for squares in best])


def _task(name: str) -> Regression:
    from constructions.trained import Configuration, sidecar
    from constructions.trained.configuration import Regression

    task = Configuration.from_json(sidecar(name)["configuration"]).task
    assert isinstance(task, Regression)
    return task


@dataclass(frozen=True)
class Spectrum:
    """Prompts, the eigenvalues λ_i of S/n (m, d), and the parts of λ_i in b = Xᵀy/n at the query.

    A predictor x_qᵀp(S/n)b is Σ_i p(λ_i)·parts_i.
    """

    prompts: Prompts
    eigenvalues: np.ndarray
    parts: np.ndarray

    @staticmethod
    def of(p: Prompts) -> Spectrum:
        """By one decomposition of each S."""
        n = p.x.shape[-2]
        values, V = np.linalg.eigh(p.x.swapaxes(-1, -2) @ p.x / n)
        b = np.matvec(p.x.swapaxes(-1, -2), p.y) / n
        parts = np.vecmat(b, V) * np.vecmat(p.x_query, V)
        return Spectrum(p, values, parts)

    def features(self, terms: int) -> np.ndarray:
        """x_qᵀT_j(S/n)b (m, terms) for Chebyshev's polynomials T_0, T_1, … on [0, LARGEST]."""
        table = np.polynomial.chebyshev.chebvander(2 * self.eigenvalues / LARGEST - 1, terms - 1)
        return np.einsum("mdt,md->mt", table, self.parts)

    def best_polynomial(self, terms: int) -> np.ndarray:
        """The coefficients (terms,) of the p of least squared error on these prompts."""
        return np.linalg.lstsq(self.features(terms), self.prompts.y_query, rcond=None)[0]

    def squares(self, coefficients: np.ndarray) -> np.ndarray:
        """Squared errors (m,) of the predictor of a polynomial."""
        said = self.features(len(coefficients)) @ coefficients
        return np.asarray((said - self.prompts.y_query) ** 2)

    def gradient_descent(self, k: int, step_size: float) -> np.ndarray:
        """Squared errors (m,) after k steps of gradient descent: p(λ) = (1 − (1 − ηλ)^k)/λ."""
        residual = (1 - step_size * self.eigenvalues) ** k
        said = ((1 - residual) / self.eigenvalues * self.parts).sum(-1)
        return np.asarray((said - self.prompts.y_query) ** 2)

    def answers(self, model: InContextRegression) -> np.ndarray:
        """What a model answers, (m,)."""
        p = self.prompts
        parts = [slice(start, start + CHUNK) for start in range(0, len(p.x), CHUNK)]
        said = [model(p.x[part], p.y[part], p.x_query[part]).double().numpy() for part in parts]
        return np.concatenate(said)


def _beats_the_ladder(
    name: str, depth: int, own: np.ndarray, fitted: Spectrum, test: Spectrum
) -> Finding:
    """The ladder's step size is searched on prompts of its own; paired by prompt."""
    k = 3 ** (depth - 1)
    size, other = (
        min(STEP_SIZES, key=lambda size: float(by(fitted.gradient_descent(k, size))))
        for by in (np.mean, np.median)
    )
    built = test.gradient_descent(k, size)
    gain, spread = estimated(built - own)
    # One layer can do no better than one step; as good will do then.
    margin = NOTHING * built.mean() if depth == 1 else 0.0
    medians = np.median(own), np.median(test.gradient_descent(k, other))
    return Finding(
        f"{described(name)}: "
        + ("as good as one gradient step" if depth == 1 else f"better than {k} gradient steps"),
        "trained",
        f"mean squared error {own.mean():.3g}, the ladder's {built.mean():.3g} (step size "
        f"{size:.3g}/n), {gain:.2g} ± {spread:.1g} more; medians {medians[0]:.2g} and, with "
        f"{other:.3g}/n, {medians[1]:.2g}",
        f"{f'at most {NOTHING:.0%} worse' if depth == 1 else 'better'}, in the mean, by "
        f"{ERRORS:g} standard errors",
        sign_of(gain + margin, spread),
    )


def _terms(run: Run, name: str, depth: int, own: np.ndarray, best: list[np.ndarray]) -> Finding:
    """The fewest terms of a polynomial p, fitted on other prompts, that does as well as a model."""
    again = resampled(run.rng, np.stack([own, *best]))
    counts = np.sort([fewest(means[0], means[1:]) for means in again])
    low, high = counts[round(LEVEL * RESAMPLED)], counts[-1 - round(LEVEL * RESAMPLED)]
    steps, most = 3 ** (depth - 1), (3**depth - 1) // 2
    share = float((counts >= steps).mean())
    found = fewest(float(own.mean()), np.array([squares.mean() for squares in best]))
    return Finding(
        f"{described(name)}: as good as the best polynomial of {steps} terms or more",
        "trained",
        f"of {found} (in most resampled sets {low} to {high}); at the most terms of fixed "
        f"coefficients, {most}, the error would be {best[most - 1].mean():.2g}, and it is "
        f"{own.mean():.2g}; so in {share:.1%} of {RESAMPLED} resampled sets",
        f"at least {1 - LEVEL:.1%} of them",
        agreed(share),
    )


def fewest(error: float, best: np.ndarray) -> int:
    """The fewest terms with which the best polynomials err no more, or one more than there are."""
    enough = np.append(best <= error, True)
    return int(enough.argmax()) + 1
