"""The Good–Turing estimate of the unseen mass: its exact mean error and mean square error.

Documents 1, …, n are drawn independently from a distribution p.  The Good–Turing estimate MF is the
number of outcomes that occur once, divided by n.  The unseen mass M is the probability under p of
the outcomes that do not occur.

    E MF − E M = Σ p_i²(1 − p_i)^{n−1} ≤ (1/n)(1 − 1/n)^{n−1}    (equality for n equal outcomes)
    E(MF − M)² = Σ_i [p_i(1 − p_i)^{n−1}/n + p_i²(1 − p_i)^n]
                 + Σ_{i≠j} p_i p_j (1 − p_i − p_j)^{n−2} ((p_i + p_j)² − 1/n)

The first line holds since an outcome of probability p is seen once with probability
n·p(1 − p)^{n−1}, and never with probability (1 − p)^n.  For the second line, let s = p_i + p_j for
a pair of outcomes.  The pair contributes p_i p_j times the sum of three terms: (1 − s)^{n−2}(n −
1)/n if both are seen once, −2(1 − s)^{n−1} if one is seen once and the other never, and (1 − s)^n
if neither is seen.  The sum is (1 − s)^{n−2} (1 − 1/n − 2(1 − s) + (1 − s)²).

As p(1 − p)^n ≤ (n/(n + 1))^n/(n + 1) and s²(1 − s)^{n−2} ≤ (4/n²)(1 − 2/n)^{n−2},

    E(MF − M)² ≤ 1/n + (n/(n + 1))^n/(n + 1) + (4/n²)(1 − 2/n)^{n−2} = (1 + 1/e)/n + O(n^−2).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import log as ln
from math import prod, sqrt
from typing import Annotated, TypeAlias

import mpmath

from theory.kinds import Count, InputError, OpenUnit, Steps, Within, checked
from theory.language.distributions import Counted, Distribution

MOST = 10**6  # largest number of corpora enumerated
FewDocuments: TypeAlias = Annotated[Count, Within(most=50_000)]
"""An integer from 1 to 50 000: a number n of documents; the exact bound has n·log₂ n bits."""
MOST_BITS = 10**6, 10**8  # limits for one power of a probability and for all terms of a sum


@checked
def seen_once(counts: Sequence[Steps], documents: Count) -> Fraction:
    """The Good–Turing estimate of the unseen mass: the fraction of documents with a unique outcome.

    An outcome is unique if exactly one document has it.  `counts` has, for each outcome, the number
    of documents with this outcome, and `documents` is the number of all documents.  Raises
    `ValueError` if the counts sum to more than `documents`.
    """
    if sum(counts) > documents:
        raise InputError(
            f"counts sum to {sum(counts)} and the parameter documents is {documents}: "
            f"give documents ≥ {sum(counts)}"
        )
    return Fraction(counts.count(1), documents)


@checked
def mean_difference(p: Distribution, documents: Counted) -> Fraction:
    """The bias Σ p_i²(1 − p_i)^{n−1} ≥ 0 of the Good–Turing estimate of the unseen mass, exactly.

    Each of n = `documents` documents states a random outcome, outcome i with probability p_i.  The
    estimate is MF, the fraction of documents whose outcome no other document states.  The unseen
    mass M is the probability under p of all outcomes that no document states.  The bias is E MF − E
    M, where E is the mean over corpora of n documents.  Raises `ValueError` if the fractions in `p`
    have too many digits.
    """
    n = documents
    _sized(p, n, len(p))
    return sum((a**2 * (1 - a) ** (n - 1) for a in p), start=Fraction(0))


@checked
def most_mean_difference(documents: FewDocuments) -> Fraction:
    """The maximum (1/n)(1 − 1/n)^{n−1} of the bias of the Good–Turing estimate over distributions.

    Each of n = `documents` documents states a random outcome.  The estimate MF is the fraction of
    documents whose outcome no other document states.  The estimate is of the unseen mass M, the
    probability of all outcomes that no document states.  The bias is E MF − E M, where E is the
    mean over corpora of n documents.
    """
    n = documents
    return Fraction(1, n) * (1 - Fraction(1, n)) ** (n - 1)


@checked
def mean_square(p: Distribution, documents: Annotated[Counted, Within(least=2)]) -> Fraction:
    """The mean square error E(MF − M)² of the Good–Turing estimate MF of the unseen mass, exactly.

    Each of n = `documents` ≥ 2 documents states a random outcome with the distribution p.  MF is
    the fraction of documents whose outcome no other document states.  The unseen mass M is the
    probability under p of all outcomes that no document states.  E is the mean over corpora of n
    documents.  Raises `ValueError` if the fractions in `p` have too many digits.
    """
    n = documents
    _sized(p, n, len(p) ** 2)
    alone = (a * (1 - a) ** (n - 1) / n + a**2 * (1 - a) ** n for a in p)
    pairs = (
        a * b * (1 - a - b) ** (n - 2) * ((a + b) ** 2 - Fraction(1, n))
        for i, a in enumerate(p)
        for j, b in enumerate(p)
        if i != j
    )
    return sum(alone, start=Fraction(0)) + sum(pairs, start=Fraction(0))


@checked
def uniform_mean_square(facts: Counted, documents: Annotated[Counted, Within(least=2)]) -> float:
    """The mean square error E(MF − M)² of the Good–Turing estimate for equally likely facts.

    Each of the `documents` documents states one of `facts` facts.  The estimate MF is the fraction
    of documents whose fact no other document states.  The unseen mass M is the fraction of facts
    that no document states.  E is the mean over corpora.  The result is rounded to float64.
    """
    n = documents
    with mpmath.workdps(60):  # terms of size 1/n cancel
        p = mpmath.mpf(1) / facts
        alone = (1 - p) ** (n - 1) / n + (1 - p) ** n * p
        return float(alone + (1 - p) * (1 - 2 * p) ** (n - 2) * (4 * p**2 - mpmath.mpf(1) / n))


@checked
def most_mean_square(documents: Annotated[FewDocuments, Within(least=2)]) -> Fraction:
    """An upper bound on the mean square error E(MF − M)² of the Good–Turing estimate.

    Each of n = `documents` ≥ 2 documents states a random outcome.  The estimate MF is the fraction
    of documents whose outcome no other document states.  M is the unseen mass, the probability of
    all outcomes that no document states.  E is the mean over corpora of n documents.  The bound,
    for every distribution of outcomes, is 1/n + (n/(n + 1))^n/(n + 1) + (4/n²)(1 − 2/n)^{n−2}.
    """
    n = documents
    alone = Fraction(1, n) + Fraction(n, n + 1) ** n / (n + 1)
    return alone + Fraction(4, n**2) * (1 - Fraction(2, n)) ** (n - 2)


@checked
def moments_by_definition(p: Distribution, documents: Count) -> tuple[Fraction, Fraction]:
    """The moments E(MF − M) and E(MF − M)² of the error of the Good–Turing estimate, exactly.

    A corpus consists of `documents` outcomes drawn independently from p, and E is the mean over
    corpora, computed as a sum over all corpora.  The estimate MF is the fraction of documents of
    the corpus whose outcome occurs once.  M is the probability under p of all outcomes that do not
    occur in the corpus.  Raises `ValueError` for more than a million corpora.
    """
    n = documents
    if n > 20 or len(p) ** n > MOST:
        raise InputError(
            f"there are {len(p)}^{n} corpora, which is too many: give fewer documents or outcomes"
        )
    first = second = Fraction(0)
    for corpus in product(range(len(p)), repeat=n):
        counts = Counter(corpus)
        unseen = 1 - sum(p[each] for each in counts)
        apart = seen_once([*counts.values()], n) - unseen
        weight = prod((p[each] for each in corpus), start=Fraction(1))
        first, second = first + weight * apart, second + weight * apart**2
    return first, second


@checked
def seen_and_once(
    facts: Counted, documents: Annotated[Count, Within(most=50)]
) -> dict[tuple[int, int], Fraction]:
    """The joint distribution of the number of facts seen and the number of facts seen once.

    Each of the `documents` documents states one of `facts` equally likely facts.  A fact is seen if
    some document states it, and seen once if exactly one does.  The result maps pairs (number of
    facts seen, number of facts seen once) to probabilities.
    """
    found = {(0, 0): Fraction(1)}
    for _ in range(documents):
        after = defaultdict[tuple[int, int], Fraction](Fraction)
        for (seen, once), weight in found.items():
            after[seen + 1, once + 1] += weight * Fraction(facts - seen, facts)
            after[seen, once - 1] += weight * Fraction(once, facts)
            after[seen, once] += weight * Fraction(seen - once, facts)
        found = {key: weight for key, weight in after.items() if weight}
    return found


@checked
def deviation_bound(documents: Counted, gamma: OpenUnit) -> float:
    """An upper bound on the error |MF − M| of the Good–Turing estimate MF of the unseen mass M.

    With probability ≥ 1 − γ, the error is at most 1/n + 2.42·√(ln(4/γ)/n) [KNVZ2025], where n =
    `documents` is the number of documents and γ = `gamma`.  Each document states a random outcome.
    MF is the fraction of documents whose outcome no other document states.  M is the probability of
    all outcomes that no document states.
    """
    return 1 / documents + 2.42 * sqrt((ln(4) - ln(gamma)) / documents)


def _sized(p: tuple[Fraction, ...], n: int, terms: int) -> None:
    """Raise `ValueError` if the n-th powers have too many digits to be summed."""
    bits = n * max(each.denominator for each in p).bit_length()
    if bits > MOST_BITS[0] or bits * terms > MOST_BITS[1]:
        raise InputError(
            f"the exact sum of {terms} fractions of {bits:.3g} bits is too long: "
            "give fewer documents or outcomes"
        )
