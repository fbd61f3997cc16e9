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

from fractions import Fraction
from itertools import product
from typing import Annotated, TypeAlias

from theory.kinds import Count, CountFrom2, Exact, InputError, Within, checked
from theory.language.distributions import Distribution, check_alike
from theory.language.sources import Source

MOST = 10**5  # texts that are compared
Length: TypeAlias = Annotated[Count, Within(most=2000)]
"""An integer from 1 to 2000: symbols of a greedy text."""


@checked
def errors(p: Distribution) -> tuple[Fraction, Fraction]:
    """R* and R_s."""
    return 1 - max(p), 1 - sum((each**2 for each in p), start=Fraction(0))


@checked
def most_sampling_error(least: Annotated[Exact, Within(least=0)], outcomes: CountFrom2) -> Fraction:
    """2R* − V/(V − 1)·R*², V ≥ 2; `ValueError` unless R* is at most 1 − 1/V."""
    V = outcomes
    if least > 1 - Fraction(1, V):
        raise InputError(f"least is {least}: of {V} outcomes give an error from 0 to 1 − 1/{V}")
    return 2 * least - Fraction(V, V - 1) * least**2


@checked
def excess_error(p: Distribution, q: Distribution) -> Fraction:
    """p(argmax p) − p(argmax q), the first of equal ones."""
    check_alike(p=p, q=q)
    return Fraction(max(p) - p[q.index(max(q))])


@checked
def greedy_text(of: Source, length: Length) -> tuple[int, ...]:
    """The most probable next symbol, again and again; the first of equal ones."""
    law, text = of.start, list[int]()
    for _ in range(length):
        moved = [of.moved(law, v) for v in range(len(of.steps))]
        text.append(max(range(len(moved)), key=lambda v: sum(moved[v])))
        law = moved[text[-1]]
    return tuple(text)


@checked
def most_probable_text(of: Source, length: Count) -> tuple[int, ...]:
    """The text of the largest probability, of all of them; `ValueError` for more than 10^5."""
    T, V = length, len(of.steps)
    if T > 20 or V**T > MOST:
        raise InputError(f"length is {T}, of {V}^{T} texts: give at most {MOST} in all")
    return max(product(range(V), repeat=T), key=of.chance)


@checked
def distance_of_greedy(of: Source, length: Length) -> Fraction:
    """The total variation between the source's texts and the greedy one: 1 − its probability."""
    return 1 - of.chance(greedy_text(of, length))
