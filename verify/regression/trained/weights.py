"""The weights by which layers answer: what fits their answers to many queries best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from theory.regression import PrefixSpectrum, Prompts, induced_weights, weight_cosines
from verify.claim import Run
from verify.evidence.checkpoints import Trained
from verify.evidence.statistics import estimated, sign_of
from verify.finding import Verdict
from verify.regression.trained.predictors import FACTORS, prompts_of
from verify.regression.trained.probes import fitted_read_outs, read
from verify.regression.trained.similarities import DESCENT_STEPS, NEWTON_STEPS, Likeness

QUERIES = 10  # after the same examples, for each coordinate


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
        n, d = trained.task.points - 1, trained.task.d
        T = QUERIES * d
        p = prompts_of(trained.task, samples, run.rng, further=T)
        queries, size = p.x[:, n:], (trained.model.n_layers, samples, n)
        truth = np.matvec(queries, p.w)
        weights = np.empty((*size, d))
        squares, nonlinear, error = np.empty((3, *size))
        for t in run.progress(range(1, n + 1), "examples"):
            x, y = (np.repeat(part[:, :t], T, axis=0) for part in (p.x, p.y))
            said = read(trained.model, read_by, x, y, queries.reshape(-1, d))[0, 1:, :, -1]
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
    def newton(self) -> Likeness:
        """Cosines with the weights of Newton's method from αS, α = 1/λmax² of each prefix."""
        cosines = self._beside(lambda s: s.newton(NEWTON_STEPS, 1 / s.largest**2))
        return Likeness("Newton from αS", np.array(NEWTON_STEPS), cosines)

    @cached_property
    def gradient_descent(self) -> Likeness:
        """With those of gradient descent, at that step size of `FACTORS` which can be most like the
        last layer."""

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
