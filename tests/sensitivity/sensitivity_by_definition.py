"""Definitions and cases that the range tests of sensitivity share."""

from fractions import Fraction

import pytest


def slow(*case):
    return pytest.param(*case, marks=pytest.mark.slow)


RATES = (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(7, 8), Fraction(1))
