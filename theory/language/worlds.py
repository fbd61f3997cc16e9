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
    """A world of facts, documents that each state one fact, and other strings.

    Each fact has an entry in `p`, the probability that a document states the fact, and an entry in
    `counts`, the number of documents that state the fact.  `others` is the number of strings that
    are not facts.  The fields are not checked: `world` makes them of checked numbers.
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
        """The number of facts, whether or not a document states them."""
        return len(self.p)

    @property
    def unseen(self) -> int:
        """The number of strings that no document states: facts, and strings that are not facts."""
        return self.others + int((self.counts == 0).sum())

    @property
    def seen_once(self) -> float:
        """The fraction of documents whose fact no other document states."""
        return float((self.counts == 1).sum() / self.documents)

    @property
    def mean_seen_once(self) -> float:
        """The mean of `seen_once` over random corpora of the same number n of documents.

        `seen_once` is the fraction of documents whose fact no other document states.  The mean is
        the sum of p(1 − p)^{n−1} over all facts, where p is the probability of the fact.
        """
        return float((self.p * (1 - self.p) ** (self.documents - 1)).sum())

    @property
    def unseen_mass(self) -> float:
        """The total probability of the facts that no document states."""
        return float(self.p[self.counts == 0].sum())

    @checked
    def model(self, name: ModelName) -> Levels:
        """The probabilities of strings under the model `name`, as groups of equally likely strings.

        The result is a `Levels`, with a group for each fact that a document states, and one group
        for all other strings, which are equally likely.  The model "calibrated" gives the seen
        facts their true probabilities.  The model "good-turing" gives the other strings the total
        probability m, where m is the fraction of documents whose fact no other document states.  It
        gives a seen fact 1 − m times its frequency in the documents.  The model "memoriser" gives a
        seen fact its frequency, and gives all other strings the probability 0.
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
        """The mixture of two models, as a `Levels`: (1 − weight)·calibrated + weight·memoriser.

        The calibrated model gives the facts that a document states their true probabilities, and
        the remaining mass to all other strings equally.  The memoriser gives a fact its frequency
        in the documents, and gives all other strings the probability 0.
        """
        first, last = self.model("calibrated"), self.model("memoriser")
        return replace(first, g=(1 - weight) * first.g + weight * last.g)

    def known(self) -> Levels:
        """The model that outputs all facts with their true probabilities, as groups of strings.

        The result is a `Levels`, with a group for each fact, whether or not a document states it.
        The last group has probability 0 and contains all strings that are not facts.
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
    """A random world of facts and documents, each of which states one fact.

    `facts` is the number of facts, `others` is the number of strings that are not facts, and
    `documents` is the number of documents.  The fact of a document has the `distribution` "zipf"
    (probabilities ∝ 1/rank) or "uniform".  Raises `ValueError` if `others` is smaller than `facts`.
    """
    F, H, n = facts, others, documents
    if H < F:
        raise InputError(
            f"the parameter others is {H} and the parameter facts is {F}: give others ≥ facts"
        )
    weights = 1 / np.arange(1, F + 1) if distribution == "zipf" else np.ones(F)
    p = weights / weights.sum()
    drawn = np.random.default_rng(seed).choice(F, size=n, p=p)
    return World(p, np.bincount(drawn, minlength=F), H)


@dataclass(frozen=True)
class Prompted:
    """A world of equally likely prompts, and documents that answer some of the prompts.

    Each prompt has `answers` possible answers, one of them right.  Each of the `documents`
    documents has a random prompt.  With probability `alpha` the document gives the right answer to
    its prompt, and otherwise "don't know".  Entry c of `answered` is the number of documents that
    answer prompt c.  The fields are not checked: `prompted` makes them of checked numbers.
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
        """The mean of `once` over random corpora of the same number N of documents.

        `once` is the number of prompts that exactly one document answers, divided by N.  The mean
        is α(1 − α/C)^{N−1} for C prompts, where α = `alpha` is the probability that a document
        answers its prompt.
        """
        return self.alpha * (1 - self.alpha / self.prompts) ** (self.documents - 1)

    @property
    def never(self) -> float:
        """The fraction of prompts that no document answers."""
        return float((self.answered == 0).mean())

    @property
    def missing(self) -> float:
        """The fraction of prompts that no document answers, times the probability α of an answer.

        The result is the sum of μα over these prompts.  μ is the probability of a prompt, 1 divided
        by the number of prompts, and α = `alpha` is the probability that a document answers its
        prompt.
        """
        return self.alpha * self.never

    @property
    def squares(self) -> float:
        """The sum of μ²α² over the prompts that no document answers.

        μ is the probability of a prompt, 1 divided by the number of prompts, and α = `alpha` is the
        probability that a document answers its prompt.
        """
        return self.alpha**2 * self.never / self.prompts

    def calibrated(self) -> Levels:
        """The calibrated model of answers to prompts, as groups of equally likely responses.

        The result is a `Levels`.  For every prompt, the model outputs "don't know" with probability
        1 − α, where α = `alpha` is the probability that a document answers its prompt.  If some
        document answers the prompt, the model outputs this answer with probability α.  If no
        document answers the prompt, the model outputs each of the m possible answers with
        probability α/m.
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
        """The errors of a sample and of the most probable response of the calibrated model.

        The calibrated model answers a prompt with probability α = `alpha`, and otherwise outputs
        "don't know", which is not an error.  For prompts that some document answers, its answer is
        right.  For all other prompts, its answer is uniform among the m possible answers.  The
        error of a sample is α(m − 1)/m times the fraction of prompts that no document answers.  If
        1 − α > α/m, the most probable response to these prompts is "don't know", and the error of
        the most probable response is 0.  If 1 − α ≤ α/m, this error is (m − 1)/m times the fraction
        of prompts that no document answers.
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
    """A random world of equally likely prompts, and documents that answer some of the prompts.

    `prompts` is the number of prompts.  Each prompt has `answers` possible answers, one of them
    right.  Each of the `documents` documents has a random prompt.  With probability `alpha` the
    document gives the right answer to its prompt, and otherwise "don't know".
    """
    rng = np.random.default_rng(seed)
    drawn = rng.integers(prompts, size=int(rng.binomial(documents, alpha)))
    return Prompted(np.bincount(drawn, minlength=prompts), documents, answers, alpha)
