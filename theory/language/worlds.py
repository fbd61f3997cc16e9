"""Worlds of facts, and three models of them; the strings that are no facts are a number only.

    calibrated     p on what was seen, p(U)/|U| on each string that was not
    Good–Turing    (1 − MF)·count/n on what was seen, MF/|U| on each string that was not
    memoriser      count/n on what was seen, 0 elsewhere

Which strings are facts is random, and uniformly so (regular): no model that is made from documents
can tell a fact that was not seen from a string that is none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal, TypeAlias, get_args

import numpy as np

from theory.kinds import Count, InputError, Positive, Probability, Seed, Within, checked
from theory.language.distributions import Counted
from theory.language.hallucination import Levels

LawName: TypeAlias = Literal["zipf", "uniform"]
ModelName: TypeAlias = Literal["calibrated", "good-turing", "memoriser"]
MODELS: tuple[ModelName, ...] = get_args(ModelName)
Many: TypeAlias = Annotated[Count, Within(most=10**8)]
"""An integer from 1 to 10^8: facts, documents or prompts that memory and patience hold."""


@dataclass(frozen=True)
class World:
    """Facts of probabilities p (|F|,), `counts` (|F|,) of them in n documents, and |H| others."""

    p: np.ndarray
    counts: np.ndarray
    others: int

    @property
    def documents(self) -> int:
        """n."""
        return int(self.counts.sum())

    @property
    def facts(self) -> int:
        """|F|."""
        return len(self.p)

    @property
    def unseen(self) -> int:
        """|U|: the strings that were not seen."""
        return self.others + int((self.counts == 0).sum())

    @property
    def seen_once(self) -> float:
        """MF."""
        return float((self.counts == 1).sum() / self.documents)

    @property
    def mean_seen_once(self) -> float:
        """E MF = Σ p(1 − p)^{n−1}, over corpora of as many documents."""
        return float((self.p * (1 - self.p) ** (self.documents - 1)).sum())

    @property
    def unseen_mass(self) -> float:
        """p(U)."""
        return float(self.p[self.counts == 0].sum())

    @checked
    def model(self, name: ModelName) -> Levels:
        """One of the `MODELS`: a group for each fact that was seen, and one of all the rest."""
        seen = self.counts > 0
        shares = self.counts[seen] / self.documents
        if name == "calibrated":
            known, rest = self.p[seen], self.unseen_mass
        else:
            rest = self.seen_once if name == "good-turing" else 0.0
            known = (1 - rest) * shares
        ones = np.ones(len(known))
        return Levels(
            np.append(ones, self.unseen),
            np.append(ones, self.facts - len(known)),
            np.append(self.p[seen], self.unseen_mass),
            np.append(known, rest / self.unseen),
            np.append(ones < 1, True),
            np.append(ones, 1.0),
        )

    @checked
    def mixture(self, share: Probability) -> Levels:
        """The calibrated model, and `share` of the memoriser."""
        first, last = self.model("calibrated"), self.model("memoriser")
        return replace(first, g=(1 - share) * first.g + share * last.g)

    def known(self) -> Levels:
        """g = p of who knows beforehand which strings are facts: the facts one by one, seen or not,
        and all other strings, which it never outputs."""
        F, ones = self.facts, np.ones(self.facts)
        p = np.append(self.p, 0.0)
        return Levels(
            np.append(ones, self.others),
            np.append(ones, 0.0),
            p,
            p,
            np.append(self.counts == 0, True),
            np.ones(F + 1),
        )


@checked
def world(
    facts: Many,
    others: Annotated[Count, Within(most=2**53)],
    documents: Many,
    law: LawName,
    seed: Seed,
) -> World:
    """A world and its documents, of probabilities ∝ 1/rank ("zipf") or all equal ("uniform").

    Raises `ValueError` for fewer other strings than facts.
    """
    F, H, n = facts, others, documents
    if H < F:
        raise InputError(f"others is {H} and facts is {F}: give at least as many other strings")
    weights = 1 / np.arange(1, F + 1) if law == "zipf" else np.ones(F)
    p = weights / weights.sum()
    drawn = np.random.default_rng(seed).choice(F, size=n, p=p)
    return World(p, np.bincount(drawn, minlength=F), H)


@dataclass(frozen=True)
class Prompted:
    """Equally likely prompts, each with one right answer of m; `answered` (prompts,) says how often
    the documents answered each, and α with what probability a document does."""

    answered: np.ndarray
    documents: int
    answers: int
    alpha: float

    @property
    def prompts(self) -> int:
        """Their number."""
        return len(self.answered)

    @property
    def once(self) -> float:
        """sr: prompts answered exactly once, over N."""
        return float((self.answered == 1).sum() / self.documents)

    @property
    def mean_once(self) -> float:
        """E sr = α(1 − α/C)^{N−1} of C prompts, over as many documents."""
        return self.alpha * (1 - self.alpha / self.prompts) ** (self.documents - 1)

    @property
    def never(self) -> float:
        """The fraction of prompts that were never answered."""
        return float((self.answered == 0).mean())

    @property
    def missing(self) -> float:
        """MM = Σ μα over prompts never answered."""
        return self.alpha * self.never

    @property
    def squares(self) -> float:
        """Σ μ²α² over them."""
        return self.alpha**2 * self.never / self.prompts

    def calibrated(self) -> Levels:
        """The model that knows the answers that it saw, and spreads α over all m where it saw none:
        "don't know" with probability 1 − α at every prompt."""
        new, old, m, a = self.never, 1 - self.never, self.answers, self.alpha
        silent = 1 - a
        #      any answer,   "don't know",  the answer,  another,      "don't know"
        return Levels(
            np.array([m, 1, 1, m - 1, 1]),
            np.array([1, 1, 1, 0, 1]),
            np.array([new * a, new * silent, old * a, 0, old * silent]),
            np.array([a / m, silent, a, 0, silent]),
            np.array([True, False, False, False, False]),
            np.array([new, new, old, old, old]),
        )

    def errors(self) -> tuple[float, float]:
        """How often the calibrated model errs when it is sampled, and when it says what is most
        probable: MM·(m − 1)/m, and 0 if 1 − α > α/m, as it then says "don't know"."""
        m = self.answers
        sampled = self.missing * (m - 1) / m
        most = 0.0 if 1 - self.alpha > self.alpha / m else self.never * (m - 1) / m
        return sampled, most


@checked
def prompted(
    prompts: Many,
    answers: Counted,
    documents: Many,
    alpha: Annotated[Positive, Within(most=1)],
    seed: Seed,
) -> Prompted:
    """Documents that take a uniform prompt each and answer it with probability α, 0 < α ≤ 1."""
    rng = np.random.default_rng(seed)
    asked = rng.integers(prompts, size=int(rng.binomial(documents, alpha)))
    return Prompted(np.bincount(asked, minlength=prompts), documents, answers, alpha)
