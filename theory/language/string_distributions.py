"""The distributions of a model and of a source on all strings of T bits, compared.

Let p be the source's distribution on strings of T bits, and g the model's.

    CE_t = −Σ_x p(x_1 … x_t) ln g(x_t | x_1 … x_{t−1}),      Σ_t CE_t − H(X_1 … X_T) = KL(p‖g)

Let A = {g > τ} and δ = max_τ |g(A) − p(A)|.  At the maximising τ,
2δ² ≤ kl(p(A)‖g(A)) ≤ KL(p‖g), where the middle term is the gain of rescaling g on A
(`theory.language.rescaling`).  Let H = {p = 0} be the set of impossible strings.  Then g(H) is at
most 1 − e^{−KL(p‖g)}, and at least the deterministic bound of `theory.language.hallucination` with
all strings as U.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
from scipy.special import rel_entr

from theory.kinds import InputError, Reals, Within, checked

Chances: TypeAlias = Annotated[Any, Reals("strings", Within(least=0))]
"""Probabilities of strings, finite numbers ≥ 0, shape (strings,)."""


class Level(NamedTuple):
    """A set A = {g > τ} of strings that a model g finds probable: |g(A) − p(A)|, p(A) and g(A).

    p is the distribution of the source, and A is the set of strings of probability above τ under g.
    The fields are `delta` = |g(A) − p(A)|, `p` = p(A) and `g` = g(A).
    """

    delta: float
    p: float
    g: float

    @property
    def gain(self) -> float:
        """The decrease kl(p(A)‖g(A)) of the loss, in nats, if g is rescaled on A optimally.

        p is the distribution of the source, and g the model.  The decrease is ∞ if g(A) is 0 or 1
        and p(A) is another number.
        """
        return float(rel_entr(self.p, self.g) + rel_entr(1 - self.p, 1 - self.g))


@checked
@dataclass(frozen=True)
class StringDistributions:
    """The probabilities of all strings of T bits under a source and under a model.

    p (2^T,) has the probabilities of the 2^T strings under the source, and g (2^T,) their
    probabilities under the model.  The strings are in lexicographic order.  Raises `ValueError` for
    negative numbers, for sums other than 1, and unless p and g have 2^T entries for some T ≥ 1.
    """

    p: Chances
    g: Chances

    def __post_init__(self) -> None:
        if len(self.p) < 2 or len(self.p) & (len(self.p) - 1):
            raise InputError(
                f"p has {len(self.p)} entries: give 2^T probabilities, one for each string of T "
                "bits"
            )

        for name, each in (("p", self.p), ("g", self.g)):
            if abs(each.sum() - 1) > 1e-9:
                raise InputError(
                    f"{name} has the sum {each.sum():g}: give probabilities whose sum is 1"
                )

    @property
    def length(self) -> int:
        """The number T of bits of each string."""
        return len(self.p).bit_length() - 1

    @property
    def divergence(self) -> float:
        """The divergence KL(p‖g) = Σ p ln(p/g) of the model g from the source p, in nats."""
        return float(rel_entr(self.p, self.g).sum())

    @property
    def impossible(self) -> float:
        """The model's total probability of the strings that have probability 0 under the source."""
        return float(self.g[self.p == 0].sum())

    @property
    def cross_entropies(self) -> list[float]:
        """The cross-entropy of the model for each of the T bits given the earlier bits, in nats.

        The strings are drawn from the source.  The result has T entries.  An entry is ∞ if a
        possible string begins with bits, up to this one, to which the model gives probability 0.
        """
        T = self.length
        prefixes = [
            (self.p.reshape(2**t, -1).sum(1), self.g.reshape(2**t, -1).sum(1)) for t in range(T + 1)
        ]
        found = []
        for (_, before), (p, after) in pairwise(prefixes):
            possible = p > 0
            after, wide = after[possible], before.repeat(2)[possible]
            given = np.divide(after, wide, out=np.zeros_like(after), where=wide > 0)
            with np.errstate(divide="ignore"):
                found.append(-float((p[possible] * np.log(given)).sum()))
        return found

    @property
    def worst_level(self) -> Level:
        """The largest |g(A) − p(A)| over the sets A = {g > τ}, and p(A) and g(A) at the maximum.

        A is the set of strings whose probability under the model g is above the threshold τ, and p
        is the distribution of the source.  The result is a `Level` with the fields `delta` = |g(A)
        − p(A)|, `p` = p(A) and `g` = g(A).
        """
        order = np.argsort(-self.g, kind="stable")
        p, g = (np.minimum(each[order].cumsum(), 1.0) for each in (self.p, self.g))
        last = np.append(np.diff(self.g[order]) != 0, True)  # the last string of its level
        worst = int(np.argmax(np.where(last, abs(g - p), -1.0)))
        return Level(float(abs(g[worst] - p[worst])), float(p[worst]), float(g[worst]))

    @property
    def least_impossible(self) -> float:
        """A lower bound on the model's total probability of impossible strings.

        Impossible strings have probability 0 under the source p.  The bound is the maximum, over
        the values τ of the model g, of 1 − δ⁺ − τ|F| + τ|A| − p(A).  Here A = {g > τ} is the set of
        strings of probability above τ under g, F = {p > 0} is the set of possible strings, and δ⁺ =
        max(g(A) − p(A), 0).
        """
        taus = np.unique(self.g)[::-1]
        above = len(self.g) - np.searchsorted(np.sort(self.g), taus, side="right")
        p = np.array([self.p[self.g > tau].sum() for tau in taus])
        g = np.array([self.g[self.g > tau].sum() for tau in taus])
        over = np.maximum(g - p, 0.0)
        return float((1 - over - taus * (self.p > 0).sum() + taus * above - p).max())
