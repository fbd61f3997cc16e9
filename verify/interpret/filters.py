"""The residual filter of the layers of a model, on prefixes where least squares is determined.

These are prefixes of at least d examples, with noiseless labels. On these prefixes, the errors of
minimum-norm methods do not share a component, and (1 − z^p)^m distinguishes Newton from gradient
descent (`theory/regression/filters.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from theory.kinds import InputError, checked
from theory.regression.filters import Filter, fitted_filter, fitted_ridge, unexplained_fraction
from verify.evidence.statistics import Mean
from verify.interpret.probes import ProbedLayers

GROUPS = 8  # number of groups of prompts, which are left out in turn
LARGEST_ERROR = 0.5  # fraction of a label's variance; above it, a layer has no filter
MOST_KNOTS, FOR_EACH = 24, 40  # knots of a free filter; prompts per knot, against overfitting


@checked
def residual_filters(probed: ProbedLayers) -> ResidualFilters:
    """The residual filter (1 − z^p)^m that is nearest to the errors of each layer of a model.

    Let X be the at least d examples of a prefix, and S = XᵀX. An algorithm without noise multiplies
    the error along the eigenvector of S with eigenvalue λ by its residual filter, a function of
    z = λ/λmax. p = 2 and m = 2^k is the Newton–Schulz iteration from αS after k steps, and p = 1 is
    m steps of gradient descent with step size 1/λmax, or log₂ m steps of the Newton–Schulz
    iteration from αI. The filter is fitted to layers whose mean squared error on these prefixes is
    at most half of the variance of a label. The standard error of p is that of the jackknife, in
    which each of 8 groups of prompts is left out.

    Raises `ValueError` for fewer than 16 prompts, for prompts of fewer than d examples and for
    labels with noise.
    """
    m, n, d = probed.prompts.x.shape
    if m < 2 * GROUPS or n < d:
        raise InputError(
            f"probed is on {m} prompts of {n} examples in dimension {d}: give at least "
            f"{2 * GROUPS} prompts of at least {d} examples"
        )
    if probed.noise:
        raise InputError(f"probed has labels with noise {probed.noise}: give noiseless prompts")
    errors = ResidualErrors.of(probed)
    squares = (errors.errors**2).mean((1, 2)) / probed.variance
    chosen = [layer for layer, error in enumerate(squares) if error <= LARGEST_ERROR]
    return ResidualFilters(
        probed.names,
        {layer: errors.power(layer) for layer in chosen},
        {layer: errors.fitted(layer) for layer in chosen},
    )


@dataclass(frozen=True)
class ResidualFilters:
    """The filters (1 − z^p)^m of the layers of a model, by the index of the layer.

    `powers` are the exponents p with their standard errors. `filters` are the filters, with the
    fraction of the squared error that each leaves unexplained. Layers whose mean squared error
    exceeds half of the variance of a label have none.
    """

    names: tuple[str, ...]
    powers: dict[int, Mean]
    filters: dict[int, Filter]

    def to_json(self) -> dict[str, Any]:
        """The printed table as JSON values."""
        return {
            self.names[layer]: {
                "power": power.value,
                "log2 m": float(np.log2(self.filters[layer].steps)),
                "unexplained": self.filters[layer].unexplained,
            }
            for layer, power in self.powers.items()
        }

    def __str__(self) -> str:
        lines = ["residual filters (1 − z^p)^m; p = 2: Newton from αS, p = 1: gradient descent"]
        for layer, name in enumerate(self.names):
            if layer in self.powers:
                fit = self.filters[layer]
                words = f"p = {self.powers[layer]:.2f}, log₂ m = {np.log2(fit.steps):.1f}, "
                words += f"{fit.unexplained:.0%} unexplained"
            else:
                words = "undecided: the error is too large"
            lines.append(f"  {name:12} {words}")
        return "\n".join(lines)


@dataclass(frozen=True)
class ResidualErrors:
    """Errors of the layers of a model on the prefixes of prompts with at least d examples.

    `errors` (layers + 1, m, t) are those of linear probes of the embedding and of each layer. There
    are m prompts with t such prefixes each, and d is the dimension of the inputs.

    For the examples X of a prefix, let λ be the d eigenvalues of XᵀX, and λmax the largest.
    `components` (m, t, d) are the components of the least-squares prediction along the d
    eigenvectors of XᵀX, and `z` (m, t, d) are the ratios λ/λmax.
    """

    errors: np.ndarray
    components: np.ndarray
    z: np.ndarray

    @staticmethod
    def of(probed: ProbedLayers, predictions: np.ndarray | None = None) -> ResidualErrors:
        """The errors of the layers of a probed model, or of given `predictions` on its prompts."""
        d, spectrum = probed.prompts.x.shape[-1], probed.algorithms.spectrum
        predictions = probed.predictions if predictions is None else predictions
        eigenvalues = spectrum.eigenvalues[:, d:]
        return ResidualErrors(
            (probed.algorithms.labels - predictions)[..., d:],
            spectrum.components[:, d:],
            eigenvalues / eigenvalues[..., -1:],
        )

    def fitted(self, layer: int, power: float | None = None, without: int | None = None) -> Filter:
        """The filter (1 − z^p)^m that is nearest to the errors of a layer.

        z is the ratio of an eigenvalue of XᵀX to the largest eigenvalue, for the examples X of a
        prefix. p and m are fitted; if `power` is given, p = `power` and only m is fitted. If
        `without` is given, the group of prompts with this number is left out.
        """
        return fitted_filter(*self._rows(layer, without), power)

    def power(self, layer: int) -> Mean:
        """The exponent p of the filter fitted to a layer, with its jackknife standard error."""
        return jackknifed(lambda group: self.fitted(layer, without=group).power)

    def _rows(self, layer: int, without: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        kept = np.arange(len(self.z)) % GROUPS != without
        d = self.z.shape[-1]
        components, z = (part[kept].reshape(-1, d) for part in (self.components, self.z))
        return self.errors[layer, kept].ravel(), components, z

    def ridge(self, layer: int) -> float:
        """The fraction of a layer's squared error that the best ridge filter does not explain."""
        return fitted_ridge(*self._rows(layer, None))[1]

    def after(self, more: int) -> ResidualErrors:
        """The same errors, restricted to prefixes of exactly d + `more` examples.

        d is the dimension of the inputs.
        """
        at = slice(more, more + 1)
        return ResidualErrors(self.errors[..., at], self.components[:, at], self.z[:, at])

    def no_filter(self, layer: int, without: int | None = None) -> float:
        """The fraction of a layer's squared error that no residual filter explains.

        For the examples X of a prefix, a filter is a function R_t(λ/λmax) of the eigenvalues λ of
        XᵀX, where λmax is the largest eigenvalue. There is a separate function R_t for each number
        t of examples of the prefix. If `without` is given, the group of prompts with this number is
        left out.
        """
        kept = np.arange(len(self.z)) % GROUPS != without
        knots = min(MOST_KNOTS, int(kept.sum()) // FOR_EACH)
        left = total = 0.0
        for t in range(self.z.shape[1]):
            errors = self.errors[layer, kept, t]
            squares = float((errors**2).sum())
            left += squares * unexplained_fraction(
                errors, self.components[kept, t], self.z[kept, t], knots
            )
            total += squares
        return left / total


def jackknifed(value: Any) -> Mean:
    """A number computed from all prompts, with its jackknife standard error over groups of prompts.

    The number is `value(None)`, and `value(g)` is the number computed without group g of the
    prompts.
    """
    without = np.array([value(group) for group in range(GROUPS)])
    spread = np.sqrt((GROUPS - 1) / GROUPS * ((without - without.mean()) ** 2).sum())
    return Mean(float(value(None)), float(spread), GROUPS - 1)
