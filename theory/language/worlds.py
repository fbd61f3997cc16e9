"""Worlds of facts and documents, and three models of them.

    calibrated     p on seen facts, p(U)/|U| on each unseen string
    Good–Turing    (1 − MF)·count/n on seen facts, MF/|U| on each unseen string
    memoriser      count/n on seen facts, 0 elsewhere

The set of facts is uniformly random (regular), so that no model built from documents distinguishes
an unseen fact from a string that is not a fact.  A world stores only the number of the strings that
are not facts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal, TypeAlias, get_args

import numpy as np

from theory.kinds import Count, InputError, Positive, Probability, Seed, Within, checked
from theory.language.distributions import Counted
from theory.language.hallucination import Levels

DistributionName: TypeAlias = Literal["zipf", "uniform"]
ModelName: TypeAlias = Literal["calibrated", "good-turing", "memoriser"]
MODELS: tuple[ModelName, ...] = get_args(ModelName)
Many: TypeAlias = Annotated[Count, Within(most=10**8)]
"""An integer from 1 to 10^8: a number of facts, documents or prompts."""


@dataclass(frozen=True)
class World:
    """Facts of probabilities p (|F|,), counts (|F|,) in n documents, and |H| other strings."""

    p: np.ndarray
    counts: np.ndarray
    others: int

    @property
    def documents(self) -> int:
        """n, the number of documents."""
        return int(self.counts.sum())

    @property
    def facts(self) -> int:
        """|F|, the number of facts."""
        return len(self.p)

    @property
    def unseen(self) -> int:
        """|U|, the number of unseen strings."""
        return self.others + int((self.counts == 0).sum())

    @property
    def seen_once(self) -> float:
        """MF, the fraction of documents whose fact occurs once."""
        return float((self.counts == 1).sum() / self.documents)

    @property
    def mean_seen_once(self) -> float:
        """E MF = Σ p(1 − p)^{n−1}, over corpora of n documents."""
        return float((self.p * (1 - self.p) ** (self.documents - 1)).sum())

    @property
    def unseen_mass(self) -> float:
        """p(U), the mass of unseen facts."""
        return float(self.p[self.counts == 0].sum())

    @checked
    def model(self, name: ModelName) -> Levels:
        """The model called `name`: a group for each seen fact, and one for all other strings."""
        seen = self.counts > 0
        frequencies = self.counts[seen] / self.documents
        if name == "calibrated":
            known, rest = self.p[seen], self.unseen_mass
        else:
            rest = self.seen_once if name == "good-turing" else 0.0
            known = (1 - rest) * frequencies
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
    def mixture(self, weight: Probability) -> Levels:
        """The mixture (1 − weight)·calibrated + weight·memoriser."""
        first, last = self.model("calibrated"), self.model("memoriser")
        return replace(first, g=(1 - weight) * first.g + weight * last.g)

    def known(self) -> Levels:
        """The model g = p, which is given the set of facts and never outputs another string.

        It has a group for each fact, seen or not, and one for all other strings.
        """
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
    distribution: DistributionName,
    seed: Seed,
) -> World:
    """A world with documents drawn from it; facts have probabilities ∝ 1/rank or are uniform.

    `distribution` is "zipf" or "uniform".  Raises `ValueError` for fewer other strings than facts.
    """
    F, H, n = facts, others, documents
    if H < F:
        raise InputError(f"others is {H} and facts is {F}: give at least as many other strings")
    weights = 1 / np.arange(1, F + 1) if distribution == "zipf" else np.ones(F)
    p = weights / weights.sum()
    drawn = np.random.default_rng(seed).choice(F, size=n, p=p)
    return World(p, np.bincount(drawn, minlength=F), H)


@dataclass(frozen=True)
class Prompted:
    """Equally likely prompts, each with m possible answers, one of them right, and N documents.

    `answered` (prompts,) counts the documents that answer each prompt; a document answers its
    prompt with probability α.
    """

    answered: np.ndarray
    documents: int
    answers: int
    alpha: float

    @property
    def prompts(self) -> int:
        """C, the number of prompts."""
        return len(self.answered)

    @property
    def once(self) -> float:
        """sr, the number of prompts answered exactly once, over N."""
        return float((self.answered == 1).sum() / self.documents)

    @property
    def mean_once(self) -> float:
        """E sr = α(1 − α/C)^{N−1}, over corpora of N documents."""
        return self.alpha * (1 - self.alpha / self.prompts) ** (self.documents - 1)

    @property
    def never(self) -> float:
        """The fraction of prompts that are never answered."""
        return float((self.answered == 0).mean())

    @property
    def missing(self) -> float:
        """MM = Σ μα over the prompts that are never answered."""
        return self.alpha * self.never

    @property
    def squares(self) -> float:
        """Σ μ²α² over the prompts that are never answered."""
        return self.alpha**2 * self.never / self.prompts

    def calibrated(self) -> Levels:
        """The calibrated model: α on the seen answer, or α/m on each answer if none was seen.

        At every prompt it outputs "don't know" with probability 1 − α.
        """
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
        """The error MM·(m − 1)/m of a sample of the calibrated model, and the error of its argmax.

        The error of the argmax is 0 if 1 − α > α/m, as the argmax is then "don't know".
        """
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
    """Prompts and documents; each document answers a random prompt with probability α > 0."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(prompts, size=int(rng.binomial(documents, alpha)))
    return Prompted(np.bincount(drawn, minlength=prompts), documents, answers, alpha)
