"""Bounds on the error of generation from the error of classifying valid responses [KNVZ2025].

Prompts c have weights μ_c.  The responses to c are the set V_c of valid responses and the nonempty
set E_c of wrong ones.  p(·|c) is a distribution on V_c, and g(·|c) is a model, whose error err =
g(E) is its probability of a wrong response.  *Is it valid?* is the task of classifying a response
that is drawn from p or uniformly from E_c, with probability ½ each.  The classifier of g predicts
"valid" if g(r|c) > t.  Its error is

    err_iiv(t) = ½ p(g ≤ t) + ½ Σ μ_c |E_c ∩ {g > t}|/|E_c|.

**Theorem 1.**  At t = 1/min|E_c|, with A = {g > t} and δ⁺ = (g(A) − p(A))⁺ ([KNVZ2025] has
|g(A) − p(A)|),

    err ≥ 2 err_iiv(t) − max|V_c|/min|E_c| − δ⁺.

This is the sum of g(E∩A) ≥ t Σ μ_c |E_c∩A| ≥ Σ μ_c |E_c∩A|/|E_c|,
g(E∖A) ≥ g(Aᶜ) − t max|V_c| and g(Aᶜ) ≥ p(Aᶜ) − δ⁺.

**Theorem 3.**  If each prompt has C responses and one of them is valid,
err ≥ 2(1 − 1/C) min_t err_iiv(t), whether or not g is calibrated.  Our proof averages over
thresholds.  As ∫₀¹ [g ≤ t] dt = 1 − g and ∫₀¹ [g > t] dt = g,

    ∫₀¹ 2 err_iiv(t) dt = err + err/(C − 1) = err·C/(C − 1),

and the minimum of err_iiv(t) is at most the mean.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from theory.kinds import Exact, InputError, Steps, checked
from theory.language.distributions import Distribution, check_alike, outcomes


@dataclass(frozen=True)
class IsItValid:
    """An instance of the task to decide whether a response to a prompt is valid.

    Prompt c has the probability `weights[c]` and the set `valid[c]` of valid responses.  All other
    responses are wrong.  `p[c]` is a distribution on the valid responses to prompt c.  `g[c]` is
    the model's distribution on all responses to prompt c.  The fields are not checked:
    `is_it_valid` checks them.
    """

    weights: tuple[Fraction, ...]
    p: tuple[tuple[Fraction, ...], ...]
    g: tuple[tuple[Fraction, ...], ...]
    valid: tuple[frozenset[int], ...]

    @property
    def errors(self) -> Fraction:
        """The probability that the model's response to a random prompt is wrong."""
        return sum(
            (mu * x for mu, _, x, true, _ in self._responses() if not true), start=Fraction(0)
        )

    @property
    def wrong(self) -> int:
        """The smallest number, over all prompts, of wrong responses to a prompt."""
        return min(len(g) - len(true) for g, true in zip(self.g, self.valid, strict=True))

    @property
    def thresholds(self) -> list[Fraction]:
        """The sorted thresholds t at which the error of the classifier of threshold t may change.

        The classifier calls a response valid if its probability under the model g exceeds t.  The
        thresholds are 0, 1 and all probabilities of responses under g.
        """
        return sorted({Fraction(0), Fraction(1), *(x for row in self.g for x in row)})

    @checked
    def misclassified(self, t: Exact) -> Fraction:
        """The error of the classifier that calls a response valid if its probability exceeds t.

        The probability is g(r|c), the model's probability of the response r to the prompt c.  The
        prompt is random.  With probability ½, the response to be classified is drawn from the
        distribution of valid responses to the prompt.  Otherwise it is drawn uniformly from the
        wrong responses.
        """
        total = Fraction(0)
        for mu, p, g, true, wrong in self._responses():
            if true and g <= t:
                total += mu * p
            if not true and g > t:
                total += mu / wrong
        return total / 2

    @checked
    def over_confidence(self, t: Exact) -> Fraction:
        """The over-confidence max(g(A) − p(A), 0) on the set A = {g > t} of responses.

        A is the set of responses whose probability under the model g, given the prompt, is above t.
        p is the distribution of valid responses.  g(A) and p(A) are means over random prompts.
        """
        above = (mu * (g - p) for mu, p, g, _, _ in self._responses() if g > t)
        return max(sum(above, start=Fraction(0)), Fraction(0))

    @property
    def bound(self) -> Fraction:
        """The lower bound of [KNVZ2025, Theorem 1] on the probability of a wrong response.

        The bound is 2 err − max|V_c|/min|E_c| − δ⁺.  |V_c| and |E_c| are the numbers of valid and
        of wrong responses to the prompt c.  err is the error of the classifier that calls a
        response valid if its probability under the model exceeds t = 1/min|E_c|.  δ⁺ = max(g(A) −
        p(A), 0) is the over-confidence of the model g on the set A of responses of probability
        above t, where p is the distribution of valid responses.
        """
        t = Fraction(1, self.wrong)
        most = Fraction(max(map(len, self.valid)), self.wrong)
        return 2 * self.misclassified(t) - most - self.over_confidence(t)

    @property
    def least_misclassified(self) -> Fraction:
        """The minimum, over all thresholds t, of the error of the classifier with the threshold t.

        The classifier calls a response valid if its probability under the model exceeds t.  The
        minimum includes thresholds below 0, at which the classifier calls every response valid.
        """
        return min(map(self.misclassified, [Fraction(-1), *self.thresholds]))

    @property
    def mean_misclassified(self) -> Fraction:
        """The mean error of the classifier with a threshold t that is uniform on [0, 1].

        The classifier calls a response valid if its probability under the model exceeds t.
        """
        pieces = ((b - a) * self.misclassified(a) for a, b in pairwise(self.thresholds))
        return sum(pieces, start=Fraction(0))

    @property
    def choice_bound(self) -> Fraction:
        """The lower bound of [KNVZ2025, Theorem 3] on the probability of a wrong response.

        Every prompt has C responses, one of them valid.  The bound is 2(1 − 1/C) times the smallest
        error, over all thresholds, of the classifier with a threshold.  This classifier calls a
        response valid if its probability under the model exceeds the threshold.  Raises
        `ValueError` unless every prompt has the same number C of responses, one of them valid.
        """
        sizes = {(len(g), len(true)) for g, true in zip(self.g, self.valid, strict=True)}
        if len(sizes) > 1 or next(iter(sizes))[1] != 1:
            raise InputError(
                "prompts differ in their numbers of responses, or have several valid responses: "
                "give each prompt C responses, one of them valid"
            )
        C = len(self.g[0])
        return 2 * (1 - Fraction(1, C)) * self.least_misclassified

    def _responses(self) -> Iterable[tuple[Fraction, Fraction, Fraction, bool, int]]:
        """μ_c, p(r|c), g(r|c), whether r is valid, and |E_c|, for every response r to every c."""
        for mu, p, g, true in zip(self.weights, self.p, self.g, self.valid, strict=True):
            for r, (p_r, g_r) in enumerate(zip(p, g, strict=True)):
                yield mu, p_r, g_r, r in true, len(p) - len(true)


@checked
def is_it_valid(
    weights: Distribution,
    p: Sequence[Distribution],
    g: Sequence[Distribution],
    valid: Sequence[Collection[Steps]],
) -> IsItValid:
    """An exact instance of the task to decide whether a response to a prompt is valid.

    For each prompt, `weights` has the probability of the prompt, `p` a distribution on the valid
    responses, `g` the model's distribution on all responses, and `valid` the indices of the valid
    responses.  Raises `ValueError` unless all arguments have the same numbers of prompts and
    responses.  Also raises `ValueError` if p gives mass to a wrong response, or if a prompt has no
    wrong response.
    """
    if not len(weights) == len(p) == len(g) == len(valid):
        raise InputError(
            f"weights has {len(weights)} entries, p has {len(p)}, g has {len(g)} and valid has "
            f"{len(valid)}: give one entry of each for every prompt"
        )
    sets = []
    for true, model, each in zip(p, g, valid, strict=True):
        check_alike(p=true, g=model)
        right = outcomes("valid", each, len(true))
        if any(x and r not in right for r, x in enumerate(true)):
            raise InputError("p gives mass to a wrong response: give p with p(valid) = 1")
        if len(right) == len(true):
            raise InputError(
                "all responses to a prompt are valid: give each prompt a wrong response"
            )
        sets.append(right)
    return IsItValid(weights, tuple(p), tuple(g), tuple(sets))
