"""Binary floating-point formats: the numbers of a format, and rounding to the nearest of them."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from theory.kinds import InputError


class Format(NamedTuple):
    """A binary floating-point format: bits of significand (with the hidden bit) and of exponent."""

    significand: int
    exponent: int

    @property
    def bits(self) -> int:
        """The number of stored bits: sign, exponent, and significand without its hidden bit."""
        return self.significand + self.exponent

    @property
    def largest(self) -> Fraction:
        """The largest finite number."""
        most = 2 ** (self.exponent - 1)
        return (2 - Fraction(2) ** (1 - self.significand)) * Fraction(2) ** (most - 1)

    @property
    def smallest(self) -> Fraction:
        """The smallest normal number above 0."""
        return Fraction(2) ** (2 - 2 ** (self.exponent - 1))

    def ulp(self, value: Fraction) -> Fraction:
        """The distance between neighbouring numbers of the format at this value."""
        size = abs(value)
        power = size.numerator.bit_length() - size.denominator.bit_length()
        power -= size < Fraction(2) ** power
        least = 2 - 2 ** (self.exponent - 1)
        return Fraction(2) ** (max(power if value else least, least) - self.significand + 1)

    def round(self, value: Fraction) -> Fraction:
        """The nearest number of this format to `value`; ties go to the number of even significand.

        Raises ValueError on overflow.
        """
        ulp = self.ulp(value)
        rounded = round(value / ulp) * ulp
        if abs(rounded) >= Fraction(2) ** (2 ** (self.exponent - 1)):
            power = value.numerator.bit_length() - value.denominator.bit_length()
            size = f"{float(value):g}" if power < 1000 else f"about 2^{power}"
            raise InputError(
                f"a partial sum of {size} is too large for {self.exponent} bits of "
                "exponent: give a format with more bits of exponent"
            )
        return rounded


FORMATS = {
    "bfloat16": Format(8, 8),
    "float16": Format(11, 5),
    "float32": Format(24, 8),
    "float64": Format(53, 11),
}
