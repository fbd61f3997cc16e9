"""Attention as interacting particles on the unit sphere, in continuous time.

Shape glossary: `…` leading dimensions, `n` tokens, `d` features; tokens are rows, of length 1.

    SA    x_i' = P_i Σ_j e^{β⟨x_i, x_j⟩} x_j / Z_i         Z_i = Σ_k e^{β⟨x_i, x_k⟩}
    USA   x_i' = P_i Σ_j e^{β⟨x_i, x_j⟩} x_j / n

with P_i y = y − ⟨x_i, y⟩ x_i, what is tangential at x_i [Geshkovski2023].  Both climb the energy

    E_β = (1/(2βn²)) Σ_{ij} e^{β⟨x_i, x_j⟩}:   ∂E/∂x_i = (1/n²) Σ_j e^{β⟨x_i, x_j⟩} x_j,   so
    dE/dt = (1/n²) Σ_i Z_i ‖x_i'‖² (SA),   (1/n) Σ_i ‖x_i'‖² (USA),

which is 0 only where nothing moves: ⟨∂E/∂x_i, x_i'⟩ = ⟨P_i ∂E/∂x_i, x_i'⟩, and x_i' is
P_i ∂E/∂x_i times n²/Z_i, times n.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from theory import checks
from theory.checks import InputError

Kind = Literal["SA", "USA"]

LARGEST_EXPONENT = 709.0  # e^709 is a float64, e^710 is not
MOST_WORK = 1e6  # rate × time of a flow: an explicit step covers a few units, so minutes at most
TOLERANCE = 1e-12  # of a step of the integration, relative to the tokens' length


@dataclass(frozen=True)
class SphereFlow:
    """Tokens (times, …, n, d) at these times, and how far the integration left the sphere.

    `drift` is the largest |‖x‖ − 1| before the tokens were put back on the sphere: the part of the
    integration error that can be seen.
    """

    times: np.ndarray
    tokens: np.ndarray
    drift: float


def sphere_velocity(
    X: ArrayLike, beta: float, kind: Kind = "SA", QK: ArrayLike | None = None
) -> np.ndarray:
    """x_i' (…, n, d) of tokens X (…, n, d) of unit length, for beta ≥ 0.

    With a matrix `QK` (d, d) the scores are β⟨x_i, QK x_j⟩, QK = QᵀK, in place of β⟨x_i, x_j⟩.

    Raises `ValueError` for shapes that do not fit, rows that are not of unit length, a beta below
    0, an unknown kind, and for USA where e^{β⟨·,·⟩} overflows.
    """
    X = unit_tokens("X", X)
    return _velocity(X, one_beta(beta), known_kind(kind), score_matrix(QK, X.shape[-1]))


def sphere_energy(X: ArrayLike, beta: float) -> np.ndarray:
    """E_β (…,) = (1/(2βn²)) Σ_{ij} e^{β⟨x_i, x_j⟩} of tokens X (…, n, d) of unit length.

    Raises `ValueError` as `sphere_velocity` does, for beta = 0, where E_β is infinite (what stays
    finite there is E_β − 1/(2β) → ‖x̄‖²/2, half of `mean_length` squared), and where it overflows.
    """
    X, beta = unit_tokens("X", X), one_beta(beta)
    if beta == 0:
        raise InputError("beta is 0, where E_β is infinite: use mean_length(X)**2 / 2, its limit")
    exponents = beta * (X @ X.swapaxes(-1, -2))
    _no_overflow(exponents, "the energy", beta)
    return np.asarray(np.exp(exponents).mean(axis=(-1, -2)) / (2 * beta))


def sphere_flow(
    X: ArrayLike,
    beta: float,
    times: Sequence[float] | np.ndarray,
    kind: Kind = "SA",
    QK: ArrayLike | None = None,
) -> SphereFlow:
    """The tokens X (…, n, d) at each of the `times` ≥ 0, in increasing order.

    Integrated by an explicit Runge–Kutta method of order 8 (DOP853), whose steps have an estimated
    error of at most 1e-12; the tokens returned are divided by their lengths.  Leading dimensions
    are independent systems, which share the step size.

    Raises `ValueError` as `sphere_velocity` does, for times that are not in increasing order from 0
    on, and for a last time above 10^6 over the largest rate, 1 in SA and e^{β‖QᵀK‖} in USA.
    """
    X, beta, times = unit_tokens("X", X), one_beta(beta), increasing_times(times)
    kind, B = known_kind(kind), score_matrix(QK, X.shape[-1])
    exponent = beta * (1.0 if B is None else float(np.linalg.norm(B, 2))) if kind == "USA" else 0.0
    if np.log(max(times[-1], 1e-300)) + exponent > np.log(MOST_WORK):
        raise InputError(
            f"times reach {times[-1]:g} at rates of up to e^{exponent:g}, which takes too many "
            f"steps: give times up to {MOST_WORK:g}/e^{exponent:g}, or a smaller beta in USA"
        )

    def velocity(_: float, state: np.ndarray) -> np.ndarray:
        return _velocity(state.reshape(X.shape), beta, kind, B).ravel()

    moved = integrate(velocity, X.ravel(), times).reshape(len(times), *X.shape)
    lengths = np.linalg.norm(moved, axis=-1, keepdims=True)
    return SphereFlow(times, moved / lengths, float(abs(lengths - 1).max(initial=0.0)))


def smallest_inner_product(X: ArrayLike) -> np.ndarray:
    """min_{ij} ⟨x_i, x_j⟩ (…,): 1 where all tokens X (…, n, d) of unit length are one cluster."""
    X = unit_tokens("X", X)
    return np.asarray((X @ X.swapaxes(-1, -2)).min(axis=(-1, -2)))


def mean_length(X: ArrayLike) -> np.ndarray:
    """‖(1/n) Σ_i x_i‖ (…,) of tokens X (…, n, d) of unit length: 1 for one cluster."""
    return np.asarray(np.linalg.norm(unit_tokens("X", X).mean(axis=-2), axis=-1))


def n_clusters(X: ArrayLike, threshold: float = 0.999) -> np.ndarray:
    """The number of clusters (…,) of tokens X (…, n, d) of unit length.

    Tokens i and j are linked where ⟨x_i, x_j⟩ ≥ threshold; clusters are connected components.
    """
    X = unit_tokens("X", X)
    if not -1 <= threshold <= 1:
        raise InputError(f"threshold is {threshold}: give an inner product from -1 to 1")
    linked = X @ X.swapaxes(-1, -2) >= threshold
    linked |= np.eye(X.shape[-2], dtype=bool)
    for _ in range(max(1, X.shape[-2] - 1).bit_length()):  # walks of 1, 2, 4, … links
        linked = linked @ linked
    # The first token of each cluster is linked to none before it.
    return np.asarray((~np.tril(linked, -1).any(axis=-1)).sum(axis=-1))


def unit_tokens(name: str, value: ArrayLike) -> np.ndarray:
    """`value` (…, n, d), n ≥ 1, as a float64 array of rows of length 1; else `ValueError`."""
    X = checks.vectors(name, value)
    token_shape(name, X.shape)
    unit_lengths(name, np.linalg.norm(X, axis=-1), X.shape[-1], np.finfo(np.float64).eps)
    return X


def token_shape(name: str, shape: Sequence[int]) -> None:
    """Raise `ValueError` unless `shape` is (…, n, d) with n and d at least 1."""
    shape = tuple(shape)
    if len(shape) < 2 or shape[-1] < 1 or shape[-2] < 1:
        raise InputError(f"{name} has shape {shape}: give tokens (…, n, d), at least one")


def unit_lengths(name: str, lengths: ArrayLike, d: int, eps: float) -> None:
    """Raise `ValueError` unless all `lengths` of rows of d entries are 1 up to rounding.

    A row divided by its length in a format of this `eps` has length 1 up to (d + 4)·eps.
    """
    lengths = checks.real("lengths", lengths)
    bad = abs(lengths - 1) > (d + 4) * eps
    if bad.any():
        raise InputError(
            f"{name} has a row of length {lengths[bad].flat[0]:.17g}: tokens must be of length 1; "
            "divide each row by its length"
        )


def one_beta(beta: float) -> float:
    """`beta` as a float, which must be one finite number ≥ 0; else `ValueError`."""
    array = checks.nonnegative("beta", beta)
    if array.ndim:
        raise InputError(f"beta has shape {array.shape}: give one number")
    return float(array)


def known_kind(kind: Kind) -> Kind:
    """`kind`, which must be "SA" or "USA"; else `ValueError`."""
    checks.one_of("kind", kind, get_args(Kind))
    return kind


def score_matrix(QK: ArrayLike | None, d: int) -> np.ndarray | None:
    """`QK` as a float64 array (d, d), or None for the identity; else `ValueError`."""
    return None if QK is None else square_matrix("QK", QK, d)


def square_matrix(name: str, value: ArrayLike, d: int) -> np.ndarray:
    """`value` as a float64 array (d, d) of finite entries; else `ValueError`."""
    array = checks.real(name, value)
    checks.finite(name, bool(np.isfinite(array).all()))
    if array.shape != (d, d):
        raise InputError(
            f"{name} has shape {array.shape} but tokens have dimension {d}: give ({d}, {d})"
        )
    return array


def increasing_times(times: Sequence[float] | np.ndarray) -> np.ndarray:
    """`times` (m,), m ≥ 1, as a float64 array of finite times ≥ 0 in increasing order."""
    array = checks.nonnegative("times", times)
    if array.ndim != 1 or array.size < 1:
        raise InputError(f"times has shape {array.shape}: give a sequence of times")
    if (np.diff(array) < 0).any():
        place = int((np.diff(array) < 0).argmax())
        raise InputError(
            f"times has {array[place + 1]} after {array[place]}: give times in increasing order"
        )
    return array


def integrate(
    velocity: Callable[[float, np.ndarray], np.ndarray], start: np.ndarray, times: np.ndarray
) -> np.ndarray:
    """The states (times, size) of state' = velocity(t, state) from `start` at time 0."""
    if times[-1] == 0 or start.size == 0:
        return np.broadcast_to(start, (len(times), start.size)).copy()
    distinct, place = np.unique(times, return_inverse=True)
    solved = solve_ivp(
        velocity,
        (0.0, times[-1]),
        start,
        method="DOP853",
        t_eval=distinct,
        rtol=TOLERANCE,
        atol=TOLERANCE,
    )
    if not solved.success:
        raise InputError(
            f"the integration to time {times[-1]:g} stopped, {solved.message[:1].lower()}"
            f"{solved.message[1:].rstrip('.')}: give earlier times or a smaller beta"
        )
    return solved.y.T[place]


def _velocity(X: np.ndarray, beta: float, kind: Kind, B: np.ndarray | None) -> np.ndarray:
    exponents = beta * ((X if B is None else X @ B) @ X.swapaxes(-1, -2))
    if kind == "SA":
        exponents -= exponents.max(axis=-1, keepdims=True)
        A = np.exp(exponents)
        A /= A.sum(axis=-1, keepdims=True)
    else:
        _no_overflow(exponents, "USA", beta)
        A = np.exp(exponents) / X.shape[-2]
    pulled = A @ X
    return pulled - np.vecdot(X, pulled)[..., None] * X


def _no_overflow(exponents: np.ndarray, what: str, beta: float) -> None:
    largest = exponents.max(initial=-np.inf)
    if largest > LARGEST_EXPONENT:
        raise InputError(
            f"{what} overflows at beta = {beta:g}, its largest exponent is {largest:.6g}: "
            f"give a smaller beta, so that it is at most {LARGEST_EXPONENT:g}"
        )
