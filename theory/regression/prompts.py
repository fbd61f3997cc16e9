"""Random prompts: examples (x_i, y_i) of a linear function, and a query.

Shape glossary: `…` = (n_prompts,), `n` examples, `d` features; w ~ N(0, I), y = Xw + noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from theory.kinds import (
    Count,
    CountFrom2,
    InputError,
    NonNegative,
    Seed,
    SquareMatrix,
    checked,
    shown,
)
from theory.machine import fits_in_memory

Dimension: TypeAlias = CountFrom2
"""An integer ≥ 2."""


@dataclass(frozen=True, eq=False)
class Prompts:
    """A batch of prompts for in-context regression, and the weights that generated the labels.

    The leading dimensions … index the prompts. Each prompt has n examples of dimension d. `x`
    (…, n, d) contains the examples, `y` (…, n) their labels, `x_query` (…, d) the queries,
    `y_query` (…,) the labels of the queries, and `w` (…, d) the weights. The label of an example
    x_i is ⟨w, x_i⟩ plus noise.
    """

    x: np.ndarray
    """Examples (…, n, d)."""
    y: np.ndarray
    """Labels y_i = ⟨w, x_i⟩ + noise (…, n)."""
    x_query: np.ndarray
    """Query (…, d)."""
    y_query: np.ndarray
    """The label of the query, ⟨w, x_query⟩ + noise (…,)."""
    w: np.ndarray
    """Weights (…, d)."""


def _labelled(rows: np.ndarray, noise: float, generator: np.random.Generator) -> Prompts:
    """Prompts with random w and labels for given inputs (…, n + 1, d); the query is last."""
    w = generator.standard_normal(rows.shape[:-2] + rows.shape[-1:])
    labels = np.matvec(rows, w) + noise * generator.standard_normal(rows.shape[:-1])
    return Prompts(rows[..., :-1, :], labels[..., :-1], rows[..., -1, :], labels[..., -1], w)


def _drawable(n_prompts: int, n: int, d: int) -> None:
    """Raises ValueError if inputs (n_prompts, n + 1, d) and their covariances exceed the memory."""
    fits_in_memory(
        f"{shown(n_prompts)} prompts of {shown(n)} examples of dimension {shown(d)}",
        8 * n_prompts * d * (2 * (n + 1) + 3 * d),
        "draw fewer or smaller prompts at a time",
    )


@checked
def gaussian_prompts(
    n_prompts: Count, n: Count, d: Count, *, noise: NonNegative = 0.0, seed: Seed
) -> Prompts:
    """Prompts of linear regression: x_i ~ N(0, I_d), w ~ N(0, I_d), y_i = ⟨w, x_i⟩ + noise·N(0, 1).

    There are `n_prompts` prompts of n examples x_i of dimension d with labels y_i, and each prompt
    has separate weights w. These prompts are the task of [Garg2022]. The query and its label have
    the same distribution as an example.
    """
    _drawable(n_prompts, n, d)
    generator = np.random.default_rng(seed)
    return _labelled(generator.standard_normal((n_prompts, n + 1, d)), noise, generator)


@checked
def ill_conditioned_prompts(
    n_prompts: Count, n: Count, d: Dimension, *, noise: NonNegative = 0.0, seed: Seed
) -> Prompts:
    """Prompts of linear regression with normal examples whose covariance has eigenvalues 100 and 1.

    There are `n_prompts` prompts of n examples x_i ~ N(0, Σ) of dimension d. ⌊d/2⌋ of the d
    eigenvalues of Σ are 100 and the others are 1. The orthonormal eigenbasis of Σ is
    Haar-distributed and independent for each prompt [Fu2024]. The query of a prompt has the same
    distribution as the examples. The labels are y_i = ⟨w, x_i⟩ + noise·N(0, 1), and each prompt has
    separate weights w ~ N(0, I_d).
    """
    _drawable(n_prompts, n, d)
    generator = np.random.default_rng(seed)
    # Q of a Gaussian matrix is Haar-distributed once the signs of R's diagonal are made positive.
    Q, R = np.linalg.qr(generator.standard_normal((n_prompts, d, d)))
    Q = Q * np.sign(np.diagonal(R, axis1=-2, axis2=-1))[:, None, :]
    deviation = np.sqrt(np.repeat([100.0, 1.0], [d // 2, d - d // 2]))
    rows = (generator.standard_normal((n_prompts, n + 1, d)) * deviation) @ Q.swapaxes(-1, -2)
    return _labelled(rows, noise, generator)


@checked
def covariance_prompts(
    n_prompts: Count,
    n: Count,
    covariance: SquareMatrix,
    *,
    noise: NonNegative = 0.0,
    seed: Seed,
) -> Prompts:
    """Prompts of linear regression with normal examples x_i ~ N(0, Σ), for a `covariance` Σ (d, d).

    There are `n_prompts` prompts of n examples x_i of dimension d. The labels are y_i = ⟨w,
    x_i⟩ + noise·N(0, 1), and each prompt has separate weights w ~ N(0, I_d). The query and its
    label have the same distribution as an example.

    Σ may be singular. Raises `ValueError` if Σ is not symmetric and positive semidefinite, up to
    rounding errors of d·eps·‖Σ‖.
    """
    d = len(covariance)
    _drawable(n_prompts, n, d)
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
    return _labelled(generator.standard_normal((n_prompts, n + 1, d)) @ root.T, noise, generator)
