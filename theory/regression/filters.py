"""Residual filters: the filter R(λ) whose errors are nearest to given errors.

Let labels be ⟨w, x⟩ and let S = Σ_i λ_i v_i v_iᵀ be invertible.  A method with residual factor R(λ)
has the error

    e = Σ_i R(λ_i) c_i,        c_i = ⟨v_i, w⟩⟨v_i, x⟩, the components of the prediction.

Newton from αS with α = 1/λmax² and from αI with α = 1/λmax, gradient descent with step size 1/λmax,
and hyperpower from these starts have residual factors
of one family: with z = λ/λmax

    R(z) = (1 − z^p)^m,        p = 2 from αS, p = 1 from αI,

m = 2^k for k Newton steps and m = k for k gradient steps.  The exponents p and m are fitted to
errors by least squares; the residual of the fit measures the distance of the errors from this
family.  Gradient descent with another step size, or with one step size for all prompts, is outside
the family; the p fitted to its errors is at least 0.75 and near 1.  The filter of ridge regression
is μ/(z + μ).  A free filter, piecewise linear in log z, measures which part of the squared error no
function R(z) explains; it cannot represent functions of S that depend on more than λ/λmax.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np

from theory.kinds import Count, InputError, Positive, Reals, Within, checked
from theory.scaling import near_one

Errors: TypeAlias = Annotated[Any, Reals("N")]
"""Errors of predictions, shape (N,)."""
Components: TypeAlias = Annotated[Any, Reals("N d")]
"""The components c_i of the predictions, shape (N, d)."""
Ratios: TypeAlias = Annotated[Any, Reals("N d", Within(above=0, most=1))]
"""The ratios z = λ/λmax of the components, in (0, 1], shape (N, d)."""
Knots: TypeAlias = Annotated[Count, Within(most=1000)]
"""A number of knots, from 1 to 1000."""

POWERS = 2.0 ** np.arange(-2, 2.5, 0.5)
STEPS = 2.0 ** np.arange(-1, 20, 1.5)
TINY = 1e-100  # squared errors below TINY times the squared components cannot be fitted
NORMAL = np.finfo(float).smallest_normal
GUESSED = 8  # the initial guess is fitted to the largest eighth of the errors


class Filter(NamedTuple):
    """The exponents of the function (1 − z^power)^steps that fits the errors of a predictor best.

    Let X be the examples of a prompt, let S = XᵀX have the eigenvalues λ_i and the unit
    eigenvectors v_i, and let z_i = λ_i/λmax for the largest eigenvalue λmax. The correct prediction
    for weights w and a query x is ⟨w, x⟩ = Σ_i c_i with c_i = ⟨v_i, w⟩⟨v_i, x⟩. The error of the
    predictor is fitted by Σ_i (1 − z_i^power)^steps c_i. The least-squares fit over many prompts
    determines `power` and `steps`. `unexplained` is the sum of the squared residuals of the fit,
    divided by the sum of the squared errors.
    """

    power: float
    steps: float
    unexplained: float


@checked
def filter_residual(
    z: Annotated[Any, Reals("...", Within(least=0, most=1))], power: Positive, steps: Positive
) -> np.ndarray:
    """The values R(z) = (1 − z^power)^steps for an array z of numbers 0 ≤ z ≤ 1.

    The exponents are `power` > 0 and `steps` > 0. In regression, z = λ/λmax for an eigenvalue λ of
    XᵀX and the largest eigenvalue λmax, and R(z) is the factor that multiplies the error along the
    eigenvector. For example, power = 1 for gradient descent with step size 1/λmax, after `steps`
    steps.
    """
    return _residual(z, power, steps)


@checked
def fitted_filter(
    errors: Errors, components: Components, z: Ratios, power: Positive | None = None
) -> Filter:
    """The function (1 − z^p)^m of z that fits given prediction errors best, by least squares.

    There are N `errors` (N,) of a predictor. Error k is for the prediction from examples X, a
    matrix that depends on k. Error k is fitted by Σ_i (1 − z_ki^p)^m c_ki. Here the `components`
    c_ki (N, d) are the terms ⟨v_i, w⟩⟨v_i, x⟩ of the correct prediction ⟨w, x⟩, for the d unit
    eigenvectors v_i of S = XᵀX, the weights w and the query x. The numbers z_ki are the ratios `z`
    (N, d) of the eigenvalues of S to the largest eigenvalue of S. Both p and m are fitted by
    default. If `power` is given, p = `power` and only m is fitted. The result is a `Filter`, which
    contains p, m and the unexplained fraction of the squared errors.

    Raises `ValueError` for fewer than 8 errors, if all errors are 0, if squares overflow, or if
    `power` is so small that 1 − z^power underflows.
    """
    from scipy.optimize import least_squares

    _total(errors, components)
    _, unit = near_one(errors, 0)  # a fit of small errors would end at once: its slopes are small
    errors, components = np.ldexp(errors, -unit), np.ldexp(components, -unit)
    if power is not None and min(power, _logarithms(z, power)[2].min()) < NORMAL:
        raise InputError(f"power is {power:g}, and 1 − z^power underflows: give a larger power")

    def guessed() -> tuple[float, float]:
        largest = np.argsort(-np.abs(errors), kind="stable")[: -(-len(errors) // GUESSED)]
        few = (errors[largest], components[largest], z[largest])
        tried = {
            (p, m): float(((few[0] - (R * few[1]).sum(-1)) ** 2).sum())
            for p in (POWERS if power is None else [power])
            for m, R in zip(STEPS, _residuals(few[2], p, STEPS), strict=True)
        }
        return min(tried, key=lambda at: tried[at])

    def at(v: np.ndarray) -> tuple[float, float]:
        return (float(np.exp(v[0])) if power is None else power), float(np.exp(v[-1]))

    def slopes(v: np.ndarray) -> np.ndarray:
        p, m = at(v)
        _, by_power, by_steps = _with_slopes(z, p, m)
        columns = [-p * (by_power * components).sum(-1)] if power is None else []
        return np.stack([*columns, -m * (by_steps * components).sum(-1)], axis=-1)

    start = np.log(guessed())
    found = least_squares(
        lambda v: _left(errors, components, z, *at(v)),
        start if power is None else start[1:],
        slopes,
        bounds=(-7, 25),
        x_scale="jac",
    )
    return Filter(*at(found.x), float(2 * found.cost / (errors**2).sum()))


@checked
def fitted_ridge(errors: Errors, components: Components, z: Ratios) -> tuple[float, float]:
    """The number μ such that ridge regression with penalty μ·λmax best fits given errors.

    There are N `errors` (N,) of a predictor. Error k is for the prediction from examples X, a
    matrix that depends on k. Error k is fitted by Σ_i c_ki·μ/(z_ki + μ) in the least-squares sense.
    Here the `components` c_ki (N, d) are the terms ⟨v_i, w⟩⟨v_i, x⟩ of the correct prediction ⟨w,
    x⟩, for the d unit eigenvectors v_i of S = XᵀX, the weights w and the query x. The numbers z_ki
    are the ratios `z` (N, d) of the eigenvalues of S to the largest eigenvalue λmax of S. The
    function returns μ and the unexplained fraction: the sum of the squared residuals of the fit,
    divided by the sum of the squared errors.

    Raises `ValueError` for fewer than 8 errors, if all errors are 0, or if squares overflow.
    """
    from scipy.optimize import minimize_scalar

    total = _total(errors, components)

    def left(log: float) -> float:
        mu = np.exp(log)
        return float(((errors - (mu / (z + mu) * components).sum(-1)) ** 2).sum() / total)

    found = minimize_scalar(left, bounds=(-25, 7), method="bounded")
    return float(np.exp(found.x)), float(found.fun)


@checked
def unexplained_fraction(
    errors: Errors, components: Components, z: Ratios, n_knots: Knots = 24
) -> float:
    """The fraction of the squared errors of a predictor that no function R of z = λ/λmax explains.

    There are N `errors` (N,). Error k is for the prediction from examples X, a matrix that depends
    on k. Error k is fitted by Σ_i R(z_ki) c_ki in the least-squares sense. Here the `components`
    c_ki (N, d) are the terms ⟨v_i, w⟩⟨v_i, x⟩ of the correct prediction ⟨w, x⟩, for the d unit
    eigenvectors v_i of S = XᵀX, the weights w and the query x. The numbers z_ki are the ratios `z`
    (N, d) of the eigenvalues λ of S to the largest eigenvalue λmax of S. R is piecewise linear in
    log z, with `n_knots` knots at quantiles of log z and `n_knots` equally spaced knots. The result
    is the sum of the squared residuals of the fit, divided by the sum of the squared errors.

    Raises `ValueError` for fewer than 8 errors, if all errors are 0, or if products overflow.
    """
    total, place = _total(errors, components), np.log(z)
    spaced, quantiles = np.linspace(place.min(), 0, n_knots), np.linspace(0, 1, n_knots)
    at = np.unique([*spaced, *np.quantile(place, quantiles)])
    columns = [(np.interp(place, at, unit) * components).sum(-1) for unit in np.eye(len(at))]
    A = np.stack(columns, axis=-1)
    coefficients, *_ = np.linalg.lstsq(A, errors, rcond=None)
    with np.errstate(over="ignore", invalid="ignore"):
        left = float(((errors - A @ coefficients) ** 2).sum() / total)
    if not np.isfinite(left):
        raise InputError(
            "products of the arrays errors and components overflow float64: rescale both arrays"
        )
    return left


def _left(
    errors: np.ndarray, components: np.ndarray, z: np.ndarray, power: float, steps: float
) -> np.ndarray:
    return np.asarray(errors - (_residual(z, power, steps) * components).sum(-1))


def _residual(z: np.ndarray, power: float, steps: float) -> np.ndarray:
    return next(_residuals(z, power, [steps]))


def _residuals(z: np.ndarray, power: float, steps: Iterable[float]) -> Iterator[np.ndarray]:
    """R(z) for each number of steps."""
    inside, _, _, log = _logarithms(z, power)
    return (np.where(inside, np.exp(m * log), 0.0) for m in steps)


def _with_slopes(
    z: np.ndarray, power: float, steps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """R(z) and its derivatives by p and by m, for z > 0; all 0 at z = 1."""
    inside, raised, rest, log = _logarithms(z, power)
    R = np.where(inside, np.exp(steps * log), 0.0)
    return R, -R * steps * raised * np.log(z) / rest, R * log


def _logarithms(
    z: np.ndarray, power: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The mask z < 1, z^p, 1 − z^p and log(1 − z^p); outside the mask, 1/2 replaces z."""
    inside = np.asarray(z < 1)
    z = np.where(inside, z, 0.5)
    with np.errstate(divide="ignore"):
        raised, rest = map(np.asarray, (z**power, -np.expm1(power * np.log(z))))
        return inside, raised, rest, np.where(raised < 0.5, np.log1p(-raised), np.log(rest))


def _total(errors: np.ndarray, components: np.ndarray) -> float:
    """The sum of squared errors.  Raises ValueError where no filter can be fitted."""
    if len(errors) < GUESSED:
        raise InputError(
            f"errors has {len(errors)} entries, which are too few for a fit: "
            f"give at least {GUESSED} errors"
        )
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        total = (errors**2).sum()
        size = (components**2).sum(-1).max()
        fits = np.isfinite(total) and total > size * TINY
    if not fits:
        raise InputError(
            "the array errors is 0, or squares overflow or underflow: the sum of squares of errors "
            f"is {total:g}, and the largest sum of squares of a row of components is {size:g}; "
            "give errors that are not all 0, or rescale both arrays"
        )
    return float(total)
