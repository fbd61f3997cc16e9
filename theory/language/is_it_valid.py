"""Generating is at least as hard as classifying what is valid, exactly [KNVZ2025].

Prompts c of weights μ_c, responses that are valid (V_c) or wrong (E_c, at least one), p(·|c) on
valid ones, a model g(·|c) with err = g(E).  *Is it valid?* is a classification of p's responses
and of uniform wrong ones, half of the time each; g predicts valid where g(r|c) > t:

    err_iiv(t) = ½ p(g ≤ t) + ½ Σ μ_c |E_c ∩ {g > t}|/|E_c|.

**Theorem 1.**  At t = 1/min|E_c|, with A = {g > t} and δ⁺ = (g(A) − p(A))⁺ (there |g(A) − p(A)|),

    err ≥ 2 err_iiv(t) − max|V_c|/min|E_c| − δ⁺:

g(E∩A) ≥ t Σ μ_c |E_c∩A| ≥ Σ μ_c |E_c∩A|/|E_c|, and g(E∖A) ≥ g(Aᶜ) − t max|V_c|, and
g(Aᶜ) ≥ p(Aᶜ) − δ⁺: add them up.

**Theorem 3.**  With one valid response of C, err ≥ 2(1 − 1/C) min_t err_iiv(t), whatever the
calibration.  Here by a uniform threshold: ∫₀¹ [g ≤ t] dt = 1 − g and ∫₀¹ [g > t] dt = g, so

    ∫₀¹ 2 err_iiv(t) dt = err + err/(C − 1) = err·C/(C − 1),

and the least err_iiv is no more than the mean.
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
    """Prompts with their weights; of each the distribution p and the model g of its responses,
    and which of them are valid."""

    weights: tuple[Fraction, ...]
    p: tuple[tuple[Fraction, ...], ...]
    g: tuple[tuple[Fraction, ...], ...]
    valid: tuple[frozenset[int], ...]

    @property
    def errors(self) -> Fraction:
        """err = g(E)."""
        return sum(
            (mu * x for mu, _, x, true, _ in self._responses() if not true), start=Fraction(0)
        )

    @property
    def wrong(self) -> int:
        """min |E_c|."""
        return min(len(g) - len(true) for g, true in zip(self.g, self.valid, strict=True))

    @property
    def thresholds(self) -> list[Fraction]:
        """Where err_iiv may change, from 0 to 1: all values of g."""
        return sorted({Fraction(0), Fraction(1), *(x for row in self.g for x in row)})

    @checked
    def misclassified(self, t: Exact) -> Fraction:
        """err_iiv(t)."""
        total = Fraction(0)
        for mu, law, chance, true, wrong in self._responses():
            if true and chance <= t:
                total += mu * law
            if not true and chance > t:
                total += mu / wrong
        return total / 2

    @checked
    def over_confidence(self, t: Exact) -> Fraction:
        """δ⁺ at t."""
        above = (mu * (x - law) for mu, law, x, _, _ in self._responses() if x > t)
        return max(sum(above, start=Fraction(0)), Fraction(0))

    @property
    def bound(self) -> Fraction:
        """2 err_iiv − max|V_c|/min|E_c| − δ⁺ at t = 1/min|E_c|, at most err [Theorem 1]."""
        t = Fraction(1, self.wrong)
        most = Fraction(max(map(len, self.valid)), self.wrong)
        return 2 * self.misclassified(t) - most - self.over_confidence(t)

    @property
    def least_misclassified(self) -> Fraction:
        """min_t err_iiv(t): of all thresholds, below 0 too, where all is called valid."""
        return min(map(self.misclassified, [Fraction(-1), *self.thresholds]))

    @property
    def mean_misclassified(self) -> Fraction:
        """∫₀¹ err_iiv(t) dt."""
        pieces = ((b - a) * self.misclassified(a) for a, b in pairwise(self.thresholds))
        return sum(pieces, start=Fraction(0))

    @property
    def choice_bound(self) -> Fraction:
        """2(1 − 1/C) min_t err_iiv(t), at most err [Theorem 3].

        Raises `ValueError` unless each prompt has one valid response of the same number C.
        """
        sizes = {(len(g), len(true)) for g, true in zip(self.g, self.valid, strict=True)}
        if len(sizes) > 1 or next(iter(sizes))[1] != 1:
            raise InputError("give prompts with one valid response each, of as many in all")
        C = len(self.g[0])
        return 2 * (1 - Fraction(1, C)) * self.least_misclassified

    def _responses(self) -> Iterable[tuple[Fraction, Fraction, Fraction, bool, int]]:
        """μ_c, p(r|c), g(r|c), whether r is valid, and |E_c|, of every response r to every c."""
        for mu, p, g, true in zip(self.weights, self.p, self.g, self.valid, strict=True):
            for r, (law, chance) in enumerate(zip(p, g, strict=True)):
                yield mu, law, chance, r in true, len(p) - len(true)


@checked
def is_it_valid(
    weights: Distribution,
    p: Sequence[Distribution],
    g: Sequence[Distribution],
    valid: Sequence[Collection[Steps]],
) -> IsItValid:
    """Exact numbers; `valid` has the numbers of the valid responses to each prompt.

    Raises `ValueError` for other numbers of prompts or responses, unless p lives on valid
    responses, and for a prompt without a wrong one.
    """
    if not len(weights) == len(p) == len(g) == len(valid):
        raise InputError(
            f"{len(weights)} weights, {len(p)} laws p, {len(g)} models g and {len(valid)} sets of "
            "valid responses: give one of each for every prompt"
        )
    sets = []
    for law, model, each in zip(p, g, valid, strict=True):
        check_alike(p=law, g=model)
        right = outcomes("valid", each, len(law))
        if any(x and r not in right for r, x in enumerate(law)):
            raise InputError("p gives mass to a wrong response: documents are true here")
        if len(right) == len(law):
            raise InputError("all responses to a prompt are valid: give each a wrong one")
        sets.append(right)
    return IsItValid(weights, tuple(p), tuple(g), tuple(sets))
