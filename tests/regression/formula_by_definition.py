"""Definitions and cases that the range tests of formula share."""

from __future__ import annotations

from flint import fmpq_poly
from hypothesis import strategies as st

S = fmpq_poly([0, 1])


RATIONALS = st.fractions(min_value=-4, max_value=4, max_denominator=8)
