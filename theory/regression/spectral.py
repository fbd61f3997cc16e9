"""Predictions of all methods and step counts on all prefixes, by one `eigh` per prefix.

Gradient descent, Newton, hyperpower, Chebyshev, ridge and OLS all have weights w = φ(S) b with φ(λ)
= (1 − R(λ))/λ, where R is the residual factor in `theory.regression.residuals`. With S = V Λ Vᵀ,

    ⟨w, x_next⟩ = Σ_i (1 − R(λ_i)) · c_i,        c_i = ⟨v_i, x_next⟩⟨v_i, b⟩/λ_i,

so that after one `eigh` the cost does not depend on the number of steps. Conjugate gradients and
online gradient descent are not of this form.

Shape glossary: `…` leading dimensions, `n` examples, `d` features, prefixes t = 0, …, n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod

import numpy as np

from theory.kinds import InputError, Inputs, Labels, PositiveArray, Query, Steps, checked
from theory.machine import fits_in_memory
from theory.regression import residuals
from theory.regression.hyperpower import Order
from theory.regression.newton import Start
from theory.waiting import announced

BLOCK = 2**16
"""The number of entries in a block: half a MiB of float64, which stays in the cache."""
TEMPORARY = 16
"""Arrays of a block, or of all step counts for one prefix, that exist at a time, at most."""


@checked
class PrefixSpectrum:
    """The eigenvalues of XᵀX for all prefixes of a prompt, and predictions of several methods.

    The examples are the rows of x (…, n, d), with labels y (…, n), and the query is x_query (…, d).
    For t = 0, …, n, let X_t be the matrix of the first t examples and y_t the vector of their
    labels. Let S_t = X_tᵀX_t and b_t = X_tᵀy_t. Let x_next be example t + 1, or the query for
    t = n. The object has two attributes:

        eigenvalues  (…, n + 1, d), the eigenvalues λ_i of S_t, ascending, and exactly 0 on the
                     null space of S_t
        components   (…, n + 1, d), c_i = ⟨x_next, v_i⟩⟨v_i, b_t⟩/λ_i for the unit eigenvector v_i
                     of S_t, and 0 for λ_i = 0; their sum is the least-squares prediction at x_next

    Each method of this class returns predictions at x_next. The last axis of the predictions
    indexes t. For a method with several step counts or ridge penalties, the first axis indexes
    these. A step size or another real parameter is one number or broadcasts to (…, n + 1), for
    example `1 / spectrum.largest`.

    The rank of S_t is at most min(t, d), so all but the largest min(t, d) eigenvalues are 0. Each
    of these min(t, d) eigenvalues counts as 0 if it is at most (t + d)·eps·tr(S_t), a bound on the
    rounding errors of S_t and of its decomposition [Higham2002, Chapter 3]. Singular values of X_t
    below √((t + d)·eps)·‖X_t‖_F therefore count as 0; the threshold of `theory.regression.ols` is
    smaller. As b_t is in range(S_t), directions of the null space contribute exactly 0.

    Memory is O(n·d) for each prompt. Predictions of a divergent method that overflow are ±inf; they
    are NaN if terms of both signs overflow. Raises `ValueError` if S_t or the least-squares
    prediction overflows.
    """

    def __init__(self, x: Inputs, y: Labels, x_query: Query) -> None:
        leading = np.broadcast_shapes(x.shape[:-2], x_query.shape[:-1])
        n, d = x.shape[-2:]
        with np.errstate(over="ignore"):
            # tr S_n bounds every entry of every S_t.
            if not np.isfinite(np.vecdot(x, x).sum(axis=-1)).all():
                raise InputError(
                    f"XᵀX overflows (the largest entry of x is {np.abs(x).max():.3g}): rescale x"
                )
        following = np.empty((*leading, n + 1, d))
        following[..., :-1, :] = x
        following[..., -1, :] = x_query

        self.eigenvalues = np.zeros((*x.shape[:-2], n + 1, d))
        self.components = np.zeros((*leading, n + 1, d))
        with np.errstate(over="ignore", invalid="ignore"):
            self._short_prefixes(x, y, following)
            self._long_prefixes(x, y, following)
        if not np.isfinite(self.components).all():
            raise InputError(
                f"predictions overflow (the largest entries of x, y and x_query are "
                f"{np.abs(x).max():.3g}, {np.abs(y).max():.3g} and {np.abs(x_query).max():.3g}): "
                "rescale x, y and x_query"
            )
        # Several queries of one prompt use the same eigenvalues, without a copy.
        self.eigenvalues = np.broadcast_to(self.eigenvalues, self.components.shape)

    def _short_prefixes(self, x: np.ndarray, y: np.ndarray, following: np.ndarray) -> None:
        """Prefixes t < d, from XXᵀ (t, t), which has the non-zero eigenvalues of S.

        With XXᵀ = U Λ Uᵀ the eigenvectors of S are XᵀuΛ^(−1/2), so that
        c = ⟨u, X x_next⟩⟨u, y⟩/λ. The other d − t eigenvalues are exactly 0.
        """
        n, d = x.shape[-2:]
        few = x[..., : d - 1, :]
        kernel = few @ few.swapaxes(-1, -2)
        for t in range(1, min(n, d - 1) + 1):
            eigenvalues, U = np.linalg.eigh(kernel[..., :t, :t])
            images = np.matvec(few[..., :t, :], following[..., t, :])
            product = np.vecmat(images, U) * np.vecmat(y[..., :t], U)
            self._store(np.array([t]), eigenvalues[..., None, :], product[..., None, :])

    def _long_prefixes(self, x: np.ndarray, y: np.ndarray, following: np.ndarray) -> None:
        """Prefixes t ≥ d, from S (d, d), in blocks that fit the cache."""
        n, d = x.shape[-2:]
        few = x[..., : d - 1, :].swapaxes(-1, -2)
        S, b = few @ few.swapaxes(-1, -2), np.matvec(few, y[..., : d - 1])
        size = max(1, BLOCK // max(1, S.size))
        for first in range(d, n + 1, size):
            t = np.arange(first, min(first + size, n + 1))
            rows = x[..., t - 1, :]
            outer = rows[..., :, None] * rows[..., None, :]
            outer[..., 0, :, :] += S
            grams = np.cumsum(outer, axis=-3)
            moments = rows * y[..., t - 1, None]
            moments[..., 0, :] += b
            moments = np.cumsum(moments, axis=-2)
            S, b = grams[..., -1, :, :], moments[..., -1, :]
            eigenvalues, V = np.linalg.eigh(grams)
            product = np.vecmat(following[..., t, :], V) * np.vecmat(moments, V)
            self._store(t, eigenvalues, product)

    def _store(self, t: np.ndarray, eigenvalues: np.ndarray, product: np.ndarray) -> None:
        """Store the eigenvalues (…, len(t), r) and product/λ (0 if λ = 0) of the prefixes t."""
        rank, d = eigenvalues.shape[-1], self.eigenvalues.shape[-1]
        trace = np.maximum(eigenvalues, 0).sum(axis=-1)
        rounding = (t + d) * np.finfo(np.float64).eps * trace
        null = eigenvalues <= rounding[..., None]
        block = (..., slice(t[0], t[-1] + 1), slice(d - rank, d))
        self.eigenvalues[block] = np.where(null, 0, eigenvalues)
        np.divide(product, eigenvalues, out=self.components[block], where=~null)

    @property
    def largest(self) -> np.ndarray:
        """The largest eigenvalue of S_t = X_tᵀX_t for t = 0, …, n, in shape (…, n + 1).

        X_t is the matrix of the first t of n examples. If S_t = 0, the entry is 1, so that `1 /
        spectrum.largest**2` is always finite. It is a valid alpha of the method `newton` with start
        "gram", which needs alpha < 2/λmax² for the largest eigenvalue λmax of S_t.
        """
        top = self.eigenvalues[..., -1]
        return np.where(top > 0, top, 1)

    @property
    def smallest(self) -> np.ndarray:
        """The smallest non-zero eigenvalue of S_t = X_tᵀX_t for t = 0, …, n, in shape (…, n + 1).

        X_t is the matrix of the first t of n examples. If S_t = 0, the entry is 1.
        """
        least = np.where(self.eigenvalues > 0, self.eigenvalues, np.inf).min(axis=-1)
        return np.where(least < np.inf, least, 1)

    def ols(self) -> np.ndarray:
        """The predictions (…, n + 1) of minimum-norm least squares from the first t examples.

        Entry t = 0, …, n of the last axis is the prediction of the label of example t + 1, or of
        the query if t = n.
        """
        return self.components.sum(axis=-1)

    @checked
    def ridge(self, penalties: PositiveArray) -> np.ndarray:
        """The predictions (len(penalties), …, n + 1) of ridge regression, for each of `penalties`.

        Ridge regression with penalty μ minimises ‖X_t w − y_t‖² + μ‖w‖² over the weights w, where
        X_t contains the first t of n examples and y_t their labels. Entry t of the last axis is the
        prediction of the label of example t + 1, or of the query if t = n. Raises ValueError if the
        predictions do not fit in memory.
        """
        penalties = np.atleast_1d(penalties)
        if penalties.ndim > 1:
            raise InputError(f"penalties have shape {penalties.shape}: give one row of numbers")
        self._fit_in_memory(len(penalties), "penalties")
        return self._predict(residuals.ridge_fitted, penalties)

    @checked
    def gradient_descent(self, steps: Iterable[Steps], step_size: PositiveArray) -> np.ndarray:
        """Predictions (len(steps), …, n + 1) of gradient descent after each step count in `steps`.

        A step is w ← w − step_size·X_tᵀ(X_t w − y_t) from w = 0, where X_t contains the first t of
        n examples and y_t their labels. Entry t of the last axis is the prediction of the label of
        example t + 1, or of the query if t = n.
        """

        def fitted(eigenvalue: np.ndarray, k: np.ndarray, step_size: np.ndarray) -> np.ndarray:
            return residuals.gradient_descent_fitted(eigenvalue, k, step_size)

        return self._predict(fitted, self._counts(steps), self._parameter("step_size", step_size))

    @checked
    def newton(
        self, steps: Iterable[Steps], alpha: PositiveArray, start: Start = "gram"
    ) -> np.ndarray:
        """Predictions (len(steps), …, n + 1) of Newton–Schulz after each step count in `steps`.

        Let X_t contain the first t of n examples, let y_t be their labels, and let S_t = X_tᵀX_t. A
        step is M ← 2M − M S_t M, from M₀ = alpha·S_t (start "gram") or M₀ = alpha·I (start
        "identity"). The weights after k steps are M_k X_tᵀy_t. Entry t of the last axis is the
        prediction of the label of example t + 1, or of the query if t = n.
        """

        def fitted(eigenvalue: np.ndarray, k: np.ndarray, alpha: np.ndarray) -> np.ndarray:
            return residuals.newton_fitted(eigenvalue, k, alpha, start)

        return self._predict(fitted, self._counts(steps), self._parameter("alpha", alpha))

    @checked
    def hyperpower(
        self, steps: Iterable[Steps], order: Order, alpha: PositiveArray, start: Start = "gram"
    ) -> np.ndarray:
        """Predictions (len(steps), …, n + 1) of the hyperpower method after each count in `steps`.

        Let X_t contain the first t of n examples, let y_t be their labels, and let S_t = X_tᵀX_t. A
        step is M ← M (I + E + … + E^(p−1)) with E = I − S_t M and p = `order`, from M₀ = alpha·S_t
        (start "gram") or M₀ = alpha·I (start "identity"). The weights after k steps are M_k
        X_tᵀy_t. Entry t of the last axis is the prediction of the label of example t + 1, or of the
        query if t = n.
        """

        def fitted(eigenvalue: np.ndarray, k: np.ndarray, alpha: np.ndarray) -> np.ndarray:
            return residuals.hyperpower_fitted(eigenvalue, k, order, alpha, start)

        return self._predict(fitted, self._counts(steps), self._parameter("alpha", alpha))

    @checked
    def chebyshev(
        self, steps: Iterable[Steps], smallest: PositiveArray, largest: PositiveArray
    ) -> np.ndarray:
        """Predictions (len(steps), …, n + 1) of Chebyshev's method after each count in `steps`.

        The method is the Chebyshev semi-iteration for eigenvalues of S_t = X_tᵀX_t in the interval
        [smallest, largest], where X_t contains the first t of n examples. Entry t of the last axis
        is the prediction of the label of example t + 1, or of the query if t = n.
        """
        return self._predict(
            residuals.chebyshev_fitted,
            self._counts(steps),
            self._parameter("smallest", smallest),
            self._parameter("largest", largest),
        )

    def _counts(self, steps: Iterable[int]) -> np.ndarray:
        """`steps` as int64 array of at least one step count; raises ValueError for too many."""
        counts = steps if isinstance(steps, range) else list(steps)
        if not counts:
            raise InputError("steps is empty: give at least one step count")
        self._fit_in_memory(len(counts), "numbers of steps")
        return np.array(counts, dtype=np.int64)

    def _fit_in_memory(self, k: int, what: str) -> None:
        """Raises ValueError if the predictions for k numbers of this kind do not fit in memory."""
        *leading, d = self.eigenvalues.shape
        prefixes = prod(leading)
        block = min(max(BLOCK, k * d), k * d * prefixes)
        fits_in_memory(
            f"predictions for {k} {what} and {prefixes} prefixes",
            8 * (k * prefixes + TEMPORARY * block),
            f"give fewer {what}, or fewer prompts",
        )

    def _parameter(self, name: str, value: np.ndarray) -> np.ndarray:
        """A parameter as rows (…·(n + 1), 1), one per prefix; raises ValueError for bad shapes."""
        prefixes = self.eigenvalues.shape[:-1]
        try:
            return np.broadcast_to(value, prefixes).reshape(-1, 1)
        except ValueError:
            raise InputError(
                f"{name} has shape {value.shape}, which does not broadcast to the shape {prefixes} "
                "of the prefixes: give one number, or one number per prefix"
            ) from None

    def _predict(
        self, fitted: Callable[..., np.ndarray], steps: np.ndarray, *parameters: np.ndarray
    ) -> np.ndarray:
        """Σ_i fitted(λ_i, step, parameters)·c_i for every step, in blocks of prefixes."""
        *prefixes, d = self.eigenvalues.shape
        eigenvalues, components = self.eigenvalues.reshape(-1, d), self.components.reshape(-1, d)
        predictions = np.empty((len(steps), len(components)))
        size = max(1, BLOCK // (len(steps) * d))
        for first in announced(range(0, len(components), size), "predictions"):
            block = slice(first, first + size)
            part = components[block]
            weight = fitted(
                eigenvalues[block], steps[:, None, None], *(value[block] for value in parameters)
            )
            with np.errstate(over="ignore", invalid="ignore"):
                if not np.isfinite(weight).all():
                    # A divergent direction with component 0 contributes 0, not inf·0.
                    weight = np.where(part == 0, 0, weight)
                predictions[:, block] = np.vecdot(weight, part)
        return predictions.reshape(len(steps), *prefixes)
