"""The claim `induced-weights`: trained layers answer by weights, and these are like Newton's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import numpy as np

from theory.regression import PrefixSpectrum, Prompts, induced_weights, weight_cosines
from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict
from verify.trained.checkpoints import described, models_of
from verify.trained.growth import growth
from verify.trained.predictors import FACTORS, prompts_of
from verify.trained.probes import FITTED, read, read_outs
from verify.trained.similarities import DESCENT_STEPS, NEWTON_STEPS
from verify.trained.statistics import ERRORS, estimated, sign_of

if TYPE_CHECKING:
    from constructions.trained.regression import InContextRegressor

QUERIES = 10  # after the same examples, for each coordinate


@claim(source="[Fu2024]", draws=True)
def induced(
    run: Run,
    *,
    checkpoint: Annotated[
        str, option("trained transformer for regression: a shipped name, or a file")
    ] = "regression-small",
    samples: Annotated[int, option("fresh prompts, each with 10·d queries", min=20)] = 100,
) -> Iterator[Finding]:
    """A trained transformer answers by weights that do not depend on the query, like Newton's.

    After the same examples it is asked many queries; the weights that a layer's read-out induces
    are the least-squares fit of its answers.  On most prompts less of the last layer's squared
    error is nonlinear in the query than linear, for any number of examples.  From the first layer
    on that errs less than saying nothing, the number of steps whose weights have the largest mean
    cosine with a layer's grows linearly for Newton's method from αS, and exponentially for gradient
    descent.
    """
    from constructions.trained.models import RegressionTransformer

    found = {}
    for name, model in models_of(checkpoint, RegressionTransformer).items():
        asked = Asked.of(run, model, samples)
        yield _linear(name, asked)
        newton, descent = Matched.newton(asked), Matched.gradient_descent(asked)
        yield from _alike(run, name, asked, newton, descent)
        found[described(name)] = newton, descent
    if run.plot:
        from verify.trained.regression_picture import doublings, draw_heat_maps

        rows = [
            [
                (f"{name}: {newton.algorithm}", newton.steps, newton.cosines.mean(-1)),
                (
                    f"{name}: {descent.algorithm}",
                    *doublings(descent.steps, descent.cosines.mean(-1)),
                ),
            ]
            for name, (newton, descent) in found.items()
        ]
        draw_heat_maps(run.plot, rows, "similarity of weights")


@dataclass(frozen=True)
class Asked:
    """What layers say to T queries after the first t examples of m prompts, t = 1, …, n.

    weights (layers, m, n, d) are induced.  Mean squares are over the T queries: said (layers, m, n)
    of the answers, nonlinear (layers, m, n) of what of them no weights explain (Σ squares over
    T − d, so that the number of queries does not matter), error (layers, m, n) of the errors, and
    silent (m, 1) of those of saying nothing.
    """

    prompts: Prompts
    weights: np.ndarray
    said: np.ndarray
    nonlinear: np.ndarray
    error: np.ndarray
    silent: np.ndarray

    @staticmethod
    def of(run: Run, model: InContextRegressor, samples: int) -> Asked:
        """The model on fresh prompts of its own task, read by read-outs fitted to others."""
        fitted = prompts_of(model.task, FITTED // 4 if run.quick else FITTED, run.rng)
        read_by, n, d = read_outs(model, fitted)[:1], model.task.points - 1, model.task.d
        T = QUERIES * d
        p = prompts_of(model.task, samples, run.rng, further=T)
        queries, size = p.x[:, n:], (model.n_layers, samples, n)
        truth = np.matvec(queries, p.w)
        weights = np.empty((*size, d))
        squares, nonlinear, error = np.empty(size), np.empty(size), np.empty(size)
        for t in run.progress(range(1, n + 1), "examples"):
            x, y = (np.repeat(part[:, :t], T, axis=0) for part in (p.x, p.y))
            said = read(model, read_by, x, y, queries.reshape(-1, d))[0, 1:, :, -1]
            said = said.reshape(-1, samples, T)
            w, _ = induced_weights(np.broadcast_to(queries, (*said.shape, d)), said)
            weights[:, :, t - 1] = w
            squares[:, :, t - 1] = (said**2).mean(-1)
            nonlinear[:, :, t - 1] = ((said - np.matvec(queries, w)) ** 2).sum(-1) / (T - d)
            error[:, :, t - 1] = ((said - truth) ** 2).mean(-1)
        silent = (truth**2).mean(-1, keepdims=True)
        return Asked(p, weights, squares, nonlinear, error, silent)

    @property
    def explained(self) -> np.ndarray:
        """R² of linear answers, (layers, m, n), corrected for the d weights that are fitted."""
        return 1 - self.nonlinear / np.maximum(self.said, np.finfo(float).tiny)

    @property
    def first(self) -> int | None:
        """The first layer, from 0, that errs less than saying nothing; None if there is none."""
        gains = (self.silent - self.error).mean(-1)
        better = [sign_of(*estimated(gain)) is Verdict.HOLDS for gain in gains]
        return better.index(True) if any(better) else None

    @cached_property
    def spectra(self) -> list[PrefixSpectrum]:
        """For 1 to n examples; asked are the unit vectors, so that answers are weights."""
        x, y = self.prompts.x[:, None], self.prompts.y[:, None]
        m, n, d = self.weights.shape[1:]
        units = np.broadcast_to(np.eye(d), (m, d, d))
        return [PrefixSpectrum(x[..., :t, :], y[..., :t], units) for t in range(1, n + 1)]

    def beside(self, predict: Callable[[PrefixSpectrum], np.ndarray]) -> np.ndarray:
        """Cosines (k, layers, m) with the weights of an algorithm, its answers to unit vectors."""
        found = [predict(spectrum)[..., -1] for spectrum in self.spectra]
        return weight_cosines(np.stack(found, axis=-2), self.weights)


@dataclass(frozen=True)
class Matched:
    """Cosines (k, layers, m) of the weights of an algorithm after `steps` (k,) and of layers."""

    algorithm: str
    steps: np.ndarray
    cosines: np.ndarray

    @staticmethod
    def newton(asked: Asked) -> Matched:
        """From αS, α = 1/λmax² of each prefix."""
        cosines = asked.beside(lambda s: s.newton(NEWTON_STEPS, 1 / s.largest**2))
        return Matched("Newton from αS", np.array(NEWTON_STEPS), cosines)

    @staticmethod
    def gradient_descent(asked: Asked) -> Matched:
        """With that step size of `FACTORS` which can be most like the last layer."""

        def tried(factor: float) -> Matched:
            cosines = asked.beside(lambda s: s.gradient_descent(DESCENT_STEPS, factor / s.largest))
            label = f"gradient descent, step size {factor:g}/λmax"
            return Matched(label, np.array(DESCENT_STEPS), cosines)

        return max(map(tried, FACTORS), key=lambda each: float(each.last.mean()))

    @property
    def last(self) -> np.ndarray:
        """The cosines (m,) with the last layer of the steps that match it best."""
        return np.asarray(self.cosines[self.cosines.mean(-1)[:, -1].argmax(), -1])


def _linear(name: str, asked: Asked) -> Finding:
    """Every number of examples by itself; prompts are counted, as few of them make up the mean."""
    linear = asked.error[-1] > 2 * asked.nonlinear[-1]
    verdicts = [sign_of(*estimated(share - 0.5)) for share in linear.T]
    # One that says nothing is linear too.
    verdicts.append(sign_of(*estimated((asked.silent - asked.error[-1]).mean(-1))))
    shares = asked.nonlinear[-1].mean(0) / asked.error[-1].mean(0)
    explained = asked.explained.mean((1, 2))
    return Finding(
        f"{described(name)}: on most prompts less of the error is nonlinear in the query than "
        "linear",
        "trained",
        f"on {linear.mean(0).min():.0%} of them and more, by the number of examples; of the mean "
        f"at most {shares.max():.0%} is nonlinear; R² of linear answers by layer "
        + ", ".join(f"{each:.3f}" for each in explained),
        f"more than half, for 1 to {len(shares)} examples, by {ERRORS:g} standard errors; and less "
        "error than of saying nothing",
        Verdict.together(verdicts),
    )


def _alike(
    run: Run, name: str, asked: Asked, newton: Matched, descent: Matched
) -> Iterator[Finding]:
    label, first = f"{described(name)}: steps whose weights match, of", asked.first
    if first is None:
        yield Finding(f"{label} Newton", "trained", "no layer says anything", "", Verdict.FAILS)
        return
    for kind, each, wanted in (
        ("Newton", newton, "linear"),
        ("gradient descent", descent, "exponential"),
    ):
        setting = f"{each.algorithm}, from layer {first + 1} on"
        cosines = each.cosines[:, first:]
        yield growth(run, f"{label} {kind}", setting, each.steps, cosines, wanted)
    mean, spread = estimated(newton.last - descent.last)
    yield Finding(
        f"{described(name)}: the weights of the last layer are more like Newton's",
        "trained",
        f"similarity of weights {newton.last.mean():.4f} (Newton) and {descent.last.mean():.4f} "
        f"(gradient descent), the difference {mean:.5f} ± {spread:.5f}",
        f"above 0 by {ERRORS:g} standard errors",
        sign_of(mean, spread),
    )
