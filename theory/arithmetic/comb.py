"""The comb: sums of cosines of periods 10/f that separate the residues mod 10, exactly.

The comb of a set F of frequencies,

    C_F(d) = Σ_{f ∈ F} cos(2πfd/10),     F ⊆ {1, …, 5},

is even in d, has period 10, and lies in Q(√5).  Frequencies 5, 4, 3, 2, 1 have periods 2, 2.5,
10/3, 5, 10.  [Zhou2024] finds periods 2, 2.5, 5 and 10 in a language model.

Halving a period doubles the frequency: 1 → 2 → 4 → 8 ≡ −2 and 5 → 10 ≡ 0 mod 10, where f and −f
have the same cosine and 0 is a constant.  So the closure of {2, 10} under halving is {2, 2.5, 5,
10}, which does not contain 10/3.  Halved periods occur when averages are squared: for a period T
and numbers a and b let u_T = (cos(2πa/T) + cos(2πb/T))/2, and v_T the same for sines; then

    cos(2π(a + b)/T) = 2(u_T² − v_T²) − u_{T/2},     sin(2π(a + b)/T) = 4 u_T v_T − v_{T/2}.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

from theory.arithmetic.golden import Golden, cosine
from theory.kinds import Integer, Many, Whole, Within, checked

ZHOU = (5, 4, 2, 1)
"""The frequencies of periods 2, 2.5, 5 and 10."""
FREQUENCY = Whole(Within(least=1, most=5))


@dataclass(frozen=True)
class Comb(Many):
    """The kind of a set of frequencies from 1 to 5.

    The set is read as a tuple in decreasing order, without repetition.
    """

    each: Whole = FREQUENCY
    into: type = tuple
    what = "some of 1, 2, 3, 4, 5, of periods 10/f"

    @property
    def wrong(self) -> tuple[Any, ...]:
        return (*super().wrong, [], ())

    def read(self, name: str, value: Any) -> tuple[int, ...]:
        found = super().read(name, value)
        if not found:
            raise self.error(name, value)
        return tuple(sorted({*found}, reverse=True))


Frequencies: TypeAlias = Annotated[Iterable[int], Comb()]
"""Some of the frequencies 1, …, 5."""


@checked
def comb(F: Frequencies, d: Integer) -> Golden:
    """The sum C_F(d) = Σ_{f ∈ F} cos(2πfd/10) of cosines with frequencies F, as an exact number.

    F is a set of integers from 1 to 5.  The result is in the field Q(√5).
    """
    total = Golden(Fraction(0))
    for f in F:
        total = total + cosine(f * d)
    return total


@checked
def comb_gap(F: Frequencies) -> Golden:
    """The gap C_F(0) − max C_F(d) over d = 1, …, 9, as an exact number of the field Q(√5).

    C_F(d) = Σ_{f ∈ F} cos(2πfd/10), for a set F of frequencies from 1 to 5.  The gap is positive
    iff C_F(c − s) as a function of c is largest at c ≡ s mod 10 only.
    """
    return comb(F, 0) - max(comb(F, d) for d in range(1, 10))


@checked
def halving_closure(F: Frequencies) -> tuple[int, ...]:
    """The smallest set that contains the frequencies F and is closed under halving of periods.

    The frequencies are integers f from 1 to 5.  The cosine of frequency f is cos(2πfd/10), a
    function of an integer d with the period 10/f.  Halving the period doubles f.  For integers d,
    the cosine of frequency 2f equals that of the number from 0 to 5 that is ≡ 2f or ≡ −2f mod 10,
    and this number is in the set too.  The number 0 is omitted, because its cosine is constant.
    The result is a tuple in decreasing order.
    """
    found, new = set[int](), set(F)
    while new:
        found |= new
        doubled = {min(2 * f % 10, -2 * f % 10) for f in new}
        new = doubled - found - {0}
    return tuple(sorted(found, reverse=True))


@checked
def period(f: Annotated[int, FREQUENCY]) -> Fraction:
    """The period 10/f of the cosine cos(2πfd/10) in d, for a frequency f from 1 to 5."""
    return Fraction(10, f)
