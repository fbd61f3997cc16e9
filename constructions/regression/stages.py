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

    def value(self, G: Any, b: Any, x: Any) -> Any:
        """x G, a row for each of the inputs x (m × d)."""
        return x * G


@dataclass(frozen=True)
class Prediction:
    """xᵀ G b, on a query x."""

    power: int

    def value(self, G: Any, b: Any, x: Any) -> Any:
        """x G b, a number for each of the queries x (m × d)."""
        return x * (G * b)
