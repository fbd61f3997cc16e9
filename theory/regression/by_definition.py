"""Regression algorithms computed by their definitions, over any number system (`matrices.py`).

X is n × d and y is n × 1; each row of Q (m × d) is a query, and the result (m × 1) contains a
prediction for each query. The functions do not use closed forms of other modules or of
`constructions`.
"""

from __future__ import annotations

from flint import fmpq_mat

from theory.regression.matrices import Matrix, NumberSystem, identity, start_matrix
from theory.regression.newton import Start


def newton(
    of: NumberSystem, X: Matrix, y: Matrix, Q: Matrix, k: int, alpha: float, start: Start
) -> Matrix:
    """Predictions Q M_k Xᵀ y after k Newton–Schulz steps M_{j+1} = 2M_j − M_j S M_j.

    S = XᵀX, and M₀ = alpha·S for start "gram" or alpha·I for "identity". The rows of X (n × d) are
    n examples of dimension d, and y (n × 1) are their labels. The rows of Q (m × d) are m queries,
    and the result is m × 1.
    """
    S, two = X.transpose() * X, of.number(2)
    M = start_matrix(of, S, alpha, start)
    for _ in range(k):
        M = two * M - M * S * M
    return Q * (M * (X.transpose() * y))


def hyperpower(
    of: NumberSystem,
    X: Matrix,
    y: Matrix,
    Q: Matrix,
    k: int,
    order: int,
    alpha: float,
    start: Start,
) -> Matrix:
    """Predictions Q M_k Xᵀ y after k hyperpower steps, whose sums are computed term by term.

    A step is M_{j+1} = M_j Σ_{i<order} (I − S M_j)^i, where S = XᵀX. M₀ is alpha·S (start "gram")
    or alpha·I (start "identity"). The rows of X (n × d) are n examples of dimension d, and y
    (n × 1) are their labels. The rows of Q (m × d) are m queries, and the result is m × 1.
    """
    S = X.transpose() * X
    M, unit = start_matrix(of, S, alpha, start), identity(of, S.nrows())
    for _ in range(k):
        E, raised, total = unit - S * M, unit, unit
        for _ in range(order - 1):
            raised = raised * E
            total = total + raised
        M = M * total
    return Q * (M * (X.transpose() * y))


def gradient_descent(
    of: NumberSystem, X: Matrix, y: Matrix, Q: Matrix, k: int, step_size: float
) -> Matrix:
    """Predictions Q w after k steps w ← w + step_size·Xᵀ(y − X w) of gradient descent from w = 0.

    The rows of X (n × d) are n examples of dimension d, and y (n × 1) are their labels. The rows of
    Q (m × d) are m queries, and the result is m × 1.
    """
    eta = of.number(*step_size.as_integer_ratio())
    w = of.number(0) * (X.transpose() * y)
    for _ in range(k):
        w = w + eta * (X.transpose() * (y - X * w))
    return Q * w


def online_gradient_descent(of: NumberSystem, X: Matrix, y: Matrix, Q: Matrix) -> Matrix:
    """Predictions Q w after one pass of online gradient descent (normalised LMS) from w = 0.

    The rows x_i of X (n × d) are n examples of dimension d, and the entries y_i of y (n × 1) are
    their labels. Example i changes w to w + (y_i − ⟨w, x_i⟩) x_i/‖x_i‖². Examples with x_i = 0 are
    skipped. The rows of Q (m × d) are m queries, and the result is m × 1.
    """
    w = of.number(0) * (X.transpose() * y)
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x = of.matrix([row])
        square = (x * x.transpose()).tolist()[0][0]
        if square != 0:
            error = label[0] - (x * w).tolist()[0][0]
            w = w + (error / square) * x.transpose()
    return Q * w


def least_squares(of: NumberSystem, X: Matrix, y: Matrix) -> Matrix:
    """The minimum-norm minimiser w of ‖X w − y‖, computed over ℚ from rational entries.

    X factors as C F: the rows of F are the non-zero rows of the echelon form of X, and the columns
    of C are the columns of X at the pivots. So the matrices C and Fᵀ have full column rank, and w =
    Fᵀ(F Fᵀ)⁻¹(CᵀC)⁻¹Cᵀ y.
    """
    X, y = (_over_q(matrix) for matrix in (X, y))
    echelon, rank = X.rref()
    if rank == 0:
        return of.matrix([[of.number(0)]] * X.ncols())
    rows = echelon.tolist()[:rank]
    pivots = [next(j for j, entry in enumerate(row) if entry != 0) for row in rows]
    F, C = fmpq_mat(rows), fmpq_mat([[r[j] for j in pivots] for r in X.tolist()])
    w = F.transpose() * ((C.transpose() * C) * (F * F.transpose())).solve(C.transpose() * y)
    return of.matrix([[of.number(int(e.p), int(e.q)) for e in row] for row in w.tolist()])


def _over_q(matrix: Matrix) -> Matrix:
    """The matrix over Q with the same entries; balls must have radius 0."""
    rows = matrix.tolist()
    return fmpq_mat([[e.fmpq() if hasattr(e, "fmpq") else e for e in r] for r in rows])
