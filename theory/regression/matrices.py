"""Residuals of Newton's method and gradient descent as matrices, in any number system.

Let S = XᵀX, M₀ = αS ("gram") or αI ("identity"), and E = I − S M₀, the residual of M₀. Then
G_p = Σ_{i<p} E^i M₀ satisfies I − S G_p = E^p. After k steps of Newton's method, M_k = G_p with
p = 2^k. Gradient descent corresponds to M₀ = αI and p = k.

A number system has `number(numerator, denominator)` and `matrix(rows)`; its matrices have `+`, `-`,
`*`, `transpose()`, `nrows()`, `ncols()` and `tolist()`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from theory.regression.newton import Start

Matrix = Any


@runtime_checkable
class NumberSystem(Protocol):
    """A number system, with functions that construct its numbers and matrices of these numbers."""

    def number(self, numerator: int, denominator: int = 1) -> Any: ...
    def matrix(self, rows: Sequence[Sequence[Any]]) -> Matrix: ...


def identity(of: NumberSystem, size: int) -> Matrix:
    """The identity matrix with `size` rows over the number system `of`."""
    return of.matrix([[of.number(int(i == j)) for j in range(size)] for i in range(size)])


def start_matrix(of: NumberSystem, S: Matrix, alpha: float, start: Start) -> Matrix:
    """The matrix M₀ = alpha·S for `start="gram"`, or alpha·I for `start="identity"`."""
    scale = of.number(*alpha.as_integer_ratio())
    return scale * (S if start == "gram" else identity(of, S.nrows()))


def matrix_power(of: NumberSystem, matrix: Matrix, exponent: int) -> Matrix:
    """matrix^exponent, by repeated squaring."""
    result = identity(of, matrix.nrows())
    for bit in bin(exponent)[2:]:
        result = result * result
        if bit == "1":
            result = result * matrix
    return result


class InversesOfPowers:
    """The matrices G_p = Σ_{i<p} E^i M₀ with E = I − S M₀, for several p.

    S is a square matrix, and M₀ is alpha·S for `start="gram"`, or alpha·I for `start="identity"`.
    G_p satisfies I − S G_p = E^p. It is computed by repeated squaring along the bits of p or, after
    a call with p − 1 or ⌊p/2⌋, from that result: for p = 1, …, k in turn, by 2k products.
    """

    def __init__(self, of: NumberSystem, S: Matrix, alpha: float, start: Start) -> None:
        self.first, unit = start_matrix(of, S, alpha, start), identity(of, S.nrows())
        self.E = unit - self.first * S
        self.zero = 0, of.number(0) * self.first, unit
        self.latest = self.zero  # p, G_p and E^p

    def __getitem__(self, p: int) -> Matrix:
        """The matrix G_p, for an integer p ≥ 0."""
        at, total, raised = self.latest
        if p - at not in (0, 1):
            if p >> 1 != at:
                at, total, raised = self.zero
                for bit in bin(p >> 1)[2:]:
                    at, total, raised = self._next(2 * at + int(bit), at, total, raised)
            at, total, raised = self._next(p, at, total, raised)
        elif p > at:
            total, raised = self.first + self.E * total, self.E * raised
        self.latest = p, total, raised
        return total

    def _next(self, p: int, half: int, total: Matrix, raised: Matrix) -> tuple[int, Matrix, Matrix]:
        """p = 2·half or 2·half + 1, G_p and E^p, from G_half and E^half."""
        total, raised = total + raised * total, raised * raised
        if p > 2 * half:
            total, raised = self.first + self.E * total, self.E * raised
        return p, total, raised


def inverse_of_power(of: NumberSystem, S: Matrix, alpha: float, start: Start, p: int) -> Matrix:
    """The matrix G_p = Σ_{i<p} E^i M₀ with E = I − S M₀, by repeated squaring along the bits of p.

    S is a square matrix, and M₀ is alpha·S for `start="gram"`, or alpha·I for `start="identity"`.
    G_p satisfies I − S G_p = E^p.
    """
    return InversesOfPowers(of, S, alpha, start)[p]


def on_each_prefix(
    rows: Callable[..., Matrix], of: NumberSystem, X: Matrix, y: Matrix, Q: Matrix, *more: Any
) -> Matrix:
    """The results of the function `rows` for every prefix of the examples, as one matrix.

    The rows of X are n examples, y are their labels, and Q is the query. For t = 0, …, n, `rows` is
    called with the number system, the first t rows of X and of y, the next input (row t + 1 of X,
    or Q for t = n) and the arguments `more`. For t = 0, it is called with one example x = 0 with
    label 0.
    """
    inputs, labels, found = [*X.tolist(), *Q.tolist()], y.tolist(), []
    none, no_label = [[of.number(0)] * X.ncols()], [[of.number(0)]]
    for t in range(len(inputs)):
        seen = of.matrix(inputs[:t] or none), of.matrix(labels[:t] or no_label)
        found += rows(of, *seen, of.matrix([inputs[t]]), *more).tolist()
    return of.matrix(found)
