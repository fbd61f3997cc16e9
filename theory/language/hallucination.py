"""Lower bounds on the hallucination rate of a calibrated model, from one deterministic inequality.

Let Y be the set of strings, F ⊆ Y the set of facts, H = Y∖F, and U ⊆ Y the set of unseen strings.
Let p be the distribution of documents, with p(F) = 1, and g a model.  For every τ ≥ 0, with
A = {g > τ} and δ⁺ = (g(A) − p(A))⁺,

    g(H) ≥ p(U) − δ⁺ − τ|F| + (τ|A| − p(U∩A)).

This inequality is the sum of g(H∩A) ≥ τ(|A| − |F∩A|), g(H∖A) ≥ g(Aᶜ) − τ|F∖A| and g(Aᶜ) ≥ p(Aᶜ) −
δ⁺ ≥ p(U) − p(U∩A) − δ⁺.  It is deterministic.  It also holds with prompts c of weights μ_c.  Then A
is the set where g(·|c) > τ, each element of a set counts with the weight of its prompt, and |F| is
the mean number of valid responses.

Let MF be the fraction of the n documents whose fact occurs once.  Facts are *regular* if, given the
corpus, E p(y) is the same for all unseen y.  Then for τ = 1/|U| the mean of the bracket is τ|A| −
|A∩U|·E p(U)/|U| ≥ 0, since p(U) ≤ 1.  As E p(U) ≥ E MF − 1/n (Good–Turing),

    E g(H) ≥ E MF − E δ⁺ − E|F|/|U| − 1/n,    |U| ≥ |H|;
    g(H) ≥ p(U) − δ⁺ − |F|/(γ|U|)                        with probability ≥ 1 − γ, τ = 1/(γ|U|)

since p(U∩A) exceeds τ|A∩U| with probability ≤ γ (Markov).  These bounds depend on the
over-confidence δ⁺ at one threshold only, and δ⁺ ≤ Mis, the total variation distance of p and g on
the level sets of g.

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
answered prompt err + D ≥ 0, whether or not the answer and "don't know" are in A.  For a prompt that
was never answered, E err = s(1 − 1/m).  If "don't know" is in A, then E D ≥ α − s.  Otherwise
E D ≥ 0 and s ≥ 1 − 1/m.  Now E δ⁺ ≥ max(0, E ΣD).  So over unanswered prompts with "don't know" in
A, the mean of err + δ⁺ is at least s(1 − 1/m) and at least α − s/m, where s is the mean over these
prompts.  The larger of these two bounds is smallest at s = α, where it is α(1 − 1/m).  Over the
other unanswered prompts, the mean of err + δ⁺ is at least α(1 − 1/m).
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
    """A model g and the distribution p of documents, on groups of strings.

    The model gives the same probability to all strings of a group.  Each array has one entry for
    each group, as floats or fractions.  If the model answers prompts, a group belongs to a set of
    prompts, the strings of the group are responses, and facts are valid responses.  In this case,
    the responses to a prompt are unseen if no document answers the prompt.

    strings  number of strings in the group (for each prompt)
    facts    number of facts (valid responses) among these strings
    p        total probability of the group under p
    g        probability of each string under the model (given its prompt)
    unseen   whether the strings are unseen (without prompts: occur in no document of the corpus)
    weight   total probability of the prompts of the group; 1 without prompts

    The fields are not checked: `levels`, `World` and `Prompted` make them of checked numbers.
    """

    strings: np.ndarray
    facts: np.ndarray
    p: np.ndarray
    g: np.ndarray
    unseen: np.ndarray
    weight: np.ndarray

    @property
    def mass(self) -> np.ndarray:
        """The total probability of each group under the model."""
        return np.asarray(self.weight * self.strings * self.g)

    @property
    def hallucination(self) -> Any:
        """The hallucination rate: the model's total probability of strings that are not facts."""
        return (self.weight * (self.strings - self.facts) * self.g).sum()

    @property
    def unseen_mass(self) -> Any:
        """The total probability of the unseen strings under the distribution of documents.

        Unseen strings are those that occur in no document of the corpus.
        """
        return self.p[self.unseen].sum()

    @property
    def valid(self) -> Any:
        """The number of facts or, with prompts, the mean number of valid responses to a prompt."""
        return (self.weight * self.facts).sum()

    @checked
    def over_confidence(self, tau: Threshold) -> Any:
        """The over-confidence max(g(A) − p(A), 0) on the set A = {g > τ}, for τ ≥ 0.

        A is the set of strings to which the model g gives a probability above τ = `tau`.  p is the
        distribution of documents.
        """
        above = self.g > tau
        mass = self.weight[above] * self.strings[above] * self.g[above]
        return max(mass.sum() - self.p[above].sum(), 0 * tau)

    @checked
    def deterministic_bound(self, tau: Threshold) -> Any:
        """A lower bound on the hallucination rate that holds for every corpus and threshold τ ≥ 0.

        The hallucination rate is the probability that the model g gives to strings that are not
        facts.  The bound is p(U) − δ⁺ − τ|F| + τ|A| − p(U∩A).  Here τ = `tau`, p is the
        distribution of documents, U is the set of strings that occur in no document of the corpus,
        and F is the set of facts.  A = {g > τ} is the set of strings to which the model gives a
        probability above τ, and δ⁺ = max(g(A) − p(A), 0) is the over-confidence on A.
        """
        above = self.g > tau
        strings = (self.weight[above] * self.strings[above]).sum()
        seen_above = self.p[above & self.unseen].sum()
        slack = self.over_confidence(tau) + tau * self.valid
        return self.unseen_mass - slack + tau * strings - seen_above

    @property
    def miscalibration(self) -> Any:
        """The miscalibration ½ Σ_B |g(B) − p(B)|, summed over the level sets B of the model g.

        p is the distribution of documents.  A level set of g consists of all strings that have the
        same probability under g.
        """
        _, which = np.unique(self.g, return_inverse=True)
        apart = [0 * self.p[0]] * (int(which.max()) + 1)
        for level, part in zip(which.tolist(), (self.mass - self.p).tolist(), strict=True):
            apart[level] += part
        return sum(map(abs, apart)) / 2

    @checked
    def miscalibration_in(self, bins: Annotated[Count, Within(most=10**6)]) -> float:
        """The miscalibration in bins, ½ Σ_B |g(B) − p(B)| over at most `bins` sets B of strings.

        g is the model and p is the distribution of documents.  A level set of g consists of all
        strings that have the same probability under g.  Each B is a union of level sets, and the
        probabilities g(B) are nearly equal.  The result is at most `miscalibration`, the same sum
        over all level sets.  The result is informative even if every level set is a single string.
        """
        g, p = (np.asarray(each, dtype=np.float64) for each in (self.g, self.p))
        if (self.strings == 1).all() and (self.weight == 1).all():  # sorting alone is faster
            mass = sizes = np.sort(g)
        else:
            order = np.argsort(g)
            sizes, mass = g[order], np.asarray(self.mass, dtype=np.float64)[order]
        upto = mass.cumsum()
        cuts = sizes[np.searchsorted(upto, upto[-1] * np.arange(1, bins) / bins)]
        ends = np.searchsorted(sizes, cuts, side="right")  # of sets of g ≤ cut
        by_model = np.diff(upto[ends - 1], prepend=0.0, append=upto[-1])
        stated = np.flatnonzero(p)
        which = np.searchsorted(cuts, g[stated])
        apart = by_model - np.bincount(which, p[stated], minlength=bins)
        return float(abs(apart).sum() / 2)


@checked
def levels(
    p: Distribution, g: Distribution, facts: Iterable[Steps], unseen: Iterable[Steps]
) -> Levels:
    """The distribution p of documents and the model g, as exact `Levels` with one string per group.

    The strings are the outcomes 0, 1, … of p and g.  `facts` is the set of facts, and `unseen` is
    the set of strings that occur in no document.  Raises `ValueError` if p and g have different
    numbers of outcomes, or if p(facts) ≠ 1.
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
    """A lower bound on the mean hallucination rate over corpora: E MF − E δ⁺ − |F|/|U| − 1/n.

    The hallucination rate is the model's probability of strings that are not facts.  E is the mean
    over random corpora of n = `documents` documents.  MF is the fraction of documents whose fact no
    other document states.  A is the set of strings to which the model g gives a probability above
    1/|U|.  δ⁺ = max(g(A) − p(A), 0) is the over-confidence, where p is the distribution of
    documents.  `seen_once` and `over` are the means of MF and δ⁺ over corpora, not values of one
    corpus.  |F| = `facts` is the number of facts.  |U| = `unseen` is a number such that in every
    corpus, at least |U| strings do not occur.  For example, |U| can be the number of strings that
    are not facts, since documents state only facts.

    The hypothesis is that the facts are regular: given the corpus, all strings that do not occur in
    it have the same mean probability.
    """
    return seen_once - over - Fraction(facts, unseen) - Fraction(1, documents)


@checked
def bound_given_corpus(
    unseen_mass: Mass, over: Mass, facts: Counted, unseen: Counted, gamma: OpenUnit
) -> Any:
    """A lower bound on a model's hallucination rate, given one corpus: p(U) − δ⁺ − |F|/(γ|U|).

    The hallucination rate is the model's probability of strings that are not facts.  p(U) =
    `unseen_mass` is the probability that a document states one of the |U| = `unseen` strings that
    do not occur in the corpus.  |F| = `facts` is the number of facts.  A is the set of strings to
    which the model gives a probability above 1/(γ|U|).  δ⁺ = `over` is the over-confidence max(g(A)
    − p(A), 0) of the model g, where p is the distribution of documents.

    Given the corpus, the bound holds with probability ≥ 1 − γ over the random facts, where γ =
    `gamma`.  The hypothesis is that the facts are regular: given the corpus, all unseen strings
    have the same mean probability.
    """
    return unseen_mass - over - facts / (gamma * unseen)


@checked
def expected_prompted_bound(once: Mass, over: Mass, answers: Counted, documents: Counted) -> Any:
    """A lower bound on the mean error over corpora, with prompts: E sr − E δ⁺ − 2/m − 1/N.

    The error is the model's probability of a wrong response.  E is the mean over random corpora of
    N = `documents` documents.  sr is the number of prompts that exactly one document answers,
    divided by N.  m = `answers` is the number of possible answers to a prompt.  A is the set of
    responses to which the model g gives a probability above 1/m.  δ⁺ = max(g(A) − p(A), 0) is the
    over-confidence, where p is the distribution of valid responses.  `once` and `over` are the
    means of sr and δ⁺.
    """
    return once - over - Fraction(2, answers) - Fraction(1, documents)


@checked
def prompted_bound_given_data(
    missing: Mass, over: Mass, answers: Counted, gamma: OpenUnit, squares: NonNegative
) -> float:
    """A lower bound on the error given one corpus, with prompts: MM − δ⁺ − 2/m − √(½ ln(1/γ)·Q).

    The error is the model's probability of a wrong response.  Given the corpus, the bound holds
    with probability ≥ 1 − γ over the right answers, where γ = `gamma`.  A prompt c has the
    probability μ_c, m = `answers` possible answers, and the probability α_c of an answer, as
    opposed to "don't know".  MM = `missing` is the sum of μ_c α_c over the prompts c that no
    document answers.  Q = `squares` is the sum of μ_c² α_c² over these prompts.  A is the set of
    responses to which the model g gives a probability above 1/m.  δ⁺ = `over` is the
    over-confidence max(g(A) − p(A), 0), where p is the distribution of valid responses.
    """
    left = float(missing) - float(over)
    return left - 2 / answers - sqrt(-0.5 * log(gamma) * squares)


@checked
def printed_bound(
    seen_once: Mass,
    miscalibration: Mass,
    facts: Counted,
    others: Counted,
    documents: Counted,
    delta: OpenUnit,
) -> float:
    """The lower bound on the hallucination rate of [KalaiVempala2024, Corollary 1].

    The hallucination rate is the model's probability of strings that are not facts.  With
    probability ≥ 1 − δ, where δ = `delta`, the rate is at least

        MF − Mis − 3|F|/(δ|H|) − √(6 ln(6/δ)/n).

    MF = `seen_once` is the fraction of n = `documents` documents whose fact no other document
    states.  Mis = `miscalibration` is the miscalibration ½ Σ_B |g(B) − p(B)| of the model g over
    disjoint sets B of strings, where p is the distribution of documents.  |F| = `facts` is the
    number of facts, and |H| = `others` is the number of strings that are not facts.  The hypothesis
    is that facts are regular: given the corpus, all strings that do not occur in it have the same
    mean probability.  The formula is quoted from later papers, as the original was not available.
    In the original, the sets B are bins that the authors of [KalaiVempala2024] chose.
    """
    slack = printed_slack(facts, others, documents, delta)
    return float(seen_once - miscalibration) - slack


@checked
def printed_slack(facts: Counted, others: Counted, documents: Counted, delta: OpenUnit) -> float:
    """The terms 3|F|/(δ|H|) + √(6 ln(6/δ)/n) that are subtracted in `printed_bound`.

    `printed_bound` is the fraction of documents whose fact no other document states, minus the
    model's miscalibration, minus these terms.  |F| = `facts` is the number of facts, |H| = `others`
    is the number of strings that are not facts, n = `documents` is the number of documents, and δ =
    `delta`.  If the fraction is at most these terms, `printed_bound` is vacuous for every model.
    """
    return 3 * facts / others / delta + sqrt(6 * (log(6) - log(delta)) / documents)


@checked
def printed_prompted_bound(once: Mass, over: Mass, wrong: Counted, documents: Counted) -> float:
    """The lower bound of [KNVZ2025, Theorem 2] on the probability of a wrong response to a prompt.

    With probability ≥ .99 the error is at least sr − 2/|E| − (35 + 6 ln N)/√N − δ.  sr = `once` is
    the number of prompts that exactly one document answers, divided by the number N = `documents`
    of documents.  |E| = `wrong` is the smallest number of wrong responses to a prompt.  A is the
    set of responses to which the model g gives a probability above a threshold.  δ = `over` is the
    over-confidence max(g(A) − p(A), 0), where p is the distribution of valid responses.
    """
    N = documents
    return float(once) - float(over) - 2 / wrong - (35 + 6 * log(N)) / sqrt(N)
