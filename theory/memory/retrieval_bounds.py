"""Bounds on the retrieval error and on the storage capacity of modern Hopfield networks.

Symbols: there are N = `n_patterns` patterns x_j in R^d, `M` = max‖x_j‖, `delta` is the separation
Δ_i of pattern i, and p_j are the weights of the patterns in an update f(ξ) = Σ_j p_j x_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import mpmath
import numpy as np
import scipy  # its submodules are loaded when they are used

from theory.kinds import (
    InputError,
    Integers,
    NonNegative,
    NonNegativeArray,
    OpenUnit,
    Positive,
    PositiveArray,
    Within,
    checked,
)
from theory.memory.kinds import Digits, Numeric, PatternVectors, Size, SizeFrom2
from theory.memory.modern_hopfield import required_separation, separation, squares_fit

LEAST = 2.0**-900  # weights of patterns below it count as it, so that products do not underflow
Cluster: TypeAlias = Annotated[Any, Integers("m", Within(least=0, below="N"))]
"""Indices of patterns, shape (m,)."""

Scale: TypeAlias = Annotated[Positive, Within(least=2.0**-1022, most=1e300)]
"""A number > 0 whose products with sizes of arrays are in the range of float64."""


@checked
def gap_error_bound(
    n_patterns: Size, beta: PositiveArray, M: PositiveArray, gap: Numeric
) -> np.ndarray:
    """The bound 2(N − 1)·M·e^{−beta·gap} on the distance of an updated state from a pattern.

    A modern Hopfield network has N = `n_patterns` patterns x_j with M = max‖x_j‖. The update of a
    state ξ at inverse temperature beta is f(ξ) = Σ_j p_j x_j with p = softmax(beta·⟨x_j, ξ⟩). For a
    pattern x_i with `gap` = ⟨ξ, x_i⟩ − max_{j≠i}⟨ξ, x_j⟩, the result bounds ‖f(ξ) − x_i‖
    [Ramsauer2021, Lemma A4]. The bound follows from x_i − f(ξ) = Σ_{j≠i} p_j(x_i − x_j), because
    p_j ≤ e^{−beta·gap} and ‖x_i − x_j‖ ≤ 2M.

    Arguments broadcast.
    """
    return _leak(n_patterns, np.log(M), beta, gap)


def _leak(n_patterns: int, logs: Any, beta: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """2(N − 1)·e^{logs − beta·gap}, without overflow before the result."""
    if n_patterns == 1:
        return np.zeros(np.broadcast_shapes(logs.shape, beta.shape, gap.shape))
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(np.log(2 * (n_patterns - 1)) + logs - beta * gap))


@checked
def retrieval_error_bound(
    n_patterns: Size,
    beta: PositiveArray,
    M: PositiveArray,
    delta: Numeric,
    distance: NonNegativeArray,
) -> np.ndarray:
    """A bound on the distance of an updated state from a pattern, by the pattern's separation.

    A modern Hopfield network has N = `n_patterns` patterns x_j with M = max‖x_j‖. The update of a
    state ξ at inverse temperature beta is f(ξ) = Σ_j p_j x_j with p = softmax(beta·⟨x_j, ξ⟩). For a
    pattern x_i with the separation delta = min_{j≠i} ⟨x_i, x_i − x_j⟩, the distance ‖f(ξ) − x_i‖ is
    at most 2(N − 1)·M·e^{−beta(delta − 2M·distance)} if `distance` is at least ‖ξ − x_i‖.

    In [Ramsauer2021, Theorem 5], `distance` is max{‖ξ − x_i‖, ‖x* − x_i‖} for a fixed point x* of
    f. However, distance = ‖ξ − x_i‖ suffices, because ⟨ξ, x_i − x_j⟩ ≥ delta − ‖ξ − x_i‖·2M.
    Arguments broadcast.
    """
    return _leak(n_patterns, np.log(M), beta, _gap(M, delta, distance))


def _gap(M: np.ndarray, delta: np.ndarray, distance: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.asarray(delta - 2 * (M * distance))


@checked
def update_rounding(
    n_patterns: Size, d: Size, beta: Positive, M: NonNegative, size: NonNegative, eps: Positive
) -> float:
    """A bound on the rounding error of a modern Hopfield update, in floats with spacing `eps` at 1.

    The network has N = `n_patterns` patterns in R^d of norm at most M and the inverse temperature β
    = `beta`. The update of a state ξ is the mean of the patterns x_j with weights proportional to
    e^{β⟨x_j, ξ⟩}. The states satisfy ‖ξ‖ ≤ `size`. Let u = eps/2 and γ_n = nu/(1 − nu) for every
    integer n [Higham2002, section 3.1]. A score ⟨x_j, ξ⟩ is a sum of d products. The factor β may
    be applied before or after the sum, so a score has an error of at most γ_{d+8}·M‖ξ‖. An exponent
    is β times a difference of two scores, so an exponent has an error of at most η = βM‖ξ‖(2γ_{d+8}
    + 5u). The exponentials of torch's attention are accurate to 20 units in the last place. So each
    weight changes by a factor of at most 1 + θ, where θ = e^η(1 + 40u) − 1, and each normalised
    weight has a relative error of at most 2θ/(1 − θ). Two sums over N patterns and a division add
    an error of γ_{2N+6}·M. Weights below e^{−80} can underflow in float32, which adds an error of
    at most e^{−80}·N·M. For any weights the updated state is in the convex hull of the patterns, up
    to rounding, so the error is also at most 2M(1 + γ_{2N+9}). The smaller bound is returned.

    No product may underflow: with the smallest normal number t of the floats, M ≥ t or M = 0, and
    2dβt ≤ 1. (Vectors times c and β/c² have the same scores.)

    Raises `ValueError` for about 1/eps patterns or more, and for about 2/eps dimensions or more.
    """
    u = eps / 2
    if not 11 * u < 1:  # not even for one pattern
        raise InputError(f"eps is {eps:g}: give the spacing of floats at 1, such as 2.0**-52")
    if not (2 * n_patterns + 9) * u < 1 or not (d + 8) * u < 1:
        raise InputError(
            f"n_patterns is {n_patterns} and d is {d}: give n_patterns below "
            f"{1 / (2 * u) - 4.5:.17g} and d below {1 / u - 8:.17g}"
        )

    def gamma(n: int) -> float:
        return n * u / (1 - n * u)

    eta = beta * M * size * (2 * gamma(d + 8) + 5 * u)
    theta = np.expm1(min(eta, 1.0)) + 40 * u * np.exp(min(eta, 1.0))
    off = 2 * theta / (1 - theta) if theta < 1 else np.inf
    local = off + gamma(2 * n_patterns + 6) * (1 + off) + np.exp(-80.0) * n_patterns
    return float(M * min(local, 2 * (1 + gamma(2 * n_patterns + 9))))


def longest(rows: np.ndarray) -> float:
    """The largest norm of a row."""
    return float(np.linalg.norm(rows, axis=1).max(initial=0.0))


def rounding_bound(
    patterns: np.ndarray, beta: float, steps: int, size: float, eps: float = 2.0**-52
) -> float:
    """A bound on the rounding error of `steps` modern Hopfield updates in floats.

    `eps` is the spacing of floats at 1, and the initial states have norms of at most `size`. Each
    update adds an error of at most `update_rounding`, and multiplies earlier errors by at most the
    Lipschitz constant of the update. The Lipschitz constant is at most beta·R² with R = max‖x_j −
    x̄‖, where x̄ is the mean of the patterns x_j. Let M = max‖x_j‖. The error is at most 2M in any
    case, so a bound above M/2 is useless. The function then returns infinity, and a finding that
    uses the bound is undecided.
    """
    (N, d), M = patterns.shape, longest(patterns)
    slope, error = beta * longest(patterns - patterns.mean(0)) ** 2, 0.0
    for _ in range(steps):
        local = update_rounding(N, d, beta, M, size, eps)
        error = min(local + slope * error, 2 * M + local)
        size = M + error
    return error if error <= M / 2 else np.inf


@checked
def contraction_bound(
    n_patterns: Size,
    beta: PositiveArray,
    M: PositiveArray,
    delta: Numeric,
    distance: NonNegativeArray,
) -> np.ndarray:
    """A bound on the factor by which an update reduces the distance to a fixed point.

    A modern Hopfield network has N = `n_patterns` patterns x_j with M = max‖x_j‖. The update of a
    state ξ at inverse temperature beta is f(ξ) = Σ_j p_j x_j with p = softmax(beta·⟨x_j, ξ⟩). Let
    x* be a fixed point of f, let delta = min_{j≠i} ⟨x_i, x_i − x_j⟩ be the separation of a pattern
    x_i, and let distance = max{‖ξ − x_i‖, ‖x* − x_i‖}. Then ‖f(ξ) − x*‖/‖ξ − x*‖ is at most
    2·beta·N·M²(N − 1)·e^{−beta(delta − 2M·distance)} [Ramsauer2021, Theorem 4].

    In this bound, 2N can be replaced by 4. The reason is that the Jacobian of f is beta times the
    covariance of the patterns under the weights p_j. So the Jacobian is, as a symmetric matrix, at
    most beta·Σ_j p_j(x_j − x_i)(x_j − x_i)ᵀ, whose norm is at most beta(1 − p_i)(2M)². Arguments
    broadcast.
    """
    logs = np.log(beta) + np.log(n_patterns) + 2 * np.log(M)
    return _leak(n_patterns, logs, beta, _gap(M, delta, distance))


@checked
def cluster_radius(patterns: PatternVectors, cluster: Cluster, beta: Positive) -> float:
    """A radius r such that the update has a fixed point within r of the mean of some patterns.

    The patterns x_j are the rows of X (N, d). The update of a modern Hopfield network at inverse
    temperature beta is f(ξ) = Xᵀ softmax(beta·Xξ). `cluster` is the list C of the indices of some
    patterns, which form a cluster. O is the set of the other indices, and m is the mean of the
    patterns x_k, k ∈ C. For all states ξ with ‖ξ − m‖ ≤ r, the update satisfies ‖f(ξ) − m‖ ≤ g(r),
    where

        g(r) = beta·ρ²(‖m‖ + r) + D·min(1, |O|/|C|·e^{−beta(γ − r·h)}),

    with ρ = max_{k∈C} ‖x_k − m‖, h = max_{j∈O} ‖x_j − m‖, D = h + ρ and γ = min_{j∈O} ⟨m, m − x_j⟩.

    Proof. If O were empty, f(ξ) − m would be ∇L(ξ) for L(ξ) = ln(Σ_{k∈C}
    e^{beta⟨x_k − m, ξ⟩})/beta. ∇L is 0 at ξ = 0 and its Lipschitz constant is at most beta·ρ²; this
    gives the first term of g(r). Since Σ_{k∈C} e^{beta⟨x_k, ξ⟩} ≥ |C|·e^{beta⟨m, ξ⟩}, the minimum
    in the second term bounds the total weight of the patterns in O.

    By Brouwer's theorem the ball of radius r around m contains a fixed point if g(r) ≤ r. As g is
    increasing, iteration of g from 0 approaches the smallest such r from below. The result is this
    limit, enlarged by the smallest relative 2^i, i ≥ −40, for which g is at most 1 − 2⁻⁴⁴ times it.
    The result is infinite if no such r is found. Here g is computed in float64, with weights
    e^{−beta(γ − r·h)} of at least 2⁻⁹⁰⁰, and its rounding errors are not bounded: the claim
    `modern-hopfield` recomputes g in ball arithmetic for its patterns.

    There are three regimes. A cluster of all patterns gives the global average, at small beta. A
    cluster of some patterns gives a metastable state. A cluster of one pattern gives retrieval,
    where ρ = 0.

    Raises `ValueError` for repeated indices, and for patterns whose squares overflow.
    """
    squares_fit(patterns)
    if len({*cluster.tolist()}) < cluster.size:
        raise InputError(f"cluster is {cluster.tolist()}: give distinct indices")
    inside, outside = patterns[cluster], np.delete(patterns, cluster, axis=0)
    m = inside.mean(axis=0)
    spread, away = longest(inside - m), longest(outside - m)
    gap = float(((m - outside) @ m).min()) if len(outside) else np.inf
    slope, ratio = beta * spread**2, len(outside) / len(inside)

    def g(r: float) -> float:
        with np.errstate(over="ignore", under="ignore"):
            weight = max(float(np.exp(-beta * (gap - r * away))), LEAST)
        other = min(1.0, ratio * weight)
        return slope * (float(np.linalg.norm(m)) + r) + (away + spread) * other

    r = 0.0
    for _ in range(1000):
        image = g(r)
        if image <= r * (1 + 1e-12):
            larger = (image * (1 + 2.0**i) for i in range(-40, 0))
            return next((r for r in larger if g(r) <= r * (1 - 2.0**-44)), float("inf"))
        if not image < 1e300:
            break
        r = image
    return float("inf")


def least_beta(X: np.ndarray, i: int) -> float:
    """The least inverse temperature beyond which pattern i of X (N, d) is separated enough.

    For every larger inverse temperature β, `required_separation` decreases with β and is at most
    the separation of pattern i.
    """
    N, M, delta = len(X), float(np.linalg.norm(X, axis=1).max()), float(separation(X)[i])
    low = np.e / (2 * (N - 1) * N * M**2)
    high = low
    while required_separation(N, high, M) > delta:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if required_separation(N, middle, M) <= delta else (middle, high)
    return high * (1 + 2.0**-40)


@dataclass(frozen=True)
class StorageBound:
    """The number of random patterns that a modern Hopfield network stores, by a theorem.

    [Ramsauer2021, Theorem 3] guarantees that, with probability 1 − p, `n_patterns` random patterns
    are stored in dimension d. A pattern is stored if a ball around the pattern contains one fixed
    point, to which all states in the ball converge, and the balls of different patterns are
    disjoint. The patterns are uniform on the sphere of radius K√(d − 1), and beta is the inverse
    temperature. Then a = 2/(d − 1)·(1 + ln(2·beta·K²·p·(d − 1))), b = 2K²beta/5, c = b/W₀(e^{a +
    ln b}) with the upper branch W₀ of Lambert's function, and c_required = (2/√p)^{4/(d−1)}.
    `applies` is true if the hypothesis c ≥ c_required of the theorem holds.
    """

    a: mpmath.mpf
    b: mpmath.mpf
    c: mpmath.mpf
    c_required: mpmath.mpf
    n_patterns: mpmath.mpf

    @property
    def applies(self) -> bool:
        """Whether the hypothesis c ≥ c_required holds, for the attributes `c` and `c_required`.

        The hypothesis is that of [Ramsauer2021, Theorem 3].
        """
        return bool(self.c >= self.c_required)


@checked
def stored_patterns_bound(
    d: SizeFrom2, beta: Positive, K: Positive, p: OpenUnit, digits: Digits = 30
) -> StorageBound:
    """The number of random patterns that a modern Hopfield network stores, by a theorem.

    The bound is [Ramsauer2021, Theorem 3], and the result is a `StorageBound`. The patterns are
    drawn uniformly on the sphere of radius M = K√(d − 1) in R^d, d ≥ 2. A pattern is stored if a
    ball around it contains one fixed point of the update at inverse temperature beta, all states in
    the ball converge to this point, and the balls of different patterns are disjoint. Let

        a = 2/(d − 1)·(1 + ln(2·beta·K²·p·(d − 1))),   b = 2K²beta/5,   c = b/W₀(e^{a + ln b}),

    with W₀ the upper branch of Lambert's function. If c ≥ (2/√p)^{4/(d−1)}, then N ≥ √p·c^{(d−1)/4}
    random patterns are stored with probability 1 − p. The constants are computed by mpmath with
    `digits` digits. `union_bound_patterns` gives larger numbers if beta·M² is large.

    The theorem is vacuous for small beta. As beta → 0, the hypothesis holds, and the guaranteed
    number of patterns grows as 1/√(2e·beta·M²). However, for beta < 1/M² the update is a
    contraction, so all patterns share a single fixed point.
    """
    with mpmath.workdps(digits):
        β, κ, q = map(mpmath.mpf, (beta, K, p))
        a = (1 + mpmath.log(2 * β * κ**2 * q * (d - 1))) * 2 / (d - 1)
        b = 2 * κ**2 * β / 5
        c = b / mpmath.lambertw(mpmath.exp(a + mpmath.log(b))).real
        required = (2 / mpmath.sqrt(q)) ** (mpmath.mpf(4) / (d - 1))
        stored = mpmath.sqrt(q) * c ** (mpmath.mpf(d - 1) / 4)
        return StorageBound(*(+value for value in (a, b, c, required, stored)))


@checked
def failure_bound(n_patterns: Size, d: SizeFrom2, beta: Positive, K: Scale) -> float:
    """A bound on the probability that a modern Hopfield network does not store N random patterns.

    The N = `n_patterns` patterns are uniform on the sphere of radius M = K√(d − 1) in R^d. The
    separation of a pattern x_i is min_{j≠i} ⟨x_i, x_i − x_j⟩. All patterns are stored, each with a
    separate fixed point of the update at inverse temperature beta, if all separations are at least
    r = 2/(beta·N) + ln(2(N − 1)N·beta·M²)/beta (`required_separation`), and the balls of radius
    1/(beta·N·M) (`basin_radius`) around the patterns are disjoint. Two patterns are too close if
    the cosine between them exceeds t = 1 − r/M². For t ≥ 0, two random patterns are too close with
    probability ½·I_{1−t²}((d − 1)/2, ½), where I_x(a, b) is the regularised incomplete beta
    function. The bound is the sum of these probabilities over all pairs of patterns, or 1 if the
    sum is larger. The bound is also 1 if 2(N − 1)N·beta·M² ≤ 1, because the balls can then overlap.
    """
    if n_patterns == 1:
        return 0.0
    M = K * float(np.sqrt(d - 1))
    required = float(required_separation(n_patterns, beta, M))
    if beta * required <= 2 / n_patterns:
        return 1.0
    apart = required / M / M  # 1 − t, without the loss of digits in a difference from 1
    cap = float(scipy.special.betainc((d - 1) / 2, 0.5, max(0.0, apart * (2 - apart)))) / 2
    return min(1.0, n_patterns * (n_patterns - 1) / 2 * (cap if apart <= 1 else 1 - cap))


@checked
def union_bound_patterns(d: SizeFrom2, beta: Positive, K: Scale, p: OpenUnit) -> int:
    """The largest number N of random patterns whose `failure_bound` is at most p.

    `failure_bound` bounds the probability that a modern Hopfield network at inverse temperature
    beta does not store all N patterns, by the union bound over pairs of patterns. The patterns are
    uniform on the sphere of radius K√(d − 1) in R^d. So N random patterns are stored with
    probability at least 1 − p.

    The `failure_bound` is computed in float64 (`scipy.special.betainc`); the claim
    `modern-hopfield` computes a rigorous enclosure. As the `failure_bound` increases with N, N is
    found by doubling and bisection. The result is at most 2⁵⁰, also if larger N satisfy the bound.
    """
    if failure_bound(2**50, d, beta, K) <= p:
        return 2**50
    low, high = 1, 2
    while failure_bound(high, d, beta, K) <= p:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = failure_bound(middle, d, beta, K) <= p
        low, high = (middle, high) if enough else (low, middle)
    return low
