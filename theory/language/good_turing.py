"""The fraction of documents whose outcome occurs once, and the mass of the unseen, exactly.

n documents are drawn independently from p; MF = (outcomes seen once)/n, M = p(unseen).

    E MF − E M = Σ p_i²(1 − p_i)^{n−1} ≤ (1/n)(1 − 1/n)^{n−1}          equality: n equal outcomes
    E(MF − M)² = Σ_i [p_i(1 − p_i)^{n−1}/n + p_i²(1 − p_i)^n]
                 + Σ_{i≠j} p_i p_j (1 − p_i − p_j)^{n−2} ((p_i + p_j)² − 1/n)

The first as an outcome is seen once with the probability n·p(1 − p)^{n−1}, and not with (1 − p)^n.
For the second the pairs, s = p_i + p_j: both seen once, p_i p_j (1 − s)^{n−2}(n − 1)/n; one once
and the other not, twice p_i p_j (1 − s)^{n−1}; neither, p_i p_j (1 − s)^n; whose sum with signs is
p_i p_j (1 − s)^{n−2} (1 − 1/n − 2(1 − s) + (1 − s)²).

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

from theory.kinds import Count, InputError, OpenUnit, Steps, Within, checked
from theory.language.distributions import Counted, Distribution

MOST = 10**6  # corpora that are gone through
FewDocuments: TypeAlias = Annotated[Count, Within(most=50_000)]
"""An integer from 1 to 50 000: documents of a bound that is a fraction of n·log₂ n bits."""
MOST_BITS = 10**6, 10**8  # of one power of a chance, and of all that are summed


@checked
def seen_once(counts: Sequence[Steps], documents: Count) -> Fraction:
    """MF, from how often each outcome was seen.

    Raises `ValueError` for more counts than documents.
    """
    if sum(counts) > documents:
        raise InputError(
            f"counts sum to {sum(counts)} and there are {documents} documents: give all of them"
        )
    return Fraction(counts.count(1), documents)


@checked
def mean_difference(p: Distribution, documents: Counted) -> Fraction:
    """E MF − E M ≥ 0; `ValueError` for fractions of too many digits, as below."""
    n, law = documents, p
    _sized(law, n, len(law))
    return sum((a**2 * (1 - a) ** (n - 1) for a in law), start=Fraction(0))


@checked
def most_mean_difference(documents: FewDocuments) -> Fraction:
    """(1/n)(1 − 1/n)^{n−1}."""
    n = documents
    return Fraction(1, n) * (1 - Fraction(1, n)) ** (n - 1)


@checked
def mean_square(p: Distribution, documents: Annotated[Counted, Within(least=2)]) -> Fraction:
    """E(MF − M)², for n ≥ 2 documents."""
    n, law = documents, p
    _sized(law, n, len(law) ** 2)
    alone = (a * (1 - a) ** (n - 1) / n + a**2 * (1 - a) ** n for a in law)
    pairs = (
        a * b * (1 - a - b) ** (n - 2) * ((a + b) ** 2 - Fraction(1, n))
        for i, a in enumerate(law)
        for j, b in enumerate(law)
        if i != j
    )
    return sum(alone, start=Fraction(0)) + sum(pairs, start=Fraction(0))


@checked
def even_mean_square(facts: Counted, documents: Annotated[Counted, Within(least=2)]) -> float:
    """The same of so many equal facts, in float64."""
    F, n = facts, documents
    alone = (1 - 1 / F) ** (n - 1) / n + (1 - 1 / F) ** n / F
    return float(alone + (1 - 1 / F) * (1 - 2 / F) ** (n - 2) * (4 / F**2 - 1 / n))


@checked
def most_mean_square(documents: Annotated[FewDocuments, Within(least=2)]) -> Fraction:
    """The bound above, for n ≥ 2 documents and every p."""
    n = documents
    alone = Fraction(1, n) + Fraction(n, n + 1) ** n / (n + 1)
    return alone + Fraction(4, n**2) * (1 - Fraction(2, n)) ** (n - 2)


@checked
def moments_by_definition(p: Distribution, documents: Count) -> tuple[Fraction, Fraction]:
    """E(MF − M) and E(MF − M)², from all corpora one by one.

    Raises `ValueError` for more than a million of them.
    """
    n, law = documents, p
    if n > 20 or len(law) ** n > MOST:
        raise InputError(f"there are {len(law)}^{n} corpora: give at most {MOST} in all")
    first = second = Fraction(0)
    for corpus in product(range(len(law)), repeat=n):
        counts = Counter(corpus)
        unseen = 1 - sum(law[each] for each in counts)
        apart = seen_once([*counts.values()], n) - unseen
        chance = prod((law[each] for each in corpus), start=Fraction(1))
        first, second = first + chance * apart, second + chance * apart**2
    return first, second


@checked
def seen_and_once(
    facts: Counted, documents: Annotated[Count, Within(most=50)]
) -> dict[tuple[int, int], Fraction]:
    """The probabilities of (facts seen, facts seen once) where all facts are as likely."""
    found = {(0, 0): Fraction(1)}
    for _ in range(documents):
        after = defaultdict[tuple[int, int], Fraction](Fraction)
        for (seen, once), chance in found.items():
            after[seen + 1, once + 1] += chance * Fraction(facts - seen, facts)
            after[seen, once - 1] += chance * Fraction(once, facts)
            after[seen, once] += chance * Fraction(seen - once, facts)
        found = {key: chance for key, chance in after.items() if chance}
    return found


@checked
def deviation_bound(documents: Counted, gamma: OpenUnit) -> float:
    """1/n + 2.42·√(ln(4/γ)/n): |MF − M| is at most that with probability ≥ 1 − γ [KNVZ2025]."""
    return 1 / documents + 2.42 * sqrt(ln(4 / gamma) / documents)


def _sized(law: tuple[Fraction, ...], n: int, terms: int) -> None:
    """Raise `ValueError` for powers of more digits than are summed in a while."""
    bits = n * max(each.denominator for each in law).bit_length()
    if bits > MOST_BITS[0] or bits * terms > MOST_BITS[1]:
        raise InputError(
            f"{terms} fractions of {bits:.3g} bits are summed: give fewer documents or outcomes"
        )
