"""When the recursions converge, and how far they then are from least squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from theory.checks import InputError
from theory.regression import Start, newton_residual, ols
from verify.evidence.agreement import least_squares_rounding
from verify.finding import Finding, Verdict, at_most
from verify.regression.data import Examples


def safe_alpha(x: np.ndarray, start: Start) -> float:
    """The largest power of two at most 1/‖S‖_F² (gram) or 1/‖S‖_F (identity) for all prompts.

    ‖S‖_F ≥ λmax, so the recursion converges; a power of two is exact in every number system.
    """
    gram = np.swapaxes(x, -1, -2) @ x
    norm = float(np.sqrt((gram**2).sum((-1, -2))).max())
    if norm == 0:
        raise InputError("all inputs are zero: there is nothing to learn from, and no α to choose")
    return float(2.0 ** np.floor(-np.log2(norm) * (2 if start == "gram" else 1)))


def largest_eigenvalue(x: np.ndarray) -> float:
    """λmax of S = XᵀX, over all prompts."""
    return float(np.linalg.eigvalsh(np.swapaxes(x, -1, -2) @ x).max())


def newton_converges(x: np.ndarray, alpha: float, start: Start) -> Finding:
    """0 < α < 2/λmax², strictly, for every prompt (from αI: 2/λmax)."""
    power, sign = (2, "²") if start == "gram" else (1, "")
    largest = largest_eigenvalue(x) ** power
    why = f"squares a residual of {abs(1 - alpha * largest):.3g} ≥ 1, so it never shrinks"
    return _converges("α", alpha, 2 / largest, sign, why)


def descent_converges(x: np.ndarray, eta: float) -> Finding:
    """0 < η < 2/λmax, strictly, for every prompt."""
    largest = largest_eigenvalue(x)
    return _converges("η", eta, 2 / largest, "", f"multiplies the error by {1 - eta * largest:.3g}")


def _converges(symbol: str, value: float, limit: float, power: str, why: str) -> Finding:
    verdict, detail = Verdict.of(value < limit), ""
    if verdict is Verdict.FAILS:
        detail = f"in the top direction each step {why}; the recursion itself is still computed.  "
        detail += f"Choose {symbol} below {limit:.3g}."
    name, words = f"converges: 0 < {symbol} < 2/λmax{power}", f"{symbol} = {value:.3g}"
    wanted = f"< {limit:.3g}"
    return Finding("converges", name, "float", value, limit, verdict, words, wanted, detail)


class FromOls(NamedTuple):
    """|ŷ − ŷ_OLS|, its bound max_λ |R(λ)| ‖x_q‖‖w_OLS‖ + rounding, that residual and that length,
    for every prompt."""

    distance: np.ndarray
    bound: np.ndarray
    residual: np.ndarray
    lengths: np.ndarray


def from_ols(
    examples: Examples,
    in_float: tuple[np.ndarray, np.ndarray],
    residual: Callable[[np.ndarray], np.ndarray],
) -> FromOls:
    """How far predictions are from OLS, and may be.

    `in_float` are the predictions ŷ and their rounding, R the residual factor at λ ≠ 0.
    """
    (x, y, queries), (predictions, rounding) = examples, in_float
    w = ols(x, y)
    singular = np.linalg.svd(x, compute_uv=False)
    cut = max(x.shape[-2:]) * np.finfo(float).eps * singular[..., :1]
    worst = np.where(singular > cut, np.abs(residual(singular**2)), 0).max(-1)
    lengths = np.linalg.norm(queries, axis=-1) * np.linalg.norm(w, axis=-1)
    bound = worst * lengths + rounding + least_squares_rounding(x) * lengths
    return FromOls(np.abs(predictions - (w * queries).sum(-1)), bound, worst, lengths)


def distance_to_ols(
    examples: Examples, in_float: tuple[np.ndarray, np.ndarray], k: int, alpha: float, start: Start
) -> Finding:
    """After k Newton steps every prediction is as near to that of OLS as the residual says."""
    found = from_ols(examples, in_float, lambda lam: newton_residual(lam, k, alpha, start))
    id, name = "ols", f"distance to OLS after {k} steps, on range(S)"
    if not np.isfinite(in_float[0]).all():
        nan, why = float("nan"), "float64 overflows because the recursion diverges"
        return at_most(id, name, "float", nan, 1.0, words="overflow", wanted="finite", detail=why)
    share = float((found.distance / found.bound).max())
    words = f"{found.distance.max():.2e}, at most {share:.0%} of its bound"
    wanted = f"{found.bound.max():.2e}, worst residual {found.residual.max():.3g}"
    return at_most(id, name, "float", share, 1.0, words=words, wanted=wanted)
