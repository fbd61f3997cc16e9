"""Bounds on the error of generation from the error of classifying valid responses [KNVZ2025].

Prompts c have weights μ_c; responses to c are valid (V_c) or wrong (E_c, at least one); p(·|c) is a
distribution on V_c, and g(·|c) a model with err = g(E).  *Is it valid?* is the task of classifying
a response that is drawn from p or uniformly from E_c, with probability ½ each; the classifier of g
predicts "valid" if g(r|c) > t.  Its error is

    err_iiv(t) = ½ p(g ≤ t) + ½ Σ μ_c |E_c ∩ {g > t}|/|E_c|.

**Theorem 1.**  At t = 1/min|E_c|, with A = {g > t} and δ⁺ = (g(A) − p(A))⁺ (there |g(A) − p(A)|),

    err ≥ 2 err_iiv(t) − max|V_c|/min|E_c| − δ⁺.

This is the sum of g(E∩A) ≥ t Σ μ_c |E_c∩A| ≥ Σ μ_c |E_c∩A|/|E_c|,
g(E∖A) ≥ g(Aᶜ) − t max|V_c| and g(Aᶜ) ≥ p(Aᶜ) − δ⁺.

**Theorem 3.**  If one of C responses is valid, err ≥ 2(1 − 1/C) min_t err_iiv(t), for any
calibration.  Our proof averages over thresholds: ∫₀¹ [g ≤ t] dt = 1 − g and ∫₀¹ [g > t] dt = g, so

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
    """Prompts with weights μ, and for each prompt p, g and the set of valid responses."""

    weights: tuple[Fraction, ...]
    p: tuple[tuple[Fraction, ...], ...]
    g: tuple[tuple[Fraction, ...], ...]
    valid: tuple[frozenset[int], ...]

    @property
    def errors(self) -> Fraction:
        """err = g(E), the probability of a wrong response under the model."""
        return sum(
            (mu * x for mu, _, x, true, _ in self._responses() if not true), start=Fraction(0)
        )

    @property
    def wrong(self) -> int:
        """min |E_c|, the smallest number of wrong responses to a prompt."""
        return min(len(g) - len(true) for g, true in zip(self.g, self.valid, strict=True))

    @property
    def thresholds(self) -> list[Fraction]:
        """The thresholds from 0 to 1 at which err_iiv may change: 0, 1 and all values of g."""
        return sorted({Fraction(0), Fraction(1), *(x for row in self.g for x in row)})

    @checked
    def misclassified(self, t: Exact) -> Fraction:
        """err_iiv(t), the error of the classifier g(r|c) > t."""
        total = Fraction(0)
        for mu, p, g, true, wrong in self._responses():
            if true and g <= t:
                total += mu * p
            if not true and g > t:
                total += mu / wrong
        return total / 2

    @checked
    def over_confidence(self, t: Exact) -> Fraction:
        """δ⁺ = (g(A) − p(A))⁺ with A = {g > t}."""
        above = (mu * (g - p) for mu, p, g, _, _ in self._responses() if g > t)
        return max(sum(above, start=Fraction(0)), Fraction(0))

    @property
    def bound(self) -> Fraction:
        """The lower bound 2 err_iiv − max|V_c|/min|E_c| − δ⁺ on err, t = 1/min|E_c| [Theorem 1]."""
        t = Fraction(1, self.wrong)
        most = Fraction(max(map(len, self.valid)), self.wrong)
        return 2 * self.misclassified(t) - most - self.over_confidence(t)

    @property
    def least_misclassified(self) -> Fraction:
        """The minimum of err_iiv(t) over all t, including t < 0, where every response is predicted
        valid."""
        return min(map(self.misclassified, [Fraction(-1), *self.thresholds]))

    @property
    def mean_misclassified(self) -> Fraction:
        """The mean ∫₀¹ err_iiv(t) dt of err_iiv over uniform thresholds."""
        pieces = ((b - a) * self.misclassified(a) for a, b in pairwise(self.thresholds))
        return sum(pieces, start=Fraction(0))

    @property
    def choice_bound(self) -> Fraction:
        """The lower bound 2(1 − 1/C) min_t err_iiv(t) on err [Theorem 3].

        Raises `ValueError` unless every prompt has C responses, one of them valid.
        """
        sizes = {(len(g), len(true)) for g, true in zip(self.g, self.valid, strict=True)}
        if len(sizes) > 1 or next(iter(sizes))[1] != 1:
            raise InputError(
                "numbers of responses differ: give prompts of C responses, one of them valid"
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
    """An exact instance; `valid` has the indices of the valid responses to each prompt.

    Raises `ValueError` unless all arguments have the same numbers of prompts and responses, if p
    gives mass to a wrong response, and for a prompt without a wrong response.
    """
    if not len(weights) == len(p) == len(g) == len(valid):
        raise InputError(
            f"there are {len(weights)} weights, {len(p)} distributions p, {len(g)} models g and "
            f"{len(valid)} sets of valid responses: give one of each for every prompt"
        )
    sets = []
    for true, model, each in zip(p, g, valid, strict=True):
        check_alike(p=true, g=model)
        right = outcomes("valid", each, len(true))
        if any(x and r not in right for r, x in enumerate(true)):
            raise InputError("p gives mass to a wrong response: give p(valid) = 1")
        if len(right) == len(true):
            raise InputError("all responses to a prompt are valid: give each prompt a wrong one")
        sets.append(right)
    return IsItValid(weights, tuple(p), tuple(g), tuple(sets))
