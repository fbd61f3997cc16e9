"""Attention as interacting particles on the unit sphere, in continuous time.

Shape glossary: `…` leading dimensions, `n` tokens, `d` features; tokens are rows of length 1.

    SA    x_i' = P_i Σ_j e^{β⟨x_i, x_j⟩} x_j / Z_i         Z_i = Σ_k e^{β⟨x_i, x_k⟩}
    USA   x_i' = P_i Σ_j e^{β⟨x_i, x_j⟩} x_j / n

with P_i y = y − ⟨x_i, y⟩ x_i, the projection onto the tangent space at x_i [Geshkovski2023].  Both
increase the energy

    E_β = (1/(2βn²)) Σ_{ij} e^{β⟨x_i, x_j⟩}:   ∂E/∂x_i = (1/n²) Σ_j e^{β⟨x_i, x_j⟩} x_j,   so
    dE/dt = (1/n²) Σ_i Z_i ‖x_i'‖² (SA),   (1/n) Σ_i ‖x_i'‖² (USA),

and dE/dt is 0 only at equilibria.  Proof: ⟨∂E/∂x_i, x_i'⟩ = ⟨P_i ∂E/∂x_i, x_i'⟩, and x_i' is
P_i ∂E/∂x_i times n²/Z_i in SA, and times n in USA.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy  # its submodules are loaded when they are used

from theory.kinds import InputError, NonNegative, SignedUnit, SquareMatrix, checked
from theory.memory.kinds import Times, UnitTokens
from theory.waiting import Pace

SphereForm = Literal["SA", "USA"]
SPHERE_FORMS: tuple[SphereForm, ...] = ("SA", "USA")

LARGEST_EXPONENT = 709.0  # e^709 is a float64, e^710 is not
MOST_WORK = 1e6  # bound on rate × time: takes minutes at most
TOLERANCE = 1e-12  # error of one integration step, relative to the length of the tokens
FARTHEST = 1.01  # length to which tokens of a trial step are shortened
INTEGRATION = 1e-9  # allowance for the error of the whole integration


@dataclass(frozen=True)
class SphereFlow:
    """The result of `sphere_flow`: the tokens at given times, and the drift of the integration.

    `tokens` (times, …, n, d) are the n tokens x in R^d at each time. The integrator does not keep
    the tokens on the unit sphere exactly, so the tokens are divided by their lengths ‖x‖ at the
    end. `drift` is the largest |‖x‖ − 1| before this division. It is the observable part of the
    integration error.
    """

    times: np.ndarray
    tokens: np.ndarray
    drift: float


def uniform_tokens(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random uniform points (…, n, d) of the unit sphere in R^d; `shape` is …, n, d."""
    X = rng.standard_normal(shape)
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


@checked
def sphere_velocity(
    X: UnitTokens, beta: NonNegative, form: SphereForm = "SA", QK: SquareMatrix | None = None
) -> np.ndarray:
    """The velocities dx_i/dt (…, n, d) of unit tokens x_i that move on the sphere by attention.

    The tokens x_i are the rows of X (…, n, d). The velocities are dx_i/dt = P_i Σ_j e^{β⟨x_i, x_j⟩}
    x_j / Z_i, where β = `beta` ≥ 0 is the inverse temperature, and P_i y = y − ⟨x_i, y⟩ x_i is the
    projection onto the tangent space at x_i. In softmax attention (SA), Z_i = Σ_k e^{β⟨x_i, x_k⟩};
    in unnormalised attention (USA), Z_i = n. If a matrix `QK` = QᵀK (d, d) is given, the scores are
    β⟨x_i, QK x_j⟩ instead of β⟨x_i, x_j⟩.

    Raises `ValueError` for USA if an exponential overflows.
    """
    return _velocity(X, beta, form, QK)


@checked
def sphere_energy(X: UnitTokens, beta: NonNegative) -> np.ndarray:
    """The energy (1/(2βn²)) Σ_{ij} e^{β⟨x_i, x_j⟩} (…,) of n unit tokens x_i, where β = `beta`.

    The tokens x_i are the rows of X (…, n, d). For β → 0, the energy minus 1/(2β) tends to ½ L²,
    where L = ‖(1/n) Σ_i x_i‖ is `mean_length(X)`. Raises `ValueError` for an energy that overflows,
    and for beta = 0, where the energy is infinite.
    """
    if beta == 0:
        raise InputError(
            "beta is 0, where the energy E_β is infinite: use mean_length(X)**2 / 2, the limit "
            "of E_β − 1/(2β)"
        )
    exponents = beta * (X @ X.swapaxes(-1, -2))
    _no_overflow(exponents, "the energy", beta)
    with np.errstate(over="ignore"):
        energy = np.exp(exponents).mean(axis=(-1, -2)) / (2 * beta)
    if not np.isfinite(energy).all():
        raise InputError(f"the energy overflows for beta = {beta:g}: give a larger beta")
    return np.asarray(energy)


@checked
def sphere_flow(
    X: UnitTokens,
    beta: NonNegative,
    times: Times,
    form: SphereForm = "SA",
    QK: SquareMatrix | None = None,
) -> SphereFlow:
    """The positions of unit tokens that move on the sphere by attention, at given `times`.

    The times are increasing and ≥ 0. The n tokens start at the rows of X (…, n, d). Each token x_i
    moves with the velocity dx_i/dt that `sphere_velocity` computes, for softmax attention (SA) or
    unnormalised attention (USA) at inverse temperature β = `beta`. The integrator is an explicit
    Runge–Kutta method of order 8 (DOP853), whose steps have an estimated error of at most 1e-12.
    The returned tokens are divided by their lengths. The result is a `SphereFlow`, which also
    contains the largest error of the lengths. The leading dimensions of X index independent systems
    of n tokens, which are integrated with the same step sizes.

    Raises `ValueError` if the last time exceeds 10^6 in SA, or 10^6·e^{−β‖QᵀK‖} in USA, where QᵀK
    is the matrix `QK` or the identity, and for β‖QᵀK‖ > 10^6.
    """
    norm = 1.0 if QK is None else float(np.linalg.norm(QK, 2))
    if not beta * norm <= MOST_WORK:
        raise InputError(
            f"beta is {beta:g} and the norm of QᵀK is {norm:g}, so the integration takes too many "
            f"steps: give a smaller beta, with a product of at most {MOST_WORK:g}"
        )
    exponent = beta * norm if form == "USA" else 0.0
    if np.log(max(times[-1], 1e-300)) + exponent > np.log(MOST_WORK):
        raise InputError(
            f"times reach {times[-1]:g}, and tokens move at rates of up to e^{exponent:g}, so the "
            "integration takes too many "
            f"steps: give times up to {MOST_WORK:g}/e^{exponent:g}, or (for unnormalised "
            "attention) a smaller beta"
        )

    def velocity(_: float, state: np.ndarray) -> np.ndarray:
        moving = state.reshape(X.shape)
        # A trial step, which is then rejected, may lead so far from the sphere that exponents
        # overflow: tokens longer than FARTHEST are shortened to this length.
        lengths = np.linalg.norm(moving, axis=-1, keepdims=True)
        return _velocity(moving / np.maximum(1, lengths / FARTHEST), beta, form, QK).ravel()

    moved = integrate(velocity, X.ravel(), times).reshape(len(times), *X.shape)
    lengths = np.linalg.norm(moved, axis=-1, keepdims=True)
    return SphereFlow(times.copy(), moved / lengths, float(abs(lengths - 1).max(initial=0.0)))


@checked
def smallest_inner_product(X: UnitTokens) -> np.ndarray:
    """The smallest inner product (…,) of two of the n unit tokens, the rows of X (…, n, d).

    For n = 1 the result is 1, the squared length of the token.
    """
    return np.asarray((X @ X.swapaxes(-1, -2)).min(axis=(-1, -2)))


@checked
def mean_length(X: UnitTokens) -> np.ndarray:
    """The length ‖(1/n) Σ_i x_i‖ (…,) of the mean of n unit tokens x_i.

    The tokens x_i are the rows of X (…, n, d). The length is 1 if and only if all tokens are equal.
    """
    return np.asarray(np.linalg.norm(X.mean(axis=-2), axis=-1))


@checked
def n_clusters(X: UnitTokens, threshold: SignedUnit = 0.999) -> np.ndarray:
    """The number of clusters (…,) of unit tokens, the rows of X (…, n, d).

    Two tokens are linked if their inner product is at least `threshold`. The clusters are the
    connected components of the graph of linked tokens.
    """
    linked = X @ X.swapaxes(-1, -2) >= threshold
    linked |= np.eye(X.shape[-2], dtype=bool)
    for _ in range(max(1, X.shape[-2] - 1).bit_length()):  # walks of 1, 2, 4, … links
        linked = linked @ linked
    # The first token of a cluster is not linked to an earlier token.
    return np.asarray((~np.tril(linked, -1).any(axis=-1)).sum(axis=-1))


def step_rounding(n: int, d: int, beta: float, step_size: float) -> float:
    """A bound on the float64 rounding error of each entry of a token after one Euler step.

    For n unit tokens x_i in R^d the step is x_i ← normalise(x_i + h·Σ_j A_ij x_j), where
    A_ij = softmax_j β⟨x_i, x_j⟩, β = beta and h = `step_size`. Let eps = 2^−52. Each score ⟨x_i,
    x_j⟩ has an absolute error of (d + 4)·eps, and differences of scores are multiplied by β. With
    the errors of the exponentials, of the sum of n weights and of the division, each A_ij has a
    relative error of (2β(d + 4) + n + 6)·eps. The sum over n tokens and the addition of x_i
    contribute (n + d + 4)·eps. To normalise, the vector is divided by its norm, which is at least
    1 − h. The error of the norm is at most the error of the vector plus (d + 4)·eps.
    """
    step = 2 * beta * (d + 4) + n + 6 + n + d + 4
    return 2 * 2.0**-53 * (step + d + 4) / (1 - step_size)


def integrate(
    velocity: Callable[[float, np.ndarray], np.ndarray], start: np.ndarray, times: np.ndarray
) -> np.ndarray:
    """The solution (times, size) of y' = velocity(t, y), y(0) = `start` (size,), at given times.

    More than a minute is announced.
    """
    if times[-1] == 0 or start.size == 0:
        return np.broadcast_to(start, (len(times), start.size)).copy()
    distinct, place = np.unique(times, return_inverse=True)
    pace, reached = Pace(f"the integration to time {times[-1]:g}", times[-1]), 0.0

    def paced(t: float, state: np.ndarray) -> np.ndarray:
        nonlocal reached
        pace.done(max(t - reached, 0.0))
        reached = max(t, reached)
        return velocity(t, state)

    solved = scipy.integrate.solve_ivp(
        paced,
        (0.0, times[-1]),
        start,
        method="DOP853",
        t_eval=distinct,
        rtol=TOLERANCE,
        atol=TOLERANCE,
    )
    if not solved.success:
        raise InputError(
            f"the integration to time {times[-1]:g} stopped ({solved.message[:1].lower()}"
            f"{solved.message[1:].rstrip('.')}): give earlier times or a smaller beta"
        )
    return solved.y.T[place]


def _velocity(X: np.ndarray, beta: float, form: SphereForm, B: np.ndarray | None) -> np.ndarray:
    exponents = beta * ((X if B is None else X @ B) @ X.swapaxes(-1, -2))
    if form == "SA":
        exponents -= exponents.max(axis=-1, keepdims=True)
        A = np.exp(exponents)
        A /= A.sum(axis=-1, keepdims=True)
    else:
        _no_overflow(exponents, "USA", beta)
        A = np.exp(exponents) / X.shape[-2]
    np.einsum("...ii->...i", A)[...] = 0  # P_i x_i = 0, of which rounding leaves e^β times 10⁻¹⁶
    pulled = A @ X
    return pulled - np.vecdot(X, pulled)[..., None] * X


def _no_overflow(exponents: np.ndarray, what: str, beta: float) -> None:
    largest = exponents.max(initial=-np.inf)
    if largest > LARGEST_EXPONENT:
        raise InputError(
            f"{what} overflows at beta = {beta:g}, where the largest exponent is {largest:.6g}: "
            f"give a smaller beta, so that the exponent is at most {LARGEST_EXPONENT:g}"
        )
