"""The claim `induced-weights`: trained layers predict linearly, with weights similar to Newton's.

The induced weights of a layer are the least-squares fit of its predictions at many queries.
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
from verify.regression.trained.probes import fitted_probes, read
from verify.regression.trained.similarities import (
    DESCENT_STEPS,
    EXPECTED,
    NEWTON_STEPS,
    Likeness,
    growth,
)

QUERIES = 10  # queries per coordinate, after the same examples
QUICK = 20, 4  # largest number of prompts, and queries per coordinate, in a quick run


@claim(picture="verify.regression.trained.pictures:weights_picture")
def induced_weights(
    run: Run,
    *,
    checkpoint: Checkpoint = "regression-small",
    samples: Annotated[
        int, option("number of fresh prompts, each with 10·d queries", min=20, max=10**4)
    ] = 100,
) -> Iterator[Finding]:
    """Published observation: given the examples, the predictions of a trained transformer are
    nearly linear in the query. The number of Newton–Schulz steps that best match its induced
    weights grows linearly with the layer, and the number of gradient steps that best match the
    induced weights grows exponentially.

    The model predicts the labels of many queries after the same examples. A linear probe is fitted
    to each layer, and its predictions are those of the layer. The induced weights of a layer are
    the weights of the linear function of the query that fits these predictions best, by least
    squares.

    Two things are tested. First, for every number of examples, on most prompts, the mean square of
    the residual of this fit at the last layer is less than half of the mean squared error of the
    last layer. Second, for each layer, consider the number of steps of an algorithm for which the
    weights of the algorithm have the largest mean cosine with the induced weights. From the first
    layer whose error is below that of the constant prediction 0, this number grows linearly with
    the layer for the Newton–Schulz iteration and exponentially for gradient descent. The
    Newton–Schulz iteration starts from αS, where S = XᵀX for the examples X, α = 1/λmax², and λmax
    is the largest eigenvalue of S.
    """
    found = {}
    for trained in models_of(checkpoint, TRANSFORMER):
        induced = Induced.of(run, trained, samples)
        yield from labelled(trained.name, [linear_in_the_query(induced)])
        yield from labelled(trained.name, like_those_of_newton(run, induced))
        found[trained.name] = induced.newton, induced.gradient_descent
    run.draw(found)


def linear_in_the_query(induced: Induced) -> Finding:
    """Counts, for every number of examples, the prompts on which predictions are mostly linear.

    Prompts are counted because a few prompts dominate the means.
    """
    linear = induced.error[-1] > 2 * induced.nonlinear[-1]
    verdicts = [sign_of(*estimated(mostly - 0.5)) for mostly in linear.T]
    # The constant 0 is also linear in the query.
    verdicts.append(sign_of(*estimated((induced.silent - induced.error[-1]).mean(-1))))
    fractions = induced.nonlinear[-1].mean(0) / induced.error[-1].mean(0)
    explained = ", ".join(f"{each:.3f}" for each in induced.explained.mean((1, 2)))
    least = float(linear.mean(0).min())
    return Finding(
        "linear",
        "fraction of prompts on which less than half of the last layer's squared error is "
        "nonlinear in the query",
        "trained",
        least,
        0.5,
        Verdict.together(verdicts),
        f"at least {least:.0%} for each number of examples; the nonlinear part is at most "
        f"{fractions.max():.0%} of the mean squared error; R² of the linear fit is {explained} for "
        "the layers in order",
        f"above one half {BY} for each number of examples from 1 to {len(fractions)}, and an error "
        "below that of the constant prediction 0",
    )


def like_those_of_newton(run: Run, induced: Induced) -> Iterator[Finding]:
    """Yields findings on the growth of the matching steps and the similarity of the last layer."""
    label = "are most similar to the layer's induced weights (the linear fit of its predictions)"
    first = induced.first
    if first is None:
        name = f"number of steps after which the weights of Newton {label}"
        words = "no layer has less error than the constant prediction 0"
        yield at_least("newton", name, "trained", 0, 1, words=words, wanted="one such layer")
        return
    both = induced.newton, induced.gradient_descent
    for (kind, wanted), each in zip(EXPECTED.items(), both, strict=True):
        setting = f"{each.algorithm}, from layer {first + 1} on"
        later = Likeness(setting, each.steps, each.alike[:, first:])
        name = f"number of steps after which the weights of {kind} {label}"
        yield growth(run, kind.lower().replace(" ", "-"), name, later, wanted)
    newton, descent = induced.newton.last, induced.gradient_descent.last
    difference = estimated(newton - descent)
    yield above(
        "last-layer",
        "(similarity of the last layer's induced weights, the linear fit of its predictions, to "
        "the weights of Newton) − (similarity to the weights of gradient descent)",
        difference,
        words=f"{newton.mean():.4f} − {descent.mean():.4f} = {difference:.5f}",
        wanted=f"a difference above 0 {BY}",
    )


@dataclass(frozen=True)
class Induced:
    """The weights that the layers of a model induce after the first t examples of m prompts, t ≤ n.

    The induced weights are the least-squares fit of the predictions at T queries by linear
    functions of the query. `weights` (layers, m, n, d) are the induced weights for t = 1, …, n,
    where d is the dimension of the queries. Three attributes are mean squares over the T queries:
    `predicted` (layers, m, n) of the predictions, `error` (layers, m, n) of the errors, and
    `silent` (m, 1) of the errors of the constant 0. `nonlinear` (layers, m, n) is the sum of
    squares of the residuals of the linear fit divided by T − d. The expectation of this quotient
    does not depend on T.
    """

    prompts: Prompts
    weights: np.ndarray
    predicted: np.ndarray
    nonlinear: np.ndarray
    error: np.ndarray
    silent: np.ndarray

    @staticmethod
    def of(run: Run, trained: Trained, samples: int) -> Induced:
        """The induced weights of a trained model on fresh prompts of its task.

        The predictions of layers are those of linear probes, which are fitted to other prompts.
        `samples` is the number of fresh prompts.
        """
        probes = fitted_probes(run, trained)[:1]
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
            predicted = read(trained.model, probes, x, y, queries.reshape(-1, d))[0, 1:, :, -1]
            predicted = predicted.reshape(-1, samples, T)
            w, _ = similarity.induced_weights(
                np.broadcast_to(queries, (*predicted.shape, d)), predicted
            )
            weights[:, :, t - 1] = w
            squares[:, :, t - 1] = (predicted**2).mean(-1)
            nonlinear[:, :, t - 1] = ((predicted - np.matvec(queries, w)) ** 2).sum(-1) / (T - d)
            error[:, :, t - 1] = ((predicted - truth) ** 2).mean(-1)
        silent = (truth**2).mean(-1, keepdims=True)
        return Induced(p, weights, squares, nonlinear, error, silent)

    @property
    def explained(self) -> np.ndarray:
        """The R² (layers, m, n) of the linear fit to the predictions, corrected for overfitting.

        There is an R² for each layer, each of m prompts, and each number of examples from 1 to n.
        The correction accounts for the number d of fitted weights.
        """
        return 1 - self.nonlinear / np.maximum(self.predicted, np.finfo(float).tiny)

    @property
    def first(self) -> int | None:
        """The index of the first layer with less error than the constant 0, or None."""
        gains = (self.silent - self.error).mean(-1)
        better = [sign_of(*estimated(gain)) is Verdict.HOLDS for gain in gains]
        return better.index(True) if any(better) else None

    @cached_property
    def newton(self) -> Likeness:
        """Cosines between the induced weights of layers and the weights of Newton's method.

        The induced weights of a layer are the least-squares fit of its predictions by linear
        functions of the query. There is a cosine for each number of Newton steps. For the examples
        X of a prefix and S = XᵀX, the iteration starts from αS, where α = 1/λmax² and λmax is the
        largest eigenvalue of S.
        """
        cosines = self._beside(lambda s: s.newton(NEWTON_STEPS, 1 / s.largest**2))
        return Likeness("Newton from αS", np.array(NEWTON_STEPS), cosines)

    @cached_property
    def gradient_descent(self) -> Likeness:
        """Cosines between the induced weights of layers and the weights of gradient descent.

        The induced weights of a layer are the least-squares fit of its predictions by linear
        functions of the query. There is a cosine for each number of gradient steps. The step size
        is chosen such that gradient descent is most similar to the last layer.
        """

        def tried(factor: float) -> Likeness:
            cosines = self._beside(lambda s: s.gradient_descent(DESCENT_STEPS, factor / s.largest))
            label = f"gradient descent, step size {factor:g}/λmax"
            return Likeness(label, np.array(DESCENT_STEPS), cosines)

        return max(map(tried, FACTORS), key=lambda each: float(each.last.mean()))

    @cached_property
    def _spectra(self) -> list[PrefixSpectrum]:
        """The spectra for 1 to n examples; queries are unit vectors, so predictions are weights."""
        x, y = self.prompts.x[:, None], self.prompts.y[:, None]
        m, n, d = self.weights.shape[1:]
        units = np.broadcast_to(np.eye(d), (m, d, d))
        return [PrefixSpectrum(x[..., :t, :], y[..., :t], units) for t in range(1, n + 1)]

    def _beside(self, predict: Callable[[PrefixSpectrum], np.ndarray]) -> np.ndarray:
        """Cosines (k, layers, m) with the predictions of an algorithm at unit vectors."""
        found = [predict(spectrum)[..., -1] for spectrum in self._spectra]
        return weight_cosines(np.stack(found, axis=-2), self.weights)
