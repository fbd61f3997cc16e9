"""The error of a model's argmax compared with the error of its samples.

For a distribution p on V outcomes,

    R* = 1 − max p             the error of the best prediction
    R_s = 1 − Σ p²             the error of a random prediction, sampled from p
    R* ≤ R_s ≤ 2R* − V/(V − 1)·R*²     [CoverHart1967].

The first inequality holds since Σ p² ≤ max p.  The second holds since the largest probability is
1 − R*, and Σ p² is smallest if all other probabilities are equal.  For a model q of p,

    p(argmax p) − p(argmax q) ≤ ‖p − q‖₁ ≤ √(2 KL(p‖q))

since q(argmax q) ≥ q(argmax p).  There is no converse: a good argmax does not imply a small
divergence.  If words are independent and one word has a probability above ½, the argmax is an
optimal predictor, although greedy text repeats this word for ever.
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
    """The errors of two predictions of an outcome of p: by the argmax of p, and by a sample of p.

    The error of the argmax is 1 − max p.  The error of a sample is 1 − Σ p², as the sample is
    independent of the outcome.
    """
    return 1 - max(p), 1 - sum((each**2 for each in p), start=Fraction(0))


@checked
def most_sampling_error(least: Annotated[Exact, Within(least=0)], outcomes: CountFrom2) -> Fraction:
    """The largest error of prediction by a sample of p, for a given error R* of the argmax of p.

    The distribution p is on V = `outcomes` ≥ 2 outcomes.  R* = `least` = 1 − max p is the error of
    predicting an outcome by the most probable outcome.  R_s = 1 − Σ p² is the error of predicting
    it by an independent sample of p.  The result is the upper bound 2R* − V/(V − 1)·R*² on R_s
    [CoverHart1967].  Raises `ValueError` unless R* ≤ 1 − 1/V.
    """
    V = outcomes
    if least > 1 - Fraction(1, V):
        raise InputError(
            f"`least` is {least}: give an error of the argmax from 0 to 1 − 1/{V}, for {V} outcomes"
        )
    return 2 * least - Fraction(V, V - 1) * least**2


@checked
def excess_error(p: Distribution, q: Distribution) -> Fraction:
    """The excess error of the most probable outcome of a model q, under the true distribution p.

    The excess error is p(argmax p) − p(argmax q).  If several outcomes have the largest
    probability, the first is the argmax.
    """
    check_alike(p=p, q=q)
    return Fraction(max(p) - p[q.index(max(q))])


@checked
def greedy_text(source: Source, length: Length) -> tuple[int, ...]:
    """The text of `length` symbols in which every symbol is the most probable next symbol.

    The probability of the next symbol is that of the source, given the earlier symbols of the text.
    If several symbols are the most probable, the first is taken.
    """
    state, text = source.start, list[int]()
    for _ in range(length):
        moved = [source.moved(state, v) for v in range(len(source.steps))]
        text.append(max(range(len(moved)), key=lambda v: sum(moved[v])))
        state = moved[text[-1]]
    return tuple(text)


@checked
def most_probable_text(source: Source, length: Count) -> tuple[int, ...]:
    """The text of `length` symbols that is most probable under the source.

    Raises `ValueError` if there are more than 10^5 texts of `length` symbols.
    """
    T, V = length, len(source.steps)
    if T > 20 or V**T > MOST:
        raise InputError(
            f"length is {T}, and there are {V}^{T} texts: give a smaller length, for at most "
            f"{MOST} texts"
        )
    return max(product(range(V), repeat=T), key=source.probability)


@checked
def distance_of_greedy(source: Source, length: Length) -> Fraction:
    """The total variation distance, on texts, between the source and its greedy decoding.

    The distance is 1 minus the probability, under the source, of the text of `length` symbols that
    greedy decoding outputs.  In greedy decoding, every symbol is the most probable next symbol.
    """
    return 1 - source.probability(greedy_text(source, length))
