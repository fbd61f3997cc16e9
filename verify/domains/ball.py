"""Arb balls: an enclosure of the real value, at a given precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

from verify.domains.base import exact_weights


class Ball:
    """The domain of Arb balls, to be used inside `with Ball.precision(bits)`.

    Overlapping balls cannot be compared, so the forward pass raises NotPolynomial for a hardmax of
    overlapping scores.
    """

    name = "ball"
    ordered = True

    @staticmethod
    @contextmanager
    def precision(bits: int) -> Iterator[None]:
        """A context in which Arb computes with a precision of `bits` bits."""
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before

    def number(self, numerator: int, denominator: int = 1) -> arb:
        return arb(fmpq(numerator, denominator))

    def exponential(self, value: arb) -> arb:
        return value.exp()

    def square_root(self, value: arb) -> arb:
        return value.sqrt()

    def matrix(self, rows: Sequence[Sequence[arb]]) -> arb_mat:
        return arb_mat([list(row) for row in rows])

    def weights(self, array: np.ndarray) -> arb_mat:
        return exact_weights(self, array)
