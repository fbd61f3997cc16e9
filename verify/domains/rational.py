"""The rationals: equality means exact equality on this instance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpq, fmpq_mat

from verify.domains.base import cached_weights


class Rational:
    """The domain of rational numbers, with exact arithmetic by python-flint."""

    name = "exact"
    ordered = True

    def number(self, numerator: int, denominator: int = 1) -> fmpq:
        return fmpq(numerator, denominator)

    def matrix(self, rows: Sequence[Sequence[fmpq]]) -> fmpq_mat:
        return fmpq_mat([list(row) for row in rows])

    def weights(self, array: np.ndarray) -> fmpq_mat:
        return cached_weights(self, array, self.name)
