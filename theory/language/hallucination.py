"""Lower bounds on the hallucination rate of a calibrated model, from one deterministic inequality.

Y is the set of strings, F ⊆ Y the facts and H = Y∖F; p is the distribution of documents, with
p(F) = 1; U ⊆ Y are the unseen strings; g is a model.  For every τ ≥ 0, with A = {g > τ} and
δ⁺ = (g(A) − p(A))⁺,

    g(H) ≥ p(U) − δ⁺ − τ|F| + (τ|A| − p(U∩A)).

This inequality is the sum of g(H∩A) ≥ τ(|A| − |F∩A|), g(H∖A) ≥ g(Aᶜ) − τ|F∖A| and g(Aᶜ) ≥ p(Aᶜ) −
δ⁺ ≥ p(U) − p(U∩A) − δ⁺.  It is deterministic.  It also holds with prompts c of weights μ_c: then A
compares g(·|c) with τ, elements of a set count with the weights of their prompts, and |F| is the
mean number of valid responses.

Facts are *regular* if, given the corpus, E p(y) is the same for all unseen y.  Then for
τ = 1/|U| the bracket has mean τ|A| − |A∩U|·E p(U)/|U| ≥ 0, since p(U) ≤ 1.  As E p(U) ≥ E MF − 1/n
(Good–Turing),

    E g(H) ≥ E MF − E δ⁺ − E|F|/|U| − 1/n,    |U| ≥ |H|;
    g(H) ≥ p(U) − δ⁺ − |F|/(γ|U|)                        with probability ≥ 1 − γ, τ = 1/(γ|U|)

since p(U∩A) exceeds τ|A∩U| with probability ≤ γ (Markov).  Only the over-confidence at one
threshold enters, and δ⁺ ≤ Mis, the total variation between p and g on the level sets of g.

With prompts, the right answer to c is uniform among m answers.  Each of N documents gives the right
answer with probability α_c and "don't know" otherwise; both are valid.  Let τ = 1/m, let sr be
1/N times the number of prompts answered exactly once, and MM the sum of μ_c α_c over the prompts
that were never answered.  Then

    E err ≥ E sr − E δ⁺ − 2/m − 1/N;
    err ≥ MM − δ⁺ − 2/m − √(½ ln(1/γ) Σ μ_c²α_c²)        with probability ≥ 1 − γ, given the data

where the sum is over the prompts that were never answered, by Hoeffding's inequality for Σ μ_c α_c
[answer in A].

If all α_c equal α and 1/m ≤ α ≤ 1 − 1/m, the smallest mean given the data is

    E err + E δ⁺ ≥ MM(1 − 1/m),     with equality for the calibrated model, which has δ⁺ = 0.

Let D be a prompt's part of g(A) − p(A), and s the mass that g gives to its m answers.  For an
answered prompt err + D ≥ 0, whether or not the answer and "don't know" are in A.  For a prompt
that was never answered E err = s(1 − 1/m); if "don't know" is in A then E D ≥ α − s, otherwise E D
≥ 0 and s ≥ 1 − 1/m.  Since E δ⁺ ≥ max(0, E ΣD), the mean of err + δ⁺ over prompts of the first kind
is at least s(1 − 1/m) and at least α − s/m, with s their mean, and over those of the second kind at
least α(1 − 1/m); the larger of the first two bounds is smallest at s = α.
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

ROUNDING = 1e-9  # bound on the rounding errors of sums of millions of probabilities in float64
Threshold: TypeAlias = Annotated[
    Any, Either((RationalNumber(Within(least=0)), RealNumber(Within(least=0))))
]
"""A number ≥ 0, exact if it is given as an integer or a Fraction."""
Mass: TypeAlias = Annotated[
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
    """A model on groups of equally likely strings; floats or fractions, one entry for each group.

    strings  number of strings (for each prompt)   facts   number of facts (valid responses) in it
    p        total mass under p                    g       probability of each string (given c)
    unseen   whether the strings are unseen        weight  total weight of its prompts, or 1
    """

    strings: np.ndarray
    facts: np.ndarray
    p: np.ndarray
    g: np.ndarray
    unseen: np.ndarray
    weight: np.ndarray

    @property
    def mass(self) -> np.ndarray:
        """The model's mass of each group."""
        return np.asarray(self.weight * self.strings * self.g)

    @property
    def hallucination(self) -> Any:
        """g(H), the probability of a string that is not a fact."""
        return (self.weight * (self.strings - self.facts) * self.g).sum()

    @property
    def unseen_mass(self) -> Any:
        """p(U), the mass of unseen strings."""
        return self.p[self.unseen].sum()

    @property
    def valid(self) -> Any:
        """|F|: the number of facts, or the mean number of valid responses."""
        return (self.weight * self.facts).sum()

    @checked
    def over_confidence(self, tau: Threshold) -> Any:
        """δ⁺ = (g(A) − p(A))⁺ with A = {g > τ}, τ ≥ 0."""
        above = self.g > tau
        return max(self.mass[above].sum() - self.p[above].sum(), 0 * tau)

    @checked
    def deterministic_bound(self, tau: Threshold) -> Any:
        """The lower bound p(U) − δ⁺ − τ|F| + τ|A| − p(U∩A) on g(H)."""
        above = self.g > tau
        strings = (self.weight * self.strings)[above].sum()
        seen_above = self.p[above & self.unseen].sum()
        slack = self.over_confidence(tau) + tau * self.valid
        return self.unseen_mass - slack + tau * strings - seen_above

    @property
    def miscalibration(self) -> Any:
        """Mis = ½ Σ |g(B) − p(B)| over the level sets B of g."""
        _, which = np.unique(self.g, return_inverse=True)
        apart = [0 * self.p[0]] * (int(which.max()) + 1)
        for level, part in zip(which.tolist(), (self.mass - self.p).tolist(), strict=True):
            apart[level] += part
        return sum(map(abs, apart)) / 2

    @checked
    def miscalibration_in(self, bins: Count) -> float:
        """The miscalibration in bins, ½ Σ |g(B) − p(B)| over at most `bins` sets B.

        Each B is a union of level sets, and the g(B) are nearly equal.  The result is at most
        `miscalibration`; it is informative even if every level set is a single string.
        """
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
    """Exact levels with a group for each string; facts and unseen are sets of strings 0 … |Y| − 1.

    Raises `ValueError` for distributions on different sets, and unless p(F) = 1.
    """
    check_alike(p=p, g=g)
    true, new = outcomes("facts", facts, len(p)), outcomes("unseen", unseen, len(p))
    if any(a and y not in true for y, a in enumerate(p)):
        raise InputError("p gives mass to a string that is not a fact: give p with p(facts) = 1")
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
    seen_once: Mass, over: Mass, facts: Counted, unseen: Counted, documents: Counted
) -> Any:
    """The lower bound E MF − E δ⁺ − |F|/|U| − 1/n on E g(H) for regular facts.

    The arguments are means over corpora, not values of one corpus.  `unseen` is the smallest value
    of |U|, or a lower bound on it such as |H|.
    """
    return seen_once - over - Fraction(facts, unseen) - Fraction(1, documents)


@checked
def bound_given_corpus(
    unseen_mass: Mass, over: Mass, facts: Counted, unseen: Counted, gamma: OpenUnit
) -> Any:
    """The lower bound p(U) − δ⁺ − |F|/(γ|U|) on g(H), which holds with probability ≥ 1 − γ.

    δ⁺ (`over`) is the over-confidence at the threshold 1/(γ|U|).
    """
    return unseen_mass - over - facts / (gamma * unseen)


@checked
def expected_prompted_bound(once: Mass, over: Mass, answers: Counted, documents: Counted) -> Any:
    """The lower bound E sr − E δ⁺ − 2/m − 1/N on E err; the arguments are means over corpora."""
    return once - over - Fraction(2, answers) - Fraction(1, documents)


@checked
def prompted_bound_given_data(
    missing: Mass, over: Mass, answers: Counted, gamma: OpenUnit, squares: NonNegative
) -> float:
    """The lower bound MM − δ⁺ − 2/m − √(½ ln(1/γ)·squares) on err, with probability ≥ 1 − γ.

    squares = Σ μ_c²α_c² over the prompts that were never answered.
    """
    left = float(missing) - float(over)
    return left - 2 / answers - sqrt(0.5 * log(1 / gamma) * squares)


@checked
def printed_bound(
    seen_once: Mass,
    miscalibration: Mass,
    facts: Counted,
    others: Counted,
    documents: Counted,
    delta: OpenUnit,
) -> float:
    """The bound MF − Mis − 3e^{−s}/δ − √(6 ln(6/δ)/n) [KalaiVempala2024, Corollary 1].

    With e^{−s} = |F|/|H| it is a lower bound on g(H) with probability ≥ 1 − δ for regular facts.
    The formula is quoted from later papers, as the original was not available.  Its Mis is taken
    over bins chosen by its authors.
    """
    slack = printed_slack(facts, others, documents, delta)
    return float(seen_once - miscalibration) - slack


@checked
def printed_slack(facts: Counted, others: Counted, documents: Counted, delta: OpenUnit) -> float:
    """The slack 3e^{−s}/δ + √(6 ln(6/δ)/n) of `printed_bound`.

    If MF is at most the slack, the bound is vacuous for every model.
    """
    return 3 * facts / others / delta + sqrt(6 * log(6 / delta) / documents)


@checked
def printed_prompted_bound(once: Mass, over: Mass, wrong: Counted, documents: Counted) -> float:
    """The bound sr − 2/min|E_c| − (35 + 6 ln N)/√N − δ [KNVZ2025, Theorem 2].

    It is a lower bound on err with probability ≥ .99; |E_c| is the number of wrong responses to c.
    """
    N = documents
    return float(once) - float(over) - 2 / wrong - (35 + 6 * log(N)) / sqrt(N)
