"""The comb: sums of cosines whose periods 10/f tell the residues mod 10 apart, exactly.

    C_F(d) = Σ_{f ∈ F} cos(2πfd/10),     F ⊆ {1, …, 5}

is even in d, has period 10, and lies in Q(√5).  Frequencies 5, 4, 3, 2, 1 have periods 2, 2.5,
10/3, 5, 10.  [Zhou2024] finds 2, 2.5, 5 and 10 in a language model.

Half a period is twice a frequency: 1 → 2 → 4 → 8 ≡ −2 and 5 → 10 ≡ 0 mod 10, where f and −f are one
cosine and 0 is a constant.  So {2, 10} closed under halving is {2, 2.5, 5, 10}, and 10/3 is not
reached.  Who squares averages needs it:  with u_T = (cos(2πa/T) + cos(2πb/T))/2 and v_T the same of
sines,

    cos(2π(a + b)/T) = 2(u_T² − v_T²) − u_{T/2},     sin(2π(a + b)/T) = 4 u_T v_T − v_{T/2}.
"""

from collections.abc import Iterable
from fractions import Fraction
from numbers import Integral

from theory import checks
from theory.arithmetic.golden import Golden, cosine
from theory.checks import InputError

ZHOU = (5, 4, 2, 1)
"""The frequencies of periods 2, 2.5, 5 and 10."""


def frequencies(F: Iterable[int]) -> tuple[int, ...]:
    """F in falling order, each once; `ValueError` for an empty F and for what is not 1, …, 5."""
    if not isinstance(F, Iterable):
        raise InputError(f"the comb is {F!r}: give a list of frequencies")
    found = tuple(F)
    strange = [f for f in found if not _known(f)]
    if strange or not found:
        said = f"frequency {strange[0]!r}" if strange else "no frequency"
        raise InputError(f"the comb has {said}: give some of 1, 2, 3, 4, 5, of periods 10/f")
    return tuple(sorted({int(f) for f in found}, reverse=True))


def _known(f: object) -> bool:
    return isinstance(f, Integral) and not isinstance(f, bool) and f in range(1, 6)


def comb(F: Iterable[int], d: int) -> Golden:
    """C_F(d) as a number of Q(√5).  Raises `ValueError` as `frequencies`, and for d no integer."""
    d = checks.integer("d", d)
    total = Golden(Fraction(0))
    for f in frequencies(F):
        total = total + cosine(f * d)
    return total


def comb_gap(F: Iterable[int]) -> Golden:
    """C_F(0) − max C_F(d), d = 1, …, 9: above 0 iff F tells all residues mod 10 apart."""
    return comb(F, 0) - max(comb(F, d) for d in range(1, 10))


def halvings(F: Iterable[int]) -> tuple[int, ...]:
    """The frequencies that are reached from F by halving periods, those of F among them."""
    found, new = set[int](), set(frequencies(F))
    while new:
        found |= new
        doubled = {min(2 * f % 10, -2 * f % 10) for f in new}
        new = doubled - found - {0}
    return frequencies(found)


def period(f: int) -> Fraction:
    """10/f."""
    return Fraction(10, frequencies([f])[0])
