"""Modern Hopfield networks: continuous states, log-sum-exp energy and softmax update.

Let x_j be the patterns (the rows of X), p = softmax(βXξ), f(ξ) = Σ_j p_j x_j and
L(ξ) = ln(Σ_j e^{β⟨x_j, ξ⟩})/β. Let M = max_j ‖x_j‖, and let Δ_i = min_{j≠i} ⟨x_i, x_i − x_j⟩ be
the separation of x_i. The energy is E = ½‖ξ‖² − L(ξ), up to a constant. The update f = ∇L is the
gradient of a convex function, which implies the following [Ramsauer2021, Theorems 1, 2, 4 and 5].

Descent. For ξ′ = f(ξ), E(ξ) − E(ξ′) − ½‖ξ′ − ξ‖² = L(ξ′) − L(ξ) − ⟨∇L(ξ), ξ′ − ξ⟩ ≥ 0 by
convexity; the difference is KL(p ‖ p′)/β. Iterates lie in the convex hull of the patterns, E is
analytic and ∇E(ξ) = ξ − f(ξ). As each update lowers E by at least ½‖∇E‖², Łojasiewicz' inequality
implies that the iterates converge to a zero of ∇E. Retrieval. Since x_i − f(ξ) = Σ_{j≠i}
p_j(x_i − x_j), p_j ≤ e^{−β⟨ξ, x_i − x_j⟩}, ‖x_i − x_j‖ ≤ 2M and
⟨ξ, x_i − x_j⟩ ≥ Δ_i − 2M‖ξ − x_i‖, the error satisfies
‖f(ξ) − x_i‖ ≤ 2M(1 − p_i) ≤ 2(N − 1)M·e^{−β(Δ_i − 2M‖ξ − x_i‖)}. Separation. Let
Δ_i ≥ 2/(βN) + ln(2(N−1)NβM²)/β. On the ball ‖ξ − x_i‖ ≤ 1/(βNM), 1 − p_i ≤ 1/(2NβM²), so
‖f(ξ) − x_i‖ ≤ 1/(βNM): f maps this ball into itself. The Jacobian of f is β times the covariance
of the patterns under p. Its norm is at most 4βM²(1 − p_i) ≤ 2/N, and for N = 2 at most
4βM²p_i(1 − p_i) < 1. So f is a contraction on the compact ball.

Shape glossary: `…` leading dimensions, `N` patterns (`n_patterns`), `d` features; patterns x_j are
rows.
"""

from __future__ import annotations

import numpy as np

from theory import machine
from theory.kinds import InputError, Positive, PositiveArray, Vectors, checked
from theory.memory.kinds import PatternVectors, Size, Updates
from theory.waiting import announced

BLOCK = 2**22  # number of inner products that `separation` computes at a time: 32 MiB


def squares_fit(X: np.ndarray) -> None:
    """Raises `ValueError` for patterns (N, d) whose squares overflow."""
    # 4·d·max² bounds every ‖x_i − x_j‖² and so every quantity computed from the patterns alone.
    with np.errstate(over="ignore"):
        largest = np.abs(X).max()
        fits = np.isfinite(4 * X.shape[1] * largest**2)
    if not fits:
        raise InputError(
            f"patterns have an entry {largest:.3g}, whose square overflows: rescale the patterns"
        )


def _scores(X: np.ndarray, xi: np.ndarray) -> np.ndarray:
    """The inner products ⟨x_j, ξ⟩ (…, N)."""
    # Scores, their gaps and exponentials, and masks.
    needed = (3 * 8 + 2) * (xi.size // X.shape[1]) * X.shape[0]
    machine.fits_in_memory(
        f"{xi.size // X.shape[1]} states and {X.shape[0]} patterns", needed, "pass fewer states"
    )
    with np.errstate(over="ignore", invalid="ignore"):
        scores = np.asarray(xi @ X.T)
    if not np.isfinite(scores).all():
        raise InputError(
            f"an inner product overflows (the largest entry of states is {np.abs(xi).max():.3g}): "
            "rescale the states or the patterns"
        )
    return scores


def _softmax(scores: np.ndarray, beta: float) -> np.ndarray:
    with np.errstate(over="ignore", under="ignore"):
        weights = np.exp(beta * (scores - scores.max(axis=-1, keepdims=True)))
        return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


@checked
def pattern_weights(patterns: PatternVectors, states: Vectors, beta: Positive) -> np.ndarray:
    """The weights softmax(beta·Xξ) (…, N) of the patterns in the update of each state ξ.

    The update of a modern Hopfield network is f(ξ) = Xᵀ softmax(beta·Xξ). The patterns are the rows
    x_j of X (N, d), the states ξ are (…, d), and beta > 0. The largest score is subtracted from all
    scores first, so the exponentials do not overflow for any beta. The score ⟨x_j, ξ⟩ of a pattern
    x_j has a rounding error of about d·2⁻⁵³·‖x_j‖‖ξ‖, which is multiplied by beta.

    Raises `ValueError` for inner products that overflow or do not fit in memory.
    """
    squares_fit(patterns)
    return _softmax(_scores(patterns, states), beta)


@checked
def modern_hopfield_step(
    patterns: PatternVectors,
    states: Vectors,
    beta: Positive,
    steps: Updates = 1,
) -> np.ndarray:
    """The states (…, d) of a modern Hopfield network after exactly `steps` updates.

    An update of a state ξ is f(ξ) = Xᵀ softmax(beta·Xξ), where the rows of X (N, d) are the
    patterns. The initial states are (…, d). An update is also f(ξ) = ξ − ∇E(ξ), where E is the
    `modern_hopfield_energy` [Ramsauer2021, equation 3]. The vector f(ξ) lies in the convex hull of
    the patterns. With steps = 0 the states are returned unchanged.

    Raises `ValueError` for inner products that overflow or do not fit in memory.
    """
    squares_fit(patterns)
    xi = states.copy()
    for _ in announced(range(steps), "modern_hopfield_step"):
        with np.errstate(under="ignore"):
            xi = _softmax(_scores(patterns, xi), beta) @ patterns
    return xi


@checked
def modern_hopfield_energy(patterns: PatternVectors, states: Vectors, beta: Positive) -> np.ndarray:
    """The energy E(ξ) = −lse(beta, Xξ) + ½‖ξ‖² + ln(N)/beta + ½M² (…,) of each state ξ.

    The patterns x_j of the modern Hopfield network are the rows of X (N, d), and the states ξ are
    (…, d). In the formula, lse(beta, s) = ln(Σ_j exp(beta·s_j))/beta and M = max_j ‖x_j‖
    [Ramsauer2021, equation 2]. The energy satisfies E ≥ ½(‖ξ‖ − M)² ≥ 0, and E ≤ 2M² if ‖ξ‖ ≤ M.
    The update is f(ξ) = Σ_j p_j(ξ) x_j with the weights p(ξ) = softmax(beta·Xξ). An update lowers E
    by exactly

        E(ξ) − E(f(ξ)) = ½‖f(ξ) − ξ‖² + KL(p(ξ) ‖ p(f(ξ)))/beta,

    where KL is the Kullback–Leibler divergence.

    Let s_j = ⟨x_j, ξ⟩ be the score of pattern x_j, and let s_k be the largest score. E is computed
    as ½‖ξ − x_k‖² + ½(M² − ‖x_k‖²) − ln(mean_j exp(beta(s_j − s_k)))/beta. This formula does not
    overflow at large beta and loses no digits by cancellation at small beta.

    Raises `ValueError` for energies that overflow, and for inner products that overflow or do not
    fit in memory.
    """
    X, xi = patterns, states
    squares_fit(X)
    scores = _scores(X, xi)
    squares = np.vecdot(X, X)
    best = scores.argmax(axis=-1)
    with np.errstate(over="ignore", under="ignore"):
        gaps = beta * (scores - scores.max(axis=-1, keepdims=True))
        soft = np.log1p(np.expm1(gaps).mean(axis=-1)) / beta
        offset = xi - X[best]
        energy = (np.vecdot(offset, offset) + (squares.max() - squares[best])) / 2 - soft
    if not np.isfinite(energy).all():
        raise InputError(
            f"an energy overflows (the largest entry of states is {np.abs(xi).max():.3g} and "
            f"beta is {beta:g}): rescale the states"
        )
    return np.asarray(energy)


@checked
def jacobian(patterns: PatternVectors, states: Vectors, beta: Positive) -> np.ndarray:
    """The Jacobians (…, d, d) of the update of a modern Hopfield network at states (…, d).

    The update of a state ξ is f(ξ) = Xᵀ softmax(beta·Xξ), where the rows of X (N, d) are the
    patterns. The Jacobian at ξ is beta·Xᵀ(diag p − ppᵀ)X with the weights p = softmax(beta·Xξ). The
    Jacobian is beta times the covariance of the patterns under p, so it is symmetric and positive
    semidefinite [Ramsauer2021].

    Raises `ValueError` for inner products that overflow or do not fit in memory.
    """
    X = patterns
    squares_fit(X)
    scores = _scores(X, states)
    machine.fits_in_memory(
        f"{scores.size} centred patterns",
        scores.size * (8 * (2 * X.shape[1] + 3) + 2),
        "pass fewer states",
    )
    with np.errstate(under="ignore"):
        p = _softmax(scores, beta)
        # The patterns are centred because diag p − ppᵀ loses all digits if a weight is nearly 1.
        centred = np.sqrt(p)[..., None] * (X - (p @ X)[..., None, :])
        return np.asarray(beta * (np.swapaxes(centred, -1, -2) @ centred))


@checked
def separation(patterns: PatternVectors) -> np.ndarray:
    """The separations Δ_i = min_{j≠i} (⟨x_i, x_i⟩ − ⟨x_i, x_j⟩) (N,) of N patterns x_i.

    The patterns x_i are the rows of `patterns` (N, d). The definition is [Ramsauer2021, Definition
    2]. If N = 1, the separation is infinite. Δ_i is at most 0 if ⟨x_i, x_j⟩ ≥ ⟨x_i, x_i⟩ for
    another pattern x_j. The inner products are computed in blocks, in O(N) memory and O(N²d) time.

    Raises `ValueError` for patterns whose squares overflow.
    """
    X, N = patterns, len(patterns)
    squares_fit(X)
    found = np.empty(N)
    rows = max(1, BLOCK // N)
    for start in range(0, N, rows):
        block = X[start : start + rows]
        products = block @ X.T
        own = np.arange(len(block)), np.arange(start, start + len(block))
        squares = products[own]
        products[own] = -np.inf
        found[own[1]] = squares - products.max(axis=1)
    return found


@checked
def required_separation(n_patterns: Size, beta: PositiveArray, M: PositiveArray) -> np.ndarray:
    """The separation 2/(beta·N) + ln(2(N − 1)N·beta·M²)/beta that is sufficient for a fixed point.

    A modern Hopfield network has N = `n_patterns` patterns x_j of norm at most M. Its update at
    inverse temperature beta is f(ξ) = Σ_j p_j x_j with p = softmax(beta·⟨x_j, ξ⟩). The separation
    of a pattern x_i is min_{j≠i} ⟨x_i, x_i − x_j⟩. If it is at least the returned value, the update
    maps the ball of radius 1/(beta·N·M) around x_i into itself (`basin_radius`). The update is a
    contraction on this ball, with a unique fixed point [Ramsauer2021]. If in addition
    2(N − 1)N·beta·M² > 1, the balls of different patterns are disjoint. For a smaller beta the
    condition on the separation can also hold, but the balls then contain several patterns and share
    one fixed point. For N = 1 the update is constant, and the value is −∞.

    `beta` and `M` broadcast.
    """
    if n_patterns == 1:
        return np.full(np.broadcast_shapes(beta.shape, M.shape), -np.inf)
    # Logarithms of the factors: their product may overflow.
    log = np.log(2 * (n_patterns - 1)) + np.log(n_patterns) + np.log(beta) + 2 * np.log(M)
    return np.asarray((2 / n_patterns + log) / beta)


@checked
def basin_radius(n_patterns: Size, beta: PositiveArray, M: PositiveArray) -> np.ndarray:
    """A radius, 1/(beta·N·M), such that an update maps the ball around a pattern into itself.

    A modern Hopfield network has N = `n_patterns` patterns x_j of norm at most M, and its update at
    inverse temperature beta is f(ξ) = Σ_j p_j x_j with p = softmax(beta·⟨x_j, ξ⟩). The update maps
    the ball of this radius around a pattern x_i into itself if the `separation` of x_i, min_{j≠i}
    ⟨x_i, x_i − x_j⟩, is at least `required_separation`. `beta` and `M` broadcast.
    """
    return np.asarray(1 / beta / n_patterns / M)
