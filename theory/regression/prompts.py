"""Random prompts: examples (x_i, y_i) of a linear function, and a query.

Shape glossary: `…` = (batch,), `n` examples, `d` features; w ~ N(0, I), y = Xw + noise.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError


@dataclass(frozen=True, eq=False)
class Prompts:
    """A batch of in-context regression prompts, and the weights they were drawn from."""

    x: np.ndarray
    """Examples (…, n, d)."""
    y: np.ndarray
    """Labels y_i = ⟨w, x_i⟩ + noise (…, n)."""
    x_query: np.ndarray
    """Query (…, d)."""
    y_query: np.ndarray
    """Its label ⟨w, x_query⟩ + noise (…,)."""
    w: np.ndarray
    """Weights (…, d)."""


def _labelled(rows: np.ndarray, noise: float, generator: np.random.Generator) -> Prompts:
    """Draw w and the labels of the rows (…, n + 1, d), the last of which is the query."""
    if not 0 <= noise < np.inf:
        raise InputError(f"noise is {noise}: give a finite standard deviation that is at least 0")
    w = generator.standard_normal(rows.shape[:-2] + rows.shape[-1:])
    labels = np.matvec(rows, w) + noise * generator.standard_normal(rows.shape[:-1])
    return Prompts(rows[..., :-1, :], labels[..., :-1], rows[..., -1, :], labels[..., -1], w)


def gaussian_prompts(
    batch: int, n: int, d: int, *, noise: float = 0.0, seed: int | np.random.Generator
) -> Prompts:
    """`batch` prompts with rows x_i ~ N(0, I_d), w ~ N(0, I_d), y_i = ⟨w, x_i⟩ + noise·N(0, 1).

    The task of [Garg2022]. The query and its label are drawn like the examples. Raises `ValueError`
    unless batch, n, d ≥ 1 and noise ≥ 0.
    """
    batch, n, d = (
        checks.dimension(name, value) for name, value in (("batch", batch), ("n", n), ("d", d))
    )
    generator = np.random.default_rng(seed)
    return _labelled(generator.standard_normal((batch, n + 1, d)), noise, generator)


def ill_conditioned_prompts(
    batch: int, n: int, d: int, *, noise: float = 0.0, seed: int | np.random.Generator
) -> Prompts:
    """`batch` prompts with rows x_i ~ N(0, Σ), Σ = Q diag(100, …, 100, 1, …, 1) Qᵀ.

    Half of the d eigenvalues, ⌊d/2⌋, are 100, the others are 1, and the eigenbasis Q is
    Haar-distributed, drawn afresh for every prompt [Fu2024]. The query is drawn from its prompt's
    own Σ. The law of w and the noise are those of `gaussian_prompts`. Raises `ValueError` unless
    batch, n ≥ 1, d ≥ 2 and noise ≥ 0.
    """
    batch, n, d = (
        checks.dimension(name, value) for name, value in (("batch", batch), ("n", n), ("d", d))
    )
    if d < 2:
        raise InputError(f"d is {d}: half of the eigenvalues are large, so give at least 2")
    generator = np.random.default_rng(seed)
    # Q of a Gaussian matrix is Haar-distributed once the signs of R's diagonal are made positive.
    Q, R = np.linalg.qr(generator.standard_normal((batch, d, d)))
    Q = Q * np.sign(np.diagonal(R, axis1=-2, axis2=-1))[:, None, :]
    deviation = np.sqrt(np.repeat([100.0, 1.0], [d // 2, d - d // 2]))
    rows = (generator.standard_normal((batch, n + 1, d)) * deviation) @ Q.swapaxes(-1, -2)
    return _labelled(rows, noise, generator)


def covariance_prompts(
    batch: int,
    n: int,
    covariance: ArrayLike,
    *,
    noise: float = 0.0,
    seed: int | np.random.Generator,
) -> Prompts:
    """`batch` prompts with rows x_i ~ N(0, Σ) for a given `covariance` Σ (d, d).

    Σ must be symmetric and positive semidefinite, up to d·eps·‖Σ‖; it may be singular. The law of w
    and the noise are those of `gaussian_prompts`. Raises `ValueError` otherwise, and unless
    batch, n ≥ 1 and noise ≥ 0.
    """
    batch, n = checks.dimension("batch", batch), checks.dimension("n", n)
    covariance = checks.real("covariance", covariance)
    if covariance.ndim != 2 or len(covariance) != covariance.shape[1] or len(covariance) < 1:
        raise InputError(f"covariance has shape {covariance.shape}: give one square matrix (d, d)")
    checks.finite("covariance", bool(np.isfinite(covariance).all()))
    d = len(covariance)
    rounding = d * np.finfo(np.float64).eps * np.abs(covariance).sum(axis=1).max()
    asymmetry = np.abs(covariance - covariance.T).max()
    if asymmetry > rounding:
        raise InputError(
            f"covariance differs from its transpose by {asymmetry:.3g}: give a symmetric matrix"
        )
    eigenvalues, V = np.linalg.eigh(covariance)
    if eigenvalues[0] < -rounding:
        raise InputError(
            f"covariance has the eigenvalue {eigenvalues[0]:.3g}: "
            "give a positive semidefinite matrix"
        )
    root = V * np.sqrt(np.maximum(eigenvalues, 0))
    generator = np.random.default_rng(seed)
    return _labelled(generator.standard_normal((batch, n + 1, d)) @ root.T, noise, generator)
