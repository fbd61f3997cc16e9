"""What a construction's proof says stands in a register.

With S = XᵀX, b = Xᵀy, E = I − S M₀ the start's residual and G the matrix with S G = I − E^power (so
power 2^j is j Newton steps, and power j is j steps of gradient descent from M₀ = ηI).  Of
Chebyshev's method `power` is the number of steps, and S G = I − T_power(l(S))/τ_power.  Vectors are
rows, in any number system; G is symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Inverse:
    """G x, on a token with input x."""

    power: int

    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """x G, a row for each of the inputs x (m × d)."""
        return x * G


@dataclass(frozen=True)
class Residual:
    """(I − S G) x = E^power x, on a token with input x."""

    power: int

    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """x (I − G S), a row for each of the inputs x (m × d)."""
        return x - x * (G * S)


@dataclass(frozen=True)
class Image:
    """S E^power x, on a token with input x."""

    power: int

    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """x (I − G S) S, a row for each of the inputs x (m × d)."""
        return (x - x * (G * S)) * S


@dataclass(frozen=True)
class Correlation:
    """xᵀ E^power b, on a token with input x."""

    power: int

    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """x (I − G S) b, a number for each of the inputs x (m × d)."""
        return (x - x * (G * S)) * b


@dataclass(frozen=True)
class Prediction:
    """xᵀ G b, on a query x."""

    power: int

    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """x G b, a number for each of the queries x (m × d)."""
        return x * (G * b)


@dataclass(frozen=True)
class Row:
    """Row number `row`, from 1, of the matrix that `of` multiplies by x: at the unit vector."""

    of: Inverse | Residual | Image
    row: int

    @property
    def power(self) -> int:
        """Of the residual."""
        return self.of.power

    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """Rows of the matrix, for unit vectors x."""
        return self.of.value(S, G, b, x)
