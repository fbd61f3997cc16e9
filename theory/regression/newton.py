"""Iterative Newton (Newton–Schulz): quadratically convergent approximate inverses of S."""

from collections.abc import Iterator
from itertools import islice
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError, Real
from theory.regression.normal_equations import normal_equations

Start = Literal["gram", "identity"]
"""M₀ = αS or αI."""

STARTS: tuple[Start, ...] = get_args(Start)


def starting_inverse(S: ArrayLike, alpha: Real, start: str = "gram") -> np.ndarray:
    """M₀ (…, d, d): αS for `start="gram"`, αI for `start="identity"`.

    S (…, d, d); `alpha` > 0, one number or one per matrix. Raises `ValueError` for a matrix that is
    not square or not finite, for an alpha that is not positive, and for another start.
    """
    S = checks.real("S", S)
    if S.ndim < 2 or S.shape[-1] != S.shape[-2] or S.shape[-1] < 1:
        raise InputError(f"S has shape {S.shape}: give square matrices (…, d, d)")
    checks.finite("S", bool(np.isfinite(S).all()))
    checks.one_of("start", start, STARTS)
    alpha = checks.per_prompt("alpha", alpha, S.shape[:-2])[..., None, None]
    return alpha * (S if start == "gram" else np.broadcast_to(np.eye(S.shape[-1]), S.shape))


def newton_inverses(S: ArrayLike, alpha: Real, start: str = "gram") -> Iterator[np.ndarray]:
    """Yield M₀, M₁, M₂, … (each (…, d, d)) of M ← 2M − M S M, for ever.

    S (…, d, d) symmetric positive semidefinite. From M₀ = αS the residual is
    I − S M_k = (I − αS²)^(2^k), from M₀ = αI it is (I − αS)^(2^k) [Schulz1933]. On range(S) it
    tends to 0 if and only if 0 < α < 2/λmax², resp. 2/λmax, strictly [BenIsrael1965]; for a larger
    alpha the recursion diverges, which is computed, not refused. From αS the limit is S⁺.
    For singular S the iterates from αI grow like 2^k on the null space of S, and in float64 every
    iteration run long after convergence loses what it gained there [Soderstrom1974].

    Raises `ValueError` as `starting_inverse` does.
    """
    S = checks.real("S", S)
    first = starting_inverse(S, alpha, start)

    def recursion(M: np.ndarray) -> Iterator[np.ndarray]:
        while True:
            yield M
            with np.errstate(over="ignore", invalid="ignore"):
                M = 2 * M - M @ S @ M

    return recursion(first)


def newton(x: ArrayLike, y: ArrayLike, k: int, alpha: Real, start: str = "gram") -> np.ndarray:
    """w_k = M_k b (…, d) after `k` ≥ 0 steps of `newton_inverses` on S = XᵀX, b = Xᵀy.

    x (…, n, d), y (…, n); `alpha` > 0, one number or one per prompt [Fu2024, Theorem 5.1].

    Raises `ValueError` for shapes that do not match, for NaN or infinite entries, for an alpha that
    is not finite and positive, for another start, and for a k that is not an integer ≥ 0.
    """
    k = checks.step_count("k", k)
    S, b = normal_equations(x, y)
    M = next(islice(newton_inverses(S, alpha, start), k, None))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.matvec(M, b)
