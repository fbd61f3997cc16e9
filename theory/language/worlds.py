"""Worlds of facts and documents, and three models of such a world.

    calibrated     p on seen facts, p(U)/|U| on each unseen string
    Good–Turing    (1 − MF)·count/n on seen facts, MF/|U| on each unseen string
    memoriser      count/n on seen facts, 0 elsewhere

p is the distribution of facts in documents, count the number of the n documents with a fact, U the
set of unseen strings, and MF the fraction of documents whose fact occurs once.

The set of facts is uniformly random (regular), so that no model built from documents distinguishes
an unseen fact from a string that is not a fact.  Of the strings that are not facts, a world stores
only the number.
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
    """A world of facts and documents: the facts, their counts, and the number of other strings.

    An entry of `p` is the probability that a document states the fact, an entry of `counts` is the
    number of documents that state the fact, and `others` is the number of strings that are not
    facts.
    """

    p: np.ndarray
    counts: np.ndarray
    others: int

    @property
    def documents(self) -> int:
        """The number of documents."""
        return int(self.counts.sum())

    @property
    def facts(self) -> int:
        """The number of facts, seen or not."""
        return len(self.p)

    @property
    def unseen(self) -> int:
        """The number of unseen strings: unseen facts, and strings that are not facts."""
        return self.others + int((self.counts == 0).sum())

    @property
    def seen_once(self) -> float:
        """The fraction of documents whose fact occurs in no other document."""
        return float((self.counts == 1).sum() / self.documents)

    @property
    def mean_seen_once(self) -> float:
        """The mean of `seen_once` over corpora of the same number n of documents.

        The mean is the sum of p(1 − p)^{n−1} over the probabilities p of all facts; `seen_once` is
        the fraction of documents whose fact occurs in no other document.
        """
        return float((self.p * (1 - self.p) ** (self.documents - 1)).sum())

    @property
    def unseen_mass(self) -> float:
        """The total probability of the unseen facts."""
        return float(self.p[self.counts == 0].sum())

    @checked
    def model(self, name: ModelName) -> Levels:
        """The model `name`, "calibrated", "good-turing" or "memoriser", as groups of strings.

        The result is `Levels`, with a group for each seen fact, and one group for all other
        strings.
        """
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
        """The mixture (1 − weight)·calibrated + weight·memoriser of two models, as `Levels`."""
        first, last = self.model("calibrated"), self.model("memoriser")
        return replace(first, g=(1 - weight) * first.g + weight * last.g)

    def known(self) -> Levels:
        """The model that outputs all facts with their probabilities, as groups of strings.

        The result is `Levels`, with a group for each fact, seen or not, and one group of
        probability 0 for all other strings.
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
    """A world of facts with random documents, each of which states one fact.

    `facts` is the number of facts and `others` the number of strings that are not facts.  The
    `distribution` of facts is "zipf" (probabilities ∝ 1/rank) or "uniform".  Raises `ValueError`
    if `others` is smaller than `facts`.
    """
    F, H, n = facts, others, documents
    if H < F:
        raise InputError(f"others is {H} and facts is {F}: give others ≥ facts")
    weights = 1 / np.arange(1, F + 1) if distribution == "zipf" else np.ones(F)
    p = weights / weights.sum()
    drawn = np.random.default_rng(seed).choice(F, size=n, p=p)
    return World(p, np.bincount(drawn, minlength=F), H)


@dataclass(frozen=True)
class Prompted:
    """Equally likely prompts, and documents that answer some of them.

    Each prompt has `answers` possible answers, one of them right.  Each of the `documents` has a
    random prompt, and gives the right answer to the prompt with probability `alpha`.  Entry c of
    `answered` is the number of documents that answer prompt c.
    """

    answered: np.ndarray
    documents: int
    answers: int
    alpha: float

    @property
    def prompts(self) -> int:
        """The number of prompts."""
        return len(self.answered)

    @property
    def once(self) -> float:
        """The number of prompts that exactly one document answers, divided by `documents`."""
        return float((self.answered == 1).sum() / self.documents)

    @property
    def mean_once(self) -> float:
        """The mean over corpora of `once`, for the same number N of documents.

        The mean is α(1 − α/C)^{N−1} for C prompts, where α = `alpha` is the probability that a
        document answers its prompt, and `once` is the number of prompts that exactly one document
        answers, divided by N.
        """
        return self.alpha * (1 - self.alpha / self.prompts) ** (self.documents - 1)

    @property
    def never(self) -> float:
        """The fraction of prompts that no document answers."""
        return float((self.answered == 0).mean())

    @property
    def missing(self) -> float:
        """The sum of μα over the prompts that no document answers.

        μ is the weight of a prompt, 1 divided by the number of prompts, and α = `alpha`.
        """
        return self.alpha * self.never

    @property
    def squares(self) -> float:
        """The sum of μ²α² over the prompts that no document answers.

        μ is the weight of a prompt, 1 divided by the number of prompts, and α = `alpha`.
        """
        return self.alpha**2 * self.never / self.prompts

    def calibrated(self) -> Levels:
        """The calibrated model of answers to prompts, as groups of responses.

        The result is `Levels`.  The model outputs "don't know" with probability 1 − α, where
        α = `alpha`.  If a document answers the prompt, the model outputs this answer with
        probability α.  If no document answers the prompt, the model outputs each of the m possible
        answers with probability α/m.
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
        """The error of a sample of the calibrated model, and the error of its argmax.

        For m possible answers to each prompt and α = `alpha`, the error of a sample is α(m − 1)/m
        times the fraction of prompts that no document answers.  If 1 − α > α/m, the argmax for
        these prompts is "don't know", and the error of the argmax is 0.
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
    """Equally likely prompts, and documents that answer some of them.

    Each prompt has `answers` possible answers, one of them right.  Each document has a random
    prompt, and gives the right answer to the prompt with probability `alpha`.
    """
    rng = np.random.default_rng(seed)
    drawn = rng.integers(prompts, size=int(rng.binomial(documents, alpha)))
    return Prompted(np.bincount(drawn, minlength=prompts), documents, answers, alpha)
