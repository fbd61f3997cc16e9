"""Convergence of the recursions, and their distance to least squares."""

from __future__ import annotations

from dataclasses import replace
from math import frexp
from typing import NamedTuple

import numpy as np

from theory.regression import Start, safe_step_size
from theory.regression.by_definition import least_squares
from theory.regression.matrices import identity, matrix_power, start_matrix
from theory.regression.ols import rank_cut
from verify.domains import Rational
from verify.domains.base import Domain, Matrix
from verify.evidence.agreement import float_agreement, recursion_by_balls, size_of
from verify.evidence.examples import Examples
from verify.finding import Finding, Verdict


def safe_alpha(x: np.ndarray, start: Start) -> float:
    """A power of two alpha for which Newton–Schulz converges on all prompts x (…, n, d).

    `alpha` is the largest power of two that is at most 1/‖S‖_F² for the start "gram", and at most
    1/‖S‖_F for the start "identity", for every S = XᵀX, where X is the matrix of the inputs of a
    prompt. The iteration converges because ‖S‖_F is at least the largest eigenvalue of S. A power
    of two is exact in every number system.
    """
    return safe_step_size(x, "newton", start)


def largest_eigenvalue(x: np.ndarray) -> float:
    """The largest eigenvalue of XᵀX over all prompts, for the inputs X of a prompt."""
    return float(np.linalg.eigvalsh(np.swapaxes(x, -1, -2) @ x).max())


def newton_converges(x: np.ndarray, alpha: float, start: Start) -> Finding:
    """Checks that the Newton–Schulz iteration converges for every prompt x (…, n, d).

    The condition is 0 < alpha < 2/λmax² for start "gram", resp. 0 < alpha < 2/λmax for "identity",
    where λmax is the largest eigenvalue of XᵀX over all prompts.
    """
    power, sign = (2, "²") if start == "gram" else (1, "")
    largest = largest_eigenvalue(x) ** power
    why = f"squares the residual, which is {abs(1 - alpha * largest):.3g} ≥ 1 and does not decrease"
    return _converges("α", alpha, 2 / largest, sign, why)


def descent_converges(x: np.ndarray, eta: float) -> Finding:
    """Checks that gradient descent with step size `eta` converges for every prompt x (…, n, d).

    The condition is 0 < eta < 2/λmax, where λmax is the largest eigenvalue of XᵀX over all prompts.
    """
    largest = largest_eigenvalue(x)
    return _converges("η", eta, 2 / largest, "", f"multiplies the error by {1 - eta * largest:.3g}")


def _converges(symbol: str, value: float, limit: float, power: str, why: str) -> Finding:
    verdict, detail = Verdict.of(0 < value < limit), ""
    if verdict is Verdict.FAILS:
        detail = f"in the top eigendirection each step {why}; "
        detail += f"give {symbol} below {limit:.3g} for convergence"
    name, words = (
        f"condition 0 < {symbol} < 2/λmax{power} of convergence",
        f"{symbol} = {value:.3g}",
    )
    wanted = f"{symbol} below {limit:.3g}"
    return Finding("converges", name, "float", value, limit, verdict, words, wanted, detail)


class FromOls(NamedTuple):
    """Predictions of a transformer, compared with the predictions of least squares.

    There is an entry for each prompt. ŷ is the prediction of the transformer at the query x_q, and
    x_qᵀw is the least-squares prediction, where w are the least-squares weights of minimum norm.
    The transformer computes an iteration from a matrix M₀. Let S = XᵀX for the examples X, and let
    E = I − S M₀ be the residual of M₀. After the iteration, the residual is E^p.

    least     x_qᵀw, computed over Q and rounded to float64
    distance  |ŷ − x_qᵀw|
    left      |x_qᵀE^p w|, the distance in exact arithmetic
    rounding  the bound on the rounding error of the transformer
    holds     the finding that |ŷ − x_qᵀ(w − E^p w)| is at most this bound on the rounding error
    """

    least: np.ndarray
    distance: np.ndarray
    left: np.ndarray
    rounding: np.ndarray
    holds: Finding

    @property
    def bound(self) -> np.ndarray:
        """The bound on the distance: `left` plus `rounding`."""
        return self.left + self.rounding


def from_ols(
    examples: Examples,
    in_float: tuple[np.ndarray, np.ndarray],
    power: int,
    scale: float,
    start: Start,
) -> FromOls:
    """Compares predictions x_qᵀM Xᵀy, for M with S M = I − E^power, with ordinary least squares.

    S = XᵀX for the examples X with labels y, x_q is the query, and E = I − S M₀, with M₀ = scale·S
    (start "gram") or scale·I ("identity"). `in_float` contains the predictions of a transformer in
    float64 and bounds on their rounding errors. All other numbers are computed over ℚ and in balls.
    """

    def both(domain: Domain, X: Matrix, y: Matrix, Q: Matrix, _: int) -> Matrix:
        S, w = X.transpose() * X, _determined(domain, X, y)
        E = identity(domain, S.nrows()) - start_matrix(domain, S, scale, start) * S
        left = matrix_power(domain, E, power) * w
        rows = zip((Q * w).tolist(), (Q * (w - left)).tolist(), (Q * left).tolist(), strict=True)
        return domain.matrix([[entry for (entry,) in row] for row in rows])

    shape = (*in_float[0].shape, 3)
    # With a tiny scale, E^p w differs from w only in its last bits.
    steps = power.bit_length() + abs(frexp(scale)[1]) + 200
    values, radii = recursion_by_balls(both, *examples, steps)
    (least, fitted, left), radii = np.moveaxis(values.reshape(shape), -1, 0), radii.reshape(shape)
    return FromOls(
        least,
        np.abs(in_float[0] - least),
        np.abs(left),
        in_float[1] + radii.sum(-1),
        float_agreement("", in_float, (fitted, radii[..., 1])),
    )


def _determined(domain: Domain, X: Matrix, y: Matrix) -> Matrix:
    """The minimum-norm solution without directions whose singular value is a rounding error.

    Centred columns with too few rows have such directions, although S is regular over Q. On these
    directions, (I − αS²)^P is 1 up to (10^−16 κ)^4, where κ is the condition number on the other
    directions. On the other directions, it is at most e^−200.
    """
    w, x = least_squares(domain, X, y), np.array([[float(e) for e in row] for row in X.tolist()])
    singular = np.linalg.svd(x, compute_uv=False)
    kept = singular[singular > rank_cut(x) * singular[0]]
    if len(kept) == Rational().weights(x).rank():
        return w
    alpha = safe_alpha(x, "gram")
    P = 2 ** int(np.ceil(np.log2(200 / alpha) - 4 * np.log2(kept[-1])))
    S = X.transpose() * X
    E = identity(domain, S.nrows()) - start_matrix(domain, S, alpha, "gram") * S
    return w - matrix_power(domain, E, P) * w


def distance_to_ols(
    examples: Examples, in_float: tuple[np.ndarray, np.ndarray], k: int, alpha: float, start: Start
) -> Finding:
    """The finding on the distance of the predictions after k Newton steps from least squares.

    The distance is compared with its exact value |x_qᵀE^(2^k) w|, where x_q is the query and w are
    the least-squares weights of minimum norm. For the examples X and S = XᵀX, E = I − S M₀ with M₀
    = alpha·S (start "gram") or alpha·I ("identity").
    """
    found = from_ols(examples, in_float, 2**k, alpha, start)
    relatively = relative(found)
    return replace(
        found.holds,
        id="ols",
        name=f"distance of the prediction after k = {k} steps from the least-squares prediction "
        "x_qᵀw, relative to the latter",
        measured={"distance": relatively["distance"], "off by": found.holds.measured},
        bound={"distance": relatively["left"], "off by": found.holds.bound},
        words=found.holds.words.replace(
            "relative error",
            f"{relatively['distance']:.2e}; compared with the distance x_qᵀE^(2^k)w of k exact "
            "steps, where E = I − S M₀, it has the relative error",
        ),
        wanted=f"the distance {relatively['left']:.2e} of k exact steps, with a relative error "
        f"{found.holds.wanted}",
    )


def relative(found: FromOls) -> dict[str, float]:
    """The largest `distance`, `left` and `rounding`, relative to the least-squares predictions."""
    sizes = size_of(found.least)
    parts = {"distance": found.distance, "left": found.left, "rounding": found.rounding}
    return {name: float((part / sizes).max()) for name, part in parts.items()}
