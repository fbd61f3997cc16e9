"""The error of a model's argmax compared with the error of its samples.

    R* = 1 − max p             the error of the best prediction
    R_s = 1 − Σ p²             the error of a sample, used as a prediction
    R* ≤ R_s ≤ 2R* − V/(V − 1)·R*²     [CoverHart1967], for V outcomes

The first inequality holds since Σ p² ≤ max p.  The second holds since, with one p equal to 1 − R*,
Σ p² is smallest if the others are equal.

    p(argmax p) − p(argmax q) ≤ ‖p − q‖₁ ≤ √(2 KL(p‖q))

since q(argmax q) ≥ q(argmax p).  There is no converse: if words are independent and one has a
probability above ½, the argmax is an optimal predictor, and its text repeats that word for ever.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Annotated, TypeAlias

from theory.kinds import Count, CountFrom2, Exact, InputError, Within, checked
from theory.language.distributions import Distribution, check_alike
from theory.language.sources import Source

MOST = 10**5  # largest number of texts compared
Length: TypeAlias = Annotated[Count, Within(most=2000)]
"""An integer from 1 to 2000: the number of symbols of a greedy text."""


@checked
def errors(p: Distribution) -> tuple[Fraction, Fraction]:
    """R* and R_s: the errors of the argmax of p and of a sample of p."""
    return 1 - max(p), 1 - sum((each**2 for each in p), start=Fraction(0))


@checked
def most_sampling_error(least: Annotated[Exact, Within(least=0)], outcomes: CountFrom2) -> Fraction:
    """The upper bound 2R* − V/(V − 1)·R*² on R_s, for V ≥ 2 outcomes.

    Raises `ValueError` unless R* ≤ 1 − 1/V.
    """
    V = outcomes
    if least > 1 - Fraction(1, V):
        raise InputError(f"least is {least}: for {V} outcomes give an error from 0 to 1 − 1/{V}")
    return 2 * least - Fraction(V, V - 1) * least**2


@checked
def excess_error(p: Distribution, q: Distribution) -> Fraction:
    """The excess error p(argmax p) − p(argmax q); ties go to the first outcome."""
    check_alike(p=p, q=q)
    return Fraction(max(p) - p[q.index(max(q))])


@checked
def greedy_text(source: Source, length: Length) -> tuple[int, ...]:
    """The text of greedy decoding: always the most probable next symbol; ties go to the first."""
    state, text = source.start, list[int]()
    for _ in range(length):
        moved = [source.moved(state, v) for v in range(len(source.steps))]
        text.append(max(range(len(moved)), key=lambda v: sum(moved[v])))
        state = moved[text[-1]]
    return tuple(text)


@checked
def most_probable_text(source: Source, length: Count) -> tuple[int, ...]:
    """The most probable of all V^T texts; raises `ValueError` for more than 10^5 of them."""
    T, V = length, len(source.steps)
    if T > 20 or V**T > MOST:
        raise InputError(f"length is {T}, and there are {V}^{T} texts: give at most {MOST}")
    return max(product(range(V), repeat=T), key=source.probability)


@checked
def distance_of_greedy(source: Source, length: Length) -> Fraction:
    """The total variation distance 1 − P(greedy text) of the source from the greedy text."""
    return 1 - source.probability(greedy_text(source, length))
