"""A model's distribution on all strings of T bits beside the source's.

    CE_t = −Σ_x p(x_1 … x_t) ln g(x_t | x_1 … x_{t−1}),      Σ_t CE_t − H(X_1 … X_T) = KL(p‖g)

With A = {g > τ}: δ = max_τ |g(A) − p(A)|, and 2δ² ≤ kl(p(A)‖g(A)) ≤ KL(p‖g), what rescaling g on A
would win (`rescaling`).  Strings of probability 0, H = {p = 0}, have at least what the sure
inequality (`hallucination`) gives with U all strings, and at most 1 − e^{−KL(p‖g)}.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np


class Level(NamedTuple):
    """A = {g > τ} at some τ: δ = |g(A) − p(A)|, p(A) and g(A)."""

    delta: float
    p: float
    g: float

    @property
    def gain(self) -> float:
        """kl(p(A)‖g(A)), in nats."""
        both = ((self.p, self.g), (1 - self.p, 1 - self.g))
        return sum(a * float(np.log(a / b)) for a, b in both if a > 0)


@dataclass(frozen=True)
class StringLaws:
    """Probabilities of all strings of T bits in order, the source's p and the model's g, (2^T,)."""

    p: np.ndarray
    g: np.ndarray

    @property
    def length(self) -> int:
        """T."""
        return len(self.p).bit_length() - 1

    @property
    def divergence(self) -> float:
        """KL(p‖g) of whole strings."""
        possible = self.p > 0
        return float((self.p[possible] * np.log(self.p[possible] / self.g[possible])).sum())

    @property
    def impossible(self) -> float:
        """g(H), H the strings of probability 0."""
        return float(self.g[self.p == 0].sum())

    @property
    def cross_entropies(self) -> list[float]:
        """CE_t for t = 1 … T."""
        T = self.length
        laws = [
            (self.p.reshape(2**t, -1).sum(1), self.g.reshape(2**t, -1).sum(1)) for t in range(T + 1)
        ]
        found = []
        for (_, before), (p, after) in pairwise(laws):
            possible = p > 0
            said = after[possible] / before.repeat(2)[possible]
            found.append(-float((p[possible] * np.log(said)).sum()))
        return found

    @property
    def worst_level(self) -> Level:
        """The level set A of largest δ."""
        order = np.argsort(-self.g, kind="stable")
        p, g = self.p[order].cumsum(), self.g[order].cumsum()
        last = np.append(np.diff(self.g[order]) != 0, True)  # of its level
        worst = int(np.argmax(np.where(last, abs(g - p), 0.0)))
        return Level(float(abs(g[worst] - p[worst])), float(p[worst]), float(g[worst]))

    @property
    def least_impossible(self) -> float:
        """max_τ 1 − δ⁺ − τ|F| + τ|A| − p(A) ≤ g(H): the sure inequality where nothing was seen."""
        taus = np.unique(self.g)[::-1]
        above = len(self.g) - np.searchsorted(np.sort(self.g), taus, side="right")
        p = np.array([self.p[self.g > tau].sum() for tau in taus])
        g = np.array([self.g[self.g > tau].sum() for tau in taus])
        over = np.maximum(g - p, 0.0)
        return float((1 - over - taus * (self.p > 0).sum() + taus * above - p).max())
