"""Attention as interacting particles in R^d, in continuous time.

Shape glossary: `…` leading dimensions, `n` tokens, `d` features; tokens are rows.

    x_i' = Σ_j A_ij V x_j,    A_ij = softmax_j ⟨Q x_i, K x_j⟩        [GLPR2023]

Tokens grow like e^{tV}, so the rescaled tokens z_i = e^{−tV} x_i are integrated instead. As V
commutes with e^{−tV},

    z_i' = Σ_j A_ij V (z_j − z_i).

In one dimension with V > 0 and QK > 0 the order of the tokens does not change. For every x_i ≠ 0
that grows, the differences of the scores QK·x_i·x_j grow without bound. So A tends to a Boolean
matrix. All rows of this matrix, except at most one, select the largest or the smallest token. The
largest and the smallest token are called leaders [GLPR2023].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy  # its submodules are loaded when they are used

from theory.kinds import Finite, InputError, Inputs, SquareMatrix, checked
from theory.memory.kinds import Times
from theory.memory.sphere import integrate

NumberOrMatrix: TypeAlias = Finite | SquareMatrix
"""A multiple of the identity, or a matrix (d, d)."""

LARGEST_GROWTH = 20.0  # e^20 = 5e8 times an error of 1e-12 in z leaves 3 digits of x


@dataclass(frozen=True)
class EuclideanFlow:
    """The result of `euclidean_flow`: rescaled tokens and attention matrices at given times.

    There are n tokens x_i(t) in R^d, which move under attention with the value matrix V. At each
    time t of `times`, `rescaled` (times, …, n, d) contains the rescaled tokens e^{−tV} x_i(t), and
    `attention` (times, …, n, n) contains the attention matrix.
    """

    times: np.ndarray
    rescaled: np.ndarray
    attention: np.ndarray


@checked
def euclidean_flow(
    X: Inputs, times: Times, V: NumberOrMatrix = 1.0, QK: NumberOrMatrix = 1.0
) -> EuclideanFlow:
    """The rescaled tokens and the attention matrices of a flow of tokens in R^d, at given times.

    The n tokens x_i start at the rows of X (…, n, d) and satisfy dx_i/dt = Σ_j A_ij V x_j with the
    attention matrix A_ij = softmax_j ⟨x_i, QK x_j⟩. The rescaled tokens at time t are z_i = e^{−tV}
    x_i. The `times` are ≥ 0 and increasing. `V` is the value matrix (d, d), and `QK` is the product
    QᵀK (d, d) of the query and key matrices. A number stands for a multiple of the identity.

    The z_i are integrated by the Runge–Kutta method DOP853 with an estimated error of at most 1e-12
    per step. A is computed from the tokens e^{tV} z_i, which are accurate to about 1e-12·e^{t‖V‖}.

    Raises `ValueError` for times beyond 20/‖V‖, and for scores that overflow.
    """
    d = X.shape[-1]
    V, QK = _square("V", V, d), _square("QK", QK, d)
    growth = float(np.linalg.norm(V, 2))
    if times[-1] * growth > LARGEST_GROWTH:
        raise InputError(
            f"times reach {times[-1]:g}, where tokens have grown by a factor of "
            f"e^{times[-1] * growth:.4g} and their distances are lost in rounding: "
            f"give times up to {LARGEST_GROWTH:g}/‖V‖ = {LARGEST_GROWTH / growth:.6g}"
        )

    def velocity(t: float, state: np.ndarray) -> np.ndarray:
        z = state.reshape(X.shape)
        A = _attention(z, t, V, QK)
        return ((A @ z - z) @ V.T).ravel()

    z = integrate(velocity, X.ravel(), times).reshape(len(times), *X.shape)
    attention = [_attention(z_t, t, V, QK) for t, z_t in zip(times, z, strict=True)]
    return EuclideanFlow(times.copy(), z, np.array(attention))


def _attention(z: np.ndarray, t: float, V: np.ndarray, QK: np.ndarray) -> np.ndarray:
    x = z @ scipy.linalg.expm(t * V).T
    with np.errstate(over="ignore", invalid="ignore"):
        scores = x @ QK @ x.swapaxes(-1, -2)
        scores -= scores.max(axis=-1, keepdims=True)
    if not np.isfinite(scores).all():
        raise InputError(
            f"scores overflow at time {t:.6g} (the largest entry of a token is "
            f"{abs(x).max():.3g}): rescale X or QK, or give earlier times"
        )
    A = np.exp(scores)
    return A / A.sum(axis=-1, keepdims=True)


def _square(name: str, value: float | np.ndarray, d: int) -> np.ndarray:
    matrix = np.multiply(value, np.eye(d)) if np.ndim(value) == 0 else np.asarray(value)
    if matrix.shape != (d, d):
        raise InputError(
            f"{name} has shape {matrix.shape} but tokens have dimension {d}: "
            f"give a matrix of shape ({d}, {d})"
        )
    return matrix
