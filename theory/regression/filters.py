"""Residual filters: which algorithm an error looks like, by what it leaves of each eigendirection.

Where labels are ⟨w, x⟩ and S is regular, a method that has R(λ) left of each eigendirection errs by

    e = Σ_i R(λ_i) share_i,        share_i = ⟨v_i, w⟩⟨v_i, x⟩.

Newton from αS with α = 1/λmax² and from αI with α = 1/λmax, and gradient descent and hyperpower of
step size 1/λmax, are all of one family: with z = λ/λmax

    R(z) = (1 − z^p)^m,        p = 2 from αS, p = 1 from αI,

m = 2^k for k Newton steps and m = k for k gradient steps.  So p and m are fitted to errors, by
least squares; what is left of them says how much is no such filter.  Steps of another size, or of
one size for all prompts, are no member of it: they come out near p = 1, and from .75 on.  Ridge
regression leaves μ/(z + μ).  A filter without a form, piecewise linear in log z, says how much is
no R(z) at all; of a function of S that depends on more than λ/λmax it says nothing.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np

from theory.kinds import Count, InputError, Positive, Reals, Within, checked

Errors: TypeAlias = Annotated[Any, Reals("N")]
"""Errors of predictions, shape (N,)."""
Shares: TypeAlias = Annotated[Any, Reals("N d")]
"""The share of each eigendirection in them, shape (N, d)."""
Ratios: TypeAlias = Annotated[Any, Reals("N d", Within(above=0, most=1))]
"""z = λ/λmax of each, in (0, 1], shape (N, d)."""
Knots: TypeAlias = Annotated[Count, Within(most=1000)]
"""So many knots are placed in two ways."""

POWERS = 2.0 ** np.arange(-2, 2.5, 0.5)
STEPS = 2.0 ** np.arange(-1, 20, 1.5)
EVERY = 8  # of the errors count when a first guess is looked for


class Filter(NamedTuple):
    """(1 − z^power)^steps, and the share of the squared error that it leaves."""

    power: float
    steps: float
    unexplained: float


@checked
def filter_residual(
    z: Annotated[Any, Reals("...", Within(least=0, most=1))], power: Positive, steps: Positive
) -> np.ndarray:
    """R(z) = (1 − z^p)^m for 0 ≤ z ≤ 1, p and m > 0."""
    return _residual(z, power, steps)


@checked
def fitted_filter(
    errors: Errors, shares: Shares, z: Ratios, power: Positive | None = None
) -> Filter:
    """The filter nearest to errors (N,), from shares and z = λ/λmax (N, d), by least squares.

    With `power` only the steps are fitted.  Raises `ValueError` for fewer than 8 errors, and where
    all of them are 0.
    """
    from scipy.optimize import least_squares

    total = _total(errors)

    def guessed() -> tuple[float, float]:
        few = (errors[::EVERY], shares[::EVERY], z[::EVERY])
        tried = [(p, m) for p in (POWERS if power is None else [power]) for m in STEPS]
        return min(tried, key=lambda at: float((_left(*few, *at) ** 2).sum()))

    def at(v: np.ndarray) -> tuple[float, float]:
        return (float(np.exp(v[0])) if power is None else power), float(np.exp(v[-1]))

    def slopes(v: np.ndarray) -> np.ndarray:
        p, m = at(v)
        _, by_power, by_steps = _with_slopes(z, p, m)
        columns = [-p * (by_power * shares).sum(-1)] if power is None else []
        return np.stack([*columns, -m * (by_steps * shares).sum(-1)], axis=-1)

    start = np.log(guessed())
    found = least_squares(
        lambda v: _left(errors, shares, z, *at(v)),
        start if power is None else start[1:],
        slopes,
        bounds=(-7, 25),
        x_scale="jac",
    )
    return Filter(*at(found.x), float(2 * found.cost / total))


@checked
def fitted_ridge(errors: Errors, shares: Shares, z: Ratios) -> tuple[float, float]:
    """μ of the filter μ/(z + μ) nearest to errors, and the share of the squared error that it
    leaves.  Raises `ValueError` as `fitted_filter`."""
    from scipy.optimize import minimize_scalar

    total = _total(errors)

    def left(log: float) -> float:
        mu = np.exp(log)
        return float(((errors - (mu / (z + mu) * shares).sum(-1)) ** 2).sum() / total)

    found = minimize_scalar(left, bounds=(-25, 7), method="bounded")
    return float(np.exp(found.x)), float(found.fun)


@checked
def unfiltered(errors: Errors, shares: Shares, z: Ratios, knots: Knots = 24) -> float:
    """The share of the squared error that no function R(z) explains.

    R is piecewise linear in log z, with `knots` at quantiles and as many spread evenly.  Raises
    `ValueError` as `fitted_filter`.
    """
    total, place = _total(errors), np.log(z)
    even, quantiles = np.linspace(place.min(), 0, knots), np.linspace(0, 1, knots)
    at = np.unique([*even, *np.quantile(place, quantiles)])
    columns = [(np.interp(place, at, unit) * shares).sum(-1) for unit in np.eye(len(at))]
    A = np.stack(columns, axis=-1)
    coefficients, *_ = np.linalg.lstsq(A, errors, rcond=None)
    return float(((errors - A @ coefficients) ** 2).sum() / total)


def _left(
    errors: np.ndarray, shares: np.ndarray, z: np.ndarray, power: float, steps: float
) -> np.ndarray:
    return np.asarray(errors - (_residual(z, power, steps) * shares).sum(-1))


def _residual(z: np.ndarray, power: float, steps: float) -> np.ndarray:
    inside, _, log = _logarithms(z, power)
    return np.where(inside, np.exp(steps * log), 0.0)


def _with_slopes(
    z: np.ndarray, power: float, steps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """R(z) and its derivatives by p and by m, for z > 0; all 0 at z = 1."""
    inside, raised, log = _logarithms(z, power)
    R = np.where(inside, np.exp(steps * log), 0.0)
    return R, -R * steps * raised * np.log(z) / (1 - raised), R * log


def _logarithms(z: np.ndarray, power: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where z^p < 1, and z^p and log(1 − z^p); elsewhere those of 1/2."""
    raised = z**power
    inside = raised < 1
    raised = np.where(inside, raised, 0.5)
    return inside, raised, np.log1p(-raised)


def _total(errors: np.ndarray) -> float:
    """The sum of squares; ValueError where there is nothing to fit."""
    if len(errors) < EVERY:
        raise InputError(f"{len(errors)} errors are too few: give at least {EVERY}")
    total = float((errors**2).sum())
    if not 0 < total < np.inf:
        raise InputError(f"errors have the sum of squares {total}: there is nothing to fit")
    return total
