"""The same probabilities, used to predict and to generate.

    R* = 1 − max p             how often the best prediction errs
    R_s = 1 − Σ p²             how often a sample errs as a prediction
    R* ≤ R_s ≤ 2R* − V/(V − 1)·R*²     [CoverHart1967], for V outcomes

The first as Σ p² ≤ max p; the second as Σ p² is least, for one p = 1 − R*, if the others are equal.

    p(argmax p) − p(argmax q) ≤ ‖p − q‖₁ ≤ √(2 KL(p‖q))

as q(argmax q) ≥ q(argmax p).  There is no converse: of independent words with one more likely than
½, the best predictor is right as often as any, and its text is that word for ever.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import product

from theory import checks
from theory.checks import InputError
from theory.language.distributions import Exact, alike, distribution, fractions
from theory.language.sources import Source, as_source

MOST, LONGEST = 10**5, 2000  # texts that are compared; symbols of a greedy one


def errors(p: Iterable[Exact]) -> tuple[Fraction, Fraction]:
    """R* and R_s; `ValueError` for what is no distribution, as all functions here."""
    law = distribution("p", p)
    return 1 - max(law), 1 - sum((each**2 for each in law), start=Fraction(0))


def most_sampling_error(least: Fraction, outcomes: int) -> Fraction:
    """2R* − V/(V − 1)·R*², V ≥ 2; `ValueError` unless R* is exact and from 0 to 1 − 1/V."""
    V, (least,) = checks.dimension("outcomes", outcomes), fractions("least", (least,))
    if V < 2:
        raise InputError("outcomes is 1: give at least two, as nothing can err")
    if not 0 <= least <= 1 - Fraction(1, V):
        raise InputError(f"least is {least}: of {V} outcomes give an error from 0 to 1 − 1/{V}")
    return 2 * least - Fraction(V, V - 1) * least**2


def excess_error(p: Iterable[Exact], q: Iterable[Exact]) -> Fraction:
    """p(argmax p) − p(argmax q), the first of equal ones.  Raises `ValueError` as `errors`."""
    p, q = alike(p, q)
    return max(p) - p[q.index(max(q))]


def greedy_text(of: Source, length: int) -> tuple[int, ...]:
    """The most probable next symbol, again and again; the first of equal ones.

    Raises `ValueError` for what is no source, and for more than 2000 symbols.
    """
    law, text = as_source(of).start, list[int]()
    for _ in range(checks.dimension("length", length, LONGEST)):
        moved = [of.moved(law, v) for v in range(len(of.steps))]
        text.append(max(range(len(moved)), key=lambda v: sum(moved[v])))
        law = moved[text[-1]]
    return tuple(text)


def most_probable_text(of: Source, length: int) -> tuple[int, ...]:
    """The text of the largest chance, of all of them; `ValueError` for more than 10^5."""
    T, V = checks.dimension("length", length), len(as_source(of).steps)
    if T > 20 or V**T > MOST:
        raise InputError(f"there are {V}^{T} texts: give at most {MOST} in all")
    return max(product(range(V), repeat=T), key=of.chance)


def distance_of_greedy(of: Source, length: int) -> Fraction:
    """The total variation between the source's texts and the greedy one: 1 − its chance."""
    return 1 - of.chance(greedy_text(of, length))
