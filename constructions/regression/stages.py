"""The layer invariants of constructions for regression: contents of registers as functions.

Let S = XᵀX, b = Xᵀy and S G = I − R, where R is the residual after a number of steps, or a power
R = (I − S M₀)^power: power 2^j is j Newton steps, and power j is j steps of gradient descent from
M₀ = ηI.  Vectors are rows, in any number system; G is symmetric.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from theory.regression.matrices import NumberSystem, identity, inverse_of_power, on_each_prefix
from theory.regression.newton import Start


@runtime_checkable
class Residuals(Protocol):
    """A family of residuals I − S G, by power."""

    def inverse(self, of: NumberSystem, S: Any, power: int) -> Any:
        """The matrix G of a power."""
        ...


@dataclass(frozen=True)
class Powers:
    """The powers of I − S M₀ with M₀ = alpha·S ("gram") or alpha·I ("identity")."""

    alpha: float
    start: Start

    def inverse(self, of: NumberSystem, S: Any, power: int) -> Any:
        """Σ_{i<power} (I − S M₀)^i M₀."""
        return inverse_of_power(of, S, self.alpha, self.start, power)


@dataclass(frozen=True)
class Invariant(ABC):
    """The content of a register at a query x, for one power of a residual.

    If `row` is given, the register contains that row (counted from 1) of the matrix that multiplies
    x. If `prefixes` is true, the examples of each token are those before the token.
    """

    power: int
    residuals: Residuals
    row: int | None = None
    prefixes: bool = False

    @abstractmethod
    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """A row for each of the inputs x (m × d)."""

    def __call__(self, of: NumberSystem, X: Any, y: Any, Q: Any) -> Any:
        """A row for each query of Q (m × d), for examples X (n × d), y (n × 1)."""
        if self.prefixes:
            return on_each_prefix(self._of_all, of, X, y, Q)
        return self._of_all(of, X, y, Q)

    def _of_all(self, of: NumberSystem, X: Any, y: Any, Q: Any) -> Any:
        S, b = X.transpose() * X, X.transpose() * y
        if self.row is not None:
            Q = of.matrix([identity(of, S.nrows()).tolist()[self.row - 1]] * Q.nrows())
        return self.value(S, self.residuals.inverse(of, S, self.power), b, Q)


class Inverse(Invariant):
    """The invariant G x, on a token with input x."""

    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """x G."""
        return x * G


class Residual(Invariant):
    """The invariant R x = (I − S G) x, on a token with input x."""

    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """x (I − G S)."""
        return x - x * (G * S)


class Image(Invariant):
    """The invariant S R x, on a token with input x."""

    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """x (I − G S) S."""
        return (x - x * (G * S)) * S


class Correlation(Invariant):
    """The invariant xᵀ R b, on a token with input x."""

    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """The number x (I − G S) b for each input x."""
        return (x - x * (G * S)) * b


class Prediction(Invariant):
    """xᵀ G b, on a query x."""

    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """The number x G b for each query x."""
        return x * (G * b)
