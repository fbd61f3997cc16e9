"""The algorithms by their definitions, written once for every number system.

X is n × d, y is n × 1, Q is m × d with a query in each row; the result is m × 1 predictions.
Nothing here knows of the closed forms that `theory` and `constructions` use.
"""

from __future__ import annotations

from collections.abc import Callable

from constructions.regression.ladder import Plan
from theory.regression import Start
from verify.domains import Rational
from verify.domains.base import Domain, Entry, Matrix


def identity(domain: Domain, size: int) -> Matrix:
    """The identity matrix of a domain."""
    rows = [[domain.number(int(i == j)) for j in range(size)] for i in range(size)]
    return domain.matrix(rows)


def start_matrix(domain: Domain, S: Matrix, alpha: float, start: Start) -> Matrix:
    """M₀ = αS or αI."""
    scale = domain.number(*alpha.as_integer_ratio())
    return scale * (S if start == "gram" else identity(domain, S.nrows()))


def newton(
    domain: Domain, X: Matrix, y: Matrix, Q: Matrix, k: int, alpha: float, start: Start
) -> Matrix:
    """Q M_k Xᵀ y with M_{j+1} = 2M_j − M_j S M_j."""
    S, two = X.transpose() * X, domain.number(2)
    M = start_matrix(domain, S, alpha, start)
    for _ in range(k):
        M = two * M - M * S * M
    return Q * (M * (X.transpose() * y))


def hyperpower(
    domain: Domain, X: Matrix, y: Matrix, Q: Matrix, k: int, order: int, alpha: float
) -> Matrix:
    """Q M_k Xᵀ y with M_{j+1} = M_j Σ_{i<order} (I − S M_j)^i from M₀ = αS, term by term."""
    S = X.transpose() * X
    M, unit = start_matrix(domain, S, alpha, "gram"), identity(domain, S.nrows())
    for _ in range(k):
        E, raised, total = unit - S * M, unit, unit
        for _ in range(order - 1):
            raised = raised * E
            total = total + raised
        M = M * total
    return Q * (M * (X.transpose() * y))


def chebyshev(domain: Domain, S: Matrix, plan: Plan) -> dict[int, Matrix]:
    """G of each degree on the way, with S·G = I − R, by the combinations of residuals of a plan.

    If R = Σ f·R_a²R_c + Σ f·R_b − Σ f·S R_b − Σ f·S R_b³, where the factors of products and of kept
    ones sum to 1, then G = Σ f·(G_a + R_a G_a + R_a²G_c) + Σ f·G_b + Σ f·R_b + Σ f·R_b³.
    """
    zero, unit = domain.number(0) * S, identity(domain, S.nrows())
    slots, found = {"low": zero, "high": zero}, {0: zero}

    def number(value: float) -> Entry:
        return domain.number(*value.as_integer_ratio())

    for rungs in plan:
        R, made = {slot: unit - S * G for slot, G in slots.items()}, {}
        for rung in rungs:
            G = zero
            for (a, c), f in rung.products.items():
                G = G + number(f) * (slots[a] + R[a] * slots[a] + R[a] * R[a] * slots[c])
            for slot, f in rung.kept.items():
                G = G + number(f) * slots[slot]
            for slot, f in rung.once.items():
                G = G + number(f) * R[slot]
            for slot, f in rung.cubed.items():
                G = G + number(f) * R[slot] * R[slot] * R[slot]
            made[rung.slot] = found[rung.exponent] = G
        slots |= made
    return found


def gradient_descent(
    domain: Domain, X: Matrix, y: Matrix, Q: Matrix, k: int, step_size: float
) -> Matrix:
    """Q w_k with w ← w + η Xᵀ(y − X w) from w = 0."""
    eta = domain.number(*step_size.as_integer_ratio())
    w = domain.number(0) * (X.transpose() * y)
    for _ in range(k):
        w = w + eta * (X.transpose() * (y - X * w))
    return Q * w


def on_each_prefix(
    rows: Callable[..., Matrix], domain: Domain, X: Matrix, y: Matrix, Q: Matrix
) -> Matrix:
    """For t = 0 … n: `rows` of the first t examples and input t + 1 (at the end Q).

    None are as good as one that is all 0.
    """
    inputs, labels, found = [*X.tolist(), *Q.tolist()], y.tolist(), []
    none, no_label = [[domain.number(0)] * X.ncols()], [[domain.number(0)]]
    for t in range(len(inputs)):
        seen = domain.matrix(inputs[:t] or none), domain.matrix(labels[:t] or no_label)
        found += rows(*seen, domain.matrix([inputs[t]])).tolist()
    return domain.matrix(found)


def online_gradient_descent(domain: Domain, X: Matrix, y: Matrix, Q: Matrix) -> Matrix:
    """Q w_n with w ← w + (y_i − ⟨w, x_i⟩) x_i/‖x_i‖², one pass; x_i = 0 makes no step."""
    w = domain.number(0) * (X.transpose() * y)
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x = domain.matrix([row])
        square = (x * x.transpose()).tolist()[0][0]
        if square != 0:
            error = label[0] - (x * w).tolist()[0][0]
            w = w + (error / square) * x.transpose()
    return Q * w


def least_squares(domain: Domain, X: Matrix, y: Matrix) -> Matrix:
    """The minimum-norm minimiser of ‖X w − y‖, computed over Q from rational (or exact) entries.

    X = C F with F the non-zero rows of its echelon form and C its columns at the pivots, so C and
    Fᵀ have full column rank, and w = Fᵀ(F Fᵀ)⁻¹(CᵀC)⁻¹Cᵀ y.
    """
    rational = Rational()
    X, y = (_over_q(matrix) for matrix in (X, y))
    echelon, rank = X.rref()
    if rank == 0:
        return domain.matrix([[domain.number(0)]] * X.ncols())
    rows = echelon.tolist()[:rank]
    pivots = [next(j for j, entry in enumerate(row) if entry != 0) for row in rows]
    F, C = rational.matrix(rows), rational.matrix([[r[j] for j in pivots] for r in X.tolist()])
    w = F.transpose() * ((C.transpose() * C) * (F * F.transpose())).solve(C.transpose() * y)
    return domain.matrix([[domain.number(int(e.p), int(e.q)) for e in row] for row in w.tolist()])


def _over_q(matrix: Matrix) -> Matrix:
    """The same entries as rationals; balls must be exact."""
    rows = matrix.tolist()
    return Rational().matrix([[e.fmpq() if hasattr(e, "fmpq") else e for e in r] for r in rows])


def power(domain: Domain, matrix: Matrix, exponent: int) -> Matrix:
    """matrix^exponent by repeated squaring."""
    result = identity(domain, matrix.nrows())
    for bit in bin(exponent)[2:]:
        result = result * result
        if bit == "1":
            result = result * matrix
    return result


def inverse_of_power(domain: Domain, E: Matrix, first: Matrix, exponent: int) -> Matrix:
    """G with I − S·G = (I − S·M₀)^exponent: Σ_{i<exponent} E^i M₀, by the bits of the exponent."""
    total, raised = domain.number(0) * first, identity(domain, E.nrows())
    for bit in bin(exponent)[2:]:
        total, raised = total + raised * total, raised * raised
        if bit == "1":
            total, raised = first + E * total, E * raised
    return total
