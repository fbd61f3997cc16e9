"""The layer invariants of constructions for regression: contents of registers as functions.

Let S = XᵀX, b = Xᵀy and S G = I − R, where R is the residual after a number of steps, or a power
R = (I − S M₀)^power: power 2^j is j Newton steps, and power j is j steps of gradient descent from
M₀ = ηI.  Vectors are rows, in any number system; G is symmetric.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from theory.regression.matrices import (
    InversesOfPowers,
    NumberSystem,
    identity,
    inverse_of_power,
    on_each_prefix,
)
from theory.regression.newton import Start


@runtime_checkable
class Residuals(Protocol):
    """A family of residuals I − S·G, indexed by a power, for approximate inverses G of S = XᵀX."""

    def inverse(self, of: NumberSystem, S: Any, power: int) -> Any:
        """The approximate inverse G of S, whose residual I − S G has the index `power`."""
        ...


@dataclass(frozen=True)
class Powers:
    """The family of residuals (I − S M₀)^power, for S = XᵀX and a start M₀.

    M₀ is alpha·S for the start "gram", and alpha·I for the start "identity".
    """

    alpha: float
    start: Start

    def inverse(self, of: NumberSystem, S: Any, power: int) -> Any:
        """The matrix G with I − S G = (I − S M₀)^power.

        G is the sum of (I − S M₀)^i M₀ over i from 0 to `power` − 1. M₀ is alpha·S for the start
        "gram", and alpha·I for the start "identity".
        """
        return inverse_of_power(of, S, self.alpha, self.start, power)


class _Moments:
    """S = XᵀX and b = Xᵀy, with the latest approximate inverses, which later ones are made of."""

    def __init__(self, of: NumberSystem, X: Any, y: Any) -> None:
        self.of, self.S, self.b = of, X.transpose() * X, X.transpose() * y
        self.powers: dict[Powers, InversesOfPowers] = {}

    def inverse(self, residuals: Residuals, power: int) -> Any:
        if not isinstance(residuals, Powers):
            return residuals.inverse(self.of, self.S, power)
        if residuals not in self.powers:
            start = residuals.alpha, residuals.start
            self.powers[residuals] = InversesOfPowers(self.of, self.S, *start)
        return self.powers[residuals][power]


_latest: WeakKeyDictionary[Any, tuple[Any, Any, dict[int, _Moments]]] = WeakKeyDictionary()
"""The moments of the latest examples of a number system: all invariants of a model are about
the same examples."""


def _moments(
    of: NumberSystem, X: Any, y: Any, prefix: int = -1, seen: Any = None, labels: Any = None
) -> _Moments:
    """The moments of the examples X, y, or of a prefix of them, whose examples are then given."""
    known = _latest.get(of)
    if known is None or known[0] is not X or known[1] is not y:
        known = _latest[of] = X, y, {}
    found = known[2]
    if prefix not in found:
        found[prefix] = _Moments(of, *((X, y) if seen is None else (seen, labels)))
    return found[prefix]


@dataclass(frozen=True)
class Invariant(ABC):
    """The content of a register on a token, as a function of the examples and of the input x.

    Subclasses compute the content from a residual I − S G of the family `residuals`, with index
    `power`. Here S = XᵀX for the examples X. If `row` is given, the register contains row `row`,
    counted from 1, of the matrix that multiplies x. If `prefixes` is true, the examples of each
    token are the examples before this token.
    """

    power: int
    residuals: Residuals
    row: int | None = None
    prefixes: bool = False

    @abstractmethod
    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """The content of the register, as one row for each of the m inputs x (m × d).

        d is the dimension of the inputs, S = XᵀX and b = Xᵀy for the examples X with labels y, and
        I − S G is the residual.
        """

    def __call__(self, of: NumberSystem, X: Any, y: Any, Q: Any) -> Any:
        """A row for each query of Q (m × d), for examples X (n × d), y (n × 1)."""
        if not self.prefixes:
            return self._of_all(_moments(of, X, y), Q)
        number = count()

        def rows(of: NumberSystem, seen: Any, labels: Any, next_input: Any) -> Any:
            return self._of_all(_moments(of, X, y, next(number), seen, labels), next_input)

        return on_each_prefix(rows, of, X, y, Q)

    def _of_all(self, moments: _Moments, Q: Any) -> Any:
        of, S, b = moments.of, moments.S, moments.b
        if self.row is not None:
            Q = of.matrix([identity(of, S.nrows()).tolist()[self.row - 1]] * Q.nrows())
        return self.value(S, moments.inverse(self.residuals, self.power), b, Q)


class Inverse(Invariant):
    """The layer invariant that a register contains G x on a token with input x.

    For the examples X (n × d), S = XᵀX. G (d × d) is the approximate inverse of S after a number of
    steps, and I − S G is its residual.
    """

    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """The rows x G (m × d) for m inputs x (m × d) of dimension d.

        G (d × d) is the approximate inverse of S = XᵀX for the examples X. The arguments S (d × d)
        and b are not used.
        """
        return x * G


class Residual(Invariant):
    """The invariant that a register contains R x on a token with input x.

    R = I − S G is the residual, and S = XᵀX for the examples X.
    """

    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """The row x (I − G S) for each of m inputs x (m × d) of dimension d."""
        return x - x * (G * S)


class Image(Invariant):
    """The invariant that a register contains S R x on a token with input x.

    R = I − S G is the residual, and S = XᵀX for the examples X.
    """

    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """The row x (I − G S) S for each of m inputs x (m × d) of dimension d."""
        return (x - x * (G * S)) * S


class Correlation(Invariant):
    """The invariant that a register contains xᵀ R b on a token with input x.

    R = I − S G is the residual, and S = XᵀX and b = Xᵀy for the examples X with labels y.
    """

    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """The number x (I − G S) b for each of m inputs x (m × d) of dimension d."""
        return (x - x * (G * S)) * b


class Prediction(Invariant):
    """The layer invariant that a register contains the prediction xᵀ G b at a query x.

    For the examples X (n × d) with labels y (n × 1), S = XᵀX and b = Xᵀy. G (d × d) is the
    approximate inverse of S after a number of steps, and I − S G is its residual.
    """

    def value(self, S: Any, G: Any, b: Any, x: Any) -> Any:
        """The predictions x G b (m × 1) at m queries x (m × d) of dimension d.

        G (d × d) is the approximate inverse of S, and b (d × 1) is Xᵀy for the examples X with
        labels y. The argument S (d × d) is not used.
        """
        return x * (G * b)
