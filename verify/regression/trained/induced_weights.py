"""The claim `induced-weights`: trained layers answer by weights, and these are like Newton's.

The weights by which a layer answers are those that fit its answers to many queries best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from theory.regression import PrefixSpectrum, Prompts, similarity, weight_cosines
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import Trained, models_of
from verify.evidence.statistics import BY, above, estimated, sign_of
from verify.finding import Finding, Verdict, at_least, labelled
from verify.regression.trained.options import TRANSFORMER, Checkpoint
from verify.regression.trained.predictors import FACTORS, prompts_of
from verify.regression.trained.probes import fitted_read_outs, read
from verify.regression.trained.similarities import (
    DESCENT_STEPS,
    EXPECTED,
    NEWTON_STEPS,
    Likeness,
    growth,
)

QUERIES = 10  # after the same examples, for each coordinate
QUICK = 20, 4  # so many prompts at most, and queries, at quick sizes


@claim(source="[Fu2024]", picture="verify.regression.trained.pictures:weights_picture")
def induced_weights(
    run: Run,
    *,
    checkpoint: Checkpoint = "regression-small",
    samples: Annotated[int, option("fresh prompts, each with 10·d queries", min=20)] = 100,
) -> Iterator[Finding]:
    """Published observation: after the same examples, the predictions of a trained transformer are
    nearly linear in the query, and its induced weights are matched by a number of Newton–Schulz
    steps that grows linearly with the layer, and by one of gradient steps that grows exponentially.

    After the same examples it is given many queries; the weights that a layer's probe induces are
    the least-squares fit of its predictions.  On most prompts less of the last layer's squared
    error is nonlinear in the query than linear, for any number of examples.  From the first layer
    on that errs less than saying nothing, the number of steps whose weights have the largest mean
    cosine with a layer's grows linearly for Newton's method from αS, and exponentially for gradient
    descent.
    """
    found = {}
    for trained in models_of(checkpoint, TRANSFORMER):
        asked = Asked.of(run, trained, samples)
        yield from labelled(trained.name, [linear_in_the_query(asked)])
        yield from labelled(trained.name, like_those_of_newton(run, asked))
        found[trained.name] = asked.newton, asked.gradient_descent
    run.draw(found)


def linear_in_the_query(asked: Asked) -> Finding:
    """Every number of examples by itself; prompts are counted, as few of them make up the mean."""
    linear = asked.error[-1] > 2 * asked.nonlinear[-1]
    verdicts = [sign_of(*estimated(share - 0.5)) for share in linear.T]
    # One that says nothing is linear too.
    verdicts.append(sign_of(*estimated((asked.silent - asked.error[-1]).mean(-1))))
    shares = asked.nonlinear[-1].mean(0) / asked.error[-1].mean(0)
    explained = ", ".join(f"{each:.3f}" for each in asked.explained.mean((1, 2)))
    least = float(linear.mean(0).min())
    return Finding(
        "linear",
        "on most prompts less of the error is nonlinear in the query than linear",
        "trained",
        least,
        0.5,
        Verdict.together(verdicts),
        f"on {least:.0%} of them and more, by the number of examples; of the mean at most "
        f"{shares.max():.0%} is nonlinear; R² of linear answers by layer {explained}",
        f"more than half, for 1 to {len(shares)} examples, {BY}; and less error than of saying "
        "nothing",
    )


def like_those_of_newton(run: Run, asked: Asked) -> Iterator[Finding]:
    """The growth of the steps whose weights match, and the last layer."""
    label, first = "steps whose weights match, of", asked.first
    if first is None:
        words = "no layer says anything"
        yield at_least("newton", f"{label} Newton", "trained", 0, 1, words=words, wanted="one")
        return
    both = asked.newton, asked.gradient_descent
    for (kind, wanted), each in zip(EXPECTED.items(), both, strict=True):
        setting = f"{each.algorithm}, from layer {first + 1} on"
        later = Likeness(setting, each.steps, each.alike[:, first:])
        yield growth(run, kind.lower().replace(" ", "-"), f"{label} {kind}", later, wanted)
    newton, descent = asked.newton.last, asked.gradient_descent.last
    difference = estimated(newton - descent)
    yield above(
        "last-layer",
        "the weights of the last layer are more like Newton's",
        difference,
        words=f"similarity of weights {newton.mean():.4f} (Newton) and {descent.mean():.4f} "
        f"(gradient descent), the difference {difference:.5f}",
        wanted=f"above 0 {BY}",
    )


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
    def of(run: Run, trained: Trained, samples: int) -> Asked:
        """The model on fresh prompts of its own task, read by read-outs fitted to others."""
        read_by = fitted_read_outs(run, trained)[:1]
        samples, times = (min(samples, QUICK[0]), QUICK[1]) if run.quick else (samples, QUERIES)
        n, d = trained.task.points - 1, trained.task.d
        T = times * d
        p = prompts_of(trained.task, samples, run.rng, further=T)
        queries, size = p.x[:, n:], (trained.model.n_layers, samples, n)
        truth = np.matvec(queries, p.w)
        weights = np.empty((*size, d))
        squares, nonlinear, error = np.empty((3, *size))
        for t in run.progress(range(1, n + 1), "examples"):
            x, y = (np.repeat(part[:, :t], T, axis=0) for part in (p.x, p.y))
            said = read(trained.model, read_by, x, y, queries.reshape(-1, d))[0, 1:, :, -1]
            said = said.reshape(-1, samples, T)
            w, _ = similarity.induced_weights(np.broadcast_to(queries, (*said.shape, d)), said)
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
    def newton(self) -> Likeness:
        """Cosines with the weights of Newton's method from αS, α = 1/λmax² of each prefix."""
        cosines = self._beside(lambda s: s.newton(NEWTON_STEPS, 1 / s.largest**2))
        return Likeness("Newton from αS", np.array(NEWTON_STEPS), cosines)

    @cached_property
    def gradient_descent(self) -> Likeness:
        """With those of gradient descent, at that of `FACTORS` that is most like the last layer."""

        def tried(factor: float) -> Likeness:
            cosines = self._beside(lambda s: s.gradient_descent(DESCENT_STEPS, factor / s.largest))
            label = f"gradient descent, step size {factor:g}/λmax"
            return Likeness(label, np.array(DESCENT_STEPS), cosines)

        return max(map(tried, FACTORS), key=lambda each: float(each.last.mean()))

    @cached_property
    def _spectra(self) -> list[PrefixSpectrum]:
        """For 1 to n examples; asked are the unit vectors, so that answers are weights."""
        x, y = self.prompts.x[:, None], self.prompts.y[:, None]
        m, n, d = self.weights.shape[1:]
        units = np.broadcast_to(np.eye(d), (m, d, d))
        return [PrefixSpectrum(x[..., :t, :], y[..., :t], units) for t in range(1, n + 1)]

    def _beside(self, predict: Callable[[PrefixSpectrum], np.ndarray]) -> np.ndarray:
        """Cosines (k, layers, m) with the weights of an algorithm, its answers to unit vectors."""
        found = [predict(spectrum)[..., -1] for spectrum in self._spectra]
        return weight_cosines(np.stack(found, axis=-2), self.weights)
