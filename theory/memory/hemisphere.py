"""Tokens in an open hemisphere: the probability, a decision procedure, and the rate of clustering.

Shape glossary: `…` leading dimensions, `n` tokens, `d` features; tokens are rows.

Let ⟨w, x_i⟩ ≥ m > 0 for all i at time 0, ‖w‖ = ‖x_i‖ = 1, and x_i' = P_i Σ_j A_ij x_j with any
weights A_ij > 0 (any Q and K; SA or USA of `sphere`).  Then all tokens converge to one point,
exponentially.

Proof.  Project the tokens from the centre to the plane tangent to the sphere at w: let
s_i = ⟨w, x_i⟩ and y_i = x_i / s_i.  In y_i' the component of x_i' along x_i cancels, and

    y_i' = Σ_j a_ij (y_j − y_i),    a_ij = A_ij s_j / s_i > 0.

So no y_i leaves the initial convex hull of all y_j.  Since ‖y‖ increases with the distance from w,
every s_i remains ≥ m, hence a = min a_ij ≥ m·min A_ij.  Let y_i and y_k be two points at the
largest distance D = ‖y_i − y_k‖, and v the direction from y_k to y_i.  All ⟨v, y_j⟩ lie between
⟨v, y_k⟩ and ⟨v, y_i⟩, so

    D' = −Σ_j [a_ij ⟨v, y_i − y_j⟩ + a_kj ⟨v, y_j − y_k⟩]    lies in [−n·max a_ij·D, −n·a·D],

and D(t) ≤ D(0)·e^{−nat}.  Projecting back to the sphere does not increase distances, as ‖y‖ ≥ 1.
If all scores have absolute value at most β‖QᵀK‖, then n·A_ij ≥ e^{−2β‖QᵀK‖} for SA, and
n·A_ij ≥ e^{−β‖QᵀK‖} for USA.  ∎
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from typing import Annotated

import numpy as np
import scipy  # its submodules are loaded when they are used
from flint import fmpz_mat

from theory.kinds import (
    Count,
    InputError,
    Inputs,
    NonNegative,
    SquareMatrix,
    Vector,
    Within,
    checked,
)
from theory.memory.kinds import OneUnitTokens, UnitTokens
from theory.memory.sphere import SphereForm

LP_TOLERANCE = 1e-10  # of the linear program; the smallest value that its solver accepts


@checked
def hemisphere_probability(n: Annotated[Count, Within(most=10_000)], d: Count) -> Fraction:
    """The probability 2^{−(n−1)} Σ_{k<d} C(n−1, k) that n uniform points lie in an open hemisphere.

    The points are independent and uniform on the unit sphere of R^d. C(n−1, k) is a binomial
    coefficient, so the probability is 1 for n ≤ d. The formula also holds for n independent points
    with any distribution on R^d that is symmetric under x → −x, if the points are almost surely in
    general position [Wendel1962]. An open hemisphere then means an open half-space with 0 on its
    boundary.
    """
    total, coefficient = 0, 1
    for k in range(min(d, n)):
        total += coefficient
        coefficient = coefficient * (n - 1 - k) // (k + 1)
    return Fraction(total, 2 ** (n - 1))


def patterns_in_a_hemisphere(x: np.ndarray) -> int:
    """The number of sign vectors ε in {−1, 1}^n for which all ε_i x_i lie in an open hemisphere.

    The points x_i are the rows of x (n, d). The points have integer coordinates and are in general
    position, and n ≥ d. If all ε_i x_i lie in an open hemisphere, the cone that they span has a
    facet: a plane through d − 1 of the points ε_i x_i, such that all other points are strictly on
    one side. Conversely, after a small tilt of such a plane, the d − 1 points are on the same side
    as the other points. So the signs ε_i of the d − 1 points are arbitrary, and the signs of the
    other points are determined by the normal of the plane. The entries of the normal are minors,
    which are computed in integers.
    """
    n, d = x.shape
    found = set()
    for facet in combinations(range(n), d - 1):
        others = [i for i in range(n) if i not in facet]
        sides = [int(fmpz_mat(x[[*facet, i]].tolist()).det()) for i in others]
        if 0 in sides:
            raise ValueError(
                f"points {facet} and another point lie in one plane through 0: "
                "give points in general position"
            )
        for side, *free in product((1, -1), repeat=d):
            signs = np.empty(n, dtype=int)
            signs[others] = [side if value > 0 else -side for value in sides]
            signs[list(facet)] = free
            found.add(tuple(signs))
    return len(found)


@checked
def hemisphere_pole(X: Inputs) -> tuple[np.ndarray, np.ndarray]:
    """A unit vector w (…, d) for which the smallest cosine with a token is large, and this cosine.

    The tokens x_i are the rows of X (…, n, d). The function returns w and the smallest cosine min_i
    ⟨w, x_i⟩/‖x_i‖ (…,). To find w, a linear program maximises m over all vectors w and numbers m
    with ⟨w, x_i⟩ ≥ m‖x_i‖ for all i and |w_k| ≤ 1 for all coordinates k. The solution w is divided
    by its length. If the solution is 0, the first unit vector is returned. The smallest cosine is
    computed from the returned w. If this cosine is larger than the rounding errors, all tokens lie
    in the open hemisphere around w. If a token is 0, no open hemisphere contains the token, and the
    smallest cosine is 0.
    """
    largest = abs(X).max(axis=-1, keepdims=True)
    rows = X / np.where(largest > 0, largest, 1)  # first, as squares of entries may overflow
    rows = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1)
    w, margin = np.empty((*X.shape[:-2], X.shape[-1])), np.empty(X.shape[:-2])
    for place in np.ndindex(X.shape[:-2]):
        w[place] = _direction(rows[place])
        margin[place] = (rows[place] @ w[place]).min()
    return w, margin


@checked
def in_open_hemisphere(X: Inputs) -> np.ndarray:
    """Whether the tokens X (…, n, d) lie in an open hemisphere, as booleans (…,).

    Tokens x_i, the rows of X, lie in an open hemisphere if some vector w satisfies ⟨w, x_i⟩ > 0 for
    all i. The decision uses the vector w of `hemisphere_pole`, for which the smallest cosine with a
    token is large. True is certain, because this w satisfies the inequalities by more than the
    rounding errors. False is returned if the smallest cosine for this w is below about 1e-9, the
    precision of the linear program that computes w.
    """
    _, margin = hemisphere_pole(X)
    return np.asarray(margin > 2 * (X.shape[-1] + 2) * np.finfo(np.float64).eps)


@checked
def hemisphere_rate(
    X: OneUnitTokens,
    beta: NonNegative,
    w: Vector,
    form: SphereForm = "SA",
    QK: SquareMatrix | None = None,
) -> float:
    """A rate λ > 0 at which tokens that start in an open hemisphere approach one point.

    The n tokens start at the rows x_i of X (n, d), with all ⟨w, x_i⟩ > 0 for a vector w (d,), and
    move on the unit sphere under softmax attention (SA) or unnormalised attention (USA) at inverse
    temperature β = `beta`. Let D(t) be the `cone_diameter` of the tokens with respect to w at time
    t. Then D(t) ≤ D(0)·e^{−λt}. The rate is λ = m·e^{−2β‖QᵀK‖} for SA and m·e^{−β‖QᵀK‖} for USA,
    where m = min_i ⟨w, x_i⟩ for w divided by its length, and QᵀK is the matrix `QK` (d, d) or the
    identity. The proof is in the docstring of the module theory.memory.hemisphere.

    Raises `ValueError` if w is 0 or some ⟨w, x_i⟩ ≤ 0.
    """
    norm = 1.0 if QK is None else float(np.linalg.norm(QK, 2))
    sides = 2 if form == "SA" else 1
    return float((X @ _pole(w, X)).min() * np.exp(-sides * beta * norm))


@checked
def cone_diameter(X: UnitTokens, w: Vector) -> np.ndarray:
    """The diameter max_{ij} ‖y_i − y_j‖ (…,) of the points y_i = x_i/⟨w, x_i⟩, for unit tokens x_i.

    The tokens x_i are the rows of X (…, n, d), and w is a vector (d,) with all ⟨w, x_i⟩ > 0. First,
    w is divided by its length. The points y_i lie in the hyperplane ⟨w, y⟩ = 1. The diameter
    bounds all distances ‖x_i − x_j‖.

    Raises `ValueError` if w is 0 or some ⟨w, x_i⟩ ≤ 0.
    """
    y = X / (X @ _pole(w, X))[..., None]
    return np.asarray(
        np.linalg.norm(y[..., :, None, :] - y[..., None, :, :], axis=-1).max(axis=(-1, -2))
    )


def _direction(rows: np.ndarray) -> np.ndarray:
    n, d = rows.shape
    solved = scipy.optimize.linprog(
        np.r_[np.zeros(d), -1.0],
        A_ub=np.c_[-rows, np.ones(n)],
        b_ub=np.zeros(n),
        bounds=[(-1, 1)] * d + [(0, None)],
        options={
            "primal_feasibility_tolerance": LP_TOLERANCE,
            "dual_feasibility_tolerance": LP_TOLERANCE,
        },
    )
    w = solved.x[:d]
    length = np.linalg.norm(w)
    return w / length if length > 0 else np.eye(d)[0]


def _pole(w: np.ndarray, X: np.ndarray) -> np.ndarray:
    if not w.any():
        raise InputError("w is 0: give a vector of positive length")
    least = (X @ w).min(initial=np.inf)
    if not least > 0:
        raise InputError(
            f"w has the inner product {least:.3g} ≤ 0 with a token: give the pole of an open "
            "hemisphere that contains all tokens, for example from hemisphere_pole"
        )
    return w / np.linalg.norm(w)
