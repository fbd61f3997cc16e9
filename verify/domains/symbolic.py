"""Multivariate polynomials over Q: equality is the identity itself, at small sizes.

There are two independent implementations, with FLINT and with SymPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from verify.domains.base import Entry, exact_weights


class PolynomialMatrix:
    """A dense matrix of polynomials with the operations of a forward pass."""

    def __init__(self, rows: Sequence[Sequence[Entry]], zero: Entry) -> None:
        self.rows, self.zero = [list(row) for row in rows], zero

    def nrows(self) -> int:
        return len(self.rows)

    def ncols(self) -> int:
        return len(self.rows[0])

    def tolist(self) -> list[list[Entry]]:
        return self.rows

    def transpose(self) -> PolynomialMatrix:
        return PolynomialMatrix(list(zip(*self.rows, strict=True)), self.zero)

    def __add__(self, other: PolynomialMatrix) -> PolynomialMatrix:
        pairs = zip(self.rows, other.rows, strict=True)
        return PolynomialMatrix(
            [[a + b for a, b in zip(r, s, strict=True)] for r, s in pairs], self.zero
        )

    def __sub__(self, other: PolynomialMatrix) -> PolynomialMatrix:
        pairs = zip(self.rows, other.rows, strict=True)
        return PolynomialMatrix(
            [[a - b for a, b in zip(r, s, strict=True)] for r, s in pairs], self.zero
        )

    def __mul__(self, other: PolynomialMatrix) -> PolynomialMatrix:
        columns = list(zip(*other.rows, strict=True))
        return PolynomialMatrix(
            [[self._dot(row, column) for column in columns] for row in self.rows], self.zero
        )

    def __rmul__(self, factor: Entry) -> PolynomialMatrix:
        return PolynomialMatrix([[factor * entry for entry in row] for row in self.rows], self.zero)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PolynomialMatrix) and self.rows == other.rows

    __hash__ = None  # type: ignore[assignment]

    def _dot(self, row: Sequence[Entry], column: Sequence[Entry]) -> Entry:
        total = self.zero
        for a, b in zip(row, column, strict=True):
            if a and b:
                total = total + a * b
        return total


class Symbolic:
    """The domain of polynomials in named variables: `Symbolic(["x11", "x12", "y1", "q1"])`."""

    name = "symbolic"
    ordered = False

    def __init__(self, variables: Sequence[str]) -> None:
        self.context = fmpq_mpoly_ctx.get(list(variables), "lex")
        self.variables = list(self.context.gens())

    def number(self, numerator: int, denominator: int = 1) -> fmpq_mpoly:
        return self.context.constant(fmpq(numerator, denominator))

    def constant(self, entry: fmpq_mpoly) -> fmpq | None:
        """The value of a polynomial that does not depend on the inputs, else None."""
        if entry and not entry.is_constant():
            return None
        return entry.leading_coefficient() if entry else fmpq(0)

    def matrix(self, rows: Sequence[Sequence[fmpq_mpoly]]) -> PolynomialMatrix:
        return PolynomialMatrix(rows, self.context.constant(0))

    def weights(self, array: np.ndarray) -> PolynomialMatrix:
        return exact_weights(self, array)


class SymbolicBySympy:
    """The domain of polynomials in SymPy's representation, independent of `Symbolic` and slower."""

    name = "sympy"
    ordered = False

    def __init__(self, variables: Sequence[str]) -> None:
        from sympy import QQ
        from sympy.polys.rings import ring

        self.rational = QQ
        self.ring, *self.variables = ring(list(variables), QQ)

    def number(self, numerator: int, denominator: int = 1) -> Any:
        # A plain number: SymPy's zero polynomial times a matrix would be the zero polynomial.
        return self.rational(numerator, denominator)

    def constant(self, entry: Any) -> Any:
        """The value of a polynomial that does not depend on the inputs, else None."""
        polynomial = self.ring(entry)
        return polynomial.LC if polynomial.is_ground else None

    def matrix(self, rows: Sequence[Sequence[Any]]) -> PolynomialMatrix:
        return PolynomialMatrix(rows, self.ring.zero)

    def weights(self, array: np.ndarray) -> PolynomialMatrix:
        return exact_weights(self, array)
