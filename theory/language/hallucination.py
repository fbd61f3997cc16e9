"""Why a calibrated model hallucinates: a deterministic inequality, and what follows from it.

Strings Y, of which F are facts and H = Y∖F are not; p the distribution of documents, p(F) = 1; U
the strings that were not seen; g a model.  For every τ ≥ 0, with A = {g > τ} and δ⁺ = (g(A) −
p(A))⁺,

    g(H) ≥ p(U) − δ⁺ − τ|F| + (τ|A| − p(U∩A)).

g(H∩A) ≥ τ(|A| − |F∩A|), and g(H∖A) ≥ g(Aᶜ) − τ|F∖A|, and g(Aᶜ) ≥ p(Aᶜ) − δ⁺ ≥ p(U) − p(U∩A) − δ⁺:
add them up.  Nothing in it is random.  With prompts c of weights μ_c it holds too, g(·|c) compared
with τ, sets counted with their prompts' weights, and |F| the mean number of valid responses.

If facts are *regular*, E p(y) the same for all unseen y given the corpus, and τ = 1/|U|, then the
bracket has mean τ|A| − |A∩U|·E p(U)/|U| ≥ 0, as p(U) ≤ 1 (Good and Turing: E p(U) ≥ E MF − 1/n):

    E g(H) ≥ E MF − E δ⁺ − E|F|/|U| − 1/n,    |U| ≥ |H|;
    g(H) ≥ p(U) − δ⁺ − |F|/(γ|U|)                        with probability ≥ 1 − γ, τ = 1/(γ|U|)

as p(U∩A) exceeds τ|A∩U| with probability ≤ γ (Markov).  Only over-confidence at one threshold
counts, δ⁺ ≤ Mis, the total variation between p and g on the level sets of g.

With prompts, the answer of c uniform among m, given with probability α_c and else "don't know",
both valid, τ = 1/m, N documents, sr = (prompts answered exactly once)/N, MM = Σ μ_c α_c over
prompts never answered:

    E err ≥ E sr − E δ⁺ − 2/m − 1/N;
    err ≥ MM − δ⁺ − 2/m − √(½ ln(1/γ) Σ μ_c²α_c²)        with probability ≥ 1 − γ, given the data

the sum over prompts never answered: Hoeffding's inequality for Σ μ_c α_c [answer in A].

If all α_c are one α, 1/m ≤ α ≤ 1 − 1/m, the least mean given the data is known:

    E err + E δ⁺ ≥ MM(1 − 1/m),     with equality for the calibrated model, which has δ⁺ = 0.

Let D be a prompt's part of g(A) − p(A), and s what g gives to its answers.  Where it was answered
err + D ≥ 0, whichever of the answer and "don't know" are in A.  Where it was not,
E err = s(1 − 1/m), and E D ≥ α − s if "don't know" is in A; if not, E D ≥ 0 and s ≥ 1 − 1/m.  As
E δ⁺ is at least 0 and E ΣD, the mean is at least s(1 − 1/m) and α − s/m for s the mean over the
former, and α(1 − 1/m) for the latter; the greater of the first two is least at s = α.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import (
    Count,
    Either,
    InputError,
    NonNegative,
    OpenUnit,
    RationalNumber,
    RealNumber,
    Steps,
    Within,
    checked,
)
from theory.language.distributions import Counted, Distribution, check_alike, outcomes

ROUNDING = 1e-9  # what sums of millions of chances in float64 may be off by
Threshold: TypeAlias = Annotated[
    Any, Either((RationalNumber(Within(least=0)), RealNumber(Within(least=0))))
]
"""A number ≥ 0, exact if it is given as an integer or a Fraction."""
Share: TypeAlias = Annotated[
    Any,
    Either(
        (
            RationalNumber(Within(least=0, most=1)),
            RealNumber(Within(least=-ROUNDING, most=1 + ROUNDING)),
        )
    ),
]
"""A probability, exact if it is given as an integer or a Fraction."""


@dataclass(frozen=True)
class Levels:
    """Strings in groups, of numbers or of fractions (dtype object), one entry for each group.

    strings  how many (of each prompt)     facts   how many of them are facts (valid)
    p        their mass together           g       the probability of each (given its prompt)
    unseen   whether they were not seen    weight  of the group's prompts together, else 1
    """

    strings: np.ndarray
    facts: np.ndarray
    p: np.ndarray
    g: np.ndarray
    unseen: np.ndarray
    weight: np.ndarray

    @property
    def mass(self) -> np.ndarray:
        """What the model gives to each group."""
        return np.asarray(self.weight * self.strings * self.g)

    @property
    def hallucination(self) -> Any:
        """g(H)."""
        return (self.weight * (self.strings - self.facts) * self.g).sum()

    @property
    def unseen_mass(self) -> Any:
        """p(U)."""
        return self.p[self.unseen].sum()

    @property
    def valid(self) -> Any:
        """|F|: the number of facts, or the mean number of valid responses."""
        return (self.weight * self.facts).sum()

    @checked
    def over_confidence(self, tau: Threshold) -> Any:
        """δ⁺ at the threshold τ ≥ 0."""
        above = self.g > tau
        return max(self.mass[above].sum() - self.p[above].sum(), 0 * tau)

    @checked
    def sure_bound(self, tau: Threshold) -> Any:
        """p(U) − δ⁺ − τ|F| + τ|A| − p(U∩A) ≤ g(H)."""
        above = self.g > tau
        strings = (self.weight * self.strings)[above].sum()
        seen_above = self.p[above & self.unseen].sum()
        slack = self.over_confidence(tau) + tau * self.valid
        return self.unseen_mass - slack + tau * strings - seen_above

    @property
    def miscalibration(self) -> Any:
        """Mis: ½ Σ |g(B) − p(B)| over the level sets B of g."""
        _, which = np.unique(self.g, return_inverse=True)
        apart = [0 * self.p[0]] * (int(which.max()) + 1)
        for level, part in zip(which.tolist(), (self.mass - self.p).tolist(), strict=True):
            apart[level] += part
        return sum(map(abs, apart)) / 2

    @checked
    def miscalibration_in(self, bins: Count) -> float:
        """½ Σ |g(B) − p(B)| over at most so many sets B of whole levels, as nearly alike in g(B) as
        these allow: less than `miscalibration`, and known where every string is a level."""
        g, mass = self.g.astype(np.float64), self.mass.astype(np.float64)
        order = np.argsort(g)
        upto = mass[order].cumsum()
        cuts = np.searchsorted(upto, upto[-1] * np.arange(1, bins) / bins)
        which = np.searchsorted(g[order[cuts]], g)
        apart = np.bincount(which, mass - self.p.astype(np.float64))
        return float(abs(apart).sum() / 2)


@checked
def levels(
    p: Distribution, g: Distribution, facts: Iterable[Steps], unseen: Iterable[Steps]
) -> Levels:
    """Each string its own group, exactly; facts and unseen are sets of strings 0, …, |Y| − 1.

    Raises `ValueError` for distributions on different sets, and unless p lives on the facts.
    """
    check_alike(p=p, g=g)
    true, new = outcomes("facts", facts, len(p)), outcomes("unseen", unseen, len(p))
    if any(a and y not in true for y, a in enumerate(p)):
        raise InputError("p gives mass to a string that is no fact: documents are true here")
    ones = np.array([Fraction(1)] * len(p), dtype=object)
    return Levels(
        ones,
        np.array([Fraction(y in true) for y in range(len(p))], dtype=object),
        np.array(p, dtype=object),
        np.array(g, dtype=object),
        np.array([y in new for y in range(len(p))]),
        ones,
    )


@checked
def expected_bound(
    seen_once: Share, over: Share, facts: Counted, unseen: Counted, documents: Counted
) -> Any:
    """E MF − E δ⁺ − |F|/|U| − 1/n, below E g(H) where facts are regular: of means, not of what one
    corpus has; |U| is then the least that it may be, and |H| is no more."""
    return seen_once - over - Fraction(facts, unseen) - Fraction(1, documents)


@checked
def bound_given_corpus(
    unseen_mass: Share, over: Share, facts: Counted, unseen: Counted, gamma: OpenUnit
) -> Any:
    """p(U) − δ⁺ − |F|/(γ|U|), below g(H) with probability ≥ 1 − γ; δ⁺ is that at 1/(γ|U|)."""
    return unseen_mass - over - facts / (gamma * unseen)


@checked
def expected_prompted_bound(once: Share, over: Share, answers: Counted, documents: Counted) -> Any:
    """E sr − E δ⁺ − 2/m − 1/N, below E err: of means, as above."""
    return once - over - Fraction(2, answers) - Fraction(1, documents)


@checked
def prompted_bound_given_data(
    missing: Share, over: Share, answers: Counted, gamma: OpenUnit, squares: NonNegative
) -> float:
    """MM − δ⁺ − 2/m − √(½ ln(1/γ)·squares), squares = Σ μ_c²α_c² over prompts never answered."""
    left = float(missing) - float(over)
    return left - 2 / answers - sqrt(0.5 * log(1 / gamma) * squares)


@checked
def printed_bound(
    seen_once: Share,
    miscalibration: Share,
    facts: Counted,
    others: Counted,
    documents: Counted,
    delta: OpenUnit,
) -> float:
    """MF − Mis − 3e^{−s}/δ − √(6 ln(6/δ)/n) with e^{−s} = |F|/|H|, of regular facts, below g(H)
    with probability ≥ 1 − δ: so [KalaiVempala2024, Corollary 1] is quoted; the paper itself was not
    read here.  Mis is that of bins of theirs there."""
    slack = printed_slack(facts, others, documents, delta)
    return float(seen_once - miscalibration) - slack


@checked
def printed_slack(facts: Counted, others: Counted, documents: Counted, delta: OpenUnit) -> float:
    """3e^{−s}/δ + √(6 ln(6/δ)/n): where MF is no more, the printed bound is vacuous for every
    model."""
    return 3 * facts / others / delta + sqrt(6 * log(6 / delta) / documents)


@checked
def printed_prompted_bound(once: Share, over: Share, wrong: Counted, documents: Counted) -> float:
    """sr − 2/min|E_c| − (35 + 6 ln N)/√N − δ, below err with probability ≥ .99 [KNVZ2025, Theorem
    2]; |E_c| is the number of wrong responses to a prompt."""
    N = documents
    return float(once) - float(over) - 2 / wrong - (35 + 6 * log(N)) / sqrt(N)
